"""The base class of recoding models, the registry of models, and publication by a model.

A model is a frozen value of its options. Its declaration defines the flags of ``discreet publish``, the keys
of its file, the keywords of Python, the form in the browser and the page of options.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.errors import InputError, InternalError
from discreet.model.class_recoding import ClassRecoding
from discreet.model.criteria.base import Criterion
from discreet.model.frequency_set import FrequencySet
from discreet.model.option import Option, OptionKind, changed_options, check_options, options_of
from discreet.model.release_kind import CLASS_RELEASE, ReleaseKind, ReleaseUse
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.places.protected_files import ProtectedFile
from discreet.results.recoding_result import RecodingResult
from discreet.results.request_defaults import LevelsByAttribute, build_request
from discreet.settings import Settings
from discreet.verbs.locations import PublishTarget
from discreet.verbs.run_context import Reporter
from discreet.verbs.table_context import TableContext

if TYPE_CHECKING:
    from discreet.results.publish_result import ReleaseResult


TABLE_FILE_FORMATS = (".csv", ".parquet")
"""File formats of every model; only a table of rows may also be SQLite or a statistics format."""


@dataclass(frozen=True)
class Found:
    """Result of a search: the recoding, the summary of its classes, and facts of the work.

    ``work`` are facts for a reader, each a name and a text; ``json_parts`` are parts of the JSON by key, such
    as the ``evidence`` of a proof.

    >>> Found(recoding, work=(("rounds", "3"),))  # doctest: +SKIP
    """

    recoding: ClassRecoding
    summary: str | None = None
    work: tuple[tuple[str, str], ...] = ()
    json_parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RequestOptions:
    """Request of a model, separate from its own options; None means the value of the spec's ``[request]``."""

    k: int | None = None
    l: int | Mapping[str, int] | None = None
    max_suppressed: str | int | None = None
    max_level: LevelsByAttribute | None = None
    min_level: LevelsByAttribute | None = None
    criteria: Iterable[Criterion] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "criteria", tuple(self.criteria))

    def refuse(self, why: str) -> None:
        """Raise ``InputError`` if any value is given."""
        for name in self.__dataclass_fields__:
            if getattr(self, name) not in (None, ()):
                raise InputError(f"'{name}' {why}", advice=f"Leave out '{name}'.")

    def request(self, spec: TableSpec) -> Request:
        """Return the request, with the spec's ``[request]`` as defaults."""
        return build_request(spec, **vars(self))


@dataclass(frozen=True, eq=False)
class Task:
    """One search: the table, its request, and the progress reporter.

    ``every_value`` counts all sensitive values, even those that the requirement does not read.

    >>> task = Task.of(table, RequestOptions(k=10), SILENT)  # doctest: +SKIP
    """

    table: TableContext
    request_options: RequestOptions
    request: Request
    reporter: Reporter
    every_value: bool = False

    @classmethod
    def of(
        cls,
        table: TableContext,
        request_options: RequestOptions,
        reporter: Reporter,
        *,
        every_value: bool = False,
    ) -> Task:
        """Build a task with the spec's ``[request]`` as defaults; raise ``InputError`` for invalid values."""
        return cls(table, request_options, request_options.request(table.spec), reporter, every_value)

    @property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts, and sensitive values if the requirement reads them; counted at first use."""
        if self.every_value:
            return self.table.frequency_set
        return self.table.counted_for(self.requirement)

    @property
    def requirement(self) -> Requirement:
        """Requirement of every class."""
        return self.request.requirement

    @property
    def settings(self) -> Settings:
        """Memory limit and number of threads."""
        return self.table.settings

    @property
    def limit(self) -> int:
        """Largest number of suppressed rows."""
        return self.request.max_suppressed.of(self.frequency_set.rows)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each attribute's loss."""
        return {a.name: a.weight for a in self.table.spec.quasi_identifiers}


