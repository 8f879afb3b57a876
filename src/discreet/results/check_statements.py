"""The statements that check a release without this program, as a result that prints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from discreet.model.check_statement import CheckStatement
from discreet.printing.document import Document, Line
from discreet.printing.printed import Printed

_LEFT_OUT = "Its query names values of the release; print it by discreet audit --sql."


@dataclass(frozen=True, repr=False)
class CheckStatements(Printed):
    """Statements, and who runs them: ``reader`` is the name of the dialect."""

    statements: tuple[CheckStatement, ...]
    reader: str

    @property
    def script(self) -> str:
        """SQL to be run as it stands: a comment and a query for each guarantee."""
        parts = [f"-- For {self.reader}. Every query must find failing = 0.\n"]
        for one in self.statements:
            told = "\n".join(f"-- {line}" for line in one.guarantee.splitlines())
            parts.append(f"{told}\n" if one.sql is None else f"{told}\n{one.sql};\n")
        return "\n".join(parts)

    @property
    def without_values(self) -> CheckStatements:
        """The same, with a comment in place of each query in which cells of the release stand."""
        told = (
            replace(one, guarantee=f"{one.guarantee}\n{_LEFT_OUT}", sql=None) if one.holds_values else one
            for one in self.statements
        )
        return replace(self, statements=tuple(told))

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet audit --sql --json``."""
        return {
            "for": self.reader,
            "statements": [{"guarantee": one.guarantee, "sql": one.sql} for one in self.statements],
        }

    def document(self) -> Document:
        """The script, line by line: a wrapped line would break a literal."""
        return tuple(Line(line, verbatim=True) for line in self.script.split("\n"))
