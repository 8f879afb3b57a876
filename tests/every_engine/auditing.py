"""Tables of texts, their audits and their releases in a place, and the number of drawn tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck
from hypothesis import settings as examples

from discreet.audit.class_audit import audit_source
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.audit_report import AuditReport, Release
from discreet.model.criteria.base import Criterion
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.release.publication import publish_release
from tests.drawing import NEW, some_of
from tests.every_engine.places import Columns, Place


def texts(rows: Sequence[Sequence[Any]], names: Sequence[str] = "qs") -> Columns:
    """Return columns of texts from rows; further cells of a row are ignored."""
    return {name: ("VARCHAR", [row[i] for row in rows]) for i, name in enumerate(names)}


def audited(
    place: Place,
    source: SourceSpec,
    *criteria: Criterion,
    keys: Sequence[str] = ("q",),
    values: Sequence[str] = ("s",),
    k: int | None = None,
    l: int | None = None,
    **options: Any,
) -> AuditReport:
    """Audit a stored table by the engine of its place."""
    with place.connect(source) as engine:
        return audit_source(
            engine,
            source,
            quasi_identifiers=keys,
            sensitive=values,
            requirement=Requirement(k, l, criteria),
            **options,
        )


def published(
    place: Place, spec: TableSpec, node: tuple[int, ...], requirement: Requirement, *policy: Any
) -> Release:
    """Publish a full-domain recoding of a table to a new release of its place."""
    names = tuple(attribute.name for attribute in spec.quasi_identifiers)
    with place.connect(spec.source) as engine:
        counted = count_frequency_set(engine, spec, place.settings)
        recoding = FullDomainRecoding(names, node, requirement, *policy)
        target = place.new_release()
        return publish_release(
            engine, spec, counted, recoding, target, overwrite=False, settings=place.settings
        )


def drawn(most: int) -> Callable[[Any], Any]:
    """Return the settings of a test of at most so many drawn tables in each place."""
    return examples(max_examples=some_of(most), suppress_health_check=[HealthCheck.function_scoped_fixture])


def drawn_enough(place: Place) -> bool:
    """Test whether a drawn test has run often enough in a place with slow statements.

    Spark runs the statements of the first table, which is a test's explicit example: it contains every case
    that the statements distinguish. Further draws test the algorithm, which is the same for all places; with
    new tables (``make test-all``) Spark gets some of these, too. Each takes one number here, and stores a
    table.
    """
    return place.name == "spark" and place.next_table() > (6 if NEW else 1)
