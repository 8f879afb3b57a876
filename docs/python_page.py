"""Write docs/python.md, every public name with its docstring: ``python docs/python_page.py``."""

from __future__ import annotations

import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).with_name("python.md")
MODULES = {
    "discreet": "The verbs, what they hand back, and the errors",
    "discreet.models": "The recoding models",
    "discreet.attackers": "The attacks by name",
    "discreet.criteria": "The criteria",
    "discreet.costs": "The costs",
    "discreet.coming_from": "Projects of other tools",
    "discreet.extending": "Names for extensions",
}
_BEGIN = """# Python, name by name

Written by `python docs/python_page.py` from the code: every public name, its call and its docstring. To
learn it, [the page with examples](api.md) is better. What is not here is no promise and may change.
"""
_MEANT = re.compile(r"\s+at 0x[0-9a-f]+")


def page() -> str:
    """The page's text."""
    parts = [_BEGIN]
    for name, told in MODULES.items():
        module = import_module(name)
        parts.append(f"## `{name}`\n\n{told}.\n\n{_markdown(module.__doc__)}\n")
        parts += [_entry(module, each) for each in sorted(module.__all__, key=str.casefold)]
    return "\n".join(parts)


def _entry(module: ModuleType, name: str) -> str:
    value = getattr(module, name)
    title = f"### `{module.__name__}.{name}`\n"
    if inspect.isclass(value):
        members = [_member(*each) for each in vars(value).items() if not each[0].startswith("_")]
        listed = "".join(member for member in members if member)
        return f"{title}\n{_call(name, value)}{_own_doc(value)}\n\n{listed}"
    if callable(value):
        return f"{title}\n{_call(name, value)}{_markdown(inspect.getdoc(value))}\n"
    return f"{title}\n{_markdown(_told_of(value))}\n"


def _own_doc(value: type) -> str:
    """What a class says of itself; of a dataclass that says nothing the call stands above."""
    doc = inspect.cleandoc(value.__doc__ or "")
    return "" if doc.startswith(f"{value.__name__}(") else _markdown(doc)


def _told_of(value: object) -> str:
    """A value that is no class and no function: its type's words, where it has some of its own."""
    doc = inspect.getdoc(type(value)) if type(value).__module__.startswith("discreet") else None
    return doc or f"A value of `{type(value).__name__}`."


def _member(name: str, value: object) -> str:
    """A line of a list for a method or a property that has a docstring; its first paragraph."""
    if isinstance(value, property):
        shown, doc = name, inspect.getdoc(value.fget)
    elif isinstance(value, (classmethod, staticmethod)) or inspect.isfunction(value):
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        shown, doc = f"{name}{_parameters(function)}", inspect.getdoc(function)
    else:
        return ""
    if not doc:
        return ""
    told = " ".join(doc.split("\n\n")[0].removesuffix("::").split())
    return f"- `{shown}`: {_inline(told)}\n"


def _parameters(function: object) -> str:
    """The parameters as they are written, without types, which would fill the line."""
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(…)"
    bare = [
        each.replace(annotation=inspect.Parameter.empty, default=_short(each.default))
        for each in signature.parameters.values()
        if each.name not in {"self", "cls"}
    ]
    text = str(inspect.Signature(bare))
    return _MEANT.sub("", text)


class _Written:
    """A default, as it is printed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _short(default: object) -> object:
    if default is inspect.Parameter.empty:
        return default
    text = repr(default)
    return _Written(text if len(text) < 30 and "<" not in text else "…")


def _call(name: str, value: object) -> str:
    parameters = _parameters(value)
    return f"```text\n{textwrap.fill(name + parameters, 96, subsequent_indent='    ')}\n```\n\n"


def _markdown(doc: str | None) -> str:
    """A docstring as Markdown: what follows ``::`` or begins with ``>>>`` is a block."""
    if not doc:
        return ""
    parts: list[str] = []
    after_colons = False
    for part in re.split(r"\n\s*\n", inspect.cleandoc(doc)):
        if part.startswith(">>>") or (after_colons and part.startswith((" ", "\t"))):
            parts.append(f"```text\n{textwrap.dedent(part)}\n```")
            continue
        after_colons = part.rstrip().endswith("::")
        if part.strip() != "::":
            parts.append(_inline(re.sub(r"::$", ":", part.rstrip())))
    return "\n\n".join(parts)


def _inline(text: str) -> str:
    """Words of a docstring; outside its code nothing is taken for markup."""
    pieces = re.split(r"(``[^`]+``)", text)
    return "".join(
        f"`{piece[2:-2]}`" if place % 2 else re.sub(r"([*_<\[])", r"\\\1", piece)
        for place, piece in enumerate(pieces)
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
