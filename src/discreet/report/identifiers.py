"""What became of identifiers and of shifted dates, in words: the way by its own title, and never a secret."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.model.identifiers.known_ways import known_ways
from discreet.release.manifest import ManifestAttribute
from discreet.report.markup import Numbering
from discreet.report.words import Words

IDENTIFIER = "identifier"


def shown_instead(attribute: ManifestAttribute, words: Words) -> str:
    """What stands in the place of a published identifier; people are counted by the subject's."""
    unknown = words("a form of it that this version does not know")
    shown = unknown if attribute.way is None else _way(attribute, words)[0]
    return words("{form}; people are counted by it", form=shown) if attribute.subject else shown


def shifted(attribute: ManifestAttribute, words: Words) -> str:
    """How far dates were moved at most; nothing where they were not."""
    shift = attribute.shift
    return "" if shift is None else words(", dates moved by up to {days} days", days=shift["days"])


def treated(attributes: Iterable[ManifestAttribute], numbering: Numbering) -> str:
    """The table of identifiers and of shifted dates in the log; nothing where there is neither."""
    words = numbering.words
    rows = [row for attribute in attributes for row in _rows(attribute, words)]
    if not rows:
        return ""
    return numbering.table(
        words("Identifiers and dates"),
        (words("column"), words("what was done"), words("options"), words("rows of one person")),
        rows,
        note=words(
            "The keys, the lists and the numbers of days are the publisher's secret; neither the manifest "
            "nor this report says where they lie."
        ),
    )


def _rows(attribute: ManifestAttribute, words: Words) -> Iterable[tuple[str, str, str, str]]:
    name = attribute.name
    if attribute.role == IDENTIFIER and not attribute.published:
        yield (name, words("left out"), "–", "–")
    elif attribute.way is not None:
        title, joins = _way(attribute, words)
        options = [f"{name} = {value}" for name, value in attribute.way.items() if name != "way"]
        yield (name, words("replaced by {form}", form=title), ", ".join(options) or "–", joins)
    if attribute.shift is not None and attribute.published:
        yield (
            name,
            words("each person's dates moved by one secret number of days, earlier or later"),
            words("1 to {days} days", days=attribute.shift["days"]),
            words("days between them are kept"),
        )


def _way(attribute: ManifestAttribute, words: Words) -> tuple[str, str]:
    """The title of a way, and whether rows can be linked by it; of one that is not installed, its name."""
    assert attribute.way is not None
    name = str(attribute.way["way"])
    way = known_ways().get(name)
    if way is None:
        return words("'{name}', a way of another package", name=name), "–"
    linked = way.joins_rows and way.keeps_apart
    return (
        words.told(way.title),
        words("can be linked by it") if linked else words("not linked by it alone"),
    )
