"""What is closed when its context ends."""

from __future__ import annotations

from typing import Protocol, Self


class Closing(Protocol):
    """The part of an ``Engine`` that makes it a context, which closes it."""

    def close(self) -> None:
        """Release what is held; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
