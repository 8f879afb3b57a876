"""Which way a recoding is applied: as decided from arrays, or with classes counted in the engine."""

from __future__ import annotations

from contextlib import AbstractContextManager

from discreet.engines.base import Engine
from discreet.errors import InternalError
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.recoding import FullDomainRecoding
from discreet.model.table_spec import TableSpec
from discreet.recoding.apply import check_node, recoded
from discreet.recoding.classes import recoded_classes
from discreet.recoding.coded_rows import DrawKeys
from discreet.recoding.consistency import check_recoding
from discreet.recoding.direct import recoded_directly
from discreet.recoding.recoded_table import RecodedTable
from discreet.recoding.shown_classes import (
    ShownClasses,
    classes_of_node,
    classes_of_recoding,
    holds_values,
    splits,
)
from discreet.recoding.stored_classes import CountedTable, Recoding


def applied(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    recoding: Recoding,
    *,
    native: bool,
    draw_keys: DrawKeys,
    expected_suppressed: int | None = None,
) -> AbstractContextManager[RecodedTable]:
    """A recoding applied to a spec's table, by the fastest way that the table allows.

    Without a subject, and with the row types in memory and none of them split, classes are decided from
    arrays (``direct``); elsewhere the engine counts them (``apply``, ``classes``). The released rows are the
    same. ``native``, ``draw_keys`` and ``expected_suppressed`` are as in ``recoding.apply.recoded``.
    """
    decided = _decided(spec, counted, recoding, expected_suppressed)
    if decided is not None:
        return recoded_directly(
            engine, spec, decided, recoding.suppression, native=native, draw_keys=draw_keys
        )
    if isinstance(recoding, FullDomainRecoding):
        return recoded(
            engine,
            spec,
            counted,
            recoding,
            native=native,
            draw_keys=draw_keys,
            expected_suppressed=expected_suppressed,
        )
    return recoded_classes(engine, spec, counted, recoding, native=native, draw_keys=draw_keys)


def _decided(
    spec: TableSpec, counted: CountedTable, recoding: Recoding, expected_suppressed: int | None
) -> ShownClasses | None:
    """The classes, where arrays tell them."""
    if spec.source.subject is not None or not isinstance(counted, FrequencySet):
        return None
    if isinstance(recoding, FullDomainRecoding):
        if recoding.requirement.of_values and not holds_values(counted, spec):
            return None
        check_node(spec, counted, recoding)
        decided = classes_of_node(counted, recoding)
        if expected_suppressed is not None and decided.suppressed != expected_suppressed:
            raise InternalError(
                f"recoding suppresses {decided.suppressed} rows at node {recoding.node}, "
                f"but the lattice says {expected_suppressed}",
                advice="Nothing was published. Please report this, with the spec if you may show it.",
            )
        return decided
    if isinstance(recoding, ClassRecoding) and not splits(recoding):
        check_recoding(recoding, counted)
        return classes_of_recoding(counted, recoding)
    return None
