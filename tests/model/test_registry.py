from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from discreet.errors import InputError
from discreet.model.registry import Registry


@dataclass(frozen=True)
class Tea:
    name: str
    aliases: tuple[str, ...] = ()


GREEN = Tea("green", ("sencha",))
BLACK = Tea("black")
HERBAL = Tea("herbal")


def teas() -> Registry[Tea]:
    return Registry("the tea", "discreet.teas", Tea, lambda: (GREEN, BLACK), lambda tea: tea.aliases)


def packaged(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    entry = EntryPoint("herbal", value, "discreet.teas")
    entries = {"discreet.teas": [entry]}
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries.get(group, []))


def test_names_and_aliases_lead_to_the_declaration() -> None:
    found = teas()
    assert found.named("green") is GREEN
    assert found.named("sencha") is GREEN
    assert found.names() == ("green", "black")
    assert found.words() == ("green", "black", "sencha")
    assert "sencha" in found
    assert list(found) == [GREEN, BLACK]
    assert len(found) == 2


def test_unknown_name_is_refused_with_the_allowed_names() -> None:
    with pytest.raises(InputError, match=r"the tea 'red'\. Allowed: green, black, sencha\."):
        teas().named("red")


def test_registered_item_follows_the_built_in_ones_and_can_be_removed() -> None:
    found = teas()
    assert found.register(HERBAL) is HERBAL
    assert found.register(HERBAL) is HERBAL
    assert found.names() == ("green", "black", "herbal")
    found.remove("herbal")
    assert found.get("herbal") is None


@pytest.mark.parametrize("tea", [Tea("green"), Tea("sencha"), Tea("matcha", ("black",))])
def test_name_or_alias_is_registered_once(tea: Tea) -> None:
    with pytest.raises(InputError, match="is registered already"):
        teas().register(tea)


def test_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match=r"the object registered as the tea is a str\. Allowed: a Tea\."):
        teas().register("green")  # type: ignore[type-var]


def test_installed_package_registers_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    packaged(monkeypatch, f"{__name__}:HERBAL")
    monkeypatch.setattr(EntryPoint, "load", lambda _: HERBAL)
    assert teas().named("herbal") is HERBAL
    assert teas().names() == ("green", "black", "herbal")


def test_broken_package_is_named_at_every_use(monkeypatch: pytest.MonkeyPatch) -> None:
    packaged(monkeypatch, "no_such_package.teas:HERBAL")
    found = teas()
    assert found.named("green") is GREEN
    for _ in range(2):
        with pytest.raises(InputError, match="the tea 'herbal' of a package cannot be loaded") as raised:
            found.all()
    assert raised.value.advice == "Repair the package, or uninstall it."


def test_package_that_provides_another_type_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    packaged(monkeypatch, "math:pi")
    with pytest.raises(
        InputError, match=r"the tea 'herbal' of a package: the object registered .* is a float"
    ):
        teas().all()
