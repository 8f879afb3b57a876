"""Architecture checks: imports between rooms, use of libraries, sizes of files and functions.

``docs/architecture.md`` declares the rooms and the walls; its tables are read here. Checks are plain
functions over the modules of a folder, each of which yields one line per violation. The linter finds prints
and missing docstrings, the type checker missing annotations.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = "discreet"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
FREE_LIBRARIES = {"numpy"}
_CODE = re.compile(r"`([^`]+)`")
_MODULES = {"scikit-learn": ("sklearn",), "duckdb": ("duckdb", "_duckdb")}
"""Modules of a library whose name is another one."""


def _rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _rooms() -> dict[str, tuple[int, set[str]]]:
    """Return each room's row, and the rooms that it may import; the package itself is the room ""."""
    found = {
        _CODE.findall(room)[0]: (int(row), set(_CODE.findall(allowed)))
        for row, room, _, allowed in _rows("Rooms")
    }
    return {"" if room == PACKAGE else room: rule for room, rule in found.items()}


def _walls() -> dict[str, tuple[set[str], set[str]]]:
    """Return, by library, the rooms that may import it at the top of a module, and inside a function."""
    found = {}
    for libraries, places in _rows("Walls"):
        eager: set[str] = set()
        lazy: set[str] = set()
        for clause in places.split(";"):
            rooms = {name for name in _CODE.findall(clause) if name in ROOMS}
            lazy |= rooms
            eager |= set() if "inside functions" in clause else rooms
        for library in libraries.split(", "):
            found |= dict.fromkeys(_MODULES.get(library, (library,)), (eager, lazy))
    return found


ROOMS = _rooms()
WALLS = _walls()
LONGEST_FILE, LONGEST_FUNCTION = 600, 60
WRITTEN = (".py", ".js", ".css")

FORBIDDEN_NAMES = {"utils", "util", "aux", "helpers", "helper", "common", "misc"}


@dataclass(frozen=True)
class Import:
    """One imported name: ``module`` and, for ``from module import name``, ``name``."""

    module: str
    name: str | None
    line: int
    relative: bool
    lazy: bool
    for_types: bool = False


