"""Write docs/spec.md from the tables that read a spec: ``python docs/spec_page.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.spec.attribute_section import BudgetSection, CellFormatTable
from discreet.spec.hierarchy_tables import HIERARCHY_TABLES
from discreet.spec.spec_reader import ReportSection
from discreet.spec.spec_sections import (
    AttributeSection,
    PopulationSection,
    RequestSection,
    SourceSection,
    SubsetTable,
)
from discreet.spec.validation import StrictTable

PAGE = Path(__file__).with_name("spec.md")
_BEGIN = """# The spec, key by key

Written by `python docs/spec_page.py` from the tables that read a spec, so it is what the program takes. A
spec is a file of TOML, `discreet.toml` say: where the rows lie, what each column is, and what is asked of a
release. [`discreet init DATA`](cli.md#discreet-init-data) writes the first one for a table. In Python the
same tables are mappings: `discreet.open(frame, {"attributes": {"age": {"role": "quasi-identifier"}}})`.

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

Names of columns with blanks or dots stand in quotes, `[attributes."age at visit"]`. A key that is not listed
here is refused, never passed over. `discreet schema` prints a JSON Schema of all this, with which an editor
completes and checks a spec: write `discreet schema > discreet.schema.json`, and
`#:schema discreet.schema.json` as the first line of the spec (Even Better TOML, Taplo and others read it).
"""
_PATTERNS = """A name with a `*` is a pattern: its table stands for every column whose name fits, with `*` for
any characters or none, and no other character special.

```toml
[attributes."q*"]
role = "sensitive"

[attributes.q17]
role = "quasi-identifier"
```

A table that has a column's own name wins over every pattern (here that of `q17`), and so does the `subject`;
among patterns the first wins. The columns of a pattern come in the order of the source, at the place of its
table. `discreet inspect` says which columns a pattern stands for; one that no column fits is refused. To know
the columns, a spec with patterns opens its source when it is read. `discreet init` writes such tables for
columns of a series (q1, q2, …)."""
_HEAD = "| key | what it means | allowed | example | where left out |\n|---|---|---|---|---|\n"


def page() -> str:
    """The page's text."""
    parts = [_BEGIN]
    parts += [_section("`[source]`", "Where the rows lie, and how they are read.", SourceSection)]
    told = (
        "The rows of the source that are meant: the table is a population then, and they alone are published."
    )
    parts += [_section("`subset` of `[source]`", told, SubsetTable)]
    told = (
        "A table with a row for each person among whom those of the source are, with the quasi-identifiers' "
        "columns. Its cells are read as the source's are. It is counted, and never published."
    )
    parts += [_section("`[population]`", told, PopulationSection)]
    told = (
        "One table for each column; columns without one are left out, or as `unlisted` says.\n\n" + _PATTERNS
    )
    parts += [_section("`[attributes.NAME]`", told, AttributeSection)]
    told = (
        "What is asked where a command or a call says nothing of it. Registered criteria are keys, too: a "
        "number, a table of numbers by sensitive attribute, or a list of tables, each with `value`, perhaps "
        "`attribute`, and the criterion's fixed parts."
    )
    parts += [_section("`[request]`", told, RequestSection)]
    told = "What [noisy counts](differential-privacy.md) of the table may spend; without it there are none."
    parts += [_section("`[privacy_budget]`", told, BudgetSection)]
    told = (
        "Your own words in [reports](report.md), and their language. A file given by `--about` goes before "
        "them, and options go before both."
    )
    parts += [_section("`[report]`", told, ReportSection)]
    parts += [
        _section(
            "`written`", "How a column's cells are written. What they mean is published.", CellFormatTable
        )
    ]
    parts += [
        '## `hierarchy`\n\nA path in quotes, `"city.csv"`, or a table with its `kind`. What each makes: '
        "[hierarchies](hierarchies.md).\n"
    ]
    parts += [_section(f'`kind = "{name}"`', "", kind, depth=3) for name, kind in HIERARCHY_TABLES.items()]
    return "\n".join(parts)


def _section(title: str, told: str, table: type[StrictTable], *, depth: int = 2) -> str:
    found = table.model_json_schema()
    required = found.get("required", [])
    rows = [_row(name, key, name in required) for name, key in found["properties"].items() if name != "kind"]
    text = f"{told}\n\n" if told else ""
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
