"""Built-in hierarchies, checked against the classifications' own totals and rules over all their codes."""

from __future__ import annotations

import random
from datetime import date

import pytest

from discreet.errors import InputError
from discreet.hierarchy import BuiltinHierarchy
from discreet.hierarchy.builtin.builder import BUILTINS
from discreet.hierarchy.builtin.catalog import outline_entries
from tests.hierarchy.soundness import assert_sound, paths


def levels(name: str, values: list[str]) -> list[set[str]]:
    """Return the labels at each level."""
    hierarchy = BuiltinHierarchy(name).build("x", values)
    assert_sound(hierarchy, values)
    return [set(labels) for labels in hierarchy.labels[1:-1]]


def taken(name: str, values: list[str]) -> list[str]:
    return [value for value in values if BUILTINS[name].labels(value) is not None]


@pytest.mark.parametrize("name", BUILTINS)
def test_values_of_a_builtin_have_labels_and_others_are_refused(name: str) -> None:
    builtin = BUILTINS[name]
    labels = builtin.labels(builtin.example)
    assert labels is not None
    assert len(labels) == len(builtin.levels) > 0
    assert builtin.title
    assert builtin.source[-4:].isdecimal()
    for stranger in ("", "?", "unknown", "no value at all", "☃", "99999999999"):
        assert builtin.labels(stranger) is None
    source = BuiltinHierarchy(name, others=("?",))
    assert paths(source.build("x", [builtin.example, "?"]))[-1].startswith("?;?")
    with pytest.raises(InputError, match=f"'no value at all' of the data is not in {name}") as caught:
        source.build("x", [builtin.example, "no value at all"])
    assert 'others = ["no value at all"]' in str(caught.value)


