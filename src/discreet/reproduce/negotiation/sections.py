"""The negotiation paper's experiments, in the order of the slides."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.reproduce.context import Context
from discreet.reproduce.negotiation import (
    costs,
    diversity,
    growth,
    histograms,
    ipums,
    paper,
    requests,
    validity,
    walk_through,
)
from discreet.reproduce.negotiation.study import Study
from discreet.reproduce.section import Section


def sections(context: Context) -> Iterator[Section]:
    """Each section is computed when it is asked for."""
    study = Study(context)
    # What the first table loads and compiles is no part of its preparation.
    Study(context).of(paper.SIZES[0])
    yield from validity.sections(study)
    yield growth.section(study)
    yield histograms.section(study)
    yield from diversity.sections(study)
    yield from requests.sections(study)
    yield walk_through.section(study)
    yield from costs.sections(study)
    yield from ipums.sections(context)
