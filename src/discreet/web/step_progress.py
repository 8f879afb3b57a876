"""The progress of the seven steps of a publication, and the cache of column profiles that it reads.

A profile does not depend on roles, hierarchies or texts read as NULL, so it outlives versions of the spec.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import prod
from threading import Lock, RLock
from typing import Any, Literal
from weakref import WeakKeyDictionary

from pydantic import BaseModel, Field

from discreet.errors import DiscreetError
from discreet.hierarchy.level_table import FlatHierarchy
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import Attribute, SourceSpec, TableSpec
from discreet.printing.document import format_quantity
from discreet.verbs.run_context import SILENT, Reporter
from discreet.verbs.spec_editor import TableStudy, study_table
from discreet.web.error_responses import NotFound
from discreet.web.job_queue import JobQueue
from discreet.web.negotiation_forms import read_chosen_node
from discreet.web.workspace import Workspace
from discreet.web.workspace_files import file_stamp
from discreet.web.workspace_releases import list_releases

_MAX_PROFILES = 4


class ProfileCache:
    """Cache of the latest studies of one workspace, and of the job that computes one."""

    def __init__(self) -> None:
        self._profiles: OrderedDict[tuple[Any, ...], TableStudy] = OrderedDict()
        self._derived: tuple[tuple[Any, ...], TableStudy] | None = None
        self._job: tuple[tuple[Any, ...], str] | None = None
        self._state = Lock()
        self._working = RLock()

    def find(self, source: SourceSpec) -> TableStudy | None:
        """Return the study of a source if it is cached, else None."""
        key = (*_source_key(source), source.null_values)
        with self._state:
            if self._derived is not None and self._derived[0] == key:
                return self._derived[1]
            base = self._profiles.get(key[:-1])
            if base is None:
                return None
            self._derived = (key, base.with_null_values(source.null_values))
            return self._derived[1]

    def job_of(self, source: SourceSpec, jobs: JobQueue, work: Callable[[Reporter], Any]) -> str:
        """Return the id of the job that studies a source: the unfinished one, or a new one."""
        with self._state:
            key = _source_key(source)
            if self._job is not None and self._job[0] == key:
                with suppress(NotFound):
                    if not jobs.find(self._job[1]).has_ended:
                        return self._job[1]
            self._job = (key, jobs.start("Profiling columns", work))
            return self._job[1]

    def study(self, source: SourceSpec, workspace: Workspace, reporter: Reporter = SILENT) -> TableStudy:
        """Return the study of a source, computed if it is not cached; concurrent callers wait."""
        with self._working:
            result = self.find(source)
            if result is None:
                key = _source_key(source)
                base = study_table(replace(source, null_values=()), workspace.settings, reporter)
                with self._state:
                    # The study was read with the options that it proposes: it also belongs to that source.
                    self._profiles |= {key: base, _source_key(base.applied(source)): base}
                    while len(self._profiles) > _MAX_PROFILES:
                        self._profiles.popitem(last=False)
                result = base.with_null_values(source.null_values)
            return result


def start_profile_job(workspace: Workspace, jobs: JobQueue) -> str:
    """Return the id of the job that profiles the source's columns: the running one, or a new one."""

    def work(reporter: Reporter) -> dict[str, Any]:
        return {"rows": get_profile(workspace, reporter).rows}

    return profile_cache_of(workspace).job_of(workspace.spec().source, jobs, work)


_CACHES: WeakKeyDictionary[Workspace, ProfileCache] = WeakKeyDictionary()
_LOCK = Lock()


def profile_cache_of(workspace: Workspace) -> ProfileCache:
    """Return the profile cache of a workspace."""
    with _LOCK:
        return _CACHES.setdefault(workspace, ProfileCache())


def find_profile(workspace: Workspace) -> TableStudy | None:
    """Return the study of the workspace's source if it is cached, else None; computes nothing."""
    return profile_cache_of(workspace).find(workspace.spec().source)


def get_profile(workspace: Workspace, reporter: Reporter = SILENT) -> TableStudy:
    """Return the study of the workspace's source, computed if it is not cached."""
    return profile_cache_of(workspace).study(workspace.spec().source, workspace, reporter)


