"""The attacks that can be tried by name, each with its own options as fields of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.attacks.declaration import Attack, Need
from discreet.attacks.registry import ATTACKS
from discreet.errors import InputError
from discreet.model.option import OptionKind
from discreet.screens.model_forms import NOT_IN_A_FORM, OptionField


@dataclass(frozen=True)
class FileField:
    """A file that an attack is tried with: an upload, or releases that there are already."""

    name: str
    label: str
    is_release: bool


@dataclass(frozen=True)
class AttackForm:
    """An attack by its name, what the attacker does in a sentence, what it needs, its options and files."""

    name: str
    title: str
    text: str
    needs: tuple[str, ...]
    fields: tuple[OptionField, ...]
    files: tuple[FileField, ...]

    @classmethod
    def of(cls, attack: type[Attack]) -> AttackForm:
        """The form that an attack's declaration gives."""
        options = attack.options()
        fields = tuple(OptionField.of(each) for each in options if each.kind not in NOT_IN_A_FORM)
        earlier = Need.EARLIER in attack.needs
        files = tuple(
            FileField(each.name, each.label or each.spelt, earlier)
            for each in options
            if each.kind is OptionKind.FILE
        )
        return cls(attack.name, attack.title, attack.text, tuple(map(str, attack.needs)), fields, files)

    def attack(self, given: Mapping[str, object], files: Mapping[str, Sequence[str]]) -> Attack:
        """The attack with the options of a form and the paths of its files; ``InputError`` for what it does
        not know."""
        known = {field.name: field for field in self.fields}
        allowed = {*known, *(field.name for field in self.files)}
        unknown = [name for name in [*given, *files] if name not in allowed]
        if unknown:
            raise InputError(
                f"the {self.name} attack has no option '{unknown[0]}'",
                allowed=", ".join(sorted(allowed)) or "none",
            )
        values = {name: known[name].value(value) for name, value in given.items()}
        told: dict[str, object] = {name: value for name, value in values.items() if value is not None}
        for field in self.files:
            if paths := list(files.get(field.name, ())):
                told[field.name] = paths if field.is_release else paths[-1]
        return ATTACKS.named(self.name)(**told)


def attack_forms() -> tuple[AttackForm, ...]:
    """The form of each attack."""
    return tuple(AttackForm.of(attack) for attack in ATTACKS)


def attack_form(name: str) -> AttackForm:
    """The form of the attack of a name; ``InputError`` where there is none."""
    return AttackForm.of(ATTACKS.named(name))


def attack_of_form(
    name: str | None, given: Mapping[str, object], files: Mapping[str, Sequence[str]]
) -> Attack | None:
    """The attack of a name with what its form was given, None without a name; ``InputError`` as above."""
    return None if name is None else attack_form(name).attack(given, files)
