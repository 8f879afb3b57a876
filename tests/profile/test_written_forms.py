"""Forms of numbers and dates that `init` detects in a column's texts."""

from __future__ import annotations

import doctest
import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import InputError
from discreet.model.cell_format import CellFormat
from discreet.profile import value_shapes
from discreet.profile.spec_proposal import SpecProposal
from discreet.verbs.proposal import Proposal

NUMBERS: Sequence[tuple[list[str], CellFormat | None]] = [
    (["9116,50", "12,5", "7", "-3,25"], CellFormat(",")),
    (["1.234,50 €", "12,50 €", "7 €", "1.234.567,00 €"], CellFormat(",", ".", ("€",))),
    (["$69,207.00", "$1,250.50", "$9.99", "-$5.00"], CellFormat(".", ",", ("$",))),
    (["1,234,567", "12,345", "999", "1,000"], CellFormat(".", ",")),
    (["12,5 %", "7 %", "8,25%", "100 %"], CellFormat(",", None, ("%",))),
    (["1'234.05", "950", "12'000.00", "7.5"], CellFormat(".", "'")),
    (["1 234,05", "950,5", "12\u00a0000,00", "7"], CellFormat(",", " ")),
    (["12.50-", "7.25", "8.00", "9.10"], CellFormat(".")),
    (["k.A.", "9116,50", "7,1", "8,2"], CellFormat(",")),
    (["1,234", "5,678", "9,999", "1,111"], None),
    (["A17", "B03", "C99", "D00"], None),
    (["01 234", "02 345", "03 456", "04 567"], None),
    (["1.2.3", "4.5.6", "1.10.2", "2.0.0"], None),
    (["1,5", "2.5", "3,25", "4.75"], None),
    (["030 1234", "040 2345", "050 3456", "060 4567"], None),
    (["10:30", "11:45", "12:00", "13:15"], None),
    (["5 €", "6 $", "7 €", "8 $"], None),
    (["17", "18", "19", "20"], None),
]

YEAR = datetime.now(UTC).year
DATES: Sequence[tuple[list[str], CellFormat | None]] = [
    (["14.02.1972", "01.04.2023", "3.5.1999", "31.12.2000"], CellFormat(dates=("%d.%m.%Y",))),
    (["02/14/1972", "4/1/2023", "05/03/1999", "12/31/2000"], CellFormat(dates=("%m/%d/%Y",))),
    (["14/02/1972", "01/04/2023", "03/05/1999", "31/12/2000"], CellFormat(dates=("%d/%m/%Y",))),
    (["14.02.72", "01.04.23", "03.05.99", "31.12.00"], CellFormat(dates=("%d.%m.%y",), pivot=YEAR)),
    (["14-FEB-1972", "1-APR-2023", "03-MAY-1999", "31-Dec-2000"], CellFormat(dates=("%d-%b-%Y",))),
    (["14. Februar 1972", "1. März 2023", "3. Mai 1999"], CellFormat(dates=("%d. %B %Y",))),
    (["19720214", "20230401", "19990503", "20001231"], CellFormat(dates=("%Y%m%d",))),
    (["14.02.1972 10:15", "01.04.2023 00:00"], CellFormat(dates=("%d.%m.%Y %H:%M",))),
    (["2/14/1972 10:15 PM", "4/1/2023 9:00 AM"], CellFormat(dates=("%m/%d/%Y %I:%M %p",))),
    (["14.02.1972", "15.04.2023", "1999-05-03"], CellFormat(dates=("%d.%m.%Y", "%Y-%m-%d"))),
    (["14.02.1972", "NA", "31.12.2000", "?"], CellFormat(dates=("%d.%m.%Y",))),
    (["1972-02-14", "2023-04-01T10:15:00Z"], None),
    (["01/02/2023", "03/04/2023", "11/12/2023"], None),
    (["14/02/2023", "02/14/2023", "01/01/2023"], None),
    (["31.02.2023", "01.02.2023", "03.02.2023"], None),
    (["192.168.0.1", "10.0.0.1", "10.0.0.2"], None),
]


