"""Edits of a spec's mapping: the result always loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.table_spec import AttributeRole
from discreet.spec.spec_reader import spec_from_mapping
from discreet.verbs.spec_editor import with_hierarchy, with_roles, with_source, with_weight
from tests.drawing import some_of

DOCUMENT: dict[str, Any] = {
    "source": {"path": "people.csv", "subject": "id"},
    "attributes": {
        "id": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "width": 5}, "weight": 2},
        "sex": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "levels", "rows": [["f", "*"], ["m", "*"]]},
            "domain": "hierarchy",
        },
        "ill": {"role": "sensitive"},
    },
    "request": {"k": 5, "l": {"ill": 2}, "max_level": {"age": 1}, "min_level": {"sex": 0}},
}


def loads(document: dict[str, Any]) -> bool:
    spec_from_mapping(document, base=Path(), label="the spec")
    return True


@given(
    changes=st.lists(
        st.tuples(st.sampled_from(["age", "sex", "ill", "new"]), st.sampled_from([*AttributeRole, None])),
        max_size=6,
    )
)
@hypothesis_settings(max_examples=some_of(80), deadline=None)
def test_any_changes_of_roles_leave_a_spec_that_loads(
    changes: list[tuple[str, AttributeRole | None]],
) -> None:
    document = DOCUMENT
    for name, role in changes:
        document = with_roles(document, {name: role}, hierarchies={name: {"kind": "mask"}})
        assert loads(document)
        assert document["attributes"].get(name, {}).get("role") == role
    assert DOCUMENT["request"]["max_level"] == {"age": 1}


def test_only_a_new_quasi_identifier_takes_the_proposed_hierarchy() -> None:
    role = AttributeRole.QUASI_IDENTIFIER
    mask = {"kind": "mask"}
    found = with_roles(DOCUMENT, {"ill": role, "age": role}, hierarchies={"ill": mask, "age": mask})
    assert found["attributes"]["ill"]["hierarchy"] == mask
    assert found["attributes"]["age"]["hierarchy"]["kind"] == "intervals"
    assert "l" not in found["request"]


def test_changed_hierarchy_removes_its_level_bounds() -> None:
    found = with_hierarchy(DOCUMENT, "age", "hierarchies/age.csv")
    assert found["attributes"]["age"] == {
        "role": "quasi-identifier",
        "hierarchy": "hierarchies/age.csv",
        "weight": 2,
    }
    assert found["request"] == {"k": 5, "l": {"ill": 2}, "min_level": {"sex": 0}}
    assert "hierarchy" not in with_hierarchy(DOCUMENT, "age", None)["attributes"]["age"]
    with pytest.raises(InputError, match="'ill' is not a quasi-identifier"):
        with_hierarchy(DOCUMENT, "ill", None)


def test_criterion_of_a_column_is_removed_with_its_role() -> None:
    request = {"k": 5, "share": {"ill": 0.5}, "homogeneity": 0.5}
    found = with_roles({**DOCUMENT, "request": request}, {"ill": AttributeRole.INSENSITIVE})
    assert found["request"] == {"k": 5, "homogeneity": 0.5}


def test_weight_is_stored_unless_it_is_one() -> None:
    assert with_weight(DOCUMENT, "sex", 0.5)["attributes"]["sex"]["weight"] == 0.5
    assert "weight" not in with_weight(DOCUMENT, "age", 1)["attributes"]["age"]


def test_subject_becomes_an_identifier() -> None:
    found = with_source(DOCUMENT, {"path": "p.csv", "subject": "age", "encoding": "utf-8", "delimiter": None})
    assert found["source"] == {"path": "p.csv", "subject": "age"}
    assert found["attributes"]["age"] == {"role": "identifier"}
    assert loads(found)
    with pytest.raises(InputError, match="'id' is the subject"):
        with_roles(DOCUMENT, {"id": AttributeRole.SENSITIVE})


def test_sensitive_column_keeps_its_hierarchy_until_its_role_changes() -> None:
    ill = {"role": "sensitive", "hierarchy": {"kind": "mask"}}
    document = {**DOCUMENT, "attributes": {**DOCUMENT["attributes"], "ill": ill}}
    assert with_roles(document, {"ill": AttributeRole.SENSITIVE})["attributes"]["ill"] == ill
    found = with_roles(document, {"ill": AttributeRole.INSENSITIVE})
    assert found["attributes"]["ill"] == {"role": "insensitive"}
    assert loads(found)


def test_new_role_removes_settings_of_the_old_role() -> None:
    attributes = {
        "id": {"role": "identifier", "pseudonymization": {"method": "per-release"}},
        "day": {"role": "insensitive", "date_shift": {"days": 9, "key": "k"}},
    }
    roles = {"id": AttributeRole.INSENSITIVE, "day": AttributeRole.IDENTIFIER}
    found = with_roles({"source": {"path": "t.csv"}, "attributes": attributes}, roles)
    assert found["attributes"] == {"id": {"role": "insensitive"}, "day": {"role": "identifier"}}
    kept = with_roles(found, {"day": AttributeRole.INSENSITIVE})
    assert kept["attributes"]["day"] == {"role": "insensitive"}
