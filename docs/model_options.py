"""Write docs/model-options.md from what the models declare: ``python docs/model_options.py``."""

from __future__ import annotations

from pathlib import Path

from discreet.model.option import Option, OptionKind
from discreet.verbs.models.model_registry import MODELS
from discreet.verbs.models.recoding_model import Model

PAGE = Path(__file__).with_name("model-options.md")
_BEGIN = """# Options of recoding models

Written by `python docs/model_options.py` from what each model declares, so it is what the program takes.
On the command line a model is `--model NAME` with the flags; in Python it is a value of `discreet.models`,
`Mondrian(cut="median")` say, whose keywords are the flags' names with underscores; in the browser it is a
form. A key is written into the file that `--patterns` names. k, l, suppression and levels apply to every
model and are not options of a model: [the command line](cli.md#discreet-publish-spec), [Python](api.md),
[the models](recoding-models.md).

| `--model` | in Python | what it does | levels may be limited | rows may be suppressed |
|---|---|---|---|---|
"""


def page() -> str:
    """The page's text."""
    models = tuple(MODELS)
    parts = [_BEGIN + "\n".join(map(_line, models)) + "\n"]
    parts += [_section(model) for model in models if model.options()]
    return "\n".join(parts)


def _line(model: type[Model]) -> str:
    other = f" (`{model.name}`)" if model.aliases else ""
    facts = ["yes" if told else "no" for told in (model.takes_levels, model.takes_suppression)]
    return " | ".join([f"| `{model.called()}`{other}", f"`{model.__name__}`", model.text, *facts]) + " |"


def _section(model: type[Model]) -> str:
    head = "| option | takes | default | what it does | key |\n|---|---|---|---|---|"
    return f"## {model.title}\n\n`--model {model.called()}`\n\n{head}\n" + "".join(map(_row, model.options()))


def _row(option: Option) -> str:
    flag = "" if option.flag is None else option.flag
    metavar = (option.metavar or "NAME").replace("|", r"\|")
    value = "" if option.kind is OptionKind.FLAG else f" {metavar}"
    name = f"`{flag}{value}`" if flag else f"`{option.name}=`, in Python"
    takes = ", ".join(f"`{choice}`" for choice in option.choices)
    if option.kind in (OptionKind.WHOLE, OptionKind.DECIMAL):
        takes = option.allowed
    takes = takes or _KINDS[option.kind]
    repeats = "; repeatable" if option.repeatable else ""
    key = "yes" if option.in_spec else ""
    return f"| {name} | {takes}{repeats} | {option.default_text} | {option.help} | {key} |\n"


_KINDS = {
    OptionKind.TEXT: "a text",
    OptionKind.FLAG: "nothing: the flag turns it on",
    OptionKind.FILE: "a file",
    OptionKind.OPTIONS: "a TOML file",
    OptionKind.QUASI_IDENTIFIERS: "names of quasi-identifiers",
    OptionKind.GROUPS: "a group of quasi-identifiers",
    OptionKind.SENSITIVE: "a sensitive attribute",
    OptionKind.LEVELS: "an attribute's level",
    OptionKind.NUMBERS: "a number by quasi-identifier",
    OptionKind.MODEL: "a model, with its own options in addition",
    OptionKind.PYTHON: "an object of Python",
}

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
