"""Import of an ARX project (``.deid``) as a spec with its hierarchies as files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.foreign.arx import ARX_SUFFIX, ArxAttribute, ArxProject, extract_arx_data, read_arx_project
from discreet.hierarchy.csv_file import format_hierarchy_csv
from discreet.places.address import looks_like_address, parse_path
from discreet.places.protected_files import ProtectedFile, TargetFile, check_outputs
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    Tone,
    format_quantity,
    heading_line,
    make_columns,
    warning_block,
)
from discreet.printing.rendering import Printable
from discreet.spec.toml_writer import format_spec
from discreet.verbs.locations import check_output_file, write_text

_FOLDER = "hierarchies"
_UNSAFE_CHARACTERS = re.compile(r"[^\w-]+")
_NO_DATA_NOTE = "the rows were not extracted: copy them there, or set path in [source]"


@dataclass(frozen=True, repr=False)
class ArxSpec(Printable):
    """Spec imported from an ARX project.

    ``path`` is the written spec, ``files`` are the other written files; without an output, ``path`` is None.

    >>> discreet.coming_from.arx("study.deid", "study/discreet.toml")  # doctest: +SKIP
    """

    project: ArxProject
    mapping: Mapping[str, Any]
    path: Path | None = None
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Spec as TOML."""
        made = f" with ARX {self.project.version}" if self.project.version else ""
        return format_spec(
            self.mapping,
            heading=(
                f"From {self.project.path.name}, made{made}: read it before you publish.",
                *self.warnings,
            ),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes on the parts of the project that were left out, and on the rows."""
        return (*self.notes, *(f"left out: {note}" for note in self.project.notes))

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet init NAME.deid --json``."""
        return {
            "path": None if self.path is None else str(self.path),
            "source": dict(self.mapping["source"]),
            "attributes": [
                {
                    "name": a.name,
                    "role": str(a.role),
                    "hierarchy": self.mapping["attributes"][a.name].get("hierarchy"),
                }
                for a in self.project.attributes
            ],
            "request": dict(self.mapping.get("request", {})),
            "files": [str(file) for file in self.files],
            "warnings": list(self.warnings),
        }

    def document(self) -> Document:
        """Return one row per column, the request, the written files, and the warnings."""
        columns = make_columns("column", "role", "~hierarchy")
        rows = tuple(_attribute_row(a, self.mapping["attributes"][a.name]) for a in self.project.attributes)
        request_text = ", ".join(
            f"{key} {_value_text(value)}" for key, value in self.mapping.get("request", {}).items()
        )
        lines = [Line(f"Request: {request_text}.")] if request_text else []
        lines += [
            Line(f"Written to {file}.", Tone.GOOD) for file in (*self.files, self.path) if file is not None
        ]
        return (
            heading_line(f"{self.project.path.name}: {format_quantity(len(rows), 'column')}"),
            Grid(columns, rows),
            BLANK,
            *lines,
            *warning_block(self.warnings),
        )


def is_arx_project(data: object) -> bool:
    """Return True if ``data`` is the path of an ARX project, by its suffix."""
    return (
        isinstance(data, str | Path)
        and Path(data).suffix.lower() == ARX_SUFFIX
        and not looks_like_address(str(data))
    )


def arx(
    project: str | Path,
    output: str | Path | None = None,
    *,
    extract: bool | None = None,
    overwrite: bool = False,
) -> ArxSpec:
    """Read an ARX project; with ``output``, write its spec there and its hierarchies to a folder next to it.

    Without ``output`` the mapping contains the hierarchies. With ``extract`` the rows of the project are
    written next to the spec, to a file that only its owner may read; None extracts them if this call creates
    the spec's folder. ``warnings`` of the result lists the parts that could not be imported.

    Raises ``InputError`` if the project cannot be read, or if a file exists and ``overwrite`` is false; rows
    are never overwritten.

    >>> spec = discreet.coming_from.arx("study.deid", "study/discreet.toml")  # doctest: +SKIP
    >>> spec.warnings  # doctest: +SKIP
    """
    found = read_arx_project(parse_path(project, "the path of a project"))
    if output is None:
        return ArxSpec(
            found, _make_mapping(found, {a.name: _inline_hierarchy(a) for a in found.attributes}, {})
        )
    target = parse_path(output, "the path of the spec")
    new = not target.parent.exists()
    rows = target.with_name(f"{_file_name(found.path.stem)}.csv")
    texts, names = _hierarchy_files(found)
    wanted = {target.parent / name: text for name, text in texts.items()}
    targets = [TargetFile("a spec", target), *(TargetFile("a hierarchy file", path) for path in wanted)]
    check_outputs(
        [*targets, TargetFile("the rows of the project", rows)], [ProtectedFile("the project", found.path)]
    )
    if not new:
        for path in (target, *(p for p in wanted if p.parent.exists())):
            check_output_file(path, overwrite=overwrite)
    for folder in dict.fromkeys((target.parent, *(path.parent for path in wanted))):
        _make_folder(folder)
    source = {"path": rows.name, "delimiter": found.delimiter}
    extracted = (new and found.has_data) if extract is None else extract
    if extracted:
        source["encoding"] = extract_arx_data(found.path, rows)
    for path, text in wanted.items():
        write_text(path, text, overwrite=overwrite)
    files = (*((rows,) if extracted else ()), *wanted)
    notes = () if extracted or rows.exists() else (f"{rows}: {_NO_DATA_NOTE}",)
    spec = ArxSpec(found, _make_mapping(found, names, source), target, files, notes)
    write_text(target, spec.text, overwrite=overwrite)
    return spec


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be made: {error.strerror}") from None


def _make_mapping(
    project: ArxProject, hierarchies: Mapping[str, object], source: Mapping[str, str]
) -> dict[str, Any]:
    attributes = {
        a.name: {"role": str(a.role), "hierarchy": hierarchies.get(a.name), "weight": a.weight}
        for a in project.attributes
    }
    set_tables = {
        name: {k: v for k, v in table.items() if v is not None} for name, table in attributes.items()
    }
    return {"source": dict(source), "attributes": set_tables, "request": dict(project.request)}


def _inline_hierarchy(attribute: ArxAttribute) -> object:
    if attribute.hierarchy is None:
        return None
    codes = attribute.hierarchy.codes_in_order.tolist()
    return {"kind": "levels", "rows": [list(attribute.hierarchy.path(code)) for code in codes]}


def _hierarchy_files(project: ArxProject) -> tuple[dict[str, str], dict[str, str]]:
    """Return the text of each hierarchy file by its path relative to the spec, and each column's path.

    Paths contain only letters, digits, ``_`` and ``-`` of the column's name: names in the archive are
    untrusted.
    """
    texts, names, taken = dict[str, str](), dict[str, str](), set[str]()
    for attribute in project.attributes:
        if attribute.hierarchy is not None:
            stem = name = _file_name(attribute.name)
            number = 1
            while name.casefold() in taken:
                number += 1
                name = f"{stem}-{number}"
            taken.add(name.casefold())
            names[attribute.name] = f"{_FOLDER}/{name}.csv"
            texts[names[attribute.name]] = format_hierarchy_csv(attribute.hierarchy)
    return texts, names


def _file_name(text: str) -> str:
    """Convert a text to a file name.

    >>> _file_name("../age at visit")
    'age_at_visit'
    """
    return _UNSAFE_CHARACTERS.sub("_", text).strip("_")[:80] or "column"


def _attribute_row(attribute: ArxAttribute, table: Mapping[str, Any]) -> tuple[str, ...]:
    hierarchy = attribute.hierarchy
    if hierarchy is None:
        return attribute.name, str(attribute.role), ""
    written, levels = table["hierarchy"], format_quantity(hierarchy.height, "level")
    return attribute.name, str(attribute.role), f"{written}, {levels}" if isinstance(written, str) else levels


def _value_text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return "; ".join(map(_value_text, value)) if isinstance(value, list) else str(value)
