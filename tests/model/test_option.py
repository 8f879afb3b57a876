from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.model.option import Option, OptionKind, changed_options, check_options, option, options_of
from discreet.spec.request_section import load_model_options


@dataclass(frozen=True)
class Tea:
    kind: str = option("green", choices=("green", "black"), help="which leaves")
    minutes: int | str = option(3, kind=OptionKind.WHOLE, least=1, most=9, choices=("short",), flag="--time")
    sugar: float | None = option(None, kind=OptionKind.DECIMAL, least=0, unit="grams", in_spec=True)
    never: list[str] | None = option(None, kind=OptionKind.QUASI_IDENTIFIERS, repeatable=True, in_spec=True)
    guests: list[str] | None = option(None, repeatable=True, in_spec=True)
    cup: str | None = option(None, choices=("big", "small"), in_spec=True, shown="small")
    taste: object = option(None, kind=OptionKind.PYTHON)


def named(name: str) -> Option:
    return next(each for each in options_of(Tea) if each.name == name)


def test_declared_option_has_its_field_s_name_and_a_flag() -> None:
    assert [each.name for each in options_of(Tea)] == [
        "kind",
        "minutes",
        "sugar",
        "never",
        "guests",
        "cup",
        "taste",
    ]
    assert [named(name).flag for name in ("kind", "minutes", "taste")] == ["--kind", "--time", None]
    assert (named("kind").kind, named("kind").placeholder) == (OptionKind.CHOICE, "green|black")
    numbers = [Option("known", kind).placeholder for kind in (OptionKind.WHOLE, OptionKind.DECIMAL)]
    assert (numbers, Option("known").placeholder) == (["N", "N"], "NAME")
    assert [named(name).default_text for name in ("kind", "sugar", "cup")] == ["green", "", "small"]


@pytest.mark.parametrize(
    ("name", "texts", "value"),
    [
        ("minutes", ["4"], 4),
        ("minutes", ["short"], "short"),
        ("minutes", ["4", "5"], 5),
        ("sugar", ["2.5"], 2.5),
        ("sugar", [], None),
        ("never", ["a,b", "c"], ["a", "b", "c"]),
        ("guests", ["a,b", "c"], ["a,b", "c"]),
    ],
)
def test_texts_become_values(name: str, texts: list[str], value: object) -> None:
    assert named(name).read(texts, "--x") == value


@pytest.mark.parametrize(
    ("kind", "texts", "value"),
    [
        (OptionKind.GROUPS, ["a,b", "c,d"], [("a", "b"), ("c", "d")]),
        (OptionKind.LEVELS, ["a=1", "b=c=2"], {"a": 1, "b=c": 2}),
        (OptionKind.NUMBERS, ["a=1.5"], {"a": 1.5}),
        (OptionKind.FLAG, ["true"], True),
    ],
)
def test_kinds_of_several_parts_are_parsed(kind: OptionKind, texts: list[str], value: object) -> None:
    assert Option("x", kind).read(texts, "--x") == value


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (Option("x", OptionKind.WHOLE), "1.5"),
        (Option("x", OptionKind.DECIMAL, least=0), "-1"),
        (Option("x", OptionKind.DECIMAL), "nan"),
        (Option("x", OptionKind.GROUPS), "a"),
        (Option("x", OptionKind.QUASI_IDENTIFIERS), "a,"),
        (Option("x", OptionKind.LEVELS), "a"),
        (Option("x", OptionKind.NUMBERS), "a=b"),
    ],
)
def test_another_text_is_refused_with_the_flag(option: Option, text: str) -> None:
    with pytest.raises(InputError, match=f"--x {text}"):
        option.read([text], "--x")


@pytest.mark.parametrize(
    ("tea", "message"),
    [
        (Tea(kind="red"), "kind 'red' of the tea. Allowed: green, black."),
        (Tea(minutes=10), "minutes '10' of the tea. Allowed: short, a whole number from 1 to 9."),
        (Tea(minutes="long"), "minutes 'long' of the tea"),
        (Tea(minutes=True), "minutes 'True' of the tea"),
        (Tea(sugar=-1.0), "sugar '-1.0' of the tea. Allowed: a number of grams of at least 0."),
        (Tea(sugar=float("nan")), "sugar 'nan' of the tea"),
    ],
)
def test_value_out_of_bounds_is_refused(tea: Tea, message: str) -> None:
    with pytest.raises(InputError) as raised:
        check_options(tea, "the tea")
    assert message in str(raised.value)


def test_given_options_are_distinguished_from_omitted_ones() -> None:
    assert changed_options(Tea()) == {}
    assert changed_options(Tea(cup="small", kind="black")) == {"cup": "small", "kind": "black"}
    check_options(Tea(), "the tea")


def test_file_has_the_keys_that_are_declared(tmp_path: Path) -> None:
    path = tmp_path / "tea.toml"
    path.write_text('sugar = 2\nnever = ["milk"]\ncup = "big"\n')
    assert load_model_options(path, options_of(Tea), "the tea") == {
        "sugar": 2.0,
        "never": ["milk"],
        "cup": "big",
    }
    for text, message in {
        'kind = "green"': "unknown key 'kind'",
        "sugar = -1": "a number of grams of at least 0",
        'cup = "huge"': "big, small",
        "guests = [1]": "a list of texts",
    }.items():
        path.write_text(text)
        with pytest.raises(InputError) as raised:
            load_model_options(path, options_of(Tea), "the tea")
        assert message in str(raised.value), text


def test_file_key_has_no_separate_default() -> None:
    with pytest.raises(TypeError, match="default None"):
        option("big", choices=("big", "small"), in_spec=True)
