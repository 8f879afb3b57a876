"""The forms of recoding models and attacks: each with its declared options as fields.

A form is generated from the declaration of a model or an attack, so that a new one needs no code here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.attacks.declaration import Attack, Need
from discreet.attacks.registry import ATTACKS
from discreet.errors import InputError
from discreet.model.option import Option, OptionKind
from discreet.verbs.models.model_registry import MODELS, resolve_model
from discreet.verbs.models.recoding_model import TABLE_FILE_FORMATS, Model

NEGOTIATED_MODEL = "negotiated"
"""Not a model: full-domain recoding at given levels."""

EXCLUDED_KINDS = (OptionKind.FILE, OptionKind.OPTIONS, OptionKind.PYTHON)
"""Kinds of options without a field: a browser cannot name a file of the server or pass a function."""


@dataclass(frozen=True)
class OptionField:
    """The field of one option of a model, or of a fixed part of a criterion.

    ``default`` applies if nothing is chosen.
    """

    option: Option
    choices: tuple[str, ...]

    @classmethod
    def of(cls, option: Option) -> OptionField:
        """Build the field of an option."""
        return cls(option, _choices(option))

    def as_json(self) -> dict[str, object]:
        """Return the field as JSON."""
        names = ("name", "label", "kind", "choices", "default", "hint", "repeatable")
        return {name: getattr(self, name) for name in names}

    @property
    def name(self) -> str:
        """The option's name."""
        return self.option.name

    @property
    def label(self) -> str:
        """The label of the field."""
        return self.option.label or self.option.spelt

    @property
    def kind(self) -> OptionKind:
        """The kind of values."""
        return self.option.kind

    @property
    def default(self) -> str | None:
        """The initial value of the field."""
        default = self.option.default
        return None if default is None else str(default).lower() if default is False else str(default)

    @property
    def hint(self) -> str:
        """The hint below the field."""
        default_text = self.option.told_default
        return self.option.hint or (
            f"{default_text} where empty" if default_text and self.default is None else ""
        )

    @property
    def repeatable(self) -> bool:
        """True if several values are accepted: a list, or a text with one per line."""
        return self.option.repeatable

    def value(self, raw_input: object) -> object:
        """Return the input in the form that the model takes, None if it is empty.

        Raises ``InputError`` for another kind of value.
        """
        if raw_input is None or raw_input == "" or raw_input == [] or raw_input is False:
            return None
        several = self.repeatable or self.kind is OptionKind.NUMBERS
        if isinstance(raw_input, list) and all(isinstance(each, str) for each in raw_input) and several:
            # A form's list contains whole names, and a name may contain a comma.
            is_names = self.kind is OptionKind.QUASI_IDENTIFIERS
            return list(raw_input) if is_names else self.option.read(raw_input, self.label)
        if isinstance(raw_input, bool) and self.kind is OptionKind.FLAG:
            return raw_input
        if isinstance(raw_input, bool) or not isinstance(raw_input, str | int | float):
            raise InputError(f"{self.label}: not one value", allowed=self.option.allowed)
        texts = (
            [line for line in str(raw_input).splitlines() if line.strip()] if several else [str(raw_input)]
        )
        return self.option.read(texts, self.label)


@dataclass(frozen=True)
class ModelForm:
    """The form of a model: its name, a sentence about it, its options, and the common options that it takes.

    ``main`` models are listed before the others; ``takes_levels`` is True if each column's level is given.
    """

    name: str
    title: str
    text: str
    fields: tuple[OptionField, ...] = ()
    main: bool = True
    takes_levels: bool = False
    takes_suppression: bool = True
    takes_l: bool = True
    permuted: bool = False
    formats: tuple[str, ...] = TABLE_FILE_FORMATS

    @classmethod
    def of(cls, model: type[Model]) -> ModelForm:
        """Build the form from a model's declaration."""
        visible = [each for each in model.options() if each.kind not in EXCLUDED_KINDS]
        return cls(
            name=model.called(),
            title=model.title,
            text=model.text,
            fields=tuple(OptionField.of(each) for each in visible),
            main=model.main,
            takes_suppression=model.takes_suppression,
            takes_l=model.takes_l,
            permuted=model.release_kind.permuted,
            formats=model.formats,
        )

    def model(self, raw_input: Mapping[str, object]) -> Model:
        """Return the model with the options of a form; raise ``InputError`` for an unknown option."""
        known = {field.name: field for field in self.fields}
        unknown = [name for name in raw_input if name not in known]
        if unknown:
            raise InputError(
                f"the {self.name} model has no option '{unknown[0]}'", allowed=", ".join(known) or "none"
            )
        return resolve_model(self.name, {name: known[name].value(value) for name, value in raw_input.items()})


