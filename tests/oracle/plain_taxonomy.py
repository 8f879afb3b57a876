"""Oracle: every recoding of each model of the taxonomy, for tables of a few rows.

A cell is its text and the leaf codes that it represents; an image is the list of published cells of each row.
Local models are enumerated by their classes, each of which shows the smallest cells that the model allows for
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

from discreet.model.class_recoding import RecodingModel
from discreet.model.hierarchy import GeneralizationHierarchy
from tests.oracle.random_tables import plain_ranks

Cell = tuple[str | None, frozenset[int]]
Vector = tuple[int, ...]
Image = tuple[tuple[Cell, ...], ...]
Hierarchies = Sequence[GeneralizationHierarchy]


def value(h: GeneralizationHierarchy, code: int, level: int) -> Cell:
    """Return the published value of a leaf at a level."""
    codes = range(len(h.leaves) + 1)
    if level == h.height:
        return h.labels[-1][0], frozenset(codes)
    if code == len(h.leaves):
        return None, frozenset({code})
    place = h.ancestors[level][code]
    return h.labels[level][place], frozenset(c for c in codes[:-1] if h.ancestors[level][c] == place)


def above(h: GeneralizationHierarchy, code: int) -> list[Cell]:
    """Return the possible published values of a leaf, the lowest first."""
    return list(dict.fromkeys(value(h, code, level) for level in range(h.height + 1)))


def lowest(h: GeneralizationHierarchy, codes: set[int], levels: Sequence[int] | None = None) -> Cell:
    """Return the lowest value above all of these leaves."""
    if codes == {len(h.leaves)}:
        return None, frozenset(codes)
    cells = [value(h, min(codes), level) for level in (levels or range(h.height + 1))]
    return next(cell for cell in cells if codes <= cell[1])


def ranks(h: GeneralizationHierarchy) -> dict[int, int]:
    """Return the position of each code in order: numeric if all leaves are, else the publisher's.

    NULL is last.
    """
    codes = sorted(range(len(h.leaves)), key=plain_ranks(h).__getitem__)
    if all(leaf.isdecimal() for leaf in h.leaves):
        codes.sort(key=lambda code: int(h.leaves[code]))
    return {code: place for place, code in enumerate([*codes, len(h.leaves)])}


def hull(h: GeneralizationHierarchy, codes: set[int]) -> Cell:
    """Return the range from the first to the last of these leaves; the top if NULL is among several."""
    null, rank = len(h.leaves), ranks(h)
    if codes == {null}:
        return None, frozenset(codes)
    if null in codes:
        return h.labels[-1][0], frozenset(rank)
    places = [rank[c] for c in codes]
    inside = sorted((c for c in rank if min(places) <= rank[c] <= max(places)), key=rank.__getitem__)
    return " … ".join(h.leaves[c] for c in dict.fromkeys((inside[0], inside[-1]))), frozenset(inside)


def images(model: RecodingModel, hierarchies: Hierarchies, rows: Sequence[Vector]) -> Iterator[Image]:
    """Return every recoding of the rows under a model."""
    return _ENUMERATORS[model](hierarchies, rows)


def _of_functions(rows: Sequence[Vector], functions: Sequence[Sequence[dict[int, Cell]]]) -> Iterator[Image]:
    for chosen in product(*functions):
        yield tuple(tuple(f[code] for f, code in zip(chosen, row, strict=True)) for row in rows)


def _single(
    keeps: Callable[[GeneralizationHierarchy, dict[int, Cell]], bool],
) -> Callable[[Hierarchies, Sequence[Vector]], Iterator[Image]]:
    """Enumerate single-dimension models: one function per attribute, of those that ``keeps`` accepts."""

    def found(hierarchies: Hierarchies, rows: Sequence[Vector]) -> Iterator[Image]:
        functions = []
        for i, h in enumerate(hierarchies):
            codes = sorted({row[i] for row in rows})
            every = (dict(zip(codes, c, strict=True)) for c in product(*(above(h, code) for code in codes)))
            functions.append([f for f in every if keeps(h, f)])
        return _of_functions(rows, functions)

    return found


def _at_one_of(
    levels: Callable[[int], set[int]],
) -> Callable[[GeneralizationHierarchy, dict[int, Cell]], bool]:
    return lambda h, f: any(
        all(cell == value(h, code, level) for code, cell in f.items()) for level in levels(h.height)
    )


def _keeps_subtrees(h: GeneralizationHierarchy, f: dict[int, Cell]) -> bool:
    del h
    return all(f[code] == cell for cell in f.values() for code in f if code in cell[1])


def _ordered_single(hierarchies: Hierarchies, rows: Sequence[Vector]) -> Iterator[Image]:
    functions = []
    for i, h in enumerate(hierarchies):
        codes = sorted({row[i] for row in rows}, key=ranks(h).__getitem__)
        functions.append(
            [
                {code: hull(h, set(part)) for part in parts for code in part}
                for cuts in product((False, True), repeat=max(len(codes) - 1, 0))
                for parts in [_cut(codes, cuts)]
            ]
        )
    return _of_functions(rows, functions)


def _cut(codes: Sequence[int], cuts: Sequence[bool]) -> list[Sequence[int]]:
    ends = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(codes)]
    return [codes[a:b] for a, b in pairwise(ends)]


def _multi(disjoint: bool) -> Callable[[Hierarchies, Sequence[Vector]], Iterator[Image]]:
    """Enumerate the hierarchy-based multi-dimension models: any vector above each row type."""

    def found(hierarchies: Hierarchies, rows: Sequence[Vector]) -> Iterator[Image]:
        types = sorted(set(rows))
        choices = [list(product(*(above(h, c) for h, c in zip(hierarchies, t, strict=True)))) for t in types]
        for chosen in product(*choices):
            if not disjoint or _are_disjoint([[cell[1] for cell in v] for v in set(chosen)]):
                shown = dict(zip(types, chosen, strict=True))
                yield tuple(shown[row] for row in rows)

    return found


def _are_disjoint(boxes: Sequence[Sequence[frozenset[int]]]) -> bool:
    pairs = ((a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    return all(any(not s & t for s, t in zip(a, b, strict=True)) for a, b in pairs)


def _by_classes(
    cell: Callable[[GeneralizationHierarchy, set[int]], Cell], *, local: bool, disjoint: bool = False
) -> Callable[[Hierarchies, Sequence[Vector]], Iterator[Image]]:
    """Enumerate partitions of the rows, or row types, into classes that show ``cell`` of their leaves."""

    def found(hierarchies: Hierarchies, rows: Sequence[Vector]) -> Iterator[Image]:
        items = range(len(rows)) if local else range(len(set(rows)))
        types = sorted(set(rows))
        vector_of = list(rows) if local else types
        item_of = list(items) if local else [types.index(row) for row in rows]
        for parts in partitions(list(items)):
            sets = [[{vector_of[m][i] for m in part} for i in range(len(hierarchies))] for part in parts]
            if disjoint and not _are_disjoint(
                [[hull_places(h, s) for h, s in zip(hierarchies, part, strict=True)] for part in sets]
            ):
                continue
            shown = [tuple(cell(h, s) for h, s in zip(hierarchies, part, strict=True)) for part in sets]
            part_of = {m: p for p, part in enumerate(parts) for m in part}
            yield tuple(shown[part_of[item]] for item in item_of)

    return found


def hull_places(h: GeneralizationHierarchy, codes: set[int]) -> frozenset[int]:
    """Return the positions from the first to the last of these leaves."""
    places = [ranks(h)[c] for c in codes]
    return frozenset(range(min(places), max(places) + 1))


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """Return every partition of a list into non-empty parts."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for i, part in enumerate(rest):
            yield [*rest[:i], [items[0], *part], *rest[i + 1 :]]


