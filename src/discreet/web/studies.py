"""Studies of a workspace's source, kept in memory while the source is read as it was.

Roles, hierarchies and the texts that are read as NULL change often and a study does not depend on them, so it
outlives versions of the spec.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Lock, RLock
from typing import Any
from weakref import WeakKeyDictionary

from discreet.model.table_spec import SourceSpec
from discreet.verbs.reporting import SILENT, Reporter
from discreet.verbs.table_study import TableStudy, study_table
from discreet.web.jobs import Jobs
from discreet.web.problems import NotFound
from discreet.web.spec_file import stamp_of
from discreet.web.workspace import Workspace

_KEPT = 4


class Studies:
    """The latest studies of one workspace, and what else its screens remember of a source."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Any, ...], TableStudy] = OrderedDict()
        self._derived: tuple[tuple[Any, ...], TableStudy] | None = None
        self._job: tuple[tuple[Any, ...], str] | None = None
        self._state = Lock()
        self._working = RLock()

    def known(self, source: SourceSpec) -> TableStudy | None:
        """The study of a source where there is one."""
        key = (*_key(source), source.null_values)
        with self._state:
            if self._derived is not None and self._derived[0] == key:
                return self._derived[1]
            base = self._known.get(key[:-1])
            if base is None:
                return None
            self._derived = (key, base.with_null_values(source.null_values))
            return self._derived[1]

    def job_of(self, source: SourceSpec, jobs: Jobs, work: Callable[[Reporter], Any]) -> str:
        """The job that studies a source: the one that has not ended, or a new one."""
        with self._state:
            key = _key(source)
            if self._job is not None and self._job[0] == key:
                with suppress(NotFound):
                    if not jobs.find(self._job[1]).has_ended:
                        return self._job[1]
            self._job = (key, jobs.start("Profiling columns", work))
            return self._job[1]

    def study(self, source: SourceSpec, workspace: Workspace, reporter: Reporter = SILENT) -> TableStudy:
        """The study of a source, made now where there is none; who asks meanwhile waits."""
        with self._working:
            found = self.known(source)
            if found is None:
                key = _key(source)
                base = study_table(replace(source, null_values=()), workspace.settings, reporter)
                with self._state:
                    # What it proposes to read otherwise was read so: it is the study of that source, too.
                    self._known |= {key: base, _key(base.applied(source)): base}
                    while len(self._known) > _KEPT:
                        self._known.popitem(last=False)
                found = base.with_null_values(source.null_values)
            return found


def profile_job(workspace: Workspace, jobs: Jobs) -> str:
    """The id of the job that profiles the source's columns: the one that runs, or a new one."""

    def work(reporter: Reporter) -> dict[str, Any]:
        return {"rows": study_of(workspace, reporter).rows}

    return studies_of(workspace).job_of(workspace.spec().source, jobs, work)


_STUDIES: WeakKeyDictionary[Workspace, Studies] = WeakKeyDictionary()
_LOCK = Lock()


def studies_of(workspace: Workspace) -> Studies:
    """The studies of a workspace."""
    with _LOCK:
        return _STUDIES.setdefault(workspace, Studies())


def known_study(workspace: Workspace) -> TableStudy | None:
    """The study of the workspace's source where there is one; no work is done."""
    return studies_of(workspace).known(workspace.spec().source)


def study_of(workspace: Workspace, reporter: Reporter = SILENT) -> TableStudy:
    """The study of the workspace's source."""
    return studies_of(workspace).study(workspace.spec().source, workspace, reporter)


def _key(source: SourceSpec) -> tuple[Any, ...]:
    stamp = None if source.path is None else stamp_of(source.path)
    return (
        None if source.path is None else source.path.resolve(),
        stamp,
        source.format,
        source.encoding,
        source.delimiter,
        source.quote,
        source.url,
        source.table,
        source.engine,
        tuple(sorted(source.written.items(), key=lambda pair: pair[0])),
        source.decimal,
        source.strip,
        source.coded,
        source.version,
    )