def proposed(folder: Path, columns: dict[str, list[str]], **keywords: Any) -> Proposal:
    """Return the proposal for a table with each value in several rows, so that none is nearly unique."""
    rows = max(map(len, columns.values()))
    lines = [";".join(f'"{name}"' for name in columns)]
    lines += [
        ";".join(f'"{values[i % len(values)]}"' for values in columns.values()) for i in range(8 * rows)
    ]
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return discreet.init(path, **keywords)


def forms_of(proposal: SpecProposal) -> dict[str, CellFormat | None]:
    """Return the proposed forms by column."""
    return {a.name: a.format for a in proposal.attributes}


def test_docstring_examples_run() -> None:
    assert doctest.testmod(value_shapes).failed == 0


@pytest.mark.parametrize(("values", "form"), NUMBERS, ids=[values[0] for values, _ in NUMBERS])
def test_written_numbers_get_their_format(values: list[str], form: CellFormat | None, tmp_path: Path) -> None:
    found = proposed(tmp_path, {"amount": values})
    assert forms_of(found.proposal)["amount"] == form
    if form is not None:
        entry = found.mapping["attributes"]["amount"]
        assert entry["format"] == form.as_json()
        assert "'amount' was read as numbers" in str(found)


@pytest.mark.parametrize(("values", "form"), DATES, ids=[values[0] for values, _ in DATES])
def test_written_dates_get_their_format(values: list[str], form: CellFormat | None, tmp_path: Path) -> None:
    found = proposed(tmp_path, {"birthdate": values, "sex": ["f", "m"]})
    assert forms_of(found.proposal)["birthdate"] == form
    hierarchy = found.mapping["attributes"]["birthdate"].get("hierarchy")
    if form is not None:
        assert hierarchy == {"kind": "dates", "levels": ["month", "year", "decade"]}
    elif "192" not in values[0]:
        assert hierarchy is None or hierarchy["kind"] == "dates", "a date must not be masked as text"


def test_ambiguous_cells_are_reported_with_both_formats(tmp_path: Path) -> None:
    dates, numbers = ["01/02/2023", "03/04/2023", "11/12/2023"], ["1,234", "5,678"]
    found = " ".join(proposed(tmp_path, {"visit": dates, "amount": numbers}).warnings)
    assert 'format = {dates = "%d/%m/%Y"} or format = {dates = "%m/%d/%Y"} in [attributes."visit"]' in found
    assert """'amount' holds numbers whose ',' marks decimals or thousands""" in found


def test_other_columns_decide_an_ambiguous_format(tmp_path: Path) -> None:
    columns = {
        "birthdate": ["14/02/1972", "01/04/2023"],
        "visit date": ["01/02/2023", "03/04/2023"],
        "amount": ["1,5", "22,75"],
        "cost": ["1,234", "5,678"],
        "rent": ["1.234", "950"],
    }
    found = forms_of(proposed(tmp_path, columns).proposal)
    assert found["visit date"] == CellFormat(dates=("%d/%m/%Y",))
    assert found["cost"] == CellFormat(",")
    assert found["rent"] == CellFormat(",", ".")
    columns = {"cost": ["1,234", "5,678"]}
    assert forms_of(proposed(tmp_path, columns, decimal=",").proposal)["cost"] == CellFormat(",")
    assert forms_of(proposed(tmp_path, columns, decimal=".").proposal)["cost"] == CellFormat(".", ",")


def test_words_among_numbers_are_reported_and_no_format_is_guessed(tmp_path: Path) -> None:
    found = proposed(tmp_path, {"cost": ["1,5", "2,5", "see file 7", "3,5"]})
    assert forms_of(found.proposal)["cost"] is None
    assert any("'cost' looks like numbers, but 1 of its 4 values do not" in text for text in found.warnings)


def test_placeholder_days_of_programs_are_null(tmp_path: Path) -> None:
    found = proposed(tmp_path, {"visit": ["01/14/2023", "00/00/0000", "02/03/2023", "unbekannt"]})
    assert forms_of(found.proposal)["visit"] == CellFormat(dates=("%m/%d/%Y",))
    assert found.mapping["source"]["null_values"] == ["unbekannt", "00/00/0000"]


