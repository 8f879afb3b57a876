"""The forms of recoding models and attacks: each with its declared options as fields.

A form is generated from the declaration of a model or an attack, so that a new one needs no code here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from discreet.attacks.declaration import Attack, AttackRequirement
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

    ``default`` applies if nothing is chosen. ``repeatable`` fields accept several values: a list, or a text
    with one per line.
    """

    name: str
    label: str
    kind: OptionKind
    choices: tuple[str, ...]
    default: str | None
    hint: str
    repeatable: bool

    @classmethod
    def of(cls, option: Option) -> OptionField:
        """Build the field of an option."""
        default, default_text = option.default, option.default_text
        return cls(
            name=option.name,
            label=_label(option),
            kind=option.kind,
            choices=_choices(option),
            default=None if default is None else "false" if default is False else str(default),
            hint=option.hint or (f"{default_text} where empty" if default_text and default is None else ""),
            repeatable=option.repeatable,
        )


def _label(option: Option) -> str:
    return option.label or option.spelt


def _form_value(option: Option, raw_input: object) -> object:
    """Return an input in the form that the model takes, None if it is empty.

    Raises ``InputError`` for another kind of value.
    """
    if raw_input is None or raw_input == "" or raw_input == [] or raw_input is False:
        return None
    label, several = _label(option), option.repeatable or option.kind is OptionKind.NUMBERS
    if isinstance(raw_input, list) and all(isinstance(each, str) for each in raw_input) and several:
        # A form's list contains whole names, and a name may contain a comma.
        is_names = option.kind is OptionKind.QUASI_IDENTIFIERS
        return list(raw_input) if is_names else option.read(raw_input, label)
    if isinstance(raw_input, bool) and option.kind is OptionKind.FLAG:
        return raw_input
    if isinstance(raw_input, bool) or not isinstance(raw_input, str | int | float):
        raise InputError(f"{label}: not one value", allowed=option.allowed)
    texts = [line for line in str(raw_input).splitlines() if line.strip()] if several else [str(raw_input)]
    return option.read(texts, label)


def _form_values(
    owner: str,
    options: Iterable[Option],
    raw_input: Mapping[str, object],
    files: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Return the values of a form by option; raise ``InputError`` for an option that does not exist."""
    known = {option.name: option for option in options if option.kind not in EXCLUDED_KINDS}
    allowed = {
        *known,
        *(option.name for option in options if files is not None and option.kind is OptionKind.FILE),
    }
    unknown = [name for name in [*raw_input, *(files or ())] if name not in allowed]
    if unknown:
        names = known if files is None else sorted(allowed)
        raise InputError(f"the {owner} has no option '{unknown[0]}'", allowed=", ".join(names) or "none")
    return {name: _form_value(known[name], value) for name, value in raw_input.items()}


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
        return cls(
            name=model.called(),
            title=model.title,
            text=model.text,
            fields=_fields(model.options()),
            main=model.main,
            takes_suppression=model.takes_suppression,
            takes_l=model.takes_l,
            permuted=model.release_kind.permuted,
            formats=model.formats,
        )

    def model(self, raw_input: Mapping[str, object]) -> Model:
        """Return the model with the options of a form; raise ``InputError`` for an unknown option."""
        options = () if self.name == NEGOTIATED_MODEL else MODELS.named(self.name).options()
        return resolve_model(self.name, _form_values(f"{self.name} model", options, raw_input))


_NEGOTIATED_FORM = ModelForm(
    NEGOTIATED_MODEL,
    "Full-domain, chosen levels",
    "All values of a column have one level: the node that was chosen in Negotiate.",
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


def _fields(options: Iterable[Option]) -> tuple[OptionField, ...]:
    return tuple(OptionField.of(each) for each in options if each.kind not in EXCLUDED_KINDS)


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
        earlier = AttackRequirement.EARLIER in attack.requirements
        files = tuple(
            FileField(each.name, _label(each), earlier) for each in options if each.kind is OptionKind.FILE
        )
        return cls(
            attack.name,
            attack.title,
            attack.text,
            tuple(map(str, attack.requirements)),
            _fields(options),
            files,
        )

    def attack(self, raw_input: Mapping[str, object], files: Mapping[str, Sequence[str]]) -> Attack:
        """Return the attack with the options of a form and the paths of its files.

        Raises ``InputError`` for an unknown option.
        """
        attack = ATTACKS.named(self.name)
        values = _form_values(f"{self.name} attack", attack.options(), raw_input, files)
        options: dict[str, object] = {name: value for name, value in values.items() if value is not None}
        for field in self.files:
            if paths := list(files.get(field.name, ())):
                options[field.name] = paths if field.is_release else paths[-1]
        return attack(**options)


def attack_forms() -> tuple[AttackForm, ...]:
    """Return the form of each attack."""
    return tuple(AttackForm.of(attack) for attack in ATTACKS)


def attack_form(name: str) -> AttackForm:
    """Return the form of an attack by name; raise ``InputError`` for an unknown one."""
    return AttackForm.of(ATTACKS.named(name))
