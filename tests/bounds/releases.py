"""Small release files, permuted or with equivalence classes, built from rows in plain Python."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from discreet.model.published_cells import LabelForm
from discreet.model.release_kind import HELP_FILE, SENSITIVE_FILE, PermutedFile, PermutedRelease, ReleaseForm
from discreet.release.manifest import Manifest, ManifestAttribute
from discreet.settings import Settings

Row = tuple[str | None, ...]
SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))
COUNTS = ["group_id", "hits", "values_lower", "values_upper", "group_rows", "group_values"]
NUMBERS = ["group_sum", "sum_lower", "sum_upper", "min_lower", "min_upper", "max_lower", "max_upper"]
NUMBERS += ["lowest", "highest"]


def write_permuted(
    folder: Path,
    names: Sequence[str],
    rows: Sequence[Row],
    groups: Sequence[int],
    values: Sequence[str | None],
    *,
    levels: Mapping[str, int] | None = None,
    sensitive: str = "salary",
    numeric: bool = True,
    two_tables: bool = False,
    null_policy: str = "value",
) -> Path:
    """Write a permuted release of grouped rows of ``names`` as CSV, with its help table and manifest."""
    path = folder / "people.csv"
    form = ReleaseForm.TWO_TABLES if two_tables else ReleaseForm.ONE_TABLE
    header = [*names, "group_id"] + ([] if two_tables else [sensitive])
    body = [
        [*row, str(group), *([] if two_tables else [value])]
        for row, group, value in zip(rows, groups, values, strict=True)
    ]
    write_csv(path, header, body)
    lines = help_lines(groups, values, numeric=numeric)
    write_csv(folder / "people.help.csv", [*COUNTS, *(NUMBERS if numeric else ())], lines)
    listed = {HELP_FILE: PermutedFile("people.help.csv", len(lines), "0")}
    if two_tables:
        held = sorted(zip(groups, values, strict=True), key=lambda pair: (pair[0], pair[1] or ""))
        write_csv(folder / "people.sensitive.csv", ["group_id", sensitive], held)
        listed[SENSITIVE_FILE] = PermutedFile("people.sensitive.csv", len(held), "0")
    scale = max((_places(v) for v in values if v is not None), default=0) if numeric else None
    facts = PermutedRelease(
        sensitive=sensitive,
        k=1,
        e=Decimal(0),
        partition="given",
        form=form,
        group_column="group_id",
        groups=len(set(groups)),
        rows_without_value=sum(value is None for value in values),
        numeric=numeric,
        scale=scale,
        files=listed,
    )
    write_manifest(path, names, sensitive, len(rows), levels, facts=facts, null_policy=null_policy)
    return path


def write_classes(
    folder: Path,
    names: Sequence[str],
    rows: Sequence[Row],
    values: Sequence[str | None],
    *,
    levels: Mapping[str, int | None],
    sensitive: str = "salary",
    suppressed: int = 0,
    suppression: str = "drop",
    null_policy: str = "value",
    forms: Mapping[str, LabelForm | None] | None = None,
    summary: str | None = None,
) -> Path:
    """Write a release of labels with exact sensitive values as CSV, with its manifest."""
    path = folder / "classes.csv"
    write_csv(path, [*names, sensitive], [[*row, value] for row, value in zip(rows, values, strict=True)])
    write_manifest(
        path,
        names,
        sensitive,
        len(rows),
        levels,
        suppressed=suppressed,
        suppression=suppression,
        null_policy=null_policy,
        forms=forms,
        summary=summary,
    )
    return path


def write_manifest(
    path: Path,
    names: Sequence[str],
    sensitive: str,
    rows: int,
    levels: Mapping[str, int | None] | None,
    *,
    facts: PermutedRelease | None = None,
    suppressed: int = 0,
    suppression: str = "drop",
    null_policy: str = "value",
    forms: Mapping[str, LabelForm | None] | None = None,
    summary: str | None = None,
) -> None:
    attributes = [
        ManifestAttribute(
            *(n, "quasi-identifier", True, (levels or {}).get(n, 0), 2, False),
            label_form=(forms or {}).get(n),
        )
        for n in names
    ]
    attributes.append(ManifestAttribute(sensitive, "sensitive", True))
    attributes.append(ManifestAttribute("ssn", "identifier", False))
    manifest = Manifest(
        discreet="0",
        date="2026-01-01",
        file=path.name,
        file_format="csv",
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        rows=rows,
        attributes=tuple(attributes),
        requirement={"k": None, "l": None},
        counted="rows",
        null_policy=null_policy,
        dropped=0,
        suppression=suppression,
        suppressed=suppressed,
        audit={"passed": True, "rows": rows, "classes": 1, "k": 1, "l": {}, "starred": 0},
        warnings=(),
        model="permutation" if facts else "full-domain",
        permutation=facts,
        summary=summary,
    )
    path.with_name(f"{path.name}.manifest.json").write_text(json.dumps(manifest.as_json()), encoding="utf-8")


def help_lines(
    groups: Sequence[int], values: Sequence[str | None], *, numeric: bool = True
) -> list[list[object]]:
    """Return the help table, by trying every number of values for each number of hits."""
    by_group: dict[int, list[str | None]] = defaultdict(list)
    for group, value in zip(groups, values, strict=True):
        by_group[group].append(value)
    lines: list[list[object]] = []
    for group, members in sorted(by_group.items()):
        known = sorted(Decimal(v) for v in members if v is not None) if numeric else []
        count = sum(v is not None for v in members)
        for hits in range(1, len(members) + 1):
            few, many = max(0, hits - (len(members) - count)), min(hits, count)
            line: list[object] = [group, hits, few, many, len(members), count]
            if numeric:
                tried = [(known[:j], known[count - j :]) for j in range(few, many + 1)]
                some = [(low, high) for low, high in tried if low]
                line += [sum(known), min(sum(low) for low, _ in tried), max(sum(high) for _, high in tried)]
                line += [known[0], max(high[0] for _, high in some)] if some else [None, None]
                line += [min(low[-1] for low, _ in some), known[-1]] if some else [None, None]
                line += [known[hits - 1], known[-hits]] if hits <= count else [None, None]
            lines.append(line)
    return lines


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write CSV in which NULL is an empty cell and an empty text is quoted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(_quoted(name) for name in header) + "\n")
        for row in rows:
            file.write(",".join("" if cell is None else _quoted(str(cell)) for cell in row) + "\n")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _places(text: str) -> int:
    return max(0, -int(Decimal(text).as_tuple().exponent))  # type: ignore[arg-type]
