"""Options of models on the command line: flags, help and values, all from what the models declare.

A flag that several models declare is one flag; its help stands under each of them. The models are loaded when
the verb is used, and not when the program starts.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from discreet.errors import InputError
from discreet.model.option import Option, OptionKind

if TYPE_CHECKING:
    from discreet.workbench.models.base import Model

_KEY = "discreet.model_options"


class ModelCommand(TyperCommand):
    """A verb that takes the options of every model beside its own.

    ``given`` has those that were given. An option that the verb declares itself (``--level``) stays its own.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """The verb's own parameters, and a hidden one for each flag: ``format_options`` shows them."""
        own = super().get_params(ctx)
        taken = {word for parameter in self.params for word in parameter.opts}
        return [*own, *(each for each in _parameters() if not taken & set(each.opts))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The verb's own options, then those of models, model by model."""
        super().format_options(ctx, formatter)
        taken = {word for parameter in self.params for word in parameter.opts}
        for models, options in _sections().items():
            rows = [_row(each) for each in options if each.flag not in taken]
            if rows:
                with formatter.section(f"--model {', '.join(models)}"):
                    formatter.write_dl(rows)
        with formatter.section("Models without options of their own"):
            formatter.write_dl(_plain_models())

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; the options of models wait for it in the context."""
        own = {parameter.name for parameter in self.params}
        names = [name for name in ctx.params if name not in own]
        ctx.meta[_KEY] = {name: value for name in names if (value := ctx.params.pop(name))}
        return super().invoke(ctx)


def given(context: typer.Context) -> dict[str, list[str]]:
    """The options of models that were given, as texts by name; a flag's text is ``true``."""
    found = context.meta.get(_KEY, {})
    return {name: ["true"] if value is True else list(value) for name, value in found.items()}


def model_of(name: str, texts: Mapping[str, list[str]]) -> Model:
    """A model from its name and the texts of its options; ``InputError`` for what it does not know.

    Options that the model does not have are read as those of the model that it names, where it names one.
    """
    from discreet.workbench.models.registry import MODELS
    from discreet.workbench.models.registry import model_of as built

    kind = MODELS.named(name)
    declared = {each.name: each for each in kind.options()}
    inner = kind.option_of(OptionKind.MODEL)
    if inner is not None and inner.name in texts:
        declared = {each.name: each for each in MODELS.named(texts[inner.name][-1]).options()} | declared
    values: dict[str, Any] = dict(texts)
    for each in declared.values():
        if each.name in texts:
            values[each.name] = each.read(texts[each.name], each.flag or each.name)
    return built(name, values)


def declares(model: str, name: str) -> bool:
    """Whether a model has an option of that name; ``InputError`` for a name that no model has."""
    from discreet.workbench.models.registry import MODELS

    return any(each.name == name for each in MODELS.named(model).options())


def _parameters() -> list[Any]:
    """A parameter of the command line for each flag; typer makes them, of a function with this signature."""
    flags: dict[str, list[Option]] = {}
    for options in _sections().values():
        for each in options:
            flags.setdefault(each.name, []).append(each)
    parameters = []
    for name, options in flags.items():
        kinds = {each.kind is OptionKind.FLAG for each in options}
        if len(kinds) > 1 or len({each.flag for each in options}) > 1:
            raise InputError(
                f"two models declare '{name}' differently", advice="Rename the one of a package."
            )
        told = typer.Option(options[0].flag, hidden=True)
        annotation: Any = Annotated[bool, told] if kinds == {True} else Annotated[list[str] | None, told]
        default = False if kinds == {True} else None
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )

    def verb(**options: object) -> None:
        del options

    verb.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    verb.__annotations__ = {each.name: each.annotation for each in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(verb)
    return list(typer.main.get_command(app).params)


def _sections() -> dict[tuple[str, ...], list[Option]]:
    """The options with a flag, by the models that declare each alike."""
    from discreet.workbench.models.registry import MODELS

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
    from discreet.workbench.models.registry import MODELS

    return [(model.called(), model.text) for model in MODELS if not model.options()]


def _row(option: Option) -> tuple[str, str]:
    """An option in the help: its flag, and what it does."""
    flag = str(option.flag)
    written = flag if option.kind is OptionKind.FLAG else f"{flag} {option.placeholder}"
    listed = f": {', '.join(option.choices)}" if option.choices and option.placeholder == "NAME" else ""
    repeats = "; repeatable" if option.repeatable else ""
    default = f" [{option.told_default}]" if option.told_default else ""
    text = f"{option.help}{listed}{repeats}.{default}"
    return written, text[:1].upper() + text[1:]