_NEGOTIATED_FORM = ModelForm(
    NEGOTIATED_MODEL,
    "Full-domain, chosen levels",
    "Every value of a column goes to one level: the node that was chosen in Negotiate.",
    takes_levels=True,
)


def model_forms() -> tuple[ModelForm, ...]:
    """Return the form of each model, after that of levels chosen in Negotiate."""
    return (_NEGOTIATED_FORM, *(ModelForm.of(model) for model in MODELS))


def model_form(name: str) -> ModelForm:
    """Return the form of a model by its name or short name; raise ``InputError`` for an unknown one."""
    if name == NEGOTIATED_MODEL:
        return _NEGOTIATED_FORM
    if name not in MODELS:
        raise InputError(f"model '{name}'", allowed=", ".join(form.name for form in model_forms()))
    return ModelForm.of(MODELS.named(name))


def _choices(option: Option) -> tuple[str, ...]:
    if option.kind is OptionKind.MODEL:
        return ("", *(model.called() for model in MODELS if model.recodes()))
    # An optional choice without a default gets the empty choice.
    empty = ("",) if option.kind is OptionKind.CHOICE and option.default is None else ()
    return (*empty, *option.choices)


@dataclass(frozen=True)
class FileField:
    """A file that an attack takes: an upload, or existing releases."""

    name: str
    label: str
    is_release: bool


@dataclass(frozen=True)
class AttackForm:
    """The form of an attack: its name, a sentence about the attacker, its needs, options and files."""

    name: str
    title: str
    text: str
    needs: tuple[str, ...]
    fields: tuple[OptionField, ...]
    files: tuple[FileField, ...]

    @classmethod
    def of(cls, attack: type[Attack]) -> AttackForm:
        """Build the form from an attack's declaration."""
        options = attack.options()
        fields = tuple(OptionField.of(each) for each in options if each.kind not in EXCLUDED_KINDS)
        earlier = Need.EARLIER in attack.needs
        files = tuple(
            FileField(each.name, each.label or each.spelt, earlier)
            for each in options
            if each.kind is OptionKind.FILE
        )
        return cls(attack.name, attack.title, attack.text, tuple(map(str, attack.needs)), fields, files)

    def attack(self, raw_input: Mapping[str, object], files: Mapping[str, Sequence[str]]) -> Attack:
        """Return the attack with the options of a form and the paths of its files.

        Raises ``InputError`` for an unknown option.
        """
        known = {field.name: field for field in self.fields}
        allowed = {*known, *(field.name for field in self.files)}
        unknown = [name for name in [*raw_input, *files] if name not in allowed]
        if unknown:
            raise InputError(
                f"the {self.name} attack has no option '{unknown[0]}'",
                allowed=", ".join(sorted(allowed)) or "none",
            )
        values = {name: known[name].value(value) for name, value in raw_input.items()}
        options: dict[str, object] = {name: value for name, value in values.items() if value is not None}
        for field in self.files:
            if paths := list(files.get(field.name, ())):
                options[field.name] = paths if field.is_release else paths[-1]
        return ATTACKS.named(self.name)(**options)


def attack_forms() -> tuple[AttackForm, ...]:
    """Return the form of each attack."""
    return tuple(AttackForm.of(attack) for attack in ATTACKS)


def attack_form(name: str) -> AttackForm:
    """Return the form of an attack by name; raise ``InputError`` for an unknown one."""
    return AttackForm.of(ATTACKS.named(name))


def attack_from_form(
    name: str | None, raw_input: Mapping[str, object], files: Mapping[str, Sequence[str]]
) -> Attack | None:
    """Return the attack of a name with the options of its form, None without a name.

    Raises ``InputError`` like ``AttackForm.attack``.
    """
    return None if name is None else attack_form(name).attack(raw_input, files)
