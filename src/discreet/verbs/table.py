"""``discreet.open``, and the table it returns with its verbs as methods.

A spec file, or data with a mapping, becomes a ``Table``. No row is read before a verb needs it; each method
imports its verb when it is called.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast, overload

from discreet.engines.engine_addresses import is_database_address
from discreet.engines.files.dataframes import known_columns
from discreet.engines.files.sources import FILE_FORMATS
from discreet.errors import InputError
from discreet.model.registry import suggest_name
from discreet.model.table_spec import TableSpec
from discreet.places.address import parse_path
from discreet.printing.document import Document, Grid, format_quantity, heading_line, make_columns
from discreet.printing.rendering import Printable
from discreet.results.answers import AnswerResult, NegotiationResult
from discreet.results.request_defaults import (
    LevelsByAttribute,
    RequestKeywords,
    ScopedRequestKeywords,
    build_request,
    choose_cost,
    with_keywords,
)
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
    from discreet.measures.cost_registry import AnyCost
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
    from discreet.verbs.original_comparison import ReleaseComparison
    from discreet.verbs.release_publication import ReleasedTable
    from discreet.verbs.table_search import SearchOutcome
    from discreet.verbs.workloads import Workload

    Publishable: TypeAlias = (
        AnswerResult | RecodingResult | SearchOutcome | Solution | LevelsByAttribute | Model | str | None
    )


class Table(TableContext, Printable):
    """Table with its spec; its methods are the verbs. The rows are counted once.

    >>> table = discreet.open("discreet.toml")  # doctest: +SKIP
    >>> table.publish(table.negotiate(k=10).exact, "release.csv")  # doctest: +SKIP
    """

    def inspect(self) -> Inspection:
        """Report row types, uniqueness, the risk before recoding, hierarchies and warnings.

        >>> table.inspect().risk.highest  # doctest: +SKIP
        """
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
        """Compare a release of any program, given by path or address, with this table.

        ``workload`` is an SQL file, a ``.toml`` file that describes queries, or the description: its queries
        run on both. ``target`` is a column that is published unchanged: a classifier of it is trained on the
        release and tested on rows of the original, drawn with ``seed``. ``k`` normalizes C_AVG; the default
        is the k of the manifest, or of the spec. Raises ``InputError`` if the file does not fit.

        >>> table.compare("release.csv").losses  # doctest: +SKIP
        """
        from discreet.verbs.original_comparison import compare_with_original

        return compare_with_original(
            self, release, workload=workload, target=target, seed=seed, k=k, reporter=self._reporter
        )

    @with_keywords(ScopedRequestKeywords)
    def negotiate(
        self,
        *,
        cost: AnyCost | None = None,
        **options: Unpack[ScopedRequestKeywords],
    ) -> NegotiationResult:
        """Return the exact answer to a request, or its relaxations.

        Values that are not given come from the spec's ``[request]``. If the lattice is too large, a partial
        lattice answers, and ``basis`` of the result describes it. With a ``cost``, given here or in the spec,
        each answer has its ``cost``. Raises ``InputError`` for values that are not allowed.

        >>> answer = table.negotiate(k=10, max_suppressed="1%", max_level={"age": 2})  # doctest: +SKIP
        >>> answer.exact or answer.relaxation("height")  # doctest: +SKIP
        """
        from discreet.verbs.class_warnings import with_warnings

        request = build_request(self.spec, **options)
        self.count_values()
        lattice = self.negotiable_lattice_for(request.requirement)
        return with_warnings(self, lattice.with_costs(lattice.answer(request), choose_cost(self.spec, cost)))

    @with_keywords(RequestKeywords)
    def recode(
        self,
        model: Model | str,
        **options: Unpack[RequestKeywords],
    ) -> RecodingResult:
        """Recode the table by a model, such as ``discreet.models.Mondrian(summary="sets")``.

        A model's name (``"mondrian"``, ``"local"``, ``"full-subtree"``, …) is the model with its defaults.
        Values that are not given come from the spec's ``[request]``. Raises ``InputError`` for an unknown
        name; ``NoSolution`` if nothing meets the requirement within the limit.

        >>> table.recode("mondrian", k=5).granularity  # doctest: +SKIP
        """
        from discreet.verbs.models.model_registry import resolve_model
        from discreet.verbs.models.recoding_model import RequestOptions

        return resolve_model(model).recode(self, RequestOptions(**options), self._reporter)

    @with_keywords(RequestKeywords)
    def negotiate_local(
        self,
        *,
        effort: int | str = "fast",
        seed: int = 0,
        time_budget: float | None = None,
        summary: str = "lca",
        bound: bool = False,
        **options: Unpack[RequestKeywords],
    ) -> LocalNegotiationResult:
        """Return the exact answer to a request by local recoding, or its relaxations.

        Values that are not given come from the spec's ``[request]``; ``effort``, ``seed`` and ``time_budget``
        are options of ``discreet.models.Local``, ``shown`` is its ``summary``. ``bound`` also proves an upper
        bound on the granularity of any local recoding. Raises ``InputError`` for levels out of range or
        bounds that cross.

        >>> table.negotiate_local(k=10, max_suppressed="1%").exact  # doctest: +SKIP
        """
        from discreet.verbs.local_negotiation import negotiate_locally
        from discreet.verbs.models.generalization_models import Local

        request = build_request(self.spec, **options)
        model = Local(effort=effort, seed=seed, time_budget=time_budget, summary=summary)
        return negotiate_locally(self, request, self._reporter, model, bound=bound)

    @with_keywords(RequestKeywords)
    def search(
        self,
        algorithm: str,
        *,
        marking: str = "direct",
        in_database: bool = False,
        cost: AnyCost | None = None,
        cube_budget: int = 0,
        time_budget: float | None = None,
        node_budget: int | None = None,
        **options: Unpack[RequestKeywords],
    ) -> SearchOutcome:
        """Run one full-domain search (``discreet.search.algorithms.ALGORITHMS``) and report its counts.

        ``cost`` is a name, one of ``discreet.costs`` with its options, or a function of a node's statistics
        (default: for ``optimal`` and ``anytime`` the cost of the spec's ``[request]``); ``cube_budget`` is in
        bytes, ``time_budget`` in seconds. If the table or the search's frequency sets exceed the memory
        limit, the search continues in the database; with ``in_database`` it begins there. Raises
        ``LimitReached`` if that is not possible.

        >>> table.search("incognito", k=10).solutions  # doctest: +SKIP
        """
        from discreet.verbs.table_search import COST_MINIMIZING, SearchOptions, search_table

        request = build_request(self.spec, **options)
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
        suppressed_rows: str = "drop",
        row_order: str | None = None,
        previous_releases: str | Path | Sequence[ReleaseLocation] | None = None,
        **options: Unpack[RequestKeywords],
    ) -> ReleasedTable: ...

    @overload
    def publish(
        self,
        answer: Publishable,
        output: str | Path | None = None,
        *,
        table: str | None = None,
        suppressed_rows: str = "drop",
        row_order: str | None = None,
        overwrite: bool = False,
        previous_releases: str | Path | Sequence[ReleaseLocation] | None = None,
        **options: Unpack[RequestKeywords],
    ) -> ReleaseResult: ...

    @with_keywords(RequestKeywords)
    def publish(
        self,
        answer: Publishable,
        output: str | Path | None = None,
        *,
        table: str | None = None,
        suppressed_rows: str = "drop",
        row_order: str | None = None,
        overwrite: bool = False,
        previous_releases: str | Path | Sequence[ReleaseLocation] | None = None,
        **options: Unpack[RequestKeywords],
    ) -> ReleaseResult:
        """Recode, write and audit a release, and publish it with its manifest.

        ``output`` is a file (``.csv``, ``.parquet``, with Spark also a folder); ``table`` is a new
        ``schema.name`` in the database of this table, written in one transaction. Without both the release
        stays in memory, with ``to_pandas()``, ``to_polars()``, ``to_arrow()`` and its ``manifest``. Every
        release is audited before it is returned.

        ``answer`` is an answer of a negotiation (such as ``wish.exact``), a recoding, levels by attribute
        (default: the spec's ``min_level``, else 0), a model by value or name, which is searched first (see
        ``recode``), or the result of ``search``: its best solution for its own request, or one of its
        ``solutions`` for the request given here. ``discreet.models.Permutation`` permutes a sensitive
        attribute within groups.

        ``k``, ``l``, ``criteria`` and ``max_suppressed`` apply to levels and models, ``max_level`` and
        ``min_level`` to models; defaults come from the spec. ``suppressed_rows`` is ``drop`` (failing rows
        are removed) or ``star`` (each of their cells is ``*``, and every column is text). ``row_order`` is
        ``sorted`` (by the released values) or ``random``; the default comes from the spec. ``overwrite``
        replaces an existing release. ``previous_releases`` names earlier releases of the same rows: k and l
        must also hold for the intersections of their classes with those of this release.

        Raises ``NoSolution`` without an answer, or if the levels suppress more rows than allowed;
        ``InputError`` if the output may not be written; ``RequirementNotMet`` if the audit fails, or if an
        intersection with an earlier release fails. Nothing is left behind in these cases.

        >>> release = table.publish(table.negotiate(k=10).exact, "release.csv")  # doctest: +SKIP
        >>> frame = table.publish({"age": 2}, k=10, max_suppressed="1%").to_pandas()  # doctest: +SKIP
        """
        from discreet.verbs.earlier_releases import as_release_tuple
        from discreet.verbs.locations import PublishTarget
        from discreet.verbs.models.recoding_model import RequestOptions
        from discreet.verbs.release_publication import publish_in_memory

        requested = RequestOptions(**options)
        earlier = as_release_tuple(previous_releases)

        def publish_to(target: Path | ReleaseAddress) -> ReleaseResult:
            return self._publish(
                answer, requested, PublishTarget(target, suppressed_rows, overwrite, row_order, earlier)
            )

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
        """Release noisy counts under differential privacy, to a ``.csv``, ``.parquet`` or ``.json`` file.

        A marginal is levels by attribute (``{"age": 2, "sex": 0}``), or names (``["age", "sex"]``, level 0).
        All marginals together spend ``epsilon`` and ``delta``, which are charged to the spec's
        ``[privacy_budget]`` before noise is drawn. ``mechanism`` is ``laplace``, or ``gaussian`` with a
        ``delta``. An attribute without a public ``domain`` in the spec needs a ``delta``, and only cells
        above a threshold are shown. ``rows_per_subject`` limits the counted rows per subject, if the spec has
        one. ``consistent`` adjusts marginals to one total, and ``non_negative`` raises counts below 0 to 0.

        Raises ``InputError`` for values that are not allowed; ``LimitReached`` if the budget is too small.

        >>> table.tabulate([["age", "sex"]], "counts.csv", epsilon=1)  # doctest: +SKIP
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
        """Release a sample of the rows at given levels, under differential privacy, to a file.

        Rows are drawn at random, and classes with fewer drawn rows than SafePub's k are removed. The release
        contains only the quasi-identifiers, at ``levels`` (default: the spec's ``min_level``, else 0; with
        ``search_epsilon``, a part of ``epsilon``, a private search chooses them). ``epsilon`` and ``delta``
        are charged to ``[privacy_budget]`` first; the guarantee assumes that the levels do not depend on the
        rows.

        Raises ``InputError`` for values that are not allowed; ``LimitReached`` if the budget is too small.

        >>> table.safepub({"age": 2}, "sample.csv", epsilon=1, delta=1e-6)  # doctest: +SKIP
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
        """Return the privacy budget of this table: total, spent and left.

        >>> table.budget().left  # doctest: +SKIP
        """
        from discreet.verbs.differential_releases import read_privacy_budget

        return read_privacy_budget(self)

    def _publish(self, answer: Publishable, options: RequestOptions, target: PublishTarget) -> ReleaseResult:
        from discreet.results.recoding_result import RecodingResult
        from discreet.verbs.models.model_registry import publish_model
        from discreet.verbs.models.recoding_model import Model
        from discreet.verbs.release_publication import publish_answer, publish_levels, publish_recoding

        if isinstance(answer, Model | str):
            return publish_model(self, self._reporter, answer, options, target)
        if options.max_level or options.min_level:
            name = "max_level" if options.max_level else "min_level"
            raise InputError(f"'{name}' applies only to models")
        if isinstance(answer, Mapping):
            return publish_levels(self, answer, options.request(self.spec), target)
        if isinstance(answer, RecodingResult):
            return publish_recoding(self, answer, target)
        if answer is None or isinstance(answer, AnswerResult):
            return publish_answer(self, answer, target)
        return self._publish_solution(answer, options, target)

    def _publish_solution(
        self, solution: object, options: RequestOptions, target: PublishTarget
    ) -> ReleaseResult:
        """Publish the result of a search; raise ``InputError`` for any other object."""
        from discreet.model.search_result import Solution
        from discreet.verbs.release_publication import publish_levels
        from discreet.verbs.table_search import SearchOutcome, levels_of_solution, require_solution

        if isinstance(solution, SearchOutcome):
            options.refuse("applies to levels and models; a search result has its own request")
            require_solution(solution)
            return publish_levels(self, solution.levels or {}, solution.request, target)
        if isinstance(solution, Solution):
            return publish_levels(
                self, levels_of_solution(self, solution), options.request(self.spec), target
            )
        raise InputError(
            f"expected an answer to publish, not a {type(solution).__name__}",
            allowed="an answer of a negotiation (wish.exact), a search or one of its solutions, a recoding, "
            "levels by attribute, or a model",
        )

    def document(self) -> Document:
        """Return the source and each attribute's role."""
        rows = tuple(
            (a.name, str(a.role), a.hierarchy.origin if a.hierarchy is not None else "")
            for a in self.spec.attributes
        )
        columns = make_columns("attribute", "role", "~hierarchy")
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
    """Open a table by its spec file, or by data and a spec.

    ``source`` is the path of a spec (``discreet.toml``). With a ``spec``, it is the path of a data file, the
    address of a database, an Arrow, pandas, polars or Spark table, an Arrow dataset, or a stream of record
    batches, which is read once (``engines.files.dataframes``); a path or an address replaces the source of
    the spec. ``spec`` is a proposal of ``discreet.init``, the path of a spec, or a mapping like the TOML file
    without a source: ``{"attributes": {"age": {"role": "quasi-identifier"}, …}}``; for a database it has
    ``{"source": {"table": …}}``. Relative paths in a mapping are relative to the working folder.

    No row is read yet. Column names are read if data and a spec are given, and if attributes are given by
    pattern (``{"q*": …}``); of a database and of a stream they are read with the first rows. Raises
    ``InputError`` for an invalid spec or source, including an attribute that is not a column of the data.

    >>> table = discreet.open("discreet.toml")  # doctest: +SKIP
    >>> roles = {"age": {"role": "quasi-identifier"}, "disease": {"role": "sensitive"}}  # doctest: +SKIP
    >>> table = discreet.open(frame, {"attributes": roles})  # doctest: +SKIP
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
    """Return the spec for separately given data, after checking that its attributes are columns."""
    mapping = getattr(spec, "mapping", spec)
    in_memory = not isinstance(source, str | os.PathLike)
    location = None if in_memory else _source_keys(os.fspath(cast("str | os.PathLike[str]", source)))
    data = source if in_memory else None
    if isinstance(mapping, str | os.PathLike):
        path = parse_path(mapping, "the path of a spec")
        return _check_columns(load_spec(path, settings, data=data, location=location), settings)
    if not isinstance(mapping, Mapping):
        raise InputError(
            f"expected a spec, not a {type(spec).__name__}",
            allowed="a mapping, the path of a spec, or a proposal of discreet.init",
        )
    document = mapping if location is None else with_location(mapping, location)
    return _check_columns(
        spec_from_mapping(document, base=Path(), label="the spec", data=data, settings=settings), settings
    )


def _source_keys(text: str) -> dict[str, str]:
    """Return the keys of ``[source]`` for a path or an address; a path is absolute."""
    return {"url": text} if is_database_address(text) else {"path": str(parse_path(text).absolute())}


def _names_rows(document: Mapping[str, Any]) -> bool:
    source = document.get("source", {})
    return isinstance(source, Mapping) and bool({"path", "url", "table"} & set(source))


def _check_columns(spec: TableSpec, settings: Settings) -> TableSpec:
    """Return the spec; raise ``InputError`` for an attribute that is not a column.

    Only names that are available without a connection or a stream are compared; the others are checked when
    rows are counted.
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
