"""Options of models on the command line: flags, help and values, all from what the models declare.

A flag that several models declare is one flag; its help stands under each of them. The models are loaded when
the verb is used, and not when the program starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.cli.declared import Declarations, Flag, Section, option_row
from discreet.errors import InputError
from discreet.model.option import Option, OptionKind

if TYPE_CHECKING:
    from discreet.verbs.models.base import Model


def model_of_texts(name: str, texts: Mapping[str, list[str]]) -> Model:
    """A model from its name and the texts of its options; ``InputError`` for what it does not know.

    Options that the model does not have are read as those of the model that it names, where it names one.
    """
    from discreet.verbs.models.registry import MODELS, model_of

    kind = MODELS.named(name)
    declared = {each.name: each for each in kind.options()}
    inner = kind.option_of(OptionKind.MODEL)
    if inner is not None and inner.name in texts:
        declared = {each.name: each for each in MODELS.named(texts[inner.name][-1]).options()} | declared
    values: dict[str, Any] = dict(texts)
    for each in declared.values():
        if each.name in texts:
            values[each.name] = each.read(texts[each.name], each.flag or each.name)
    return model_of(name, values)


def declares(model: str, name: str) -> bool:
    """Whether a model has an option of that name; ``InputError`` for a name that no model has."""
    from discreet.verbs.models.registry import MODELS

    return any(each.name == name for each in MODELS.named(model).options())


def _flags() -> list[Flag]:
    """Each flag once; ``InputError`` where two models declare one differently."""
    flags: dict[str, Flag] = {}
    for options in _declared().values():
        for each in options:
            found = Flag(each.name, str(each.flag), each.kind is OptionKind.FLAG)
            if flags.setdefault(each.name, found) != found:
                raise InputError(
                    f"two models declare '{each.name}' differently", advice="Rename the one of a package."
                )
    return list(flags.values())


def _sections(taken: frozenset[str]) -> list[Section]:
    """The options model by model, then the models without any."""
    found = []
    for models, options in _declared().items():
        rows = [option_row(each) for each in options if each.flag not in taken]
        if rows:
            found.append((f"--model {', '.join(models)}", rows))
    return [*found, ("Models without options of their own", _plain_models())]


def _declared() -> dict[tuple[str, ...], list[Option]]:
    """The options with a flag, by the models that declare each alike."""
    from discreet.verbs.models.registry import MODELS

    owners: dict[Option, list[str]] = {}
    for model in MODELS:
        for each in model.options():
            if each.flag is not None:
                owners.setdefault(each, []).append(model.called())
    sections: dict[tuple[str, ...], list[Option]] = {}
    for each, models in owners.items():
        sections.setdefault(tuple(models), []).append(each)
    return sections


def _plain_models() -> list[tuple[str, str]]:
    from discreet.verbs.models.registry import MODELS

    return [(model.called(), model.text) for model in MODELS if not model.options()]


MODEL_OPTIONS = Declarations("model_options", _flags, _sections)
"""Every model's options, beside a verb's own; ``--level``, which is one, stays the verb's."""
