"""Noisy counts from a spec to a file: output depends on rows only through the noise."""

from __future__ import annotations

import csv
import io
import json
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from discreet.differential import noisy_counts, private_release
from discreet.differential.noise import Noise
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.release.release_target import LEDGER_NAME
from discreet.verbs.audits import audit
from discreet.verbs.differential_releases import TabulationResult
from discreet.verbs.table import Table
from tests.differential.conftest import Made

MARGINALS: list[Any] = [{"age": 1, "sex": 0}, ["sex"]]
MANY = [("25", "F", "flu")] * 300 + [("45", "M", "cold")] * 200 + [(None, "x", None)] * 100


def released(table: Table, name: str = "counts.csv", **options: Any) -> TabulationResult:
    path = table.spec.path
    assert path is not None
    given = {"marginals": MARGINALS, "epsilon": "0.5", **options}
    return table.tabulate(given.pop("marginals"), path.parent / name, **given)


def cells_of(result: TabulationResult) -> list[tuple[Any, ...]]:
    """Return the marginal, labels and count of each cell."""
    return [
        (number, *labels, count)
        for number, marginal in enumerate(result.marginals, start=1)
        for labels, count in zip(marginal.labels, marginal.counts, strict=True)
    ]


@pytest.mark.parametrize("name", ["counts.csv", "counts.parquet", "counts.json"])
def test_file_contains_every_cell_near_its_true_count(made: Made, name: str) -> None:
    result = released(made(MANY), name)
    found = cells_of(result)
    assert len(found) == 5 * 3 + 3
    if name.endswith("json"):
        document = json.loads(result.path.read_text(encoding="utf-8"))
        read = [
            (number, *cell["labels"].values(), cell["noisy_count"])
            for number, marginal in enumerate(document["marginals"], start=1)
            for cell in marginal["cells"]
        ]
    else:
        text = io.StringIO(result.path.read_text(encoding="utf-8") if name.endswith("csv") else "")
        rows = list(csv.DictReader(text)) if name.endswith("csv") else pq.read_table(result.path).to_pylist()
        names = [["age", "sex"], ["sex"]]
        read = [
            (
                int(row["marginal"]),
                *(row[n] for n in names[int(row["marginal"]) - 1]),
                int(row["noisy_count"]),
            )
            for row in rows
        ]
    assert read == found
    # Noise of scale 4 exceeds 120 with a probability below 1e-12.
    true = {(1, "20-29", "F"): 300, (1, "40-49", "M"): 200, (1, "(other)", "(other)"): 100}
    true |= {(2, "F"): 300, (2, "M"): 200, (2, "(other)"): 100}
    assert all(abs(count - true.get(tuple(labels), 0)) < 120 for *labels, count in found)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (result.path, result.counts.manifest_path)}
    assert modes == {0o600}


def test_cells_from_rows_are_shown_above_the_threshold(made: Made) -> None:
    rows = [*MANY, ("33", "F", "plague")]
    result = released(made(rows), marginals=[["disease"]], epsilon=1, delta="1e-6")
    (marginal,) = result.marginals
    assert not marginal.public
    shown = {labels[0] for labels in marginal.labels}
    assert {"flu", "cold", "(other)"} <= shown
    assert min(marginal.counts) >= (result.counts.plan.noise.threshold or 0) > 10
    # It is shown with a probability of only 1e-6.
    assert "plague" not in shown


def all_output_of(table: Table, out: Any, folder: Path, **options: Any) -> str:
    """Return everything printed, written, logged or raised, without the input's digest and the times."""
    try:
        result = released(table, **options)
        parts = [str(result), json.dumps(result.as_json())]
    except DiscreetError as error:
        parts = [str(error), json.dumps(error.as_json())]
    captured = out.readouterr()
    parts += [captured.out, captured.err]
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "people.csv":
            parts.append(f"{path.name}: {path.read_text(encoding='utf-8')}")
    text = "\n".join(parts).replace(folder.name, "FOLDER")
    return re.sub(r'"(tables)": \[[^]]*\]|"(input_sha256)": "\w+"|\d{4}-\d\d-\d\dT[\d:+]+', "", text)


OTHERS: list[list[Sequence[str | None]]] = [
    [],
    [(None, None, None)],
    [("25", "F", "flu")] * 7,
    [("old", "??", "a,b" * 40)],
    [("-1e9", "'", '""')],
]


@pytest.mark.parametrize(
    "options",
    [
        {"consistent": True, "non_negative": True},
        {"marginals": [["disease"], ["sex"]], "delta": "0.0001"},
        {"mechanism": "gaussian", "delta": "0.0001"},
    ],
    ids=["consistent", "threshold", "gaussian"],
)
def test_output_with_fixed_draws_is_equal_for_other_tables(
    made: Made,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: dict[str, Any],
) -> None:
    """With fixed draws, six tables give byte-identical output."""
    monkeypatch.setattr(Noise, "add_to_vector", lambda _, counts: list(range(len(counts))))
    monkeypatch.setattr(Noise, "add_to_mapping", lambda *_: {})
    texts = []
    for number, rows in enumerate([MANY, *OTHERS]):
        table = made(rows, folder=f"work{number}")
        log = tmp_path / f"work{number}" / "log" / "log.jsonl"
        object.__setattr__(table.settings, "private_log", log)
        texts.append(all_output_of(table, capsys, tmp_path / f"work{number}", **options))
    assert len(texts[0]) > 1000
    assert set(texts[1:]) == {texts[0]}


