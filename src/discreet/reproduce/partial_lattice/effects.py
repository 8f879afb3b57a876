"""What a partial lattice makes of the paper's requests: its table of effects, and the same by percentage.

The paper's table prints how many of 28 requests a partial lattice of 5 % answers as the full one does. For
exact answers and where the height is what counts, the paper takes another node of the same height for the
same solution; for a relaxed height it does not. With that reading all but three of its cells follow.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.negotiation.comparison import Effect, RequestComparison, tally
from discreet.reproduce.comparison import Comparison, Judge
from discreet.reproduce.negotiation import paper
from discreet.reproduce.negotiation.study import Study
from discreet.reproduce.printed import printed
from discreet.reproduce.section import Cell, ComparedTable, Section

_FIGURES = printed("partial_lattice")
_PARTS = (None, "max_suppressed", "height", "k")
_PART_NAMES = ("exact", "max_suppressed", "height", "k")
_EFFECTS = ("same", "other", "failed", "neither")
_EFFECT_NAMES = {
    "same": "same solution, as the paper counts",
    "other": "other solution",
    "failed": "failed",
    "neither": "no solution in both",
}


def _cells(comparisons: list[RequestComparison], *, runtime: bool) -> dict[str, tuple[str, ...]]:
    """The paper's table: by effect, one text per part."""
    counts = [tally(comparisons, part, runtime=runtime) for part in _PARTS]
    found: dict[str, list[str]] = {effect: [] for effect in _EFFECTS}
    for name, count in zip(_PART_NAMES, counts, strict=True):
        by_height = count[Effect.SAME_HEIGHT]
        same = count[Effect.SAME] + (0 if name == "height" else by_height)
        other = count[Effect.OTHER] + (by_height if name == "height" else 0)
        found["same"].append(str(same))
        found["other"].append(f"{other}+{count[Effect.RELAXED]}" if name == "exact" else str(other))
        found["failed"].append(str(count[Effect.FAILED]))
        found["neither"].append(str(count[Effect.NEITHER]))
    return {effect: tuple(texts) for effect, texts in found.items()}


def stricter(comparisons: list[RequestComparison], *, runtime: bool) -> dict[str, tuple[str, ...]]:
    """By part, how many of the same solutions suppress as few rows, and how many are the same node."""
    few, nodes = [], []
    for part, name in zip(_PARTS, _PART_NAMES, strict=True):
        same = tally(comparisons, part, runtime=runtime)[Effect.SAME]
        nodes.append(str(same))
        # Where the height is relaxed the paper takes no other node for the same.
        others = 0 if name == "height" else sum(_as_few(c, part, runtime=runtime) for c in comparisons)
        few.append(str(same + others))
    return {"of these with as few suppressed rows": tuple(few), "of these the same node": tuple(nodes)}


def _as_few(comparison: RequestComparison, part: str | None, *, runtime: bool) -> bool:
    """Whether the answer is another node of the same height with as few suppressed rows."""
    if comparison.effect(part, runtime=runtime) is not Effect.SAME_HEIGHT:
        return False
    full, other = comparison.full, comparison.runtime if runtime else comparison.partial
    pair = [n.exact if part is None else n.relaxation(part) for n in (full, other)]
    return len({answer.suppressed for answer in pair if answer is not None}) == 1


def effects(study: Study, judge: Judge, comparisons: list[RequestComparison]) -> Section:
    """Judged where every size is there: the printed figures are sums over them."""
    whole = study.sizes == paper.SIZES
    rows: list[tuple[Cell, ...]] = []
    for kind, runtime in (("partial", False), ("runtime", True)):
        ours = _cells(comparisons, runtime=runtime)
        for effect in _EFFECTS:
            told = _FIGURES["effect"][kind][effect]
            cells = (
                judge.compare("effect", f"{kind}, {effect}, {part}", figure, value if whole else None)
                for part, figure, value in zip(_PART_NAMES, ours[effect], told, strict=True)
            )
            label = "partial" if kind == "partial" else "with v_max at run time"
            rows.append((label, _EFFECT_NAMES[effect], *cells))
            if effect == "same":
                for reading, numbers in stricter(comparisons, runtime=runtime).items():
                    named = zip(_PART_NAMES, numbers, strict=True)
                    cells = (Comparison(f"{kind}, {reading}, {part}", number) for part, number in named)
                    rows.append((label, reading, *cells))
    columns = ("", "against the full lattice", "exact", "max_suppressed", "height", "k")
    note = "1+3: one other exact answer, and three relaxations where the full lattice answers exactly."
    table = ComparedTable("effect", f"{len(comparisons)} requests for k", columns, tuple(rows), note)
    text = (
        f"A partial lattice of {_FIGURES['percent']} % by Λ, alone and with the histogram of the request's "
        "own node counted at run time. The paper's numbers come out where another node of the same height "
        "counts as the same solution, except where the height is relaxed; how many suppress as few rows, and "
        "how many are the very same node, stands below each."
    )
    return Section("Partial against full", text, (table,))


def by_percent(found: Mapping[int, list[RequestComparison]]) -> Section:
    """The same solutions at other percentages."""
    rows: list[tuple[Cell, ...]] = []
    for percent, comparisons in found.items():
        for label, runtime in (("partial", False), ("with v_max at run time", True)):
            counted = _cells(comparisons, runtime=runtime)["same"]
            nodes = stricter(comparisons, runtime=runtime)["of these the same node"]
            pairs = zip(counted, nodes, strict=True)
            told = (same if same == node else f"{same} ({node})" for same, node in pairs)
            rows.append((f"{percent} %", label, *told))
    columns = ("", "", "exact", "max_suppressed", "height", "k")
    note = "In brackets those that are the same node, where these are fewer."
    title = "Same solutions, as the paper counts"
    table = ComparedTable("percents", title, columns, tuple(rows), note)
    text = "The paper: 1, 5 and 10 % make no difference but for the height, which is slightly better."
    return Section("One, five and ten percent", text, (table,))