def test_diagnoses_are_22_chapters_and_263_blocks() -> None:
    blocks = [block for _, block in outline_entries("icd10.outline")]
    assert len({chapter for chapter, _ in outline_entries("icd10.outline")}) == 22
    assert len(blocks) == 263
    for (chapter, block), (_, following) in zip(
        outline_entries("icd10.outline"), outline_entries("icd10.outline")[1:], strict=False
    ):
        assert chapter[:3] <= block[:3] <= block[4:7] <= chapter[4:7]
        assert block[4:7] < following[:3] or following[:3] == "U00"
    codes = [f"{letter}{number:02}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for number in range(100)]
    plain = {code: [b for b in blocks if b[:3] <= code <= b[4:7]] for code in codes}
    assert taken("icd10", codes) == [code for code, found in plain.items() if found]
    for code, found in plain.items():
        assert [BUILTINS["icd10"].labels(code)[1]] == found if found else True  # type: ignore[index]


def test_forms_of_a_diagnosis() -> None:
    forms = ["E11", "E11.9", "E119", "e11.90", "E11.-", "E11.9!", " E11.9 ", "E1190"]
    assert {BUILTINS["icd10"].labels(form) for form in forms} == {
        ("E11", "E10-E14 Diabetes mellitus", "E00-E90 Endocrine, nutritional and metabolic diseases")
    }
    assert taken("icd10", ["E1", "EE1", "A10", "250.00", "E11.9.9", "E91"]) == []


def test_occupations_are_10_43_130_and_436() -> None:
    minors = [line.rpartition(": ")[0] for _, _, line in outline_entries("isco08.outline")]
    units = {
        line[:3] + digit
        for _, _, line in outline_entries("isco08.outline")
        for digit in line.rpartition(": ")[2]
    }
    groups = {code for minor in minors for code in (minor[:3], minor[:2], minor[:1])}
    assert (len(units), len(groups)) == (436, 130 + 43 + 10)
    padded = {group.ljust(4, "0") for group in groups}
    assert taken("isco08", [f"{number:04}" for number in range(10_000)]) == sorted(units | padded)
    assert [len(labels) for labels in levels("isco08", sorted(units))] == [130, 43, 10]
    for code in units:
        labels = BUILTINS["isco08"].labels(code)
        assert labels is not None
        assert [label.split()[0] for label in labels] == [code[:3], code[:2], code[:1]]


def test_forms_of_an_occupation() -> None:
    labels = BUILTINS["isco08"].labels
    assert labels("2200") == labels("22") == ("22 Health professionals",) * 2 + ("2 Professionals",)
    assert labels("2000") == ("2 Professionals",) * 3
    assert labels("0110") == labels("011")
    assert taken("isco08", ["110", "2299", "9999", "22110", "2.1", "1500"]) == []


def test_activities_are_21_88_272_and_615() -> None:
    codes = [f"{number // 100:02}.{number % 100:02}" for number in range(10_000)]
    classes = taken("nace2", codes)
    assert len(classes) == 615
    assert [len(labels) for labels in levels("nace2", classes)] == [615, 272, 88, 21]
    for code in classes:
        labels = BUILTINS["nace2"].labels(code)
        assert labels is not None
        assert labels[:2] == (code, code[:4])
        assert labels[2].startswith(code[:2])


def test_forms_of_an_activity() -> None:
    labels = BUILTINS["nace2"].labels
    same = ["62.01", "6201", "J62.01", "j6201", "62.01.1", "62011", "62010"]
    assert len({labels(form) for form in same}) == 1
    assert labels("62.0") == labels("620")
    assert labels("J") == ("J Information and communication",) * 4
    assert taken("nace2", ["A62.01", "62.05", "04", "62.01.1234", "V", "6"]) == []


def test_countries_are_those_of_the_standard() -> None:
    lines = [line.split(maxsplit=3) for _, _, line in outline_entries("countries.outline")]
    assert len(lines) == 249
    for place, length in enumerate((2, 3, 3)):
        assert len({line[place] for line in lines}) == 249
        assert {len(line[place]) for line in lines} == {length}
    names = [name for line in lines for name in line[3].split("; ")]
    assert len({name.casefold() for name in names}) == len(names)
    labels = BUILTINS["country"].labels
    for line in lines:
        found = {labels(text) for text in (*line[:3], line[0].lower(), *line[3].split("; "))}
        assert len(found) == 1
        assert None not in found
    sub_regions, regions = levels("country", [line[0] for line in lines])
    assert (len(sub_regions), len(regions)) == (23, 6)  # Antarctica is separate; 22 sub-regions in 5 regions


def test_forms_of_a_country() -> None:
    labels = BUILTINS["country"].labels
    assert labels("Cote d'Ivoire") == labels("CÔTE D’IVOIRE") == labels("ci") == labels("384")
    assert labels("United-States") == labels("US") == ("Northern America", "Americas")
    assert labels("4") == labels("004") == labels("Afghanistan")
    assert taken("country", ["XX", "Holland", "999", "0", "United"]) == []


def test_ages_and_dates_by_counting() -> None:
    labels = BUILTINS["age"].labels
    for age in range(130):
        expected = []
        for years in (5, 10, 20):
            start = next(start for start in range(0, 130, years) if start <= age < start + years)
            expected.append("≥90" if age >= 90 else f"{start}-{min(start + years, 90) - 1}")
        assert labels(str(age)) == tuple(expected)
    assert taken("age", ["-1", "41.5", "1000", "unknown"]) == []
    rng = random.Random(7)
    for _ in range(50):
        day = date.fromordinal(rng.randrange(1, date(9999, 12, 31).toordinal()))
        quarter = next(q for q in range(1, 5) if day.month <= 3 * q)
        year, decade = f"{day.year:04}", f"{day.year:04}"[:3]
        expected_labels = (f"{day}"[:7], f"{year}-Q{quarter}", year, f"{decade}0-{decade}9")
        assert BUILTINS["date"].labels(f"{day} 08:15") == expected_labels


def test_postal_codes_have_the_labels_of_their_country() -> None:
    for name, text, labels in (
        ("de", "D1115", None),
        ("de", "01067", ("0106*", "010**", "01***", "0****")),
        ("de", "DE-01067", ("0106*", "010**", "01***", "0****")),
        ("de", "1067", None),
        ("us", "02138", ("02138", "021**", "0****")),
        ("us", "02138-1234", ("02138", "021**", "0****")),
        ("us", "0213", None),
        ("gb", "sw1a 1aa", ("SW1A 1**", "SW1A ***", "SW*")),
        ("gb", "M11AE", ("M1 1**", "M1 ***", "M*")),
        ("ca", "k1a0b1", ("K1A ***", "K** ***")),
        ("nl", "1012AB", ("1012 **", "101* **", "10** **", "1*** **")),
        ("pl", "00950", ("00-95*", "00-9**", "00-***", "0*-***")),
    ):
        assert BUILTINS[f"postal-code-{name}"].labels(text) == labels, (name, text)
