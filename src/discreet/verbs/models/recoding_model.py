"""The base class of recoding models, the registry of models, and publication by a model.

A model is a frozen value of its options. From its declaration come the flags of ``discreet publish``, the
keys of its file, the keywords of Python, the form in the browser and the page of options.
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
from discreet.model.option import Option, OptionKind, changed_options, check_options, option_names, options_of
from discreet.model.registry import Registry
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
"""The endings of what any model writes; a table of rows alone may be SQLite's, too."""


@dataclass(frozen=True)
class Found:
    """What a search found: the recoding, how its classes are shown, and what it tells of its work.

    ``work`` are facts for a reader, each a name and a text; ``told`` are parts of the JSON by their key, such
    as the ``evidence`` of what was proven.
    """

    recoding: ClassRecoding
    summary: str | None = None
    work: tuple[tuple[str, str], ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RequestOptions:
    """What is asked of any model beside its own options; None where the spec's ``[request]`` says it."""

    k: int | None = None
    l: int | Mapping[str, int] | None = None
    max_suppressed: str | int | None = None
    max_level: LevelsByAttribute | None = None
    min_level: LevelsByAttribute | None = None
    criteria: tuple[Criterion, ...] = ()

    def refuse(self, why: str) -> None:
        """Raise ``InputError`` where something is asked."""
        for name in self.__dataclass_fields__:
            if getattr(self, name) not in (None, ()):
                raise InputError(f"'{name}' {why}", advice=f"Leave out '{name}'.")

    def request(self, spec: TableSpec) -> Request:
        """The request, with the spec's ``[request]`` for what was not asked."""
        return build_request(
            spec,
            k=self.k,
            l=self.l,
            max_suppressed=self.max_suppressed,
            max_level=self.max_level,
            min_level=self.min_level,
            criteria=self.criteria,
        )


@dataclass(frozen=True, eq=False)
class Task:
    """One search: the table, what is asked of it as a request, and who is told of progress.

    ``every_value`` counts all sensitive values, those that nothing is asked of, too.
    """

    table: TableContext
    asked: RequestOptions
    request: Request
    reporter: Reporter
    every_value: bool = False

    @classmethod
    def of(
        cls, table: TableContext, asked: RequestOptions, reporter: Reporter, *, every_value: bool = False
    ) -> Task:
        """With the spec's ``[request]`` for what was not asked; ``InputError`` for what may not be."""
        return cls(table, asked, asked.request(table.spec), reporter, every_value)

    @property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts, with sensitive values where the requirement speaks of them, else perhaps
        without; the rows are counted at first need.
        """
        if self.every_value:
            return self.table.frequency_set
        return self.table.counted_for(self.requirement)

    @property
    def requirement(self) -> Requirement:
        """What every class must meet."""
        return self.request.requirement

    @property
    def settings(self) -> Settings:
        """Limits of memory and threads."""
        return self.table.settings

    @property
    def limit(self) -> int:
        """The most rows that may be suppressed."""
        return self.request.max_suppressed.of(self.frequency_set.rows)

    @property
    def weights(self) -> dict[str, float]:
        """How much an attribute's loss counts, by attribute."""
        return {a.name: a.weight for a in self.table.spec.quasi_identifiers}


@dataclass(frozen=True)
class Model(ABC):
    """A recoding model; its fields are its options (``model.option.option``).

    A model says ``name`` (in manifests; ``aliases`` are shorter), ``title`` and ``text`` (for a form), and
    overrides ``search``. ``InputError`` for an option that is none of its choices or out of bounds.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str]
    text: ClassVar[str]

    main: ClassVar[bool] = False
    """Whether it is listed before the others."""
    takes_levels: ClassVar[bool] = False
    """Whether levels may be limited, so that no cell rises above them."""
    takes_suppression: ClassVar[bool] = True
    """Whether rows may be suppressed, within a limit."""
    takes_l: ClassVar[bool] = True
    """Whether an l may be asked."""
    permuted: ClassVar[bool] = False
    """Whether quasi-identifiers stay and sensitive values change places: there is nothing to recode then."""
    tells_ranges: ClassVar[bool] = False
    """Whether the ends of the ranges and the means that classes show are values of their rows."""
    formats: ClassVar[tuple[str, ...]] = (*TABLE_FILE_FORMATS, ".sqlite", ".sav", ".zsav", ".dta", ".xpt")
    """The endings of the files that a release may have."""

    def __post_init__(self) -> None:
        """Judge the options."""
        check_options(self, f"the {self.name} model")

    @classmethod
    def called(cls) -> str:
        """The name that users type: the shorter one, where there is one."""
        return cls.aliases[0] if cls.aliases else cls.name

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """The options that it declares."""
        return options_of(cls)

    @classmethod
    def option_of(cls, kind: OptionKind) -> Option | None:
        """The first option of a kind."""
        return next((each for each in cls.options() if each.kind is kind), None)

    def search(self, task: Task) -> Found:
        """The recoding of a table; ``NoSolution`` where nothing meets the requirement within the limit."""
        raise InternalError(f"the {self.name} model searches nothing of a {type(task).__name__}")

    def recode(self, table: TableContext, asked: RequestOptions, reporter: Reporter) -> RecodingResult:
        """The recoding as a result that prints."""
        if self.permuted:
            raise InputError(
                f"the {self.name} model recodes nothing", advice="It is published at once: use publish."
            )
        chosen = self.resolved()
        task = Task.of(table, asked, reporter, every_value=chosen.reads_values)
        chosen.check_levels(task)
        found = chosen.search(task)
        return RecodingResult.of(
            task.frequency_set, found.recoding, found.summary, found.work, table.spec.numeric, found.told
        )

    def publish(
        self, table: TableContext, asked: RequestOptions, target: PublishTarget, reporter: Reporter
    ) -> ReleaseResult:
        """Search a recoding, write it, audit it, and put it in place."""
        from discreet.verbs.release_publication import publish_recoding

        return publish_recoding(table, self.recode(table, asked, reporter), target)

    def resolved(self) -> Model:
        """The model with the options of its file, where one is named; what is given beside the file wins."""
        named = self.option_of(OptionKind.OPTIONS)
        path = None if named is None else getattr(self, named.name)
        if named is None or path is None:
            return self
        from discreet.spec.request_section import load_model_options

        loaded = load_model_options(Path(path), self.options(), f"the {named.name}")
        return replace(self, **{**loaded, **changed_options(self), named.name: None})

    @property
    def kept_files(self) -> tuple[ProtectedFile, ...]:
        """The files that options name: queries, say, or options of their own."""
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
        """Whether the search reads sensitive values that nothing is asked of, as a class test may."""
        return getattr(self, "class_test", None) is not None

    def refuse_class_tests(self) -> None:
        """Raise ``InputError`` where a class test is asked, of this model or of one that it names.

        No manifest records one and no audit counts it, so it may be recoded with, and not published.
        """
        from discreet.release.publication import refuse_class_test

        refuse_class_test(getattr(self, "class_test", None))
        inner = self.option_of(OptionKind.MODEL)
        named = None if inner is None else getattr(self, inner.name)
        if isinstance(named, Model):
            named.refuse_class_tests()

    def check_levels(self, task: Task) -> None:
        """Raise ``InputError`` where levels are limited and the model has none in common."""
        if self.takes_levels:
            return
        raised = [name for name, level in task.request.min_level if level > 0]
        if raised or task.asked.max_level:
            which = f"the least level of '{raised[0]}'" if raised else "a highest level"
            raise InputError(
                f"{which} is asked, but the {self.name} model has no levels in common",
                allowed="level limits with the full-domain and cell-generalization models",
                advice="Leave the limit out, or the values of the hierarchy that the limit is to forbid.",
            )
        if task.table.spec.request.max_level:
            task.reporter.notice(
                f"The highest levels in the spec's [request] do not bind the {self.name} model."
            )


def _builtin_models() -> Iterable[type[Model]]:
    """Ours, in the order of forms and pages."""
    from discreet.verbs.models.generalization_models import (
        AttributeSuppression,
        CellSuppression,
        FullDomain,
        FullSubgraph,
        FullSubtree,
        Local,
        Mondrian,
        OrderedSingle,
        RelaxedMondrian,
        UnrestrictedMulti,
        UnrestrictedSingle,
    )
    from discreet.verbs.models.pattern_model import Patterns
    from discreet.verbs.models.permutation_model import Permutation

    return (
        FullDomain,
        Mondrian,
        RelaxedMondrian,
        Local,
        Patterns,
        Permutation,
        AttributeSuppression,
        FullSubtree,
        OrderedSingle,
        UnrestrictedSingle,
        FullSubgraph,
        UnrestrictedMulti,
        CellSuppression,
    )


MODELS: Registry[type[Model]] = Registry(
    "model", "discreet.models", Model, _builtin_models, lambda model: model.aliases
)
"""Every recoding model by its name, and by its shorter one."""


def model_title(name: str) -> str:
    """What a release's model is called; the name itself of a model that is not installed here."""
    return MODELS.named(name).title if name in MODELS else name


def resolve_model(model: Model | str, options: Mapping[str, object] | None = None) -> Model:
    """A model from its name and its options by name, None being not given; a value stays what it is.

    A model that it names as an option is looked up too, and takes the options that the first does not have.
    ``InputError`` for a name that no model has, and for an option that the model does not know.
    """
    if isinstance(model, Model):
        inner = model.option_of(OptionKind.MODEL)
        named = None if inner is None else getattr(model, inner.name)
        return (
            replace(model, **{inner.name: resolve_model(named)})
            if inner and isinstance(named, str)
            else model
        )
    kind = MODELS.named(model)
    known = {each.name for each in kind.options()}
    values = {name: value for name, value in (options or {}).items() if value is not None}
    others = {name: values.pop(name) for name in tuple(values) if name not in known}
    inner = kind.option_of(OptionKind.MODEL)
    if inner is not None and isinstance(values.get(inner.name), str):
        values[inner.name] = resolve_model(str(values[inner.name]), others)
    elif others:
        raise InputError(
            f"'{next(iter(others)).replace('_', '-')}' does not apply to the {kind.name} model",
            allowed=option_names(each.name for each in kind.options()),
        )
    return kind(**values)


def publish_model(
    table: TableContext, reporter: Reporter, model: Model | str, asked: RequestOptions, target: PublishTarget
) -> ReleaseResult:
    """Search a recoding under a model and publish it (see ``Table.recode`` and ``Table.publish``).

    What can be refused is refused before any row is counted. ``LimitReached`` where the frequency set
    exceeds the memory limit and the model cannot leave the rows in their engine.
    """
    from discreet.results.publish_result import parse_suppression_policy
    from discreet.verbs.release_publication import check_publish_target

    chosen = resolve_model(model)
    parse_suppression_policy(target.suppressed)
    chosen.refuse_class_tests()
    if target.after and chosen.permuted:
        raise InputError(
            f"the {chosen.name} model beside an earlier release: its groups have no classes to lay together",
            advice="Choose a model that generalizes.",
        )
    check_publish_target(table, target, permuted=chosen.permuted, protected=chosen.kept_files)
    return chosen.publish(table, asked, target, reporter)
