"""Exceptions with exit statuses, and the redaction of secrets in their messages.

::

    DiscreetError
    ├── RequirementNotMet   exit 1   a release or file fails the privacy requirement
    ├── InputError          exit 2   the request, spec, hierarchy or data is wrong
    ├── NoSolution          exit 3   everything is right, yet nothing satisfies the request
    ├── LimitReached        exit 4   memory, time, disk or lattice size ran out
    └── InternalError       exit 70  our bug

Each error states the fact, the allowed values and advice. Messages never contain the secrets of an address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import PurePath
from shlex import quote
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import unquote

_SECRET_NAMES = (
    r"(?:\w*pass(?:word|wd|code|phrase)|pwd|\w*(?:token|secret|credentials?)|(?:api|access|account|private)_?key"
    r"|sas|sig|signature)"
)
"""Names of options whose values are secrets."""
_ADDRESS = re.compile(
    # ``Path`` collapses the two slashes to one. A single letter before a colon is a Windows drive.
    r"[a-z][a-z0-9+.-]+:/"
    # Addresses without a scheme: USER:PASSWORD@HOST, and host=… password=… .
    rf"|(?:^|=)(?:[^/\s]+:\S*|/{{1,2}}[^/\s]*:[^/\s]*|//[^/\s]*)@|(?<![\w-]){_SECRET_NAMES}\s*=",
    re.IGNORECASE,
)
_HOST = r"(?:\[[0-9a-f:.%]*\]|[\w.-]*)(?::\d{1,5})?"
_PARSED_ADDRESS = re.compile(
    r"(?P<scheme>(?:(?:jdbc|spark|env|odbc):)?[a-z][a-z0-9+.-]*:/{1,3})(?P<user>[^/?#@\s'\";]*@)?"
    rf"(?P<place>{_HOST}(?:,{_HOST})*(?:/[\w./~%+-]*)?)(?P<options>\?\S*)?",
    re.IGNORECASE,
)
_SECRETS = (
    # scheme://USER:PASSWORD@HOST, with blanks in the password; then the same without the host
    (
        re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:/{1,3})[^\s/@:'\"]+:(?!//|\d{1,5}(?:\W|$))[^@'\"\n]{1,200}@"),
        r"\1…@",
    ),
    (re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:/{1,3})[^\s'\"]*@"), r"\1…@"),
    (re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:/{1,3})[^\s/@:'\"]+:(?!//|\d{1,5}(?:\W|$))[^\s'\"]+"), r"\1…"),
    # USER:PASSWORD@HOST
    (re.compile(r"(?<![^\s'\"(=])[^\s/:@'\"(=]+:[^\s/'\"]+@(?=\w)"), "…@"),
    (re.compile(r"(?<![^\s'\"(=])//[^\s'\"]*@"), "//…@"),
    # the options of an address, then addresses of an unknown form
    (re.compile(r"((?<![\w:])[A-Za-z][A-Za-z0-9+.-]+:/{1,3}[^\s'\"?]*\?)[^\s'\"…]+"), r"\1…"),
    (re.compile(r"(?<!\w)((?:jdbc|odbc):)[^\s'\"]+", re.IGNORECASE), r"\1…"),
)
_SECRET_OPTIONS = re.compile(rf"((?<![\w-]){_SECRET_NAMES}\s*=\s*)(?:'[^']*'|[^\s&;'\"]+)", re.IGNORECASE)
"""Secret options in addresses of libpq and other drivers."""
_PUBLIC_OPTIONS = {
    *("host", "hostaddr", "port", "user", "dbname", "service", "sslmode", "application_name", "options"),
    *("connect_timeout", "unix_socket", "ssl_ca", "sslrootcert", "charset", "warehouse", "role", "schema"),
}
"""Options of addresses whose values are not secrets."""
_SHORTEST_SECRET = 4
"""Minimum length in characters of a secret that is replaced everywhere in a message."""
_HIDDEN_WORDS: ContextVar[Mapping[str, str]] = ContextVar("given", default=MappingProxyType({}))
_QUOTED = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"|\(([^()\n]+)\)")


def looks_like_address(text: str) -> bool:
    """Return whether a text is or contains an address of any kind; such a text is not a path.

    >>> looks_like_address("mysql://h/db"), looks_like_address("people.csv"), looks_like_address("C:/people")
    (True, False, False)
    """
    return _ADDRESS.search(text) is not None


def redact_address(text: str) -> str:
    """Return a user's text for messages: an address without user, password and the values of its options.

    Other texts are returned unchanged. For an address that cannot be parsed, only the scheme remains.

    >>> redact_address("postgresql://ann:secret@localhost/clinic?sslmode=require")
    'postgresql://…@localhost/clinic?…'
    >>> redact_address("mysql://ann:sec/ret@h/db"), redact_address("host=h password=secret")
    ('mysql://…', '…')
    >>> redact_address("people.csv")
    'people.csv'
    """
    if not looks_like_address(text):
        return text
    plain = _PARSED_ADDRESS.fullmatch(text)
    if plain is not None:
        user, options = "…@" if plain["user"] else "", "?…" if plain["options"] else ""
        return f"{plain['scheme']}{user}{plain['place']}{options}"
    scheme = re.match(r"[a-z][a-z0-9+.-]*:/{1,3}", text, re.IGNORECASE)
    return "…" if scheme is None else f"{scheme[0]}…"


@contextmanager
def hide_addresses(words: Iterable[str]) -> Iterator[None]:
    """Redact the given words that look like addresses from all messages within the context.

    The words are those of a command line. Whatever characters a password contains, the parser's messages,
    errors and the values in a traceback show the address without it.
    """
    token = _HIDDEN_WORDS.set({**_HIDDEN_WORDS.get(), **_quoted_forms(words)})
    try:
        yield
    finally:
        _HIDDEN_WORDS.reset(token)


def redact_hidden_words(text: str) -> str:
    """Return a text without the words that ``hide_addresses`` hides."""
    for hidden, replacement in _HIDDEN_WORDS.get().items():
        text = text.replace(hidden, replacement)
    return text


def _quoted_forms(words: Iterable[str]) -> dict[str, str]:
    """Return the replacements of words that look like addresses, in each form that a message may quote."""
    found: dict[str, str] = {}
    for word in words:
        for text in (word, word.partition("=")[2]):
            if looks_like_address(text):
                forms = {text, str(PurePath(text)), repr(text)[1:-1], json.dumps(text)[1:-1], quote(text)}
                forms |= {" ".join(each.split()) for each in forms}
                found |= dict.fromkeys(forms, redact_address(text))
                found |= dict.fromkeys(_secrets_of_address(text), "…")
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _secrets_of_address(address: str) -> set[str]:
    """Return the secrets of an address, which a message may quote separately, except very short ones."""
    user = address.rpartition("@")[0].rpartition("//")[2]
    pairs = (pair.partition("=")[::2] for pair in re.split("[&;]", address.partition("?")[2]))
    values = [value for name, value in pairs if name.lower() not in _PUBLIC_OPTIONS]
    values += [found[0].partition("=")[2].strip(" '") for found in _SECRET_OPTIONS.finditer(address)]
    texts = {*values, *((user, user.partition(":")[2]) if ":" in user else ())}
    return {form for text in texts for form in (text, unquote(text)) if len(form) >= _SHORTEST_SECRET}


def redact_secrets(text: str) -> str:
    """Return a text without anything that may be a password in an address.

    Input code already distinguishes addresses from paths (``places.address``) and does not show addresses.
    This second safeguard covers every message: the command line's parser, for example, quotes a word it does
    not know.

    >>> redact_secrets("No such command 'mysql://ann:secret@host/clinic'")
    "No such command 'mysql://…@host/clinic'"
    """
    text = redact_hidden_words(text)
    text = _QUOTED.sub(_redact_quoted, _SECRET_OPTIONS.sub(r"\1…", text))
    for secret, replacement in _SECRETS:
        text = secret.sub(replacement, text)
    return text


def _redact_quoted(match: re.Match[str]) -> str:
    quoted = match[0]
    return f"{quoted[0]}{redact_address(quoted[1:-1])}{quoted[-1]}"


_OPTION = re.compile(
    r"(?P<command>\bdiscreet [a-z]+(?: (?:[A-Z][A-Z_]*\b|--[a-z-]+|'[^']*'|[^\s,;]*/[^\s,;]*))+)"
    r"|--(?:(?P<named>model|algorithm|format|encoding) (?P<value>[a-z][a-z0-9-]*)"
    r"|(?P<name>[a-z][a-z-]*)(?: (?:(?P<key>\w+)=)?(?P<metavar>[A-Z][A-Z_]*(?:\.[A-Z]+)*|[0-9][0-9%.,]*\b))?)"
)
_KEYWORDS = {
    "quasi-identifier": "quasi_identifiers",
    "null": "null_values",
    "hierarchy": "hierarchies",
    "previous-release": "previous_releases",
}
"""Keywords of the options that are repeated on the command line; in Python each is one plural keyword."""


def python_wording(text: str) -> str:
    """Return a sentence with command-line options rewritten as Python keywords; whole commands are unchanged.

    >>> python_wording("Give --output PATH, or --overwrite; --model mondrian, or --hierarchy city=FILE.")
    "Give output=PATH, or overwrite=…; model='mondrian', or hierarchies={'city': FILE}."
    >>> python_wording("discreet init ADDRESS --table NAME writes one; discreet publish takes --k.")
    'discreet init ADDRESS --table NAME writes one; discreet publish takes k=….'
    """
    return _OPTION.sub(_python_keyword, text)


def _python_keyword(option: re.Match[str]) -> str:
    if option["command"]:
        return option["command"]
    if option["named"]:
        return f"{option['named']}='{option['value']}'"
    word = _KEYWORDS.get(option["name"], option["name"].replace("-", "_"))
    value = option["metavar"] or "…"
    return f"{word}={{'{option['key']}': {value}}}" if option["key"] else f"{word}={value}"


class DiscreetError(Exception):
    """Base class of the five kinds of error.

    ``message`` states the fact (with file, column, line and value where known), ``allowed`` the accepted
    values, and ``advice`` the next step.
    """

    kind: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 70

    def __init__(self, message: str, *, allowed: str | None = None, advice: str | None = None) -> None:
        self.message = redact_secrets(message)
        super().__init__(self.message)
        self.allowed = allowed
        self.advice = advice

    def __str__(self) -> str:
        """Return the full message in Python's wording; the command line prints ``as_typed`` instead."""
        return self._sentences(python_wording)

    @property
    def as_typed(self) -> str:
        """Full message in the wording of the command line."""
        return self._sentences(str)

    def _sentences(self, in_words: Callable[[str], str]) -> str:
        parts = [self.message if self.message.endswith((".", "!", "?")) else f"{self.message}."]
        if self.allowed:
            parts.append(f"Allowed: {in_words(self.allowed)}.")
        if self.advice:
            parts.append(in_words(self.advice))
        return " ".join(parts)

    def as_json(self) -> Mapping[str, Mapping[str, str | None]]:
        """Return the document that ``--json`` prints for this error."""
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
    """No solution in the search space satisfies the request."""

    kind = "no-solution"
    exit_status = 3


class LimitReached(DiscreetError):
    """A limit on memory, time, disk space or size was reached."""

    kind = "limit-reached"
    exit_status = 4


class InternalError(DiscreetError):
    """An internal error: a bug in discreet."""

    kind = "internal"
    exit_status = 70