def _kept_or_starred(h: GeneralizationHierarchy, codes: set[int]) -> Cell:
    return lowest(h, codes, sorted({0, h.height}))


_ENUMERATORS: dict[RecodingModel, Callable[[Hierarchies, Sequence[Vector]], Iterator[Image]]] = {
    RecodingModel.FULL_DOMAIN: _single(_at_one_of(lambda height: set(range(height + 1)))),
    RecodingModel.ATTRIBUTE_SUPPRESSION: _single(_at_one_of(lambda height: {0, height})),
    RecodingModel.FULL_SUBTREE: _single(_keeps_subtrees),
    RecodingModel.UNRESTRICTED_SINGLE: _single(lambda _h, _f: True),
    RecodingModel.ORDERED_SINGLE: _ordered_single,
    RecodingModel.FULL_SUBGRAPH: _multi(disjoint=True),
    RecodingModel.UNRESTRICTED_MULTI: _multi(disjoint=False),
    RecodingModel.ORDERED_MULTI: _by_classes(hull, local=False, disjoint=True),
    RecodingModel.RELAXED_MULTI: _by_classes(hull, local=True),
    RecodingModel.CELL_SUPPRESSION: _by_classes(_kept_or_starred, local=True),
    RecodingModel.CELL_GENERALIZATION: _by_classes(lowest, local=True),
}


def lost(
    hierarchies: Hierarchies,
    image: Image,
    values: Sequence[int | None],
    k: int,
    l: int | None,
    limit: int,
    share: float = 1.0,
) -> float | None:
    """Compute the loss of a recoding; None if more than ``limit`` rows are in classes below k or l.

    ``values`` are the rows' sensitive values; no value may have more than ``share`` of a class. A suppressed
    row loses everything.
    """
    sizes = Counter(image)
    found = {shown: {v for s, v in zip(image, values, strict=True) if s == shown} - {None} for shown in sizes}
    most: Counter[tuple[Cell, ...]] = Counter()
    for (shown, v), n in Counter(zip(image, values, strict=True)).items():
        most[shown] = max(most[shown], n if v is not None else 0)
    fails = {
        shown
        for shown, n in sizes.items()
        if n < k or (l is not None and len(found[shown]) < l) or most[shown] > share * n
    }
    if sum(sizes[shown] for shown in fails) > limit:
        return None
    total = 0.0
    for shown in image:
        for h, (_, codes) in zip(hierarchies, shown, strict=True):
            leaves = len(h.leaves)
            represented = leaves if shown in fails else max(len(codes - {leaves}), 1)
            total += (represented - 1) / leaves
    return total


def least_loss(
    model: RecodingModel,
    hierarchies: Hierarchies,
    rows: Sequence[Vector],
    values: Sequence[int | None],
    k: int,
    l: int | None = None,
    limit: int = 0,
    share: float = 1.0,
) -> float | None:
    """Return the least loss of any recoding of a model; None if it has none."""
    every = (
        lost(hierarchies, image, values, k, l, limit, share) for image in images(model, hierarchies, rows)
    )
    return min((found for found in every if found is not None), default=None)
