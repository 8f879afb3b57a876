"""Problems of three messy tables: each wrong proposal, count or word, on a small table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.verbs.proposal import Proposal

ROWS = 120


def proposed(**columns: Sequence[object]) -> Proposal:
    """Return the proposal for a table with an added column ``sex``; ``_`` in names denotes a blank."""
    named = {name.replace("_", " "): list(values) for name, values in columns.items()}
    return discreet.init(pa.table({**named, "sex": ["m", "f"] * (ROWS // 2)}))


def entry(found: Proposal, name: str) -> Mapping[str, object]:
    """Return the stanza of a column."""
    attributes: Mapping[str, Mapping[str, object]] = found.mapping["attributes"]
    return attributes[name]


def words(found: Proposal) -> str:
    """Return the printed text in one line."""
    return " ".join(str(found).split())


def repeated(*texts: str) -> list[str]:
    return [texts[i % len(texts)] for i in range(ROWS)]


def days(form: str) -> list[str]:
    return [form.format(day=1 + i % 28, month=1 + i % 12, year=1950 + i % 50) for i in range(ROWS)]


def opened(found: Proposal, **columns: Sequence[object]) -> discreet.Table:
    """Open the table with the spec proposed for it, without edits."""
    named = {name.replace("_", " "): list(values) for name, values in columns.items()}
    data = pa.table({**named, "sex": ["m", "f"] * (ROWS // 2)})
    return discreet.open(data, found.mapping)


def test_word_among_dates_is_kept() -> None:
    left = [*days("{day:02d}.{month:02d}.{year}")[:-2], "still here", "still here"]
    found = proposed(discharge=left)
    assert entry(found, "discharge") == {
        "role": "quasi-identifier",
        "format": {"dates": ["%d.%m.%Y"]},
        "hierarchy": {"kind": "dates", "levels": ["month", "year", "decade"], "others": ["still here"]},
    }
    assert "'still here' stays as written" in " ".join(str(found).split())
    opened(found, discharge=left).lattice()


@pytest.mark.parametrize("others", [["$-"], ["refused", "n/a"]])
def test_word_among_sums_of_money_is_kept(others: list[str]) -> None:
    salary = [f" ${28_000 + 997 * i:,}.00 " for i in range(ROWS - len(others))] + others
    found = proposed(salary=salary)
    stanza = entry(found, "salary")
    assert stanza["role"] == "quasi-identifier"
    assert stanza["format"] == {"decimal": ".", "thousands": ",", "unit": "$"}
    assert found.mapping["source"].get("null_values", []) == others[1:]
    assert found.as_json()["attributes"][0]["hierarchy"]["others"] == others[:1]
    opened(found, salary=salary).lattice()


def test_many_words_are_counted_and_a_format_is_named() -> None:
    found = proposed(came=[*days("{day:02d}.{month:02d}.{year}")[:-3], "x 17", "x 18", "y"])
    assert "3 of its" in str(found)
    assert "such as those of the form 'x 00'" in words(found)


def test_words_are_kept_in_a_column_without_levels() -> None:
    shares = repeated(
        "1,5", "2,5", "3,5", "4,5", "5,5", "6,5", "7,5", "8,5", "9,5", "10,5", "11,5", "none at all"
    )
    found = proposed(share=shares)
    table = opened(found, share=shares)
    assert table.lattice().negotiate(k=2).exact is not None


@pytest.mark.parametrize("form", ["May {day}, {year}", "Mar {day} {year}", "Sep. {day:02d}, {year}"])
def test_dates_may_begin_with_the_month(form: str) -> None:
    found = entry(proposed(review=days(form)), "review")
    assert found["role"] == "quasi-identifier"
    assert isinstance(found["hierarchy"], dict)
    assert found["hierarchy"]["kind"] == "dates"


@pytest.mark.parametrize(
    ("dates", "levels"),
    [
        (days("{year}-{month:02d}-{day:02d}"), ["month", "year", "decade"]),
        ([f"20{22 + i % 2}-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(ROWS)], ["month", "year"]),
        ([f"2023-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(ROWS)], ["month", "quarter"]),
        ([f"2023-0{3 + i % 2}-{1 + i % 28:02d}" for i in range(ROWS)], ["week"]),
        ([f"2023-0{3 + i % 2}-{1 + i % 28:02d}T10:{i % 60:02d}:00" for i in range(ROWS)], ["day", "week"]),
    ],
)
def test_periods_depend_on_the_span_of_the_dates(dates: list[str], levels: list[str]) -> None:
    found = proposed(came=dates)
    assert entry(found, "came")["hierarchy"] == {"kind": "dates", "levels": levels}
    (highest,) = opened(found, came=dates).lattice().negotiate(k=ROWS).answers
    assert highest.levels["came"] == len(levels) + 1


@pytest.mark.parametrize("text", ["unbek.", "o. A.", "Unknown", "#WERT!", "–"])
def test_missing_marks_among_numbers_are_null(text: str) -> None:
    ages = [*map(str, range(20, 20 + ROWS - 1)), text]
    assert proposed(age=ages).mapping["source"]["null_values"] == [text]


@pytest.mark.parametrize("text", ["\\N", "(null)", "[NULL]", "<NA>"])
def test_null_texts_of_databases_are_null(text: str) -> None:
    assert proposed(town=repeated("Bonn", "Jena", text)).mapping["source"]["null_values"] == [text]


@pytest.mark.parametrize("name", ["dweight", "pspwght", "PERWT", "final wgt"])
def test_weights_of_a_survey_are_recognized_by_many_names(name: str) -> None:
    found = proposed(**{name: [0.2 + 0.013 * i for i in range(ROWS)]})
    assert found.as_json()["attributes"][0]["reason"].startswith("probably a survey weight")


@pytest.mark.parametrize(
    ("name", "hipaa"), [("Geschl.", ""), ("gndr", ""), ("Geb.-Datum", "HIPAA C"), ("cntry", "")]
)
def test_short_headings_are_recognized(name: str, hipaa: str) -> None:
    found = proposed(**{name: repeated("a", "b", "c")}).as_json()["attributes"][0]
    assert found["reason"].startswith("known to others")
    assert hipaa in found["reason"]


def test_bytes_have_no_blanks_around_them() -> None:
    found = proposed(photo=[b" \x01\x02 "] * ROWS, town=repeated("Bonn", "Jena"))
    assert "strip" not in found.mapping["source"]


def test_missing_value_codes_do_not_widen_intervals() -> None:
    found = proposed(yrbrn=[1930 + i % 70 for i in range(ROWS - 1)] + [7777])
    assert entry(found, "yrbrn")["hierarchy"] == {"kind": "intervals", "widths": [5, 10, 20]}
    assert "in 'yrbrn' (7777; the others from 1930 to 1999)" in words(found)


def test_postal_codes_of_several_lengths_are_read_by_country() -> None:
    american = proposed(
        zip=[f"{2139 + 37 * (i % 60):05d}" + ("-4307" if i < 60 else "") for i in range(ROWS)]
    )
    assert entry(american, "zip")["hierarchy"] == {
        "kind": "builtin",
        "name": "postal-code-us",
        "levels": ["first-5", "first-3"],
    }
    british = proposed(
        Postcode=[f"{('M1', 'SW1A', 'LS11')[i % 3]} {i % 10}{'ABDE'[i % 4]}X" for i in range(ROWS)]
    )
    assert entry(british, "Postcode")["hierarchy"] == {
        "kind": "builtin",
        "name": "postal-code-gb",
        "levels": ["sector", "district"],
    }


def test_codes_without_leading_zeros_are_codes() -> None:
    found = proposed(PLZ=[f"{1067 + 83 * i:05d}" if i % 4 else str(1067 + 83 * i) for i in range(ROWS)])
    assert entry(found, "PLZ")["hierarchy"] == {"kind": "mask", "steps": [2, 1, 1]}
    assert "in 'PLZ' (4 and 5 digits)" in words(found)


def test_identifiers_get_no_cell_format() -> None:
    found = proposed(Employee=[f"{i + 990:,}" for i in range(ROWS)])
    assert "format" not in entry(found, "Employee")
    assert "was read as" not in str(found)


def test_column_without_a_name_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "trailing.csv"
    path.write_text("age;sex;\n" + "".join(f"{20 + i % 9};m;\n" for i in range(30)), encoding="utf-8")
    assert "(no name)" in str(discreet.init(path))


def test_advice_of_a_refused_query_is_a_valid_command(tmp_path: Path) -> None:
    levels = {"kind": "levels", "rows": [["1", "low", "*"], ["2", "high", "*"]]}
    spec = {"attributes": {"Net pay": {"role": "quasi-identifier", "hierarchy": levels}}}
    table = discreet.open(pa.table({"Net pay": repeated("1", "2")}), spec)
    table.publish(table.lattice().negotiate(k=2, min_level={"Net pay": 1}).answers[0], tmp_path / "r.csv")
    with pytest.raises(discreet.InputError) as refused:
        discreet.query(tmp_path / "r.csv", 'SELECT AVG("Net pay") FROM release WHERE "Net pay" > 1')
    assert 'label("Net pay")' in str(refused.value)
    assert "'Net pay=FILE'" in str(refused.value)
