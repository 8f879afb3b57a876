"""The attacks that can be tried by name, each with its own options as fields of a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.attacks.declaration import Attack, Need
from discreet.attacks.registry import ATTACKS
from discreet.errors import InputError
from discreet.screens.model_forms import NOT_IN_A_FORM, OptionField


@dataclass(frozen=True)
class AttackForm:
    """An attack by its name, what the attacker does in a sentence, what it needs, and its options."""

    name: str
    title: str
    text: str
    needs: tuple[str, ...]
    fields: tuple[OptionField, ...]

    @classmethod
    def of(cls, attack: type[Attack]) -> AttackForm:
        """The form that an attack's declaration gives."""
        shown = [each for each in attack.options() if each.kind not in NOT_IN_A_FORM]
        fields = tuple(map(OptionField.of, shown))
        return cls(attack.name, attack.title, attack.text, tuple(map(str, attack.needs)), fields)

    def attack(self, given: Mapping[str, object]) -> Attack:
        """The attack with the options of a form; ``InputError`` for what it does not know."""
        known = {field.name: field for field in self.fields}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InputError(
                f"the {self.name} attack has no option '{unknown[0]}'", allowed=", ".join(known) or "none"
            )
        values = {name: known[name].value(value) for name, value in given.items()}
        told = {name: value for name, value in values.items() if value is not None}
        return ATTACKS.named(self.name)(**told)


def attack_forms() -> tuple[AttackForm, ...]:
    """The form of each attack, but of those beside an earlier release: a browser names no file."""
    return tuple(AttackForm.of(attack) for attack in ATTACKS if Need.EARLIER not in attack.needs)


def attack_of_form(name: str, given: Mapping[str, object]) -> Attack:
    """The attack of a name with the options of a form; ``InputError`` for what there is not."""
    return AttackForm.of(ATTACKS.named(name)).attack(given)