def _source_key(source: SourceSpec) -> tuple[Any, ...]:
    path = source.path
    return (
        None if path is None else path.resolve(),
        None if path is None else file_stamp(path),
        tuple(sorted(source.formats.items(), key=lambda pair: pair[0])),
        *(getattr(source, name) for name in _READING_OPTIONS),
    )


_READING_OPTIONS = (
    *("format", "encoding", "delimiter", "quote", "url", "table", "engine"),
    *("decimal", "strip", "keep_codes", "version"),
)
"""Options of a source that change its cells, in addition to the formats of columns."""

StepState = Literal["done", "attention", "todo"]
STEP_TITLES = {
    "load": "Load",
    "columns": "Columns",
    "hierarchies": "Hierarchies",
    "negotiate": "Negotiate",
    "analyst": "Analyst",
    "attacker": "Attacker",
    "publish": "Publish",
}


class Step(BaseModel):
    """One step with its state and a note."""

    name: str
    title: str
    state: StepState = Field(description="done, attention (something is missing or wrong), todo.")
    note: str


def publication_steps(workspace: Workspace) -> list[Step]:
    """Return the seven steps of a workspace."""
    if not workspace.has_spec:
        found: dict[str, tuple[StepState, str]] = {"load": ("todo", "No table yet")}
    else:
        try:
            found = _step_states(workspace, workspace.spec())
        except DiscreetError as error:
            found = {"load": ("attention", error.message)}
    none: tuple[StepState, str] = ("todo", "")
    return [
        Step(name=name, title=title, state=state, note=note)
        for name, title in STEP_TITLES.items()
        for state, note in [found.get(name, none)]
    ]


def build_attribute_hierarchy(attribute: Attribute, study: TableStudy) -> GeneralizationHierarchy:
    """Build a quasi-identifier's hierarchy over the values of a studied table.

    Raises ``InputError`` if it cannot be built.
    """
    source = attribute.hierarchy or FlatHierarchy()
    return source.build(attribute.name, *study.values(attribute.name))


def count_lattice_nodes(workspace: Workspace, spec: TableSpec, study: TableStudy | None) -> int | None:
    """Return the lattice's size; None unless the columns are studied and every hierarchy can be built."""
    heights = lattice_heights(workspace, spec, study)
    return None if heights is None else prod(height + 1 for height in heights)


def lattice_heights(workspace: Workspace, spec: TableSpec, study: TableStudy | None) -> list[int] | None:
    """Return the height of each quasi-identifier's hierarchy; None under the same conditions."""
    if study is None or not spec.quasi_identifiers:
        return None
    try:
        return workspace.compute_once(
            "web.heights",
            lambda: [build_attribute_hierarchy(a, study).height for a in spec.quasi_identifiers],
        )
    except DiscreetError:
        return None


def _step_states(workspace: Workspace, spec: TableSpec) -> dict[str, tuple[StepState, str]]:
    path = spec.source.path
    if path is not None and not path.exists():
        return {"load": ("attention", "The table's file is missing")}
    result: dict[str, tuple[StepState, str]] = {"load": ("done", "")}
    number = len(spec.quasi_identifiers)
    if not number:
        return {**result, "columns": ("attention", "No column is a quasi-identifier")}
    result["columns"] = ("done", format_quantity(number, "quasi-identifier"))
    study = profile_cache_of(workspace).find(spec.source)
    if study is None:
        result["hierarchies"] = ("todo", "")
    elif count_lattice_nodes(workspace, spec, study) is None:
        result["hierarchies"] = ("attention", "A hierarchy cannot be built")
    else:
        result["hierarchies"] = ("done", "")
    choice = read_chosen_node(workspace)
    if choice is not None and choice.stale:
        result["negotiate"] = ("attention", "The hierarchies changed since a node was chosen")
    elif choice is not None:
        result["negotiate"] = ("done", "A node is chosen")
    if list_releases(workspace):
        result["publish"] = ("done", "A release exists")
    return result
