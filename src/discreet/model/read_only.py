"""Mappings of results that fail loudly where somebody changes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from discreet.errors import InputError

Key = TypeVar("Key")
Value = TypeVar("Value")


class ReadOnlyDict(dict[Key, Value]):
    """A dictionary that cannot be changed: a change would be lost, as the result computes it anew.

    ``what`` names it in the message. Copies (``dict(levels)``, ``levels.copy()``) can be changed.

    >>> levels = ReadOnlyDict({"age": 1}, "the levels of an answer")
    >>> levels == {"age": 1}, levels | {"zip": 2}
    (True, {'age': 1, 'zip': 2})
    """

    def __init__(self, values: Mapping[Key, Value], what: str) -> None:
        super().__init__(values)
        self._what = what

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise InputError(
            f"{self._what} cannot be changed", advice="Change a copy, dict(…), and hand that over."
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[type[dict[Key, Value]], tuple[dict[Key, Value]]]:
        return dict, (dict(self),)
