"""Whether an identifier stands in what was written: read back, column by column, before it is in place."""

from __future__ import annotations

from discreet.engines.base import Engine
from discreet.engines.delivery import DATA, Delivery
from discreet.engines.scratch import TemporaryTables, opened, opened_as_it_lies
from discreet.errors import RequirementNotMet
from discreet.model.table_spec import TableSpec
from discreet.sql.names import identifier

_TEXT = "text"


def require_no_original(engine: Engine, spec: TableSpec, delivery: Delivery) -> None:
    """Raise ``RequirementNotMet`` where a cell in an identifier's place is a text of the source's column.

    Cost: for each such column its distinct texts, and one scan of the release.
    """
    ways = spec.source.ways
    if not ways:
        return
    originals = {}
    with opened_as_it_lies(engine, spec.source) as source:
        link = spec.source.link
        for name in ways:
            if link is not None and name == link.name:
                originals[name] = list(dict.fromkeys(link.values))
                continue
            text = source.text(name)
            query = f"SELECT DISTINCT {text} FROM {source.relation} WHERE {text} IS NOT NULL"
            originals[name] = [str(row[0]) for row in engine.fetch_rows(query)]
    with (
        delivery.auditor() as auditor,
        opened(auditor, delivery.source(DATA)) as release,
        TemporaryTables(auditor) as tables,
    ):
        for name, texts in originals.items():
            held = identifier(tables.load({_TEXT: texts}))
            test = f"o.{identifier(_TEXT)} = {release.text(name, 'r')}"
            query = f"SELECT count(*) FROM {release.relation} AS r JOIN {held} AS o ON {test}"
            found = int(auditor.fetch_rows(query)[0][0])
            if found:
                raise RequirementNotMet(
                    f"the audit of what was written failed: {found:,} cells of '{name}' are identifiers of "
                    "the source",
                    advice="Nothing was published. Please report this.",
                )
