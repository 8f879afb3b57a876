"""Fixtures that count tables of any format, and the plain count for comparison."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, HierarchySource
from discreet.model.table_spec import Attribute, AttributeRole, SourceSpec, TableSpec
from discreet.settings import Settings

Row = tuple[str | None, ...]
Build = Callable[..., TableSpec]


@dataclass(frozen=True)
class FirstLetter:
    """Hierarchy from a value to its first character to ``*``; values that begin with "?" are refused."""

    origin: str = "first letters"
    from_data: bool = False

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        del counts
        leaves = tuple(sorted(v for v in values if not v.startswith("?")))
        firsts = sorted({leaf[:1] for leaf in leaves})
        ancestors = (range(len(leaves)), [firsts.index(leaf[:1]) for leaf in leaves], [0] * len(leaves))
        return GeneralizationHierarchy(
            attribute,
            (leaves, tuple(firsts), (TOP,)),
            tuple(np.array(a, dtype=np.int64) for a in ancestors),
            self.origin,
        )


def table_spec(
    source: SourceSpec,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    hierarchy: HierarchySource | None = None,
    others: Sequence[str] = (),
) -> TableSpec:
    roles = [(name, AttributeRole.QUASI_IDENTIFIER) for name in quasi_identifiers]
    roles += [(name, AttributeRole.SENSITIVE) for name in sensitive]
    roles += [(name, AttributeRole.IDENTIFIER) for name in others]
    return TableSpec(
        source,
        tuple(
            Attribute(name, role, hierarchy if role is AttributeRole.QUASI_IDENTIFIER else None)
            for name, role in roles
        ),
    )


def csv_bytes(names: Sequence[str], rows: Sequence[Row], line_end: str = "\n") -> bytes:
    """Return CSV in which NULL is an empty unquoted cell and every text is quoted."""
    lines = [names, *rows]
    cells = [["" if c is None else '"' + c.replace('"', '""') + '"' for c in line] for line in lines]
    return "".join(",".join(line) + line_end for line in cells).encode()


def write_table(folder: Path, name: str, names: Sequence[str], rows: Sequence[Row]) -> Path:
    """Write the rows in the format of the file name's extension."""
    path = folder / name
    if path.suffix == ".csv":
        path.write_bytes(csv_bytes(names, rows))
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(arrow_table(names, rows), path)
    else:
        records = [dict(zip(names, row, strict=True)) for row in rows]
        path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def arrow_table(names: Sequence[str], rows: Sequence[Row]) -> Any:
    columns = [pyarrow.array([row[i] for row in rows], pyarrow.string()) for i in range(len(names))]
    return pyarrow.table(columns, names=list(names))


def counted(frequency_set: FrequencySet) -> Counter[Row]:
    """Count rows by their quasi-identifier values."""
    leaves = [(*h.leaves, None) for h in frequency_set.hierarchies]
    types = [tuple(leaves[i][c] for i, c in enumerate(row)) for row in frequency_set.codes.tolist()]
    assert len(set(types)) == len(types)
    return Counter(dict(zip(types, frequency_set.counts.tolist(), strict=True)))


def types_of(frequency_set: FrequencySet) -> list[Row]:
    leaves = [(*h.leaves, None) for h in frequency_set.hierarchies]
    return [tuple(leaves[i][c] for i, c in enumerate(row)) for row in frequency_set.codes.tolist()]


def set_of(sets: ValueSets, row_type: int) -> list[int]:
    return sets.codes[sets.offsets[row_type] : sets.offsets[row_type + 1]].tolist()


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(io.StringIO(file.read(), newline="")))


@pytest.fixture(scope="session")
def shared_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(memory_limit=10**9, threads=2, private_log=tmp_path_factory.mktemp("log") / "log.jsonl")


@pytest.fixture(scope="session")
def engine(shared_settings: Settings) -> Iterator[Engine]:
    with connect(shared_settings) as opened:
        yield opened
