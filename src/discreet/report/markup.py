"""HTML text, piece by piece: everything that comes from a release is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from discreet.report.words import Words


@dataclass
class Numbering:
    """The numbers of figures and tables in one page, from 1, and the words of its language."""

    words: Words
    figures: int = 0
    tables: int = 0

    def figure(self, picture: str, caption: str) -> str:
        """A numbered figure; ``picture`` is SVG text."""
        self.figures += 1
        number = escape(self.words("Figure {number}.", number=self.figures))
        title = f"<b>{number}</b> {escape(caption)}"
        return f'<figure class="plot">{picture}<figcaption>{title}</figcaption></figure>'

    def table(
        self,
        caption: str,
        heads: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        numbers: Sequence[int] = (),
        note: str = "",
    ) -> str:
        """A numbered table; ``numbers`` are the places of columns that stand to the right."""
        self.tables += 1
        right = [' class="number"' if i in numbers else "" for i in range(len(heads))]
        head = "".join(
            f'<th scope="col"{side}>{escape(text)}</th>' for text, side in zip(heads, right, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<th scope="row"{side}>{escape(cell)}</th>' if i == 0 else f"<td{side}>{escape(cell)}</td>"
                for i, (cell, side) in enumerate(zip(row, right, strict=True))
            )
            + "</tr>"
            for row in rows
        )
        number = escape(self.words("Table {number}.", number=self.tables))
        title = f"<caption><b>{number}</b> {escape(caption)}</caption>"
        foot = f'<p class="note">{escape(note)}</p>' if note else ""
        return (
            f'<div class="table"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
            f"{foot}</div>"
        )


def section(number: int | str, title: str, *parts: str) -> str:
    """A numbered section, or one with a letter."""
    name = f"section-{number}"
    return (
        f'<section aria-labelledby="{name}"><h2 id="{name}"><span class="ordinal">{number}</span>'
        f"{escape(title)}</h2>{''.join(parts)}</section>"
    )


def heading(text: str) -> str:
    """A heading within a section."""
    return f"<h3>{escape(text)}</h3>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph."""
    return f"<p{_kind(kind)}>{escape(text)}</p>"


def listing(text: str) -> str:
    """A text of many lines, as it is."""
    return f"<pre>{escape(text)}</pre>"


def items(texts: Iterable[str], kind: str = "") -> str:
    """A list of sentences; nothing where there is none."""
    found = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul{_kind(kind)}>{found}</ul>" if found else ""


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names with what they are."""
    found = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{found}</dl>'


def written(label: str, text: str | None, lines: int = 3) -> str:
    """The publisher's own words, or lines to fill in by hand."""
    if text:
        body = "".join(f"<p>{escape(part)}</p>" for part in text.split("\n") if part.strip())
    else:
        body = '<span class="rule"></span>' * lines
    blank = "" if text else " blank"
    return f'<div class="written{blank}"><h3>{escape(label)}</h3>{body}</div>'


def signatures(lines: Iterable[str]) -> str:
    """Lines to sign on, each with what it is for."""
    found = "".join(f"<div><span>{escape(line)}</span></div>" for line in lines)
    return f'<div class="signatures">{found}</div>'


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
