"""Where an exception came from, without its text, which may hold values of the data."""

from __future__ import annotations

import traceback
from pathlib import Path

_FRAMES = 6


def place_of(error: BaseException) -> str:
    """An exception's type and the innermost places of its traceback: ``KeyError at table.py:12 in f``."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in reversed(frames)]
    return f"{type(error).__name__} at {', '.join(places) or 'an unknown place'}"
