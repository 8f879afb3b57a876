"""Changed releases and forged manifests, which an audit must evaluate as plain Python does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

FURTHER_STARS_ARE_JUDGED = False
"""Whether an audit evaluates rows of stars, beyond those that were starred, by every criterion.

It evaluates them only by k and l (``audit.recount``), so a release with starred rows gets no further one.
"""
Rows = list[dict[str, str | None]]
Manifest = dict[str, Any]


@dataclass(frozen=True)
class Columns:
    """The columns of a release: all, the quasi-identifiers, the sensitive ones.

    ``starred`` is whether its suppressed rows are starred.
    """

    every: tuple[str, ...]
    keys: tuple[str, ...]
    sensitive: tuple[str, ...]
    starred: bool


RowMutation = Callable[[Random, Rows, Columns], object]


def _plain(rows: Rows) -> Rows:
    """Return the rows with a cell that is not a star; all if there is none."""
    return [row for row in rows if set(row.values()) != {"*"}] or rows


def _cell(random: Random, rows: Rows, columns: Columns) -> None:
    """Replace a quasi-identifier's cell by another row's."""
    name = random.choice(columns.keys)
    random.choice(_plain(rows))[name] = random.choice(rows)[name]


def _unique(random: Random, rows: Rows, columns: Columns) -> None:
    """Make a row unique."""
    random.choice(_plain(rows))[random.choice(columns.keys)] = "nobody else"


def _missing(random: Random, rows: Rows, columns: Columns) -> None:
    random.choice(_plain(rows))[random.choice(columns.sensitive or columns.keys)] = None


def _swapped(random: Random, rows: Rows, columns: Columns) -> None:
    one, other = random.choice(_plain(rows)), random.choice(_plain(rows))
    for name in columns.sensitive[:1]:
        one[name], other[name] = other[name], one[name]


def _alike(random: Random, rows: Rows, columns: Columns) -> None:
    """Give a whole class one sensitive value."""
    shown = random.choice(_plain(rows))
    for row in _plain(rows):
        if columns.sensitive and all(row[name] == shown[name] for name in columns.keys):
            row[columns.sensitive[0]] = shown[columns.sensitive[0]]


def _starred(random: Random, rows: Rows, columns: Columns) -> None:
    if FURTHER_STARS_ARE_JUDGED or not columns.starred:
        random.choice(rows).update(dict.fromkeys(columns.every, "*"))


def _higher_k(random: Random, manifest: Manifest) -> None:
    manifest["requirement"]["k"] = (manifest["requirement"]["k"] or 1) + random.choice((1, 2))


def _higher_l(random: Random, manifest: Manifest) -> None:
    if any(entry["role"] == "sensitive" and entry["published"] for entry in manifest["attributes"]):
        manifest["requirement"]["l"] = random.choice((2, 3))


def _other_role(random: Random, manifest: Manifest) -> None:
    keys = [entry for entry in manifest["attributes"] if entry["role"] == "quasi-identifier"]
    if len(keys) > 1:
        random.choice(keys)["role"] = "insensitive"


def _one_criterion_less(random: Random, manifest: Manifest) -> None:
    others = [name for name in manifest["requirement"] if name not in ("k", "l")]
    if others:
        del manifest["requirement"][random.choice(others)]


ROWS: Mapping[str, RowMutation] = {
    "unchanged": lambda *_: None,  # for a forged manifest
    "cell": _cell,
    "alone": _unique,
    "missing": _missing,
    "dropped": lambda random, rows, _: rows.pop(random.randrange(len(rows))),
    "doubled": lambda random, rows, _: rows.append(dict(random.choice(_plain(rows)))),
    "swapped": _swapped,
    "alike": _alike,
    "starred": _starred,
}
FORGERIES: Mapping[str, Callable[[Random, Manifest], object]] = {
    "honest": lambda *_: None,  # or with the digest of the changed file
    "lower-k": lambda _, manifest: manifest["requirement"].update(k=1),
    "higher-k": _higher_k,
    "higher-l": _higher_l,
    "other-role": _other_role,
    "criterion-less": _one_criterion_less,
}


def features_of_mutations() -> list[str]:
    """List every change of rows and every forgery of a manifest."""
    return [f"mutation {name}" for name in ROWS] + [f"forgery {name}" for name in FORGERIES]


def changed(random: Random, names: Sequence[str], rows: Rows, columns: Columns) -> Rows:
    """Return changed rows without changing the given ones."""
    found = [dict(row) for row in rows]
    for name in names:
        if found:
            ROWS[name](random, found, columns)
    return found


def forged(random: Random, names: Sequence[str], manifest: Manifest) -> Manifest:
    """Return a forged manifest without changing the given one."""
    found = deepcopy(manifest)
    for name in names:
        FORGERIES[name](random, found)
    return found


def signed(manifest: Manifest, path: Path, rows: int) -> Manifest:
    """Return the manifest with the digest and the number of rows of a file."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return manifest | {"data": manifest["data"] | {"sha256": digest, "rows": rows}}