@pytest.mark.parametrize("subject", [None, "who"])
def test_error_in_a_row_hides_its_reason(
    made: Made, tmp_path: Path, subject: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error for an unreadable record contains no line, cell or number of it."""
    source = {} if subject is None else {"subject": subject}
    table = made([*MANY, ("4711", "secret", "", "", "")], names=("age", "sex", "disease", "who"), **source)
    options = {} if subject is None else {"rows_per_subject": 1}
    with pytest.raises(InputError, match="reason is hidden") as raised:
        released(table, **options)
    assert "secret" not in str(raised.value)
    assert not re.search(r"\d", raised.value.message)
    assert raised.value.__suppress_context__
    # The unspent budget confirms that nothing was granted.
    assert not (tmp_path / "work" / LEDGER_NAME).exists()


def test_rows_per_subject_are_limited(made: Made) -> None:
    rows = [("25", "F", "flu", "a")] * 500 + [("25", "F", "flu", str(i)) for i in range(50)]
    rows += [("25", "F", "flu", None)] * 500
    table = made(rows, names=("age", "sex", "disease", "who"), subject="who", budget={"epsilon": 20})
    with pytest.raises(InputError, match="any number of rows"):
        released(table)
    result = released(table, epsilon=10, rows_per_subject=2, marginals=[["sex"]])
    # 50 rows and two of the 500; noise of scale 0.2 exceeds 10 with a probability below 1e-20.
    assert (
        abs(dict(zip(result.marginals[0].labels, result.marginals[0].counts, strict=True))[("F",)] - 52) < 10
    )
    assert result.counts.plan.noise.scale == pytest.approx(0.2)


def test_budget_is_spent_before_noise_is_drawn(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(MANY)

    def fails(_: Noise, counts: Sequence[int]) -> list[int]:
        assert table.budget().spent.as_json()["epsilon"] == "0.5"
        raise KeyboardInterrupt

    monkeypatch.setattr(Noise, "add_to_vector", fails)
    with pytest.raises(KeyboardInterrupt):
        released(table)
    assert table.budget().left.as_json() == {"epsilon": "0.5", "delta": "0.001"}
    assert not (table.spec.path.parent / "counts.csv").exists()  # type: ignore[union-attr]


def test_refusal_before_counting_costs_nothing(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = {f"q{i}": {"role": "quasi-identifier", "domain": {"least": 0, "most": 998}} for i in range(3)}
    table = made(rows=[], names=("age", "sex", "disease", *wide), attributes=wide)

    def counted(*_: object) -> None:
        raise AssertionError("no row is counted")

    monkeypatch.setattr(noisy_counts, "count_cells", counted)
    for options in (
        {"epsilon": 0},
        {"epsilon": "1.5"},
        {"delta": "0.01"},
        {"marginals": []},
        {"marginals": [["name"]]},
        {"marginals": [{"age": 9}]},
        {"mechanism": "exponential"},
        {"name": "counts.txt"},
        {"name": "people.csv", "overwrite": True},
        {"name": LEDGER_NAME, "overwrite": True},
        {"rows_per_subject": 1},
        {"marginals": [[f"q{i}" for i in range(3)]]},
        {"marginals": [["disease"]], "delta": "0.0001", "consistent": True},
    ):
        with pytest.raises((InputError, LimitReached)):
            released(table, **options)
    assert table.budget().balance.entries == ()


def test_over_budget_nothing_is_counted(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(MANY)
    released(table)
    released(table, "again.csv")
    monkeypatch.setattr(noisy_counts, "count_cells", None)
    with pytest.raises(LimitReached, match="privacy budget"):
        released(table, "more.csv", epsilon="0.000001")
    assert not (table.spec.path.parent / "more.csv").exists()  # type: ignore[union-attr]


def test_failure_while_writing_leaves_nothing(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(MANY)
    folder = table.spec.path.parent  # type: ignore[union-attr]

    def full(*_: object) -> None:
        raise LimitReached("the private log cannot grow")

    monkeypatch.setattr(private_release.private_log, "append", full)
    with pytest.raises(LimitReached, match="cannot grow"):
        released(table)
    assert sorted(path.name for path in folder.iterdir()) == [
        "discreet.budget.json",
        "discreet.budget.json.lock",
        "discreet.toml",
        "people.csv",
    ]
    assert table.budget().spent.as_json()["epsilon"] == "0.5"


def test_attribute_named_like_a_column_of_the_release_is_refused(made: Made) -> None:
    attributes = {"Noisy_Count": {"role": "quasi-identifier", "domain": ["a"]}}
    table = made(names=("age", "sex", "disease", "Noisy_Count"), rows=[], attributes=attributes)
    with pytest.raises(InputError, match="has the name of a column"):
        released(table, marginals=[["Noisy_Count"]])


def test_manifest_of_counts_is_refused_as_a_release_of_rows(made: Made) -> None:
    result = released(made(MANY))
    with pytest.raises(InputError, match="noisy counts"):
        audit(result.path)
    with pytest.raises(InputError, match="noisy counts"):
        made(MANY).compare(result.path)


def test_missing_library_names_the_extra(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.split(".")[0] == "opendp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(InputError, match="OpenDP") as raised:
        released(made(MANY))
    assert "pip install 'discreet[dp]'" in str(raised.value)
