"""Check that no code branches on the engine: declarations contain all differences between engines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.house import Module

_ENGINES = "discreet.engines."
_PARTS = re.compile("_|(?=Engine)")
_ASKING = ("isinstance", "issubclass", "cast")
_TELLING = (
    *(ast.Compare, ast.MatchValue, ast.MatchClass, ast.Dict, ast.Call, ast.FunctionDef, ast.AsyncFunctionDef),
    *(ast.arg, ast.keyword, ast.AnnAssign),
)
"""Kinds of nodes that ``_asked_of`` reads, a small part of all."""


def engine_branches(modules: list[Module]) -> Iterator[str]:
    """Yield code outside an engine's folder that tests for an engine, or imports from the folder.

    Only the registry imports declarations. Engines may use one another; all engines use the embedded one.
    """
    declared = [re.fullmatch(rf"{_ENGINES}(\w+)\.declaration", module.dotted) for module in modules]
    names = {match.group(1) for match in declared if match is not None}
    for module in modules:
        if _engine_of(module.dotted) in names:
            continue
        for imported in module.imports:
            name = _engine_of(f"{imported.module}.{imported.name}")
            listed = module.dotted == f"{_ENGINES}registry" and imported.module.endswith(".declaration")
            if name in names and not listed:
                yield f"{module.at(imported.line)} reaches into the folder of the engine {name}"
        for node in module.nodes:
            if not isinstance(node, _TELLING):
                continue
            asked = [text for text in _asked_of(node) if any(name in text.lower() for name in names)]
            for name in sorted(names & {word.lower() for text in asked for word in _PARTS.split(text)}):
                yield f"{module.at(getattr(node, 'lineno', 0))} asks for the engine {name}"


def _engine_of(dotted: str) -> str | None:
    """Return the folder of ``engines`` that contains a module, if any."""
    rest = dotted.removeprefix(_ENGINES)
    return rest.partition(".")[0] if rest != dotted else None


def _asked_of(node: ast.AST) -> Iterator[str]:
    """Return expressions that distinguish engines.

    These are comparisons, types, keys of tables, names of flags and of functions.
    """
    if isinstance(node, ast.Compare | ast.MatchValue | ast.MatchClass):
        yield from _words_of(node)
    elif isinstance(node, ast.Dict):
        yield from (word for key in node.keys if key is not None for word in _words_of(key))
    elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in _ASKING:
        yield from (word for argument in node.args for word in _words_of(argument))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.arg | ast.keyword):
        yield node.arg or ""
    elif isinstance(node, ast.AnnAssign):
        yield from _words_of(node.target)


def _words_of(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
