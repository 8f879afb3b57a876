"""Write docs/spec.md from the tables that read a spec: ``python docs/spec_page.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.spec.attribute_section import BudgetSection, CellFormatTable
from discreet.spec.hierarchy_tables import HIERARCHY_TABLES
from discreet.spec.spec_sections import (
    AttributeSection,
    PopulationSection,
    ReportSection,
    RequestSection,
    SourceSection,
    SubsetTable,
)
from discreet.spec.validation import StrictTable

PAGE = Path(__file__).with_name("spec.md")
_BEGIN = """# The spec, key by key

A spec is a TOML file such as `discreet.toml`: the source of the rows, the role of each column, and the
requirements of a release. [`discreet init DATA`](cli.md#discreet-init-data) writes the first one. In Python
the same tables are mappings: `discreet.open(frame, {"attributes": {"age": {"role": "quasi-identifier"}}})`.
`python docs/spec_page.py` generates this page from the tables that read a spec.

```toml
[source]
path = "people.csv"

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [5, 10, 20]}

[attributes.disease]
role = "sensitive"

[request]
k = 10
max_suppressed = "1%"
```

Quote names of columns with blanks or dots: `[attributes."age at visit"]`. A key that is not listed here is
refused. `discreet schema` prints the JSON Schema, with which an editor completes and checks a spec: run
`discreet schema > discreet.schema.json`, and write `#:schema discreet.schema.json` as the first line of
the spec (Even Better TOML, Taplo and others read it).
"""
_PATTERNS = """A name with a `*` is a pattern: its table applies to every column whose name matches. `*`
matches any characters or none; no other character is special.

```toml
[attributes."q*"]
role = "sensitive"

[attributes.q17]
role = "quasi-identifier"
```

A table with a column's exact name, here `q17`, has priority over every pattern, and so does the `subject`;
among patterns the first has priority. The columns of a pattern are at the position of its table, in the order
of the source. `discreet inspect` lists the columns of each pattern; a pattern without columns is refused.
Reading a spec with patterns opens its source. `discreet init` writes patterns for columns of a series (q1,
q2, …)."""
_HEAD = "| key | meaning | allowed | example | if omitted |\n|---|---|---|---|---|\n"


def page() -> str:
    """The page's text."""
    parts = [_BEGIN]
    parts += [_section("`[source]`", "The source of the rows, and their format.", SourceSection)]
    description = (
        "The rows of the source to publish. The table is then a population; its other rows are only counted."
    )
    parts += [_section("`subset` of `[source]`", description, SubsetTable)]
    description = (
        "A table of the population, which includes the people of the source: a row for each person, with\n"
        "the columns of the quasi-identifiers. Its cells are read like the source's. It is only counted,\n"
        "never published."
    )
    parts += [_section("`[population]`", description, PopulationSection)]
    description = (
        "One table for each column. Columns without one are left out, unless `unlisted_columns` is "
        "`insensitive`.\n\n" + _PATTERNS
    )
    parts += [_section("`[attributes.NAME]`", description, AttributeSection)]
    description = (
        "The defaults of commands and calls. Registered criteria are also keys: a number, a table of\n"
        "numbers by sensitive attribute, or a list of tables, each with `value`, optionally `attribute`,\n"
        "and the criterion's fixed parts."
    )
    parts += [_section("`[request]`", description, RequestSection)]
    description = "The budget of [noisy counts](differential-privacy.md) of the table, which require it."
    parts += [_section("`[privacy_budget]`", description, BudgetSection)]
    description = (
        "Your own texts for [reports](report.md), and their language. A file given by `--about` overrides\n"
        "them, and options override both."
    )
    parts += [_section("`[report]`", description, ReportSection)]
    parts += [
        _section(
            "`written`",
            "The format of a column's cells. A release contains the parsed values.",
            CellFormatTable,
        )
    ]
    parts += [
        '## `hierarchy`\n\nA path in quotes, `"city.csv"`, or a table with its `kind`; see '
        "[hierarchies](hierarchies.md).\n"
    ]
    parts += [_section(f'`kind = "{name}"`', "", kind, depth=3) for name, kind in HIERARCHY_TABLES.items()]
    return "\n".join(parts)


def _section(title: str, description: str, table: type[StrictTable], *, depth: int = 2) -> str:
    found = table.model_json_schema()
    required = found.get("required", [])
    rows = [_row(name, key, name in required) for name, key in found["properties"].items() if name != "kind"]
    text = f"{description}\n\n" if description else ""
    return f"{'#' * depth} {title}\n\n{text}{_HEAD}{''.join(rows)}"


def _row(name: str, key: dict[str, Any], required: bool) -> str:
    allowed = key.get("description", "the name of an engine").replace("|", r"\|")
    example = key["examples"][0].replace("|", r"\|")
    return f"| `{name}` | {key['title']} | {allowed} | `{name} = {example}` | {_default(key, required)} |\n"


def _default(key: dict[str, Any], required: bool) -> str:
    if required:
        return "an error"
    value = key.get("default")
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    quote = "'" if isinstance(value, str) and '"' in value else '"'
    return f"`{quote}{value}{quote}`" if isinstance(value, str) and not value.isdigit() else f"`{value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
