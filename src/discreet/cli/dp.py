"""``discreet dp``: noisy counts and samples under differential privacy, and the budget that they spend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output

_Marginals = Annotated[
    list[str] | None,
    typer.Option(
        "--marginal",
        metavar="ATTR[=LEVEL],…",
        help="Count these attributes together, each at a level (0 where not named); repeatable.",
    ),
]
_HistogramOutput = Annotated[
    Path, typer.Option("--output", metavar="PATH", help="The counts: a new file, .csv, .parquet or .json.")
]
_HistogramEpsilon = Annotated[
    str, typer.Option("--epsilon", metavar="E", help="The privacy loss ε of all marginals together.")
]
_HistogramDelta = Annotated[
    str,
    typer.Option(
        "--delta", metavar="D", help="The privacy loss δ, where a mechanism or unknown values need one."
    ),
]
_Mechanism = Annotated[
    str, typer.Option("--mechanism", metavar="laplace|gaussian", help="The noise that is added.")
]
_RowsPerSubject = Annotated[
    str | None,
    typer.Option(
        "--rows-per-subject", metavar="N", help="At most N rows of a subject count, where the spec names one."
    ),
]
_NonNegative = Annotated[bool, typer.Option("--non-negative", help="Show no count below 0.")]
_Consistent = Annotated[bool, typer.Option("--consistent", help="Move all marginals to one total.")]


def histogram(
    spec: options.SpecPath,
    output_path: _HistogramOutput,
    epsilon: _HistogramEpsilon,
    marginal: _Marginals = None,
    delta: _HistogramDelta = "0",
    mechanism: _Mechanism = "laplace",
    rows_per_subject: _RowsPerSubject = None,
    non_negative: _NonNegative = False,
    consistent: _Consistent = False,
    overwrite: options.Overwrite = False,
) -> int:
    """Release counts with noise, under differential privacy.

    Their privacy loss is taken from the spec's [privacy_budget] before noise is drawn. An attribute with a
    public domain in the spec has a count for each value; of others, cells show above a threshold, for a δ.
    """
    from discreet.verbs.differential_releases import parse_marginal

    table = options.open_table_of_spec(spec)
    names = [attribute.name for attribute in table.spec.attributes]
    result = table.tabulate(
        [parse_marginal(text, names) for text in marginal or ()],
        output_path,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        rows_per_subject=options.parse_whole_option("--rows-per-subject", rows_per_subject),
        non_negative=non_negative,
        consistent=consistent,
        overwrite=overwrite,
    )
    return output.print_result(result)


_SampleLevel = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        metavar="ATTR=N",
        help="Publish ATTR at this level, the spec's least or 0 where not named; repeatable.",
    ),
]
_SampleOutput = Annotated[
    Path, typer.Option("--output", metavar="PATH", help="The sample: a new file, .csv or .parquet.")
]
_SampleEpsilon = Annotated[str, typer.Option("--epsilon", metavar="E", help="The privacy loss ε.")]
_SearchEpsilon = Annotated[
    str | None,
    typer.Option(
        "--search-epsilon",
        metavar="E",
        help="Part of ε for a private search, which chooses the levels that are not given.",
    ),
]
_SampleDelta = Annotated[str, typer.Option("--delta", metavar="D", help="The privacy loss δ.")]


def sample(
    spec: options.SpecPath,
    output_path: _SampleOutput,
    epsilon: _SampleEpsilon,
    delta: _SampleDelta,
    level: _SampleLevel = None,
    search_epsilon: _SearchEpsilon = None,
    overwrite: options.Overwrite = False,
) -> int:
    """Release a random sample of rows under differential privacy.

    Rows are drawn, generalized to levels that are given or privately chosen, and left out where too few of a
    class were drawn. Their privacy loss is taken from the spec's [privacy_budget] before they are drawn.
    """
    result = options.open_table_of_spec(spec).safepub(
        options.parse_level_options("--level", level),
        output_path,
        epsilon=epsilon,
        delta=delta,
        search_epsilon=search_epsilon,
        overwrite=overwrite,
    )
    return output.print_result(result)


def budget(
    spec: options.SpecPath,
) -> int:
    """Show what noisy releases of a table have spent of its privacy budget."""
    result = options.open_table_of_spec(spec).budget()
    return output.print_result(result)
