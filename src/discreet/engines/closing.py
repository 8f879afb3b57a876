"""What is closed when its context ends."""

from __future__ import annotations

from typing import Protocol, Self


class Closing(Protocol):
    """The part of an ``Engine`` that makes it a context, and says what room it leaves in it."""

    def close(self) -> None:
        """Release what is held; a second call does nothing."""

    def leave_room(self, size: int) -> None:
        """Leave room for arrays (see ``Engine``): nothing, for an engine that holds none in this process."""
        del size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
