"""The Mondrian reproduction, section by section."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.reproduce.comparison import Judge
from discreet.reproduce.context import Context
from discreet.reproduce.mondrian import examples, quality, workload
from discreet.reproduce.printed import deviations
from discreet.reproduce.section import Section


def sections(context: Context) -> Iterator[Section]:
    """Six patients, Theorem 3, C_DM and C_AVG on synthetic tables and Adult, workloads, pictures.

    ``InputError`` where Adult is missing, before anything is drawn.
    """
    context.file("adult", "adult_30162.csv")
    judge = Judge.of(deviations("mondrian"))
    yield examples.patients(context, judge)
    yield examples.theorem_3(context)
    yield from quality.sections(context)
    yield from workload.sections(context, judge)
