"""Personal names are recognized among values, and words for other things are not."""

from __future__ import annotations

import random
from pathlib import Path

import pandas
import pytest

from discreet.model.table_spec import AttributeRole
from discreet.profile.person_names import (
    FREE_TEXT_REASON,
    PERSON_NAMES_REASON,
    REFERENCED_NAMES_REASON,
    _words,
    are_person_names,
    fold_name,
)
from discreet.profile.spec_proposal import ProposedAttribute
from discreet.profile.word_lists import read_word_lists
from discreet.settings import Settings
from discreet.verbs.proposal import init
from tests.profile.person_values import OTHERS, PERSONS

ROWS = 600


def proposed(columns: dict[str, list[str]], settings: Settings) -> dict[str, ProposedAttribute]:
    """Return the proposals for columns of repeating values under meaningless headings."""
    draw = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz"
    headings = [f"x{letters[i // 26]}{letters[i % 26]}" for i in range(len(columns))]
    frame = pandas.DataFrame(
        {h: [*v, *draw.choices(v, k=ROWS - len(v))] for h, v in zip(headings, columns.values(), strict=True)}
    )
    found = init(frame, settings=settings).proposal.attributes
    return dict(zip(columns, found, strict=True))


@pytest.mark.parametrize("label", PERSONS)
def test_values_of_persons_are_names(label: str) -> None:
    assert are_person_names(PERSONS[label])


@pytest.mark.parametrize("label", OTHERS)
def test_values_of_other_things_are_not_names(label: str) -> None:
    assert not are_person_names(OTHERS[label])


def test_columns_of_names_are_proposed_as_identifiers(settings: Settings) -> None:
    found = proposed(PERSONS, settings)
    assert {label: a.reason for label, a in found.items() if a.role is not AttributeRole.IDENTIFIER} == {}
    assert {a.reason for a in found.values()} == {PERSON_NAMES_REASON}


def test_columns_of_other_things_are_not_proposed_as_names(settings: Settings) -> None:
    assert [label for label, a in proposed(OTHERS, settings).items() if a.reason == PERSON_NAMES_REASON] == []


def test_names_below_headings_of_other_roles_are_identifiers(settings: Settings) -> None:
    draw = random.Random(5)
    names = PERSONS["given family"]
    headings = ["children", "relationship", "beneficiary", "created_by", "owner", "treatment by", "family"]
    frame = pandas.DataFrame({h: draw.choices(names, k=ROWS) for h in headings})
    found = init(frame, settings=settings).proposal.attributes
    assert {a.name for a in found if a.role is not AttributeRole.IDENTIFIER} == set()


def test_rare_names_below_a_persons_heading_are_found_by_form() -> None:
    rare = ["Zuxo Trokax", "Wobo Snibax", "Plyxo Kwelax", "Gruno Dranax", "Vlemo Plobax"]
    assert are_person_names(rare, of_persons=True)
    assert not are_person_names(rare)


def test_text_that_every_row_has_is_not_insensitive(settings: Settings) -> None:
    note = "Seen on the ward; the daughter was told by phone that her mother may go home."
    frame = pandas.DataFrame({"remark": [note] * 50, "study": ["A1"] * 50, "who": ["Anna Schmidt"] * 50})
    found = {a.name: (a.role, a.reason) for a in init(frame, settings=settings).proposal.attributes}
    assert found["remark"] == (AttributeRole.IDENTIFIER, FREE_TEXT_REASON)
    assert found["study"][0] is AttributeRole.INSENSITIVE
    assert found["who"] == (AttributeRole.IDENTIFIER, PERSON_NAMES_REASON)


def test_long_texts_below_a_private_heading_are_not_published_in_small_tables(settings: Settings) -> None:
    notes = [
        f"Diagnosis number {i}, told to the daughter, who came with her husband on foot" for i in range(40)
    ]
    found = init(pandas.DataFrame({"diagnosis": notes}), settings=settings).proposal.attributes
    assert found[0].role is AttributeRole.IDENTIFIER


def test_display_next_to_a_reference_is_read_by_the_records_type(settings: Settings) -> None:
    displays = [f"Zux Trok{i}" for i in range(5)] * 20
    frame = pandas.DataFrame(
        {
            "link.0.reference": ["Practitioner/1"] * 100,
            "link.0.display": displays,
            "managingOrganization.reference": ["Organization/1", "Organization/2"] * 50,
            "managingOrganization.display": ["Riverside Hospital", "Hilltop Clinic"] * 50,
            "target.reference": ["urn:uuid:1", "urn:uuid:2"] * 50,
            "target.display": displays,
            "code.coding.0.display": ["Asthma", "Flu"] * 50,
        }
    )
    found = {a.name: a.reason for a in init(frame, settings=settings).proposal.attributes}
    assert found["link.0.display"] == found["target.display"] == REFERENCED_NAMES_REASON
    assert REFERENCED_NAMES_REASON not in (
        found["managingOrganization.display"],
        found["code.coding.0.display"],
    )


def test_names_of_a_flat_health_record_are_not_published(tmp_path: Path, settings: Settings) -> None:
    from discreet.verbs.table import open as open_table

    draw = random.Random(11)
    names = PERSONS["given family"]
    people = [draw.choice(names) for _ in range(ROWS)]
    frame = pandas.DataFrame(
        {
            "subject.display": people,
            "subject.patient.name.family": [name.split()[1] for name in people],
            "performer.0.display": draw.choices(names, k=ROWS),
            "gender": draw.choices(["male", "female"], k=ROWS),
        }
    )
    table = open_table(frame, init(frame, settings=settings).mapping, settings=settings)
    published = table.publish(table.negotiate(k=5).answers[0]).to_pandas()
    assert list(published.columns) == ["gender"]


def test_every_list_has_its_source_and_no_word_for_a_thing() -> None:
    lists = read_word_lists("name_words.toml")
    by_source = [lists[key] for key in ("given_names", "given_names_by_script", "family_names")]
    assert all(";" in label for languages in by_source for label in languages)
    assert all(language["source"] for language in read_word_lists("heading_words.toml")["languages"])
    given, ambiguous = _words("given_names"), _words("ambiguous_given_names")
    assert given >= ambiguous
    assert sorted((given - ambiguous) & _words("stop_words", "thing_words")) == []


def test_listed_words_are_folded() -> None:
    lists = read_word_lists("name_words.toml")
    for key in ("ambiguous_given_names", "ambiguous_family_names", "particles", "leading_stop_words"):
        assert all(fold_name(word) == word for word in lists[key].split())
