"""Entry point of ``python -m discreet``, for systems on which the script is not on the path."""

from __future__ import annotations

from discreet.cli.main import run

run()
