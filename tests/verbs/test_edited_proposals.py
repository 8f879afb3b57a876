"""Edits of a proposal in Python take effect or raise."""

from __future__ import annotations

import copy
import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import discreet
from discreet.errors import InputError


def frame() -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "display": [f"Zux{i % 7}" for i in range(60)],
            "age": [20 + i % 10 for i in range(60)],
            "sex": ["f", "m"] * 30,
            "ill": ["flu", "cold", "asthma"] * 20,
        }
    )


def roles(data: object, spec: Any) -> dict[str, str]:
    return {a.name: str(a.role) for a in discreet.open(data, spec).spec.attributes}


def published(data: object, spec: Any) -> list[str]:
    table = discreet.open(data, spec)
    return list(table.publish(table.negotiate(k=3).answers[0]).to_pandas().columns)


def test_edit_of_the_mapping_takes_effect() -> None:
    data = frame()
    proposal = discreet.init(data)
    assert "display" in published(data, proposal.mapping)
    proposal.mapping["attributes"]["display"] = {"role": "identifier"}
    assert "display" not in published(data, proposal.mapping)
    assert "display" not in published(data, proposal)
    assert '[attributes.display]\nrole = "identifier"' in proposal.text
    assert "chosen by you" in str(proposal)
    (entry,) = (a for a in proposal.as_json()["attributes"] if a["name"] == "display")
    assert (entry["role"], entry["reason"]) == ("identifier", "chosen by you")


def test_edit_of_a_hierarchy_takes_effect_only_in_its_proposal() -> None:
    data = frame()
    proposal = discreet.init(data)
    proposal.mapping["attributes"]["age"]["hierarchy"]["widths"] = [2]
    (age,) = (a for a in discreet.open(data, proposal).spec.attributes if a.name == "age")
    assert "2" in str(age.hierarchy)
    assert "given by you" in str(proposal)
    assert discreet.init(data).mapping["attributes"]["age"]["hierarchy"]["widths"] != [2]


def test_wrong_edit_raises() -> None:
    data = frame()
    proposal = discreet.init(data)
    proposal.mapping["attributes"]["agee"] = {"role": "identifier"}
    with pytest.raises(InputError, match=r"no column 'agee'.*Did you mean 'age'\?"):
        discreet.open(data, proposal.mapping)
    other = discreet.init(data)
    other.mapping["attributes"]["age"]["role"] = "quasi"
    with pytest.raises(InputError, match="quasi-identifier"):
        discreet.open(data, other)


def test_with_role_and_with_hierarchy_return_new_proposals() -> None:
    data = frame()
    proposal = discreet.init(data)
    hidden = proposal.with_role("display", "identifier").with_role("ill", "sensitive")
    assert roles(data, hidden) == roles(data, proposal) | {"display": "identifier", "ill": "sensitive"}
    assert proposal.mapping == discreet.init(data).mapping
    back = hidden.with_role("age", "identifier").with_role("age", "quasi-identifier")
    assert back.mapping["attributes"]["age"] == proposal.mapping["attributes"]["age"]
    wide = proposal.with_hierarchy("age", {"kind": "intervals", "widths": [10]})
    assert wide.mapping["attributes"]["age"]["hierarchy"]["widths"] == [10]
    assert "hierarchy" not in proposal.with_hierarchy("age", None).mapping["attributes"]["age"]


@pytest.mark.parametrize(
    ("edit", "fact"),
    [
        (lambda p: p.with_role("agee", "identifier"), r"no column 'agee'.*Did you mean 'age'\?"),
        (lambda p: p.with_role("age", "identifer"), r"'identifer'.*Did you mean 'identifier'\?"),
        (lambda p: p.with_hierarchy("ages", None), r"Did you mean 'age'\?"),
        (lambda p: p.with_role("age", "sensitive").with_hierarchy("age", None), "not a quasi-identifier"),
    ],
)
def test_invalid_edits_are_refused(edit: Callable[[Any], Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        edit(discreet.init(frame()))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "file"])
@pytest.mark.parametrize("role", ["identifier", "quasi-identifier", "sensitive", "insensitive"])
def test_open_refuses_an_attribute_without_a_column(library: str, role: str, tmp_path: Path) -> None:
    data: object = frame()
    if library == "polars":
        data = polars.from_pandas(frame())
    elif library == "pyarrow":
        data = pyarrow.Table.from_pandas(frame())
    elif library == "file":
        data = tmp_path / "a.csv"
        frame().to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(InputError, match=r"no column 'sexx'.*Did you mean 'sex'\?"):
        discreet.open(data, {"attributes": {"age": {"role": "quasi-identifier"}, "sexx": {"role": role}}})


def test_spec_of_a_frame_opens_from_path_proposal_and_mapping(tmp_path: Path) -> None:
    data = frame()
    path = tmp_path / "s.toml"
    proposal = discreet.init(data, path)
    wanted = {a.name: str(a.role) for a in proposal.proposal.attributes}
    for spec in (path, str(path), proposal, proposal.mapping, dict(proposal.mapping)):
        assert roles(data, spec) == wanted
    assert discreet.open(path).spec.source.data is data
    assert "discreet.open(table" in path.read_text(encoding="utf-8")


def test_spec_of_a_deleted_frame_names_the_call(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    discreet.init(frame(), path)
    gc.collect()
    with pytest.raises(InputError, match=r"discreet\.open\(frame, '.*s\.toml'\)"):
        discreet.open(path)


def test_spec_file_with_a_path_does_not_open_an_older_frame(tmp_path: Path) -> None:
    data = frame()
    path = tmp_path / "s.toml"
    discreet.init(data, path)
    data.to_csv(tmp_path / "a.csv", index=False)
    discreet.init(tmp_path / "a.csv", path, overwrite=True)
    assert discreet.open(path).spec.source.path == tmp_path / "a.csv"
    with pytest.raises(InputError, match=r"source\.path = 'a\.csv' together with a table in memory.*Remove"):
        discreet.open(data, path)


def test_given_data_replace_the_rows_of_a_spec_file(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    path = tmp_path / "specs" / "s.toml"
    frame().to_csv(tmp_path / "a.csv", index=False)
    frame()[::2].to_csv(tmp_path / "b.csv", index=False)
    discreet.init(tmp_path / "a.csv", path)
    assert discreet.open(path).inspect().rows == 60
    assert discreet.open(tmp_path / "b.csv", path).inspect().rows == 30


def test_levels_of_an_answer_refuse_changes_that_would_be_lost() -> None:
    data = frame()
    table = discreet.open(data, discreet.init(data))
    answer = table.negotiate(k=3).answers[0]
    with pytest.raises(InputError, match="levels of an answer cannot be changed"):
        answer.levels["age"] = 0
    with pytest.raises(InputError, match="cannot be changed"):
        answer.levels.update(age=0)
    changed = copy.deepcopy(answer.levels)
    changed["age"] = 0
    assert json.loads(json.dumps(answer.levels)) == answer.levels
    release = table.publish(answer)
    with pytest.raises(InputError, match="levels of a release"):
        del release.levels["age"]
    with pytest.raises(InputError, match="cannot be changed"):
        release.audit.l.clear()
