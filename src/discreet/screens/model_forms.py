"""The models that a table can be published under, each with its own options as fields of a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.model.option import Option, OptionKind
from discreet.verbs.models.base import FILES, Model
from discreet.verbs.models.registry import MODELS, model_of

NEGOTIATED = "negotiated"
"""Not a model: full-domain recoding at levels that are given."""

NOT_IN_A_FORM = (OptionKind.FILE, OptionKind.OPTIONS, OptionKind.PYTHON)
"""A browser names no file of the server, and gives no function."""


@dataclass(frozen=True)
class OptionField:
    """One option of a model, or a fixed part of a criterion; ``default`` stands where nothing is chosen."""

    option: Option
    choices: tuple[str, ...]

    @classmethod
    def of(cls, option: Option) -> OptionField:
        """The field of an option."""
        return cls(option, _choices(option))

    def as_json(self) -> dict[str, object]:
        """What a page needs to draw it."""
        names = ("name", "label", "kind", "choices", "default", "hint", "repeatable")
        return {name: getattr(self, name) for name in names}

    @property
    def name(self) -> str:
        """The option's name."""
        return self.option.name

    @property
    def label(self) -> str:
        """What stands before the field."""
        return self.option.label or self.option.spelt

    @property
    def kind(self) -> OptionKind:
        """What it takes."""
        return self.option.kind

    @property
    def default(self) -> str | None:
        """What the field begins with."""
        default = self.option.default
        return None if default is None else str(default).lower() if default is False else str(default)

    @property
    def hint(self) -> str:
        """What stands below the field."""
        told = self.option.told_default
        return self.option.hint or (f"{told} where empty" if told and self.default is None else "")

    @property
    def repeatable(self) -> bool:
        """Whether several are taken: a list, or a text of one per line."""
        return self.option.repeatable

    def value(self, given: object) -> object:
        """What was given, as the model takes it, None where nothing was; ``InputError`` for another kind."""
        if given is None or given == "" or given == [] or given is False:
            return None
        several = self.repeatable or self.kind is OptionKind.NUMBERS
        if isinstance(given, list) and all(isinstance(each, str) for each in given) and several:
            # A form's list holds whole names, and a name may hold a comma.
            is_names = self.kind is OptionKind.QUASI_IDENTIFIERS
            return list(given) if is_names else self.option.read(given, self.label)
        if isinstance(given, bool) and self.kind is OptionKind.FLAG:
            return given
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            raise InputError(f"{self.label}: not one value", allowed=self.option.allowed)
        texts = [line for line in str(given).splitlines() if line.strip()] if several else [str(given)]
        return self.option.read(texts, self.label)


@dataclass(frozen=True)
class ModelForm:
    """A model by its name, what it does in a sentence, its options, and which common options it takes.

    ``main`` models are listed before the others; ``takes_levels`` is whether each column's level is given.
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
    formats: tuple[str, ...] = FILES

    @classmethod
    def of(cls, model: type[Model]) -> ModelForm:
        """The form that a model's declaration gives."""
        shown = [each for each in model.options() if each.kind not in NOT_IN_A_FORM]
        return cls(
            name=model.called(),
            title=model.title,
            text=model.text,
            fields=tuple(OptionField.of(each) for each in shown),
            main=model.main,
            takes_suppression=model.takes_suppression,
            takes_l=model.takes_l,
            permuted=model.permuted,
            formats=model.formats,
        )

    def model(self, given: Mapping[str, object]) -> Model:
        """The model with the options of a form; ``InputError`` for what it does not know."""
        known = {field.name: field for field in self.fields}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InputError(
                f"the {self.name} model has no option '{unknown[0]}'", allowed=", ".join(known) or "none"
            )
        return model_of(self.name, {name: known[name].value(value) for name, value in given.items()})


_NEGOTIATED = ModelForm(
    NEGOTIATED,
    "Full-domain, chosen levels",
    "Every value of a column goes to one level: the node that was chosen in Negotiate.",
    takes_levels=True,
)


def model_forms() -> tuple[ModelForm, ...]:
    """The form of each model, after that of levels chosen in Negotiate."""
    return (_NEGOTIATED, *(ModelForm.of(model) for model in MODELS))


def form_of(name: str) -> ModelForm:
    """The form of a model by its name or shorter name; ``InputError`` for one that there is not."""
    if name == NEGOTIATED:
        return _NEGOTIATED
    if name not in MODELS:
        raise InputError(f"model '{name}'", allowed=", ".join(form.name for form in model_forms()))
    return ModelForm.of(MODELS.named(name))


def _choices(option: Option) -> tuple[str, ...]:
    if option.kind is OptionKind.MODEL:
        return ("", *(model.called() for model in MODELS if not model.permuted))
    # Where nothing need be chosen and no default is named in the list, the empty choice stands for it.
    empty = ("",) if option.kind is OptionKind.CHOICE and option.default is None else ()
    return (*empty, *option.choices)
