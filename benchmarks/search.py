"""Every solution on Adult: each Incognito against bottom-up, and the database against memory.

Adult with 45,222 rows and the hierarchies of the Incognito study, k=2. In memory with eight quasi-identifiers
(6,480 nodes; all nine with ``--attributes 9``), in the database with five (240 nodes). All start from the
frequency set, or the star schema; the evaluated lattice is reported, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.adult import data_folder
from benchmarks.harness import Benchmark, parser
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.search_result import SearchResult
from discreet.model.table_spec import TableSpec
from discreet.search.algorithms import EVERY_SOLUTION, load_algorithm
from discreet.search.search_problem import FactTable, SearchProblem
from discreet.search.star_schema_loader import star_schema
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping

ATTRIBUTES = (
    *("age", "sex", "race", "marital_status", "education", "native_country"),
    *("work_class", "occupation", "salary_class"),
)
IN_DATABASE = 5


def spec_of(attributes: Sequence[str]) -> TableSpec:
    """Return Adult's spec with these quasi-identifiers."""
    home = data_folder() / "adult"
    levels = home / "hierarchies_incognito"
    document = {
        "source": {"path": str(home / "adult_45222.csv")},
        "attributes": {
            name: {
                "role": "quasi-identifier",
                "hierarchy": str(levels / f"{name}.csv"),
            }
            for name in attributes
        },
    }
    return spec_from_mapping(document, base=home, label="the search benchmark")


def search(name: str, table: FrequencySet | FactTable, settings: Settings) -> Callable[[], SearchResult]:
    """Run one search at k=2 of the whole lattice."""
    top = tuple(h.height for h in table.hierarchies)
    task = SearchProblem(table, Requirement(k=2), 0, (0,) * len(top), top, settings)
    return lambda: load_algorithm(name)(task)


def main() -> None:
    """Alternate the searches and report."""
    options = parser(__doc__)
    options.add_argument("--attributes", type=int, default=8, help="quasi-identifiers in memory (default 8)")
    chosen = options.parse_args()
    settings = Settings.from_environment(threads=1)
    bench = Benchmark("search", f"every solution at k=2: Adult, {chosen.attributes} quasi-identifiers")
    with connect(settings) as engine:
        table = count_frequency_set(engine, spec_of(ATTRIBUTES[: chosen.attributes]), settings)
        bench.fact("row types", table.row_types)
        names = (*EVERY_SOLUTION, "exhaustive")
        for name in names:
            result = search(name, table, settings)()
            bench.fact(f"nodes checked, {name}", result.nodes_checked)
            bench.fact(f"scans, {name}", result.scans)
        bench.alternate({name: search(name, table, settings) for name in names}, chosen.repeats)
        few = spec_of(ATTRIBUTES[:IN_DATABASE])
        small = count_frequency_set(engine, few, settings)
        with star_schema(engine, few, settings) as facts:
            cases = {
                f"{name}, {where}": search(name, held, settings)
                for name in EVERY_SOLUTION
                for where, held in (
                    (f"{IN_DATABASE} in memory", small),
                    (f"{IN_DATABASE} in the database", facts),
                )
            }
            bench.alternate(cases, chosen.repeats)
    for name in EVERY_SOLUTION[1:]:
        bench.ratio(name, "bottom-up", at_most=1.0)
    bench.ratio("exhaustive", "incognito-superroots")
    for name in EVERY_SOLUTION:
        bench.ratio(f"{name}, {IN_DATABASE} in the database", f"{name}, {IN_DATABASE} in memory")
    bench.report(chosen)


if __name__ == "__main__":
    main()