def test_codes_with_a_text_for_null_are_not_numbers(tmp_path: Path) -> None:
    found = proposed(tmp_path, {"PLZ": ["16842", "10115", "01234", "NA"], "Ort": ["NA", "16842", "10115"]})
    kinds = {n: e["hierarchy"]["kind"] for n, e in found.mapping["attributes"].items() if "hierarchy" in e}
    assert kinds["PLZ"] == "mask"
    assert found.mapping["source"]["null_values"] == ["NA"]


def test_blanks_around_cells_are_reported_and_stripped(tmp_path: Path) -> None:
    found = proposed(tmp_path, {"sex": ["m", "m ", " f", "f"]})
    assert found.mapping["source"]["strip"] is True
    assert found.as_json()["attributes"][0]["values"] == 2
    assert "Blanks around cells were stripped in 'sex'" in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["53711.0", "53712.0", "2139.0"], {"decimal": "."}),
        (["5.00", "-7.00", "8"], {"decimal": "."}),
        (["20230401.0", "20221231.0", "20230512.0"], {"dates": ["%Y%m%d.0"]}),
        (["5.000", "7.000", "8.000"], None),
        (["5.0", "7.5", "8.0"], None),
        (["01.0", "02.0", "03.0"], None),
    ],
)
def test_whole_numbers_written_as_floats_are_read_as_whole(
    tmp_path: Path, texts: list[str], form: dict[str, Any] | None
) -> None:
    found = proposed(tmp_path, {"x": texts * 20})
    assert found.mapping["attributes"]["x"].get("format") == form


def test_frame_of_whole_floats_is_released_as_whole_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"zip": [53711.0, 53712.0, 53711.0, None], "age": [40.0, 41.0, 40.0, 41.0]})
    spec = {
        "attributes": {
            "zip": {"role": "quasi-identifier", "hierarchy": {"kind": "mask", "steps": [1]}},
            "age": {"role": "sensitive"},
        }
    }
    released = discreet.open(frame, spec).publish({"zip": 1}, k=3, max_suppressed="50%").to_pandas()
    assert released["zip"].tolist() == ["5371*"] * 3
    assert sorted(released["age"].tolist()) == [40, 40, 41]
    assert str(released["age"].dtype).lower() == "int64"


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u200b"])
def test_blanks_around_names_of_columns_are_reported_and_stripped(tmp_path: Path, blank: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"age,job,zip,{blank}sex{blank}\n30,a,1,m\n31,a,1,f\n", encoding="utf-8")
    found = discreet.init(path)
    assert found.mapping["source"]["strip"] is True
    assert list(found.mapping["attributes"]) == ["age", "job", "zip", "sex"]
    assert "around names of columns were stripped" in " ".join(str(found).split())
    released = discreet.open(path, found.mapping).publish({"age": 1, "sex": 1}, k=2)
    assert list(released.to_pandas().columns) == ["age", "job", "zip", "sex"]


def test_names_that_differ_in_blanks_only_cannot_be_stripped(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex, sex\nm,f\n", encoding="utf-8")
    with pytest.raises(InputError, match="two columns 'sex', at positions 1 and 2"):
        discreet.init(path)


def test_proposal_with_formats_works_unchanged(tmp_path: Path) -> None:
    draw = random.Random(5)
    days = [date(1930, 1, 1) + timedelta(draw.randrange(30_000)) for _ in range(300)]
    columns = {
        "Geburtsdatum": [f"{day:%d.%m.%Y}" for day in days],
        "Kosten": [f"{draw.randrange(10, 10**6) / 100:.2f} €".replace(".", ",") for _ in days],
        "Geschlecht": [draw.choice("mw") for _ in days],
    }
    path = tmp_path / "people.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text(";".join(columns) + "\n" + "".join(";".join(row) + "\n" for row in rows), "utf-16")
    found = discreet.init(path)
    roles = {name: entry["role"] for name, entry in found.mapping["attributes"].items()}
    assert roles["Kosten"] == "quasi-identifier", "a measure is not thrown away for being nearly unique"
    answer = discreet.open(path, found.mapping).negotiate(k=5, max_suppressed="5%")
    assert answer.exact is not None
