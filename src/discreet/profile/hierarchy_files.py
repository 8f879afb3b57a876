"""Which hierarchy files of a folder belong to which columns: by their names, and by the values in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InputError
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.hierarchy.messages import listed, shown
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.profile.columns import ColumnProfile

ValuesOf = Callable[[Sequence[str]], Mapping[str, Sequence[str]]]
"""The distinct values of columns, by name."""

_SUFFIX = ".csv"


@dataclass(frozen=True)
class FileMatch:
    """What became of one file: the columns that take it, and why, or why none does."""

    path: Path
    columns: tuple[str, ...]
    reason: str
    height: int = 0

    def __str__(self) -> str:
        taken = (
            f"taken for {', '.join(shown(name) for name in self.columns)}, "
            if self.columns
            else "not taken: "
        )
        return f"{self.path.name}: {taken}{self.reason}"


def match_files(
    folder: Path, columns: Sequence[ColumnProfile], others: Mapping[str, str], values_of: ValuesOf
) -> tuple[FileMatch, ...]:
    """What becomes of each ``.csv`` file of a folder, by name.

    ``columns`` are the quasi-identifiers, ``others`` the roles of the other columns. A file is taken for a
    column that it is named like (``age.csv``, ``adult_hierarchy_age.csv``) where every value of the column is
    a leaf; and one that is named like none for a column of words of which it alone has every value.
    ``InputError`` where the folder cannot be read or has no such file.
    """
    read, found = {}, {}
    for path in _files(folder):
        try:
            read[path] = FileHierarchy(path).build(path.stem, ())
        except InputError as error:
            found[path] = FileMatch(path, (), error.message)
    named = {path: [c.name for c in columns if _is_named(path.stem, c.name)] for path in read}
    free = [path for path in read if not named[path]]
    wanted = [
        c for c in columns if any(c.name in names for names in named.values()) or (free and not c.numbers)
    ]
    most = max((len(hierarchy.leaves) for hierarchy in read.values()), default=0)
    values = values_of([column.name for column in wanted if column.distinct <= most])
    by_name = {path: _by_name(path, read[path], named[path], values) for path in read if named[path]}
    settled = {name for match in by_name.values() for name in match.columns}
    left = {
        c.name: values[c.name] for c in wanted if c.name in values and c.name not in settled and not c.numbers
    }
    owners = {name: [path for path in free if _missing(read[path], left[name]) == []] for name in left}
    for path in free:
        found[path] = _by_values(path, read[path], owners, others)
    found |= by_name
    return tuple(_once(found[path], found) for path in sorted(found))


def _files(folder: Path) -> list[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == _SUFFIX)
    except OSError as error:
        raise InputError(
            f"the folder of hierarchies {folder} cannot be read: {error.strerror}",
            allowed="a folder with hierarchies as .csv files",
        ) from None
    if not paths:
        raise InputError(
            f"the folder of hierarchies {folder} holds no {_SUFFIX} file",
            allowed="files with one line per value: leaf;level 1;…;*",
        )
    return paths


def _is_named(stem: str, column: str) -> bool:
    """Whether the column's name is the first or the last words of the file's."""
    words, name = re.findall(r"\w+", stem.casefold().replace("_", " ")), _letters(column)
    heads = ("".join(words[:end]) for end in range(1, len(words) + 1))
    tails = ("".join(words[start:]) for start in range(len(words)))
    return bool(name) and name in {*heads, *tails}


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _missing(hierarchy: GeneralizationHierarchy, values: Sequence[str]) -> list[str]:
    return [value for value in values if value not in hierarchy.code_of_leaf]


def _by_name(
    path: Path, hierarchy: GeneralizationHierarchy, names: Sequence[str], values: Mapping[str, Sequence[str]]
) -> FileMatch:
    """A file that is named like columns."""
    taken = tuple(name for name in names if name in values and not _missing(hierarchy, values[name]))
    if taken:
        return FileMatch(path, taken, "by its name", hierarchy.height)
    name = names[0]
    if name not in values:
        return FileMatch(path, (), f"{shown(name)} has more values than it has leaves")
    missing = _missing(hierarchy, values[name])
    told = f"{len(missing):,} of the {len(values[name]):,} values of {shown(name)} have no leaf in it"
    return FileMatch(path, (), f"{told}: {listed(sorted(missing), 3)}")


def _by_values(
    path: Path,
    hierarchy: GeneralizationHierarchy,
    owners: Mapping[str, Sequence[Path]],
    others: Mapping[str, str],
) -> FileMatch:
    """A file that is named like no quasi-identifier."""
    taken = tuple(name for name, paths in owners.items() if list(paths) == [path])
    if taken:
        return FileMatch(path, taken, "by its values", hierarchy.height)
    shared = [name for name, paths in owners.items() if path in paths]
    if shared:
        rivals = ", ".join(other.name for other in owners[shared[0]] if other != path)
        return FileMatch(path, (), f"{rivals} has every value of {shown(shared[0])}, too")
    for name, role in others.items():
        if _is_named(path.stem, name):
            return FileMatch(path, (), f"{shown(name)} is proposed as {role}, which is not generalized")
    return FileMatch(path, (), "no quasi-identifier has its name, or only values that are in it")


def _once(match: FileMatch, found: Mapping[Path, FileMatch]) -> FileMatch:
    """A match without the columns that a file before it takes."""
    earlier = {name for path in found if path < match.path for name in found[path].columns}
    left = tuple(name for name in match.columns if name not in earlier)
    if match.columns and not left:
        return FileMatch(match.path, (), f"another file is taken for {shown(match.columns[0])}")
    return FileMatch(match.path, left, match.reason, match.height)
