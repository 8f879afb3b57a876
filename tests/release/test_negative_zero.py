"""Texts of one number, negative zero included, are one value for a permuted release and its audit."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.audit.permuted_audit import PermutedClaims, PermutedSources, audit_permuted
from discreet.engines.base import Engine
from discreet.model.table_spec import SourceSpec
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from discreet.verbs.table import Table
from tests.drawing import NEW, in_turn

ZEROS = [["-0.0", "0", "1e0", "2"], ["-0", "0", "1", "2"], ["-0.0", "0.0", "-0e5", "1e0", "3"]]


@pytest.mark.parametrize(
    ("texts", "partition", "name"),
    [
        (*pair, name)
        for pair, name in in_turn(product(ZEROS, ["min-sum", "min-max", "qi-aware"]), ["r.csv", "r.parquet"])
    ],
)
def test_negative_zero_counts_as_zero(
    name: str, partition: str, texts: list[str], settings: Settings, tmp_path: Path, out: Path
) -> None:
    rows = [f"{20 + i % 7},{texts[i % len(texts)]}" for i in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(["age,change", *rows, ""]))
    document = {
        "source": {"path": "t.csv"},
        "attributes": {"age": {"role": "quasi-identifier"}, "change": {"role": "sensitive"}},
    }
    table = Table(spec_from_mapping(document, base=tmp_path, label="t"), settings)
    for _ in range(3 if NEW else 1):
        release = table.publish(Permutation(partition=partition), out / name, k=2, overwrite=True)
        assert release.audit.passed


@pytest.mark.parametrize("other", ["inf", "-inf", "nan"])
def test_audit_counts_two_zeros_as_one_value(other: str, tmp_path: Path, engine: Engine) -> None:
    """The audit counts two zeros as one value; of two groups of three rows, one has only zeros."""
    data = {"group_id": [1, 1, 1, 2, 2, 2], "pay": [0.0, -0.0, 0.0, float(other), 0.0, -0.0]}
    lines = [(group, hits, hits, hits, 3, 3) for group in (1, 2) for hits in (1, 2, 3)]
    names = ["group_id", "hits", "values_lower", "values_upper", "group_rows", "group_values"]
    pq.write_table(pa.table({"age": list(range(6)), **data}), tmp_path / "data.parquet")
    pq.write_table(
        pa.table(dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))),
        tmp_path / "help.parquet",
    )
    sources = PermutedSources(SourceSpec(tmp_path / "data.parquet"), SourceSpec(tmp_path / "help.parquet"))
    claims = PermutedClaims("group_id", "pay", ("age",), 2, Decimal(0), numeric=False)
    report = audit_permuted(engine, sources, claims)
    assert not report.passed
    assert [failing.values for failing in report.failing] == [{"group_id": "1"}]
    assert report.permutation is not None
    assert report.permutation.fewest_values == 1