@dataclass(frozen=True)
class Model(ABC):
    """Base class of recoding models; the fields of a model are its options (``model.option.option``).

    A model defines ``name`` (in manifests; ``aliases`` are shorter), ``title`` and ``text`` (for a form), and
    overrides ``search``. Raises ``InputError`` for an option that is not one of its choices or is out of
    bounds.

    >>> class Coarsest(Model):  # doctest: +SKIP
    ...     name, title, text = "coarsest", "Coarsest", "One class of all rows."
    ...
    ...     def search(self, task): ...  # returns Found(recoding)
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str]
    text: ClassVar[str]

    main: ClassVar[bool] = False
    """True to list the model before the others."""
    takes_levels: ClassVar[bool] = False
    """True if level bounds apply, so that no cell rises above them."""
    takes_suppression: ClassVar[bool] = True
    """True if rows may be suppressed, within a limit."""
    takes_l: ClassVar[bool] = True
    """True if an l may be requested."""
    release_kind: ClassVar[ReleaseKind] = CLASS_RELEASE
    """Kind of the releases, which determines the uses that they support."""
    tells_ranges: ClassVar[bool] = False
    """True if the ends of ranges and the means that classes show are values of their rows."""
    formats: ClassVar[tuple[str, ...]] = (*TABLE_FILE_FORMATS, ".sqlite", ".sav", ".zsav", ".dta", ".xpt")
    """File formats of a release."""

    def __post_init__(self) -> None:
        """Check the options."""
        check_options(self, f"the {self.name} model")

    @classmethod
    def called(cls) -> str:
        """Return the name that users type: the shorter one, if there is one."""
        return cls.aliases[0] if cls.aliases else cls.name

    @classmethod
    def recodes(cls) -> bool:
        """Return true if the model finds a recoding, which can be compared and combined with others."""
        return ReleaseUse.RECODE not in cls.release_kind.unsupported

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return the declared options."""
        return options_of(cls)

    @classmethod
    def option_of(cls, kind: OptionKind) -> Option | None:
        """Return the first option of a kind."""
        return next((each for each in cls.options() if each.kind is kind), None)

    def search(self, task: Task) -> Found:
        """Search a recoding; raise ``NoSolution`` if nothing meets the requirement within the limit."""
        raise InternalError(f"the {self.name} model cannot search {type(task).__name__}")

    def recode(
        self, table: TableContext, request_options: RequestOptions, reporter: Reporter
    ) -> RecodingResult:
        """Search a recoding and return it as a printable result."""
        self.release_kind.require_support(ReleaseUse.RECODE, self.name)
        chosen = self.resolved()
        task = Task.of(table, request_options, reporter, every_value=chosen.reads_values)
        chosen.check_levels(task)
        found = chosen.search(task)
        return RecodingResult.of(
            task.frequency_set,
            found.recoding,
            found.summary,
            found.work,
            table.spec.numeric,
            found.json_parts,
        )

    def publish(
        self, table: TableContext, request_options: RequestOptions, target: PublishTarget, reporter: Reporter
    ) -> ReleaseResult:
        """Search a recoding, write it, audit it, and move it to its target."""
        from discreet.verbs.release_publication import publish_recoding

        return publish_recoding(table, self.recode(table, request_options, reporter), target)

    def resolved(self) -> Model:
        """Return the model with the options of its file, if it has one; explicit options override them."""
        named = self.option_of(OptionKind.OPTIONS)
        path = None if named is None else getattr(self, named.name)
        if named is None or path is None:
            return self
        from discreet.spec.request_section import load_model_options

        loaded = load_model_options(Path(path), self.options(), f"the {named.name}")
        return replace(self, **{**loaded, **changed_options(self), named.name: None})

    @property
    def kept_files(self) -> tuple[ProtectedFile, ...]:
        """Files that options name, such as queries or an options file."""
        kinds = (OptionKind.FILE, OptionKind.OPTIONS)
        named = [(each.name, getattr(self, each.name)) for each in self.options() if each.kind in kinds]
        inner = self.option_of(OptionKind.MODEL)
        model = None if inner is None else getattr(self, inner.name)
        files = tuple(
            ProtectedFile(f"the {name.replace('_', ' ')} of the {self.name} model", Path(path))
            for name, path in named
            if isinstance(path, str | Path)
        )
        return (*files, *model.kept_files) if isinstance(model, Model) else files

    @property
    def reads_values(self) -> bool:
        """True if the search needs all sensitive values, as a class test may."""
        return getattr(self, "class_test", None) is not None

    def refuse_class_tests(self) -> None:
        """Raise ``InputError`` for a class test, of this model or of its inner model.

        Manifests do not record class tests and audits do not count them, so a recoding with one cannot be
        published.
        """
        from discreet.release.publication import refuse_class_test

        refuse_class_test(getattr(self, "class_test", None))
        inner = self.option_of(OptionKind.MODEL)
        named = None if inner is None else getattr(self, inner.name)
        if isinstance(named, Model):
            named.refuse_class_tests()

    def check_levels(self, task: Task) -> None:
        """Raise ``InputError`` for level bounds of a model without common levels."""
        if self.takes_levels:
            return
        raised = [name for name, level in task.request.min_level if level > 0]
        if raised or task.request_options.max_level:
            which = f"the least level of '{raised[0]}'" if raised else "a highest level"
            raise InputError(
                f"{which} does not apply to the {self.name} model, which has no common levels",
                allowed="level limits with the full-domain and cell-generalization models",
                advice="Leave the limit out, or remove the forbidden values from the hierarchy.",
            )
        if task.table.spec.request.max_level:
            task.reporter.notice(
                f"The highest levels in the spec's [request] do not bind the {self.name} model."
            )
