"""``discreet.open``, and the table it returns with its verbs as methods.

A spec file, or data with a mapping, becomes a ``Table``. No row is read before a verb needs it; each method
imports its verb when it is called.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

from discreet.engines.engine_addresses import is_database_address
from discreet.engines.files.dataframes import known_columns
from discreet.engines.files.sources import FILE_FORMATS
from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.registry import suggest_name
from discreet.model.table_spec import TableSpec
from discreet.places.address import parse_path
from discreet.printing.document import Column, Document, Grid, format_quantity, heading_line
from discreet.printing.rendering import Printable
from discreet.results.answers import AnswerResult, NegotiationResult
from discreet.results.request_defaults import LevelsByAttribute, build_request, choose_cost
from discreet.settings import Settings
from discreet.spec.attribute_globs import engine_column_reader
from discreet.spec.spec_reader import load_spec, read_spec_mapping, spec_from_mapping, with_location
from discreet.verbs.locations import ReleaseLocation, parse_target, recall_frame
from discreet.verbs.run_context import SILENT, Reporter
from discreet.verbs.table_context import TableContext

if TYPE_CHECKING:
    from discreet.verbs.proposal import Proposal


if TYPE_CHECKING:
    from discreet.differential.marginals import MarginalLike
    from discreet.measures.named_costs import AnyCost
    from discreet.model.release_address import ReleaseAddress
    from discreet.model.search_result import Solution
    from discreet.results.inspection import Inspection
    from discreet.results.publish_result import ReleaseResult
    from discreet.results.recoding_result import RecodingResult
    from discreet.verbs.differential_releases import (
        BudgetResult,
        PrivacyNumber,
        SampleResult,
        TabulationResult,
    )
    from discreet.verbs.local_negotiation import LocalNegotiationResult
    from discreet.verbs.locations import PublishTarget
    from discreet.verbs.models.recoding_model import Model, RequestOptions
    from discreet.verbs.original_comparison import ReleaseComparison, Workload
    from discreet.verbs.release_publication import ReleasedTable
    from discreet.verbs.table_search import SearchOutcome

    Publishable: TypeAlias = (
        AnswerResult | RecodingResult | SearchOutcome | Solution | LevelsByAttribute | Model | str | None
    )


class Table(TableContext, Printable):
    """A table with its spec, and what can be asked of it. The rows are counted once."""

    def inspect(self) -> Inspection:
        """Row types, uniqueness, the risk as it stands, hierarchies, warnings."""
        from discreet.results.inspection import inspect_frequency_set
        from discreet.verbs.class_warnings import inspection_warnings

        with self.engine("Reading the header") as engine:
            columns = engine.open_source(self.spec.source).columns
        return inspect_frequency_set(self.spec, self.frequency_set, columns, inspection_warnings(self))

    def compare(
        self,
        release: ReleaseLocation,
        *,
        workload: Workload | None = None,
        target: str | None = None,
        seed: int = 0,
        k: int | None = None,
    ) -> ReleaseComparison:
        """A release, ours or foreign, a path or an address, beside this table: what it keeps.

        ``workload`` is a file of SQL, a ``.toml`` file that describes queries, or the description: its
        queries are asked of both. ``target`` is a column that is published as it is: a classifier of it is
        trained on the release and tested on rows of the original, which ``seed`` draws. ``k`` normalizes
        C_AVG; without it the manifest's k does, or the spec's. ``InputError`` where the file does not fit.
        """
        from discreet.verbs.original_comparison import compare_with_original

        return compare_with_original(
            self, release, workload=workload, target=target, seed=seed, k=k, reporter=self._reporter
        )

    def negotiate(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        scope: str | None = None,
        criteria: Sequence[Criterion] = (),
        cost: AnyCost | None = None,
    ) -> NegotiationResult:
        """The exact answer to a wish, or its relaxations; a partial lattice answers for one too large.

        What is not given comes from the spec's ``[request]``; ``result.basis`` tells of a partial lattice.
        With a ``cost``, or one that the spec names, each answer tells its ``cost``.
        ``InputError`` for values that are not allowed.
        """
        from discreet.verbs.class_warnings import with_warnings

        request = build_request(
            self.spec,
            k=k,
            l=l,
            max_suppressed=max_suppressed,
            max_level=max_level,
            min_level=min_level,
            scope=scope,
            criteria=criteria,
        )
        self.count_values()
        lattice = self.negotiable_lattice_for(request.requirement)
        return with_warnings(self, lattice.with_costs(lattice.answer(request), choose_cost(self.spec, cost)))

    def recode(
        self,
        model: Model | str,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> RecodingResult:
        """A recoding under a model: ``discreet.models.Mondrian(summary="sets")``, say.

        A model's name (``"mondrian"``, ``"local"``, ``"full-subtree"``, …) is the model with its defaults.
        What is not given comes from the spec's ``[request]``. ``InputError`` for a name that no model has;
        ``NoSolution`` where nothing meets the requirement within the limit.
        """
        from discreet.verbs.models.recoding_model import RequestOptions, resolve_model

        asked = RequestOptions(k, l, max_suppressed, max_level, min_level, tuple(criteria))
        return resolve_model(model).recode(self, asked, self._reporter)

    def negotiate_local(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        criteria: Sequence[Criterion] = (),
        effort: int | str = "fast",
        seed: int = 0,
        time_budget: float | None = None,
        shown: str = "lca",
        bound: bool = False,
    ) -> LocalNegotiationResult:
        """The exact answer to a wish by local recoding, or its relaxations.

        What is not given comes from the spec's ``[request]``; ``effort``, ``seed`` and
        ``time_budget`` are those of ``discreet.models.Local``, ``shown`` its ``summary``. ``bound`` proves
        how much better any local recoding could be. ``InputError`` for levels out of range or that cross.
        """
        from discreet.verbs.local_negotiation import negotiate_locally
        from discreet.verbs.models.generalization_models import Local

        request = build_request(
            self.spec,
            k=k,
            l=l,
            max_suppressed=max_suppressed,
            max_level=max_level,
            min_level=min_level,
            criteria=criteria,
        )
        model = Local(effort=effort, seed=seed, time_budget=time_budget, summary=shown)
        return negotiate_locally(self, request, self._reporter, model, bound=bound)

    def search(
        self,
        algorithm: str,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        criteria: Sequence[Criterion] = (),
        marking: str = "direct",
        in_database: bool = False,
        cost: AnyCost | None = None,
        cube_budget: int = 0,
        time_budget: float | None = None,
        node_budget: int | None = None,
    ) -> SearchOutcome:
        """One named full-domain search, with its counts (``discreet.search.algorithms.ALGORITHMS``).

        ``cost`` is a name, one of ``discreet.costs`` with its options, or a function of a node's statistics
        (where not given, ``optimal`` and ``anytime`` take the one that the spec's ``[request]`` names);
        ``cube_budget`` is in bytes, ``time_budget`` in seconds. Where the table or the search's frequency
        sets exceed the memory limit, the search goes on in the database, as it does from the start with
        ``in_database``; ``LimitReached`` where it cannot.
        """
        from discreet.verbs.table_search import COST_MINIMIZING, SearchOptions, search_table

        request = build_request(
            self.spec,
            k=k,
            l=l,
            max_suppressed=max_suppressed,
            max_level=max_level,
            min_level=min_level,
            criteria=criteria,
        )
        if algorithm in COST_MINIMIZING:
            cost = choose_cost(self.spec, cost)
        choice = SearchOptions(algorithm, marking, in_database, cost, cube_budget, time_budget, node_budget)
        return search_table(self, request, choice, self._reporter)

    @overload
    def publish(
        self,
        answer: Publishable,
        output: None = None,
        *,
        table: None = None,
        suppressed: str = "drop",
        order: str | None = None,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        criteria: Sequence[Criterion] = (),
        after: str | Path | Sequence[ReleaseLocation] | None = None,
    ) -> ReleasedTable: ...

    @overload
    def publish(
        self,
        answer: Publishable,
        output: str | Path | None = None,
        *,
        table: str | None = None,
        suppressed: str = "drop",
        order: str | None = None,
        overwrite: bool = False,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        criteria: Sequence[Criterion] = (),
        after: str | Path | Sequence[ReleaseLocation] | None = None,
    ) -> ReleaseResult: ...

    def publish(
        self,
        answer: Publishable,
        output: str | Path | None = None,
        *,
        table: str | None = None,
        suppressed: str = "drop",
        order: str | None = None,
        overwrite: bool = False,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        criteria: Sequence[Criterion] = (),
        after: str | Path | Sequence[ReleaseLocation] | None = None,
    ) -> ReleaseResult:
        """Recode, write, audit, and hand over the release with its manifest.

        Where it goes: ``output`` is a file (``.csv``, ``.parquet``, with Spark also a folder); or ``table``
        is a new ``schema.name`` of the database that has this table, where all happens in one transaction;
        or neither is given, and the release stays in memory, with ``to_pandas()``, ``to_polars()``,
        ``to_arrow()`` and its ``manifest``. It is audited in each case before it is handed over.

        What is published: ``answer`` is one of a negotiation's (``wish.exact``, say), or a recoding, or
        levels by attribute (the spec's ``min_level``, else 0, where not named), or a model, by value or name,
        which is searched first (see ``recode``), or what ``search`` found: its best solution for its own
        request, or one of ``solutions`` for the request that is given here. ``discreet.models.Permutation``
        permutes a sensitive attribute within groups.

        How: k, l, ``criteria`` and ``max_suppressed`` go with levels and models, ``max_level`` and
        ``min_level`` with models, and the spec says them where they are not given. ``suppressed`` is ``drop``
        (failing rows are left out) or ``star`` (each of their cells is ``*``, and every column is text).
        ``order`` is ``sorted`` (rows by what they show) or ``random``, else as the spec says. ``overwrite``
        replaces a release that is there. ``after`` names earlier releases of the same rows: k and l must hold
        of the parts that they share with this one, too.

        ``NoSolution`` where there is no answer, or where the levels suppress more rows than allowed;
        ``InputError`` where the output may not be written; ``RequirementNotMet`` where the audit fails,
        or where the parts that earlier releases share with this one fail.
        Nothing is left behind then.
        """
        from discreet.verbs.earlier_releases import as_release_tuple
        from discreet.verbs.locations import PublishTarget
        from discreet.verbs.models.recoding_model import RequestOptions
        from discreet.verbs.release_publication import publish_in_memory

        asked = RequestOptions(k, l, max_suppressed, max_level, min_level, tuple(criteria))
        earlier = as_release_tuple(after)

        def publish_to(target: Path | ReleaseAddress) -> ReleaseResult:
            return self._publish(answer, asked, PublishTarget(target, suppressed, overwrite, order, earlier))

        if output is None and table is None:
            return publish_in_memory(self.settings, publish_to)
        return publish_to(parse_target(output, table))

    def tabulate(
        self,
        marginals: Iterable[MarginalLike],
        output: str | Path,
        *,
        epsilon: PrivacyNumber,
        delta: PrivacyNumber = 0,
        mechanism: str = "laplace",
        rows_per_subject: int | None = None,
        non_negative: bool = False,
        consistent: bool = False,
        overwrite: bool = False,
    ) -> TabulationResult:
        """Release counts with noise, under differential privacy, into a ``.csv``, ``.parquet`` or ``.json``.

        A marginal is levels by attribute (``{"age": 2, "sex": 0}``), or names (``["age", "sex"]``, level 0).
        ``epsilon`` and ``delta`` are spent by all marginals together, and are taken from the spec's
        ``[privacy_budget]`` before noise is drawn. ``mechanism`` is ``laplace``, or ``gaussian`` with a
        ``delta``. An attribute without a public ``domain`` in the spec needs a ``delta``, and only cells
        above a threshold are shown. ``rows_per_subject`` is how many rows of a subject count, where the spec
        has one.
        ``consistent`` moves marginals to one total, and ``non_negative`` counts below 0 to 0.

        ``InputError`` for what is not allowed; ``LimitReached`` where the budget is too small.
        """
        from discreet.verbs.differential_releases import tabulate_table

        return tabulate_table(
            self,
            marginals,
            output,
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            rows_per_subject=rows_per_subject,
            non_negative=non_negative,
            consistent=consistent,
            overwrite=overwrite,
        )

    def safepub(
        self,
        levels: LevelsByAttribute,
        output: str | Path,
        *,
        epsilon: PrivacyNumber,
        delta: PrivacyNumber,
        search_epsilon: PrivacyNumber | None = None,
        overwrite: bool = False,
    ) -> SampleResult:
        """Release a sample of the rows at levels, under differential privacy, into a file.

        Rows are drawn at random, and classes of fewer drawn rows than SafePub's k left out; the release has
        the quasi-identifiers alone, at ``levels`` (else the spec's ``min_level``, else 0; or, with
        ``search_epsilon``, a part of ``epsilon``, what a private search chooses). ``epsilon`` and ``delta``
        are taken from ``[privacy_budget]`` first, and hold of levels given without a look at the rows.

        ``InputError`` for what is not allowed; ``LimitReached`` where the budget is too small.
        """
        from discreet.verbs.differential_releases import sample_table

        return sample_table(
            self,
            levels,
            output,
            epsilon=epsilon,
            delta=delta,
            search_epsilon=search_epsilon,
            overwrite=overwrite,
        )

    def budget(self) -> BudgetResult:
        """What differentially private releases of this table have spent, and what is left."""
        from discreet.verbs.differential_releases import read_privacy_budget

        return read_privacy_budget(self)

    def _publish(self, answer: Publishable, asked: RequestOptions, target: PublishTarget) -> ReleaseResult:
        from discreet.results.recoding_result import RecodingResult
        from discreet.verbs.models.recoding_model import Model, publish_model
        from discreet.verbs.release_publication import publish_answer, publish_levels, publish_recoding

        if isinstance(answer, Model | str):
            return publish_model(self, self._reporter, answer, asked, target)
        if asked.max_level or asked.min_level:
            name = "max_level" if asked.max_level else "min_level"
            raise InputError(f"'{name}' goes with a model alone")
        if isinstance(answer, Mapping):
            return publish_levels(self, answer, asked.request(self.spec), target)
        if isinstance(answer, RecodingResult):
            return publish_recoding(self, answer, target)
        if answer is None or isinstance(answer, AnswerResult):
            return publish_answer(self, answer, target)
        return self._publish_solution(answer, asked, target)

    def _publish_solution(self, found: object, asked: RequestOptions, target: PublishTarget) -> ReleaseResult:
        """Publish what a search found; ``InputError`` for anything else."""
        from discreet.model.search_result import Solution
        from discreet.verbs.release_publication import publish_levels
        from discreet.verbs.table_search import SearchOutcome, levels_of_solution, require_solution

        if isinstance(found, SearchOutcome):
            asked.refuse("goes with levels and models; what a search found has its own request")
            require_solution(found)
            return publish_levels(self, found.levels or {}, found.request, target)
        if isinstance(found, Solution):
            return publish_levels(self, levels_of_solution(self, found), asked.request(self.spec), target)
        raise InputError(
            f"a {type(found).__name__} where an answer to publish belongs",
            allowed="an answer of a negotiation (wish.exact), a search or one of its solutions, a recoding, "
            "levels by attribute, or a model",
        )

    def document(self) -> Document:
        """The source and each attribute's role."""
        rows = tuple(
            (a.name, str(a.role), a.hierarchy.origin if a.hierarchy is not None else "")
            for a in self.spec.attributes
        )
        columns = (Column("attribute"), Column("role"), Column("hierarchy", shrinks=True))
        return (
            heading_line(f"{self.spec.source.label}: {format_quantity(len(rows), 'attribute')}"),
            Grid(columns, rows),
        )


def open(  # noqa: A001
    source: object,
    spec: Mapping[str, Any] | Proposal | str | os.PathLike[str] | None = None,
    *,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> Table:
    """A table from its spec file, or from data and a spec.

    ``source`` is the path of a spec (``discreet.toml``); with a ``spec`` it is the path of a data
    file, the address of a database, an Arrow, pandas, polars or Spark table, an Arrow dataset, or a stream of
    record batches, which is read once (``engines.files.dataframes``). ``spec`` is a proposal of
    ``discreet.init``, the path of a spec, or a mapping of the form of the TOML file, without a source:
    ``{"attributes": {"age": {"role": "quasi-identifier"}, …}}``, but for ``{"source": {"table": …}}`` of a
    database; relative paths in a mapping are relative to the working folder. A path or an address as
    ``source`` replaces the one that the spec names.
    ``InputError`` where anything is wrong with either, an attribute that is no column of the data included.
    No row is read yet; the names of columns are, where data and a spec are given, and where attributes are
    given by pattern (``{"q*": …}``). Of a database and of a stream they are read when rows first are.
    """
    known = settings or Settings.from_environment()
    found = _load_spec_file(source, known) if spec is None else _combine_spec(source, spec, known)
    return Table(found, known, reporter)


def _load_spec_file(source: object, settings: Settings) -> TableSpec:
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"a {type(source).__name__} without a spec",
            allowed="the path of a spec, or data together with a spec",
            advice='Give roles, such as discreet.open(data, {"attributes": {"age": {"role": '
            '"quasi-identifier"}}}); discreet.init(data) proposes some.',
        )
    if is_database_address(os.fspath(source)):
        raise InputError(
            "the address of a database without a spec",
            allowed="the path of a spec, or an address together with a spec",
            advice="discreet init ADDRESS --table NAME writes a spec for a table.",
        )
    path = parse_path(source, "the path of a spec")
    if path.suffix.lower().removeprefix(".") in FILE_FORMATS:
        raise InputError(
            f"{path} is data, not a spec",
            allowed="a spec such as discreet.toml",
            advice=f"discreet init {path} writes a spec for it.",
        )
    data = recall_frame(path)
    if data is not None and not _names_rows(read_spec_mapping(path)):
        return _check_columns(load_spec(path, settings, data=data), settings)
    return load_spec(path, settings)


def _combine_spec(
    source: object, spec: Mapping[str, Any] | Proposal | str | os.PathLike[str], settings: Settings
) -> TableSpec:
    """The spec of data that are given with it; its attributes are columns of theirs."""
    given = getattr(spec, "mapping", spec)
    in_memory = not isinstance(source, str | os.PathLike)
    place = None if in_memory else _source_keys(os.fspath(cast("str | os.PathLike[str]", source)))
    data = source if in_memory else None
    if isinstance(given, str | os.PathLike):
        path = parse_path(given, "the path of a spec")
        return _check_columns(load_spec(path, settings, data=data, place=place), settings)
    if not isinstance(given, Mapping):
        raise InputError(
            f"a {type(spec).__name__} in place of a spec",
            allowed="a mapping, the path of a spec, or a proposal of discreet.init",
        )
    document = given if place is None else with_location(given, place)
    return _check_columns(
        spec_from_mapping(document, base=Path(), label="the spec", data=data, settings=settings), settings
    )


def _source_keys(text: str) -> dict[str, str]:
    """The keys of ``[source]`` for a path or an address; a path is absolute."""
    return {"url": text} if is_database_address(text) else {"path": str(parse_path(text).absolute())}


def _names_rows(document: Mapping[str, Any]) -> bool:
    source = document.get("source", {})
    return isinstance(source, Mapping) and bool({"path", "url", "table"} & set(source))


def _check_columns(spec: TableSpec, settings: Settings) -> TableSpec:
    """The spec, each attribute of which is a column; ``InputError`` that names one that is none.

    Only names that are at hand without a connection or a stream are compared; the others are when rows are
    counted.
    """
    source = spec.source
    if source.data is not None:
        columns = known_columns(source.data)
    elif source.path is not None and source.path.is_file():
        columns = tuple(engine_column_reader(settings)(source))
    else:
        columns = None
    if columns is None:
        return spec
    names = {name.strip() for name in columns} if source.strip else set(columns)
    for attribute in spec.attributes:
        if attribute.name not in names and attribute.name not in columns:
            raise InputError(
                f"{source.label} has no column '{attribute.name}'",
                allowed=", ".join(f"'{column}'" for column in columns),
                advice=suggest_name(attribute.name, columns),
            )
    return spec
