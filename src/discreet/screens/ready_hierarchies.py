"""Hierarchies that are there already: files of somebody's that fit columns, and the everyday ones that do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.hierarchy.builtin.hierarchy import BUILTINS
from discreet.profile.hierarchies import fitted_builtin, is_named_like
from discreet.profile.hierarchy_files import FileMatch, match_files
from discreet.profile.names import name_parts
from discreet.screens.hierarchy_builders import build_hierarchy, typed_values
from discreet.verbs.table_study import TableStudy

__all__ = ["FileMatch", "Offer", "match_texts", "offers_for"]

_MOST_VALUES = 20_000


@dataclass(frozen=True)
class Offer:
    """An everyday hierarchy that fits a column: where it comes from, its builder's form, and an example.

    ``path`` is what the most frequent value becomes, level by level; ``is_named`` says that the column's name
    speaks for it, too.
    """

    name: str
    title: str
    source: str
    is_named: bool
    typed: dict[str, str | bool]
    path: tuple[str, ...]


def offers_for(name: str, study: TableStudy) -> tuple[Offer, ...]:
    """The everyday hierarchies that know nearly all values of a column, those of its name first.

    Plain numbers fit many codes by chance: of these only those are offered that the column's name speaks for.
    """
    values, counts = study.values(name) if name in study.names else ((), ())
    if not 1 < len(values) <= _MOST_VALUES:
        return ()
    found = []
    most = values[max(range(len(values)), key=lambda place: counts[place])]
    by_name = study.study.proposed[name].column.numbers
    for builtin in BUILTINS.values():
        named = is_named_like(name, builtin) or builtin.name in name_parts(name)
        if by_name and not named:
            continue
        proposal = fitted_builtin(name, builtin, values)
        if proposal is None or not isinstance(proposal.table, dict):
            continue
        built = build_hierarchy(name, proposal.table, values, counts, Path())
        path = tuple(built.path(built.code_of_leaf[most]))
        typed = typed_values(proposal.table)
        found.append(Offer(builtin.name, builtin.title, builtin.source, named, typed, path))
    return tuple(sorted(found, key=lambda offer: not offer.is_named))


def match_texts(
    files: Mapping[str, str], study: TableStudy, roles: Mapping[str, str], generalized: Sequence[str]
) -> tuple[FileMatch, ...]:
    """What becomes of some hierarchy files (texts by their names): the same as ``init`` makes of a folder.

    ``generalized`` are the quasi-identifiers, ``roles`` those of the other columns. ``InputError`` where none
    of the files is one.
    """
    known = [name for name in generalized if name in study.names]
    columns = [study.study.proposed[name].column for name in known]
    with TemporaryDirectory(prefix="discreet-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
        return match_files(Path(folder), columns, roles, lambda names: {n: study.values(n)[0] for n in names})
