"""From a Parquet file of 600,000 rows to an audited release, under t-closeness and under k only.

Every run reopens the file, counts it, finds a node, publishes it as Parquet and audits the output. The node
is the exact answer of a negotiation, which evaluates the whole lattice; or, as "published", the node of least
loss, which counts a few nodes (the full-domain model). The sensitive attribute has 94 values, several of them
in many row types; its hierarchy has three levels, so that all three distances can be used. Kernels are
compiled before the first measured turn.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import discreet
from benchmarks import tables
from benchmarks.harness import Benchmark, parser
from discreet.criteria import Criterion
from discreet.model.criteria.t_closeness import TCloseness

K, SUPPRESSED, T = 10, "5%", 0.3
GOAL = 2.0


def made() -> Path:
    """Return the table's spec, its sensitive attribute with a hierarchy."""
    table = tables.CENSUS_600K
    spec = tables.make(table)
    values = range(table.sensitive or 0)
    lines = [f"s{v:03d};s{v // 5 * 5:03d}+5;s{v // 20 * 20:03d}+20;*" for v in values]
    (spec.parent / "sensitive.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = spec.with_name("audited.toml")
    text = table.spec().replace('role = "sensitive"', 'role = "sensitive"\nhierarchy = "sensitive.csv"')
    found.write_text(text, encoding="utf-8")
    return found


def released(spec: Path, folder: Path, criteria: Sequence[Criterion]) -> dict[str, int]:
    """Publish and audit one release; return its levels."""
    table = discreet.open(spec)
    wish = table.negotiate(k=K, max_suppressed=SUPPRESSED, criteria=criteria)
    if wish.exact is None:
        raise RuntimeError("no node answers")
    release = table.publish(wish.exact, folder / "released.parquet", overwrite=True)
    if not release.audit.passed:
        raise RuntimeError("the audit did not pass")
    return dict(wish.exact.levels)


def published(spec: Path, folder: Path, criteria: Sequence[Criterion]) -> None:
    """Publish the same without a negotiation: the full-domain model's node."""
    release = discreet.open(spec).publish(
        "full-domain",
        folder / "published.parquet",
        k=K,
        max_suppressed=SUPPRESSED,
        criteria=criteria,
        overwrite=True,
    )
    if not release.audit.passed:
        raise RuntimeError("the audit did not pass")


def main() -> None:
    """Alternate the criteria and report."""
    chosen = parser(__doc__).parse_args()
    spec = made()
    bench = Benchmark("audited_600k", "Parquet file to an audited release with t-closeness, 600,000 rows")
    asked: dict[str, Sequence[Criterion]] = {"k alone": ()}
    asked |= {
        f"t, {distance}": (TCloseness(T, distance=distance),)
        for distance in ("equal", "ordered", "hierarchical")
    }
    with tempfile.TemporaryDirectory() as folder:
        cases: dict[str, Callable[[], object]] = {
            name: partial(released, spec, Path(folder), criteria) for name, criteria in asked.items()
        }
        cases |= {
            f"published: {name}": partial(published, spec, Path(folder), criteria)
            for name, criteria in asked.items()
        }
        for name, criteria in asked.items():
            bench.fact(f"levels, {name}", released(spec, Path(folder), criteria))
            published(spec, Path(folder), criteria)
        bench.alternate(cases, chosen.repeats)
    for way in ("", "published: "):
        base = f"{way}k alone"
        for name in [f"{way}{name}" for name in list(asked)[1:]]:
            bench.ratio(name, base, at_most=GOAL)
            used = [min(bench.timings[each].processor) for each in (name, base)]
            bench.state(f"processor time of {name} by that of k alone", used[0] / used[1], at_most=GOAL)
    bench.report(chosen)


if __name__ == "__main__":
    main()
