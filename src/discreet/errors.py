"""What can go wrong, in five kinds.

::

    DiscreetError
    ├── RequirementNotMet   exit 1   a release or file fails the privacy requirement
    ├── InputError          exit 2   the request, spec, hierarchy or data is wrong
    ├── NoSolution          exit 3   everything is right, yet nothing satisfies the request
    ├── LimitReached        exit 4   memory, time, disk or lattice size ran out
    └── InternalError       exit 70  our bug

Each error says the fact, what is allowed, and what to do, and never the secret of an address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar

_SECRETS = (
    # scheme://USER:PASSWORD@HOST (a path makes one slash of two), and the same cut off before the host
    (re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:/{1,3})[^\s'\"]*@"), r"\1…@"),
    (re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:/{1,3})[^\s/@:'\"]+:(?!//|\d{1,5}(?:\W|$))[^\s'\"]+"), r"\1…"),
    # USER:PASSWORD@HOST
    (re.compile(r"(?<![^\s'\"(=])[^\s/:@'\"(=]+:[^\s/'\"]+@(?=\w)"), "…@"),
    # libpq's and others' options
    (re.compile(r"((?:password|passwd|pwd)\s*=\s*)(?:'[^']*'|[^\s&;'\"]+)", re.IGNORECASE), r"\1…"),
)


def without_secrets(text: str) -> str:
    """A text without what may be a password in an address.

    Addresses are told from paths where they are given (``places.address``) and shown by nobody; this is the
    second net, below every message: the command line's parser, say, quotes a word that it does not know.

    >>> without_secrets("No such command 'mysql://ann:secret@host/clinic'")
    "No such command 'mysql://…@host/clinic'"
    """
    for secret, shown in _SECRETS:
        text = secret.sub(shown, text)
    return text


_OPTION = re.compile(
    r"(?P<command>\bdiscreet [a-z]+(?: (?:[A-Z][A-Z_]*\b|--[a-z-]+|'[^']*'|[^\s,;]*/[^\s,;]*))+)"
    r"|--(?:(?P<named>model|algorithm|format|encoding) (?P<value>[a-z][a-z0-9-]*)"
    r"|(?P<name>[a-z][a-z-]*)(?: (?:(?P<key>\w+)=)?(?P<metavar>[A-Z][A-Z_]*(?:\.[A-Z]+)*|[0-9][0-9%.,]*\b))?)"
)
_KEYWORDS = {"quasi-identifier": "quasi_identifiers", "null": "null_values", "hierarchy": "hierarchies"}
"""Options that are repeated on the command line are one keyword in Python, in the plural."""


def in_python(text: str) -> str:
    """A sentence that names options of the command line, in the words of Python; whole commands stay.

    >>> in_python("Give --output PATH, or --overwrite; --model mondrian, or --hierarchy city=FILE.")
    "Give output=PATH, or overwrite=…; model='mondrian', or hierarchies={'city': FILE}."
    >>> in_python("discreet init ADDRESS --table NAME writes one; discreet publish takes --k.")
    'discreet init ADDRESS --table NAME writes one; discreet publish takes k=….'
    """
    return _OPTION.sub(_keyword, text)


def _keyword(option: re.Match[str]) -> str:
    if option["command"]:
        return option["command"]
    if option["named"]:
        return f"{option['named']}='{option['value']}'"
    word = _KEYWORDS.get(option["name"], option["name"].replace("-", "_"))
    value = option["metavar"] or "…"
    return f"{word}={{'{option['key']}': {value}}}" if option["key"] else f"{word}={value}"


class DiscreetError(Exception):
    """Base of the five kinds.

    ``message`` states the fact (with file, column, line and value where known), ``allowed`` what would
    have been accepted, ``advice`` what to do next.
    """

    kind: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 70

    def __init__(self, message: str, *, allowed: str | None = None, advice: str | None = None) -> None:
        self.message = without_secrets(message)
        super().__init__(self.message)
        self.allowed = allowed
        self.advice = advice

    def __str__(self) -> str:
        """The whole in the words of Python, where exceptions are printed so; the terminal has its own."""
        return self._sentences(in_python)

    @property
    def as_typed(self) -> str:
        """The whole in the words of the command line."""
        return self._sentences(str)

    def _sentences(self, in_words: Callable[[str], str]) -> str:
        parts = [self.message if self.message.endswith((".", "!", "?")) else f"{self.message}."]
        if self.allowed:
            parts.append(f"Allowed: {in_words(self.allowed)}.")
        if self.advice:
            parts.append(in_words(self.advice))
        return " ".join(parts)

    def as_json(self) -> Mapping[str, Mapping[str, str | None]]:
        """The document that ``--json`` prints for this error."""
        return {
            "error": {
                "kind": self.kind,
                "message": self.message,
                "allowed": self.allowed,
                "advice": self.advice,
            }
        }


class RequirementNotMet(DiscreetError):
    """A requirement is not met, or an audit failed."""

    kind = "requirement-not-met"
    exit_status = 1


class InputError(DiscreetError):
    """The request, the spec, a hierarchy or the data is wrong."""

    kind = "bad-input"
    exit_status = 2


class NoSolution(DiscreetError):
    """Nothing in the search space satisfies the request."""

    kind = "no-solution"
    exit_status = 3


class LimitReached(DiscreetError):
    """A limit of memory, time, disk or size was reached."""

    kind = "limit-reached"
    exit_status = 4


class InternalError(DiscreetError):
    """A bug of discreet's own."""

    kind = "internal"
    exit_status = 70
