"""Tables in memory that a spec was written for, known as long as they exist in this session.

A spec file cannot name a table in memory, so ``discreet.open("s.toml")`` would find no rows. The tables are
held by weak references: none is kept alive, and none is written anywhere.
"""

from __future__ import annotations

from pathlib import Path
from weakref import WeakValueDictionary

_FRAMES: WeakValueDictionary[Path, object] = WeakValueDictionary()


def remember_frame(spec: Path, data: object) -> None:
    """Remember the table in memory that a spec file was written for, where Python can refer to it weakly."""
    try:
        _FRAMES[spec.resolve()] = data
    except TypeError:
        _FRAMES.pop(spec.resolve(), None)


def forget_frame(spec: Path) -> None:
    """Forget the table of a spec file that was written for another source."""
    _FRAMES.pop(spec.resolve(), None)


def frame_of(spec: Path) -> object | None:
    """Return the table in memory that a spec file was written for; None where there is none any more."""
    return _FRAMES.get(spec.resolve())
