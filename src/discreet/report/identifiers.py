"""What became of identifiers and of shifted dates, in words: the way by its own title, and never a secret."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.model.identifiers.known_ways import known_ways
from discreet.release.manifest import ManifestAttribute
from discreet.report.markup import Numbering

IDENTIFIER = "identifier"


def shown_instead(attribute: ManifestAttribute) -> str:
    """What stands in the place of a published identifier; people are counted by the subject's."""
    shown = "a form of it that this version does not know" if attribute.way is None else _way(attribute)[0]
    return f"{shown}; people are counted by it" if attribute.subject else shown


def shifted(attribute: ManifestAttribute) -> str:
    """How far dates were moved at most; nothing where they were not."""
    return "" if attribute.shift is None else f", dates moved by up to {attribute.shift['days']} days"


def treated(attributes: Iterable[ManifestAttribute], numbering: Numbering) -> str:
    """The table of identifiers and of shifted dates in the log; nothing where there is neither."""
    rows = [row for attribute in attributes for row in _rows(attribute)]
    if not rows:
        return ""
    return numbering.table(
        "Identifiers and dates",
        ("column", "what was done", "options", "rows of one person"),
        rows,
        note="The keys, the lists and the numbers of days are the publisher's secret; neither the manifest "
        "nor this report says where they lie.",
    )


def _rows(attribute: ManifestAttribute) -> Iterable[tuple[str, str, str, str]]:
    if attribute.role == IDENTIFIER and not attribute.published:
        yield (attribute.name, "left out", "–", "–")
    elif attribute.way is not None:
        title, joins = _way(attribute)
        options = [f"{name} = {value}" for name, value in attribute.way.items() if name != "way"]
        yield (attribute.name, f"replaced by {title}", ", ".join(options) or "–", joins)
    if attribute.shift is not None and attribute.published:
        done = "each person's dates moved by one secret number of days, earlier or later"
        yield (attribute.name, done, f"1 to {attribute.shift['days']} days", "days between them are kept")


def _way(attribute: ManifestAttribute) -> tuple[str, str]:
    """The title of a way, and whether rows can be linked by it; of one that is not installed, its name."""
    assert attribute.way is not None
    name = str(attribute.way["way"])
    way = known_ways().get(name)
    if way is None:
        return f"'{name}', a way of another package", "–"
    return (
        way.title,
        "can be linked by it" if way.joins_rows and way.keeps_apart else "not linked by it alone",
    )
