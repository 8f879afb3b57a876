"""The price of privacy: errors of arbitrary queries against k, and against e."""

from __future__ import annotations

from discreet.permutation.partitions import PartitionStrategy
from discreet.reproduce.context import Context
from discreet.reproduce.permutation.arbitrary import errors_of, queries
from discreet.reproduce.permutation.errors import Curves, Ordering, arbitrary, plot_of
from discreet.reproduce.permutation.microdata import Microdata
from discreet.reproduce.permutation.strategies import RANDOM, SEED, E, K, Partitions, drawn, requirement
from discreet.reproduce.section import Section

KS, ES = (2, 5, 10, 15, 20, 30, 40), (0, 250, 500, 1000, 1500, 2000, 3000)
_CHOSEN = 100
_FAR_LESS = 0.25
_STRATEGIES = (PartitionStrategy.MIN_SUM, PartitionStrategy.CONTIGUOUS_MIN_MAX, RANDOM)


def privacy(context: Context, data: Microdata) -> tuple[Section, list[Ordering]]:
    """k at one e, then e at one k."""
    selected = arbitrary(data.rows, _CHOSEN, queries(context), SEED)
    by_k, by_e = Curves("k"), Curves("e")
    with context.reporter.stage("Asking at several k and e") as progress:
        for done, k in enumerate(KS):
            by_k.add(k, errors_of(data, _found(context, data, k, E), selected))
            progress(done + 1, len(KS) + len(ES))
        for done, e in enumerate(ES):
            by_e.add(e, errors_of(data, _found(context, data, K, e), selected))
            progress(len(KS) + done + 1, len(KS) + len(ES))
    tables = (
        by_k.table("against_k", f"Relative error against k, e = {E}"),
        by_e.table("against_e", f"Relative error against e, k = {K}"),
    )
    panels = [by_k.panel(f"e = {E}"), by_e.panel(f"k = {K}")]
    plot = plot_of(
        "privacy", "Relative error against k and e", panels, f"Arbitrary queries of {_CHOSEN} rows."
    )
    text = f"Arbitrary queries that select {_CHOSEN} of {data.rows:,} rows.{_where_random_wins(by_e)}"
    return Section("Privacy against accuracy", text, tables, (plot,)), [
        _rises(by_k, "error_rises_with_k"),
        _rises(by_e, "error_rises_with_e"),
        _slowly(by_k),
    ]


def _where_random_wins(by_e: Curves) -> str:
    optimized, random = by_e.avg(PartitionStrategy.MIN_SUM), by_e.avg(RANDOM)
    lost = [f"{x:,.0f}" for x, o, r in zip(by_e.x, optimized, random, strict=True) if r <= o]
    if not lost:
        return ""
    return (
        f" Where e is a large part of the losses' range few groups are left to choose from, and random ones "
        f"do not err more: here at e = {', '.join(lost)}."
    )


def _found(context: Context, data: Microdata, k: int, e: int) -> Partitions:
    return {str(name): drawn(context, data, name, requirement(k, e)) for name in _STRATEGIES}


def _rises(curves: Curves, name: str) -> Ordering:
    """Whether the optimized partition's error rises.

    A partition of least sum is not one of least error: a larger demand may force a better one.
    """
    errors = curves.avg(PartitionStrategy.MIN_SUM)
    told = f"least sum from {errors[0]:.2f} at {curves.x[0]:g} to {errors[-1]:.2f} at {curves.x[-1]:,.0f}"
    return Ordering.of_steps(name, curves.x, errors, figures=told)


def _slowly(curves: Curves) -> Ordering:
    """Whether the error's increase is at every place a quarter of k's or less, both in parts of the first."""
    errors, first = curves.avg(PartitionStrategy.MIN_SUM), curves.x[0]
    shares = [(e / errors[0] - 1) / (k / first - 1) for e, k in zip(errors[1:], curves.x[1:], strict=True)]
    return Ordering.of(
        "error_rises_slowly",
        max(shares) <= _FAR_LESS,
        f"{errors[-1] / errors[0]:.1f}-fold while k grows {curves.x[-1] / first:.0f}-fold; {max(shares):.0%} "
        f"of k's increase at most, where far less is read as {_FAR_LESS:.0%}, a threshold of ours",
    )
