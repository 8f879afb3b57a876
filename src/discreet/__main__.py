"""``python -m discreet``: the command, where its script is not on the path."""

from __future__ import annotations

import sys

from discreet.cli.main import main

sys.exit(main())