@dataclass(frozen=True)
class Module:
    """One source file below the folder of the package."""

    path: Path
    dotted: str

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree, which most checks iterate over."""
        return tuple(ast.walk(self.tree))

    @property
    def room(self) -> str:
        parts = self.dotted.split(".")
        return parts[1] if len(parts) > 1 else ""

    def at(self, line: int) -> str:
        return f"{self.dotted}:{line}"

    @cached_property
    def every_import(self) -> tuple[Import, ...]:
        """All imports, including those under ``TYPE_CHECKING``, which are for types."""
        return tuple(_imports(self.tree, lazy=False))

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """The imports at run time, without names under ``TYPE_CHECKING``."""
        return tuple(imported for imported in self.every_import if not imported.for_types)


def modules_below(source: Path) -> list[Module]:
    found = []
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found.append(Module(path, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)))
    return found


def _imports(node: ast.AST, *, lazy: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.body:
                yield from (replace(found, for_types=True) for found in _imports(_block(other), lazy=lazy))
            for other in child.orelse:
                yield from _imports(_block(other), lazy=lazy)
        elif isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, None, child.lineno, False, lazy)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                yield Import(child.module or "", alias.name, child.lineno, child.level > 0, lazy)
        else:
            inside = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports(child, lazy=inside)


def _block(statement: ast.stmt) -> ast.Module:
    return ast.Module([statement], [])


def _room_of(imported: Import) -> str | None:
    """Return the room of an imported module, or None outside of the package."""
    parts = imported.module.split(".")
    if parts[0] != PACKAGE:
        return None
    if len(parts) > 1:
        return parts[1]
    return imported.name if imported.name in ROOMS else ""


Check = Callable[[list[Module]], Iterator[str]]


# --- engines and keywords ------------------------------------------------

_ENGINES = "discreet.engines."
_PARTS = re.compile("_|(?=Engine)")
_TYPE_TESTS = ("isinstance", "issubclass", "cast")
_NODE_TYPES = (
    *(ast.Compare, ast.MatchValue, ast.MatchClass, ast.Dict, ast.Call, ast.FunctionDef, ast.AsyncFunctionDef),
    *(ast.arg, ast.keyword, ast.AnnAssign),
)
"""Kinds of nodes that ``_distinguishing_texts`` reads, a small part of all."""


def engine_branches(modules: list[Module]) -> Iterator[str]:
    """Yield code outside an engine's folder that tests for an engine, or imports from the folder.

    Only the registry imports declarations. Engines may use one another; all engines use the embedded one.
    """
    declared = [re.fullmatch(rf"{_ENGINES}(\w+)\.declaration", module.dotted) for module in modules]
    names = {match.group(1) for match in declared if match is not None}
    for module in modules:
        text = module.text.lower()
        if _engine_of(module.dotted) in names or not any(name in text for name in names):
            continue
        for imported in module.imports:
            name = _engine_of(f"{imported.module}.{imported.name}")
            listed = module.dotted == f"{_ENGINES}registry" and imported.module.endswith(".declaration")
            if name in names and not listed:
                yield f"{module.at(imported.line)} reaches into the folder of the engine {name}"
        for node in module.nodes:
            if not isinstance(node, _NODE_TYPES):
                continue
            texts = [
                text for text in _distinguishing_texts(node) if any(name in text.lower() for name in names)
            ]
            for name in sorted(names & {word.lower() for text in texts for word in _PARTS.split(text)}):
                yield f"{module.at(getattr(node, 'lineno', 0))} asks for the engine {name}"


def _engine_of(dotted: str) -> str | None:
    """Return the folder of ``engines`` that contains a module, if any."""
    rest = dotted.removeprefix(_ENGINES)
    return rest.partition(".")[0] if rest != dotted else None


def _distinguishing_texts(node: ast.AST) -> Iterator[str]:
    """Return expressions that distinguish engines.

    These are comparisons, types, keys of tables, names of flags and of functions.
    """
    if isinstance(node, ast.Compare | ast.MatchValue | ast.MatchClass):
        yield from _words_of(node)
    elif isinstance(node, ast.Dict):
        yield from (word for key in node.keys if key is not None for word in _words_of(key))
    elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in _TYPE_TESTS:
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


REASONS: dict[str, tuple[str, ...]] = {
    "k and l themselves, and requests in their words": (
        *("model.criteria.*", "model.requirement", "model.request"),
        *("cli.*", "spec.*", "verbs.*", "web.*", "screens.*", "results.*", "sklearn", "foreign.*"),
    ),
    "documents whose format has both, whatever is required": (
        *("model.audit_report", "model.coded_warnings", "report.*"),
        *("release.publication", "release.publication_evidence"),
    ),
    "an audit counts k and l independently (decision 0005)": ("audit.*", "sql.audit_classes"),
    "kernels that are compiled for k and l, and their callers": (
        *("kernels.*", "frequency.class_requirement", "mondrian.partition"),
    ),
    "the l of persons, by representatives": ("recoding.failing_classes", "sql.subject_matching"),
    "algorithms and measures that are defined by k": (
        *("patterns.*", "taxonomy.*", "differential.*"),
        *("measures.standard_costs", "measures.generalized_table", "measures.metrics"),
    ),
    "(k,e)-anonymity, where k counts values of a group": (
        *("permutation.*", "model.release_kind"),
        *("release.permuted*", "sql.value_permutation", "sql.audit_permuted"),
    ),
    "findings of attacks, reported as k and l": ("attacks.*",),
}
"""Reasons why modules may name k or l, by patterns of their names below the package."""

_CRITERIA = ("KAnonymity", "DistinctDiversity")


def unreasoned_keywords(modules: list[Module]) -> Iterator[str]:
    """Yield code that names k or l (a parameter, keyword, field or criterion) without a listed reason."""
    allowed = [pattern for patterns in REASONS.values() for pattern in patterns]
    for module in modules:
        name = module.dotted.partition(".")[2]
        if not any(fnmatchcase(name, pattern) for pattern in allowed):
            yield from (f"{module.at(line)} names k or l: ask the criteria" for line in keyword_lines(module))


def keyword_lines(module: Module) -> Iterator[int]:
    """Return the lines on which a module names k or l."""
    for node in module.nodes:
        named = (
            (isinstance(node, ast.arg | ast.keyword) and node.arg in ("k", "l"))
            or (isinstance(node, ast.Attribute) and node.attr in ("k", "l", "l_of", "l_as_json"))
            or (isinstance(node, ast.AnnAssign) and getattr(node.target, "id", None) in ("k", "l"))
            or (isinstance(node, ast.Name) and node.id in _CRITERIA)
        )
        if named:
            yield getattr(node, "lineno", 0)


def stale_reasons(modules: list[Module]) -> Iterator[str]:
    """Yield patterns of the list that no module needs any more."""
    naming = [module.dotted.partition(".")[2] for module in modules if any(keyword_lines(module))]
    for patterns in REASONS.values():
        yield from (p for p in patterns if not any(fnmatchcase(name, p) for name in naming))


# --- the checks --------------------------------------------------------


def unknown_rooms(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        if module.room not in ROOMS:
            yield f"{module.dotted} lies in no room of the map"


def wrong_rooms(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        allowed = ROOMS.get(module.room, (0, set()))[1] | {module.room}
        for imported in module.imports:
            room = _room_of(imported)
            if room is not None and room not in allowed:
                yield f"{module.at(imported.line)} {module.room or PACKAGE} → {room or PACKAGE}"


def relative_imports(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for imported in module.imports:
            if imported.relative:
                yield f"{module.at(imported.line)} is a relative import"


def breached_walls(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for imported in module.imports:
            library = imported.module.split(".")[0]
            if library in WALLS:
                eager, lazy = WALLS[library]
                if module.room not in (lazy if imported.lazy else eager):
                    when = "inside a function" if imported.lazy else "at the top"
                    yield f"{module.at(imported.line)} imports {library} {when}"
            elif not imported.relative and library not in FREE_LIBRARIES | sys.stdlib_module_names | {
                PACKAGE
            }:
                yield f"{module.at(imported.line)} imports {library}, which no wall names"


def cycles(modules: list[Module]) -> Iterator[str]:
    """Yield cycles of imports, including those for types: a reader of one module has to read all."""
    names = {module.dotted for module in modules}
    graph: dict[str, set[str]] = {}
    for module in modules:
        targets = set()
        for imported in module.every_import:
            longer = f"{imported.module}.{imported.name}"
            target = longer if longer in names else imported.module
            if target in names and target != module.dotted:
                targets.add(target)
        graph[module.dotted] = targets
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield " → ".join(error.args[1])


def renamed_imports(modules: list[Module]) -> Iterator[str]:
    """Yield names of the package that are imported under another name; modules may be renamed.

    The linter (F811) reports two equal names in one module without a renaming. A name that shadows one of
    Python's must be renamed: ``open`` is the API's verb and a built-in function.
    """
    names = {module.dotted for module in modules}
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
                for alias in node.names:
                    kept = alias.asname in (None, alias.name) or hasattr(builtins, alias.name)
                    if not kept and f"{node.module}.{alias.name}" not in names:
                        yield f"{module.at(node.lineno)} imports {alias.name} as {alias.asname}"


def forbidden_names(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for part in module.dotted.split("."):
            if FORBIDDEN_NAMES & set(part.split("_")):
                yield f"{module.dotted} is named by no term of the field"


def long_functions(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = _length(node)
                if length > LONGEST_FUNCTION:
                    yield f"{module.at(node.lineno)} {node.name} has {length} lines"


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of a function's lines without its docstring."""
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is not None:
        docstring = node.body[0]
        length -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return length


def written_files(folder: Path) -> list[Path]:
    """Return the files below a folder that people write and read, in any language."""
    return sorted(path for path in folder.rglob("*") if path.suffix in WRITTEN and path.is_file())


def long_files(paths: list[Path], limit: int) -> list[str]:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    return [f"{path} has {length} lines" for path, length in lengths.items() if length > limit]


CHECKS: tuple[Check, ...] = (
    engine_branches,
    unreasoned_keywords,
    unknown_rooms,
    wrong_rooms,
    relative_imports,
    breached_walls,
    cycles,
    renamed_imports,
    forbidden_names,
    long_functions,
)
