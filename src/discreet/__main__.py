"""``python -m discreet``: the command, where its script is not on the path."""

from __future__ import annotations

from discreet.cli.main import run

run()
