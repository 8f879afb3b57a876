"""Texts of one number are one value, a negative zero too, for a permuted release and for its audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.settings import Settings
from discreet.spec.load import spec_from_mapping
from discreet.workbench.table import Table


@pytest.mark.parametrize(
    "texts", [["-0.0", "0", "1e0", "2"], ["-0", "0", "1", "2"], ["-0.0", "0.0", "-0e5", "1e0", "3"]]
)
@pytest.mark.parametrize("partition", ["min-sum", "min-max", "qi-aware"])
@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_a_negative_zero_is_the_zero(
    name: str, partition: str, texts: list[str], settings: Settings, tmp_path: Path, out: Path
) -> None:
    rows = [f"{20 + i % 7},{texts[i % len(texts)]}" for i in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(["age,change", *rows, ""]))
    document = {
        "source": {"path": "t.csv"},
        "attributes": {"age": {"role": "quasi-identifier"}, "change": {"role": "sensitive"}},
    }
    table = Table(spec_from_mapping(document, base=tmp_path, label="t"), settings)
    for _ in range(3):
        release = table.publish("permutation", out / name, k=2, partition=partition, overwrite=True)
        assert release.audit.passed
