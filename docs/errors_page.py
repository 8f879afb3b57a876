"""Write docs/errors.md, errors, exit statuses and warnings, from the code: ``python docs/errors_page.py``."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from discreet import errors
from discreet.model import coded_warnings

PAGE = Path(__file__).with_name("errors.md")
SOURCES = Path(__file__).resolve().parents[1] / "src" / "discreet"
_KINDS = (
    errors.RequirementNotMet,
    errors.InputError,
    errors.NoSolution,
    errors.LimitReached,
    errors.InternalError,
)
_DO = {
    "requirement-not-met": "Do not hand the file on. Ask less, or publish anew.",
    "bad-input": "Mend what the message names; it says what is allowed.",
    "no-solution": "[Negotiate](negotiation.md): what is printed says what to relax.",
    "limit-reached": "Give it more (`--memory-limit`, `--threads`), or ask [a smaller question](scale.md).",
    "internal": "[Tell us](../SECURITY.md), with `--debug`; no release was made.",
}
_BEGIN = """# Errors and warnings

Written by `python docs/errors_page.py` from the code. An error says the fact, what is allowed, and what to
do; with `--json` it is one document on stdout, `{"error": {"kind", "message", "allowed", "advice"}}`, and
`--debug` adds the traceback. No message shows an address's password, and the texts of warnings in a
manifest name no value of the data.

## The five kinds of errors

| exit status | `kind` | in Python | when | what to do |
|---|---|---|---|---|
"""
_OTHERS = """
Exit status 0 is: done. Two more are the system's: 130 after an interruption (Ctrl-C), 141 when the reader
of the output went away. Where a command has statuses of its own, [its section](cli.md) says so; `discreet
check` ends with 2 where at least one of several files could not be checked, after it has checked the
others.

In Python all five are subclasses of `discreet.DiscreetError`:

```python
import discreet

try:
    discreet.open("nowhere.toml")
except discreet.InputError as error:
    assert error.exit_status == 2
    print(error.message, error.allowed, error.advice)
```

## Warnings of a release

A release that passed may still reveal more than its publisher intended. The terminal, the manifest (under
`warnings`) and the report contain the warnings; each has a code, so that none is repeated:

| code | text (`…` replaces names and numbers) |
|---|---|
"""


def page() -> str:
    """The page's text."""
    kinds = "".join(
        f"| {kind.exit_status} | `{kind.kind}` | `discreet.{kind.__name__}` "
        f"| {inspect.getdoc(kind)} | {_DO[kind.kind]} |\n"
        for kind in _KINDS
    )
    rows = "".join(f"| `{code}` | {text} |\n" for code, text in sorted(warnings()))
    return _BEGIN + kinds + _OTHERS + rows


def warnings() -> set[tuple[str, str]]:
    """Every code with its text, wherever the code makes one."""
    found = set()
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "CodedWarning(" not in text and "def warnings(" not in text:
            continue
        tree = ast.parse(text)
        module = ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts)
        for code, told in _made(tree):
            name = _code(code)
            if name is not None:
                found.add((name, _words(told, tree, module)))
    bare = {name for name, text in found if not text}
    told_elsewhere = {name for name, text in found if text}
    kept = {each for each in found if each[1]}
    return kept | {(name, "The text of the search or of the spec.") for name in bare - told_elsewhere}


def _made(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The two arguments of each warning: calls of ``CodedWarning``, and pairs that methods return."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "CodedWarning"
            and len(node.args) == 2
        ):
            yield node.args[0], node.args[1]
        if isinstance(node, ast.FunctionDef) and node.name == "warnings":
            for pair in ast.walk(node):
                if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 and _code(pair.elts[0]):
                    yield pair.elts[0], pair.elts[1]


def _code(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    known = getattr(coded_warnings, node.id, None) if isinstance(node, ast.Name) else None
    return known if isinstance(known, str) else None


def _words(node: ast.expr, tree: ast.Module, module: str) -> str:
    """The sentence; what is only known when it is made is an ellipsis."""
    if isinstance(node, ast.Constant):
        text = str(node.value)
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    elif isinstance(node, ast.Name) and node.id.isupper():
        text = str(getattr(import_module(module), node.id))
    elif isinstance(node, ast.Name):
        near = _given(node, tree)
        return _words(near, tree, module) if near is not None else ""
    else:
        return ""
    return re.sub(r"\s+", " ", text).replace("|", r"\|").replace("*", r"\*")


def _given(name: ast.Name, tree: ast.Module) -> ast.expr | None:
    """What a local name was given, in the few lines before it is used."""
    given = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and name.lineno - 5 <= node.lineno < name.lineno
        and any(isinstance(target, ast.Name) and target.id == name.id for target in node.targets)
    ]
    return max(given, key=lambda node: node.lineno).value if given else None


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
