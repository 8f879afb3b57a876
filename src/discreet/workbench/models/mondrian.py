"""Publishing under a recoding model in one go: search, recode, write, audit.

A table whose frequency set would exceed the memory limit is still published by strict Mondrian: it is cut in
the engine, where its rows are coded once, until what is left of it fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, LimitReached
from discreet.model.class_recoding import RecodingModel
from discreet.model.permuted_release import PERMUTATION
from discreet.model.recoding import SuppressionPolicy
from discreet.model.release_address import ReleaseAddress
from discreet.model.request import Request
from discreet.release.publish import publish, refuse_class_test
from discreet.workbench.modeling import (
    ALIASES,
    given_options,
    least_loss_levels,
    mondrian_options,
    recode_model,
)
from discreet.workbench.publication import ReleaseResult, policy_of
from discreet.workbench.publishing import check_target, publish_levels, publish_recoding
from discreet.workbench.recodings import RecodingFacts
from discreet.workbench.reporting import Reporter
from discreet.workbench.requests import Levels, request_of

if TYPE_CHECKING:
    from discreet.workbench.table import Table


@dataclass(frozen=True)
class ModelChoice:
    """A model by its name, what is asked of it, and its own options."""

    name: str
    k: int | None = None
    l: int | Mapping[str, int] | None = None
    max_suppressed: str | int | None = None
    max_level: Levels | None = None
    min_level: Levels | None = None
    options: Mapping[str, Any] | None = None

    def asked(self) -> dict[str, Any]:
        """The parts of a request."""
        return {
            "k": self.k,
            "l": self.l,
            "max_suppressed": self.max_suppressed,
            "max_level": self.max_level,
            "min_level": self.min_level,
        }


def publish_model(
    table: Table,
    reporter: Reporter,
    choice: ModelChoice,
    output: Path | ReleaseAddress,
    *,
    suppressed: str = SuppressionPolicy.DROP,
    overwrite: bool = False,
) -> ReleaseResult:
    """Search a recoding under a model and publish it (see ``Table.recode`` and ``Table.publish``).

    ``LimitReached`` where the frequency set exceeds the memory limit and the model is not strict Mondrian.
    """
    policy = policy_of(suppressed)
    refuse_class_test((choice.options or {}).get("class_test"))
    check_target(table, output, overwrite=overwrite)
    if choice.name == PERMUTATION:
        return _publish_permuted(table, reporter, choice, output, policy, overwrite)
    if choice.name == RecodingModel.FULL_DOMAIN:
        # Its levels are published, so that the manifest names them as it does those of a negotiated release.
        given_options(RecodingModel.FULL_DOMAIN, choice.options)
        request = request_of(table.spec, **choice.asked())
        levels = least_loss_levels(table, request, reporter)
        return publish_levels(table, levels, request, output, suppressed=suppressed, overwrite=overwrite)
    try:
        result = recode_model(table, reporter, choice.name, **choice.asked(), options=choice.options)
    except LimitReached as error:
        model = ALIASES.get(choice.name, choice.name)
        if model != RecodingModel.ORDERED_MULTI or table.is_counted:
            raise
        if (choice.options or {}).get("workload") is not None:
            raise LimitReached(
                f"{error.message}; a table that is cut in the engine is not cut for a workload",
                allowed=error.allowed,
                advice="Raise --memory-limit, or leave --workload out.",
            ) from error
        reporter.notice(f"{error.message}: the table is cut in the engine.")
        request = request_of(table.spec, **choice.asked())
        return _publish_stored(table, reporter, request, choice, output, policy, overwrite)
    return publish_recoding(table, result, output, suppressed=suppressed, overwrite=overwrite)


def _publish_permuted(
    table: Table,
    reporter: Reporter,
    choice: ModelChoice,
    output: Path | ReleaseAddress,
    policy: SuppressionPolicy,
    overwrite: bool,
) -> ReleaseResult:
    """Publish with the sensitive values permuted, to which limits of levels and stars do not apply."""
    from discreet.workbench.permuting import publish_permutation

    refused = {"max-level": choice.max_level, "min-level": choice.min_level}
    name = next((name for name, value in refused.items() if value), None)
    if name is not None or policy is not SuppressionPolicy.DROP:
        raise InputError(
            f"{name or 'starred rows'}: the permutation model has none", allowed="levels to show, by level"
        )
    return publish_permutation(
        table,
        reporter,
        output,
        k=choice.k,
        l=choice.l,
        max_suppressed=choice.max_suppressed,
        overwrite=overwrite,
        options=choice.options,
    )


def _publish_stored(
    table: Table,
    reporter: Reporter,
    request: Request,
    choice: ModelChoice,
    output: Path | ReleaseAddress,
    policy: SuppressionPolicy,
    overwrite: bool,
) -> ReleaseResult:
    """Publish a strict Mondrian partition whose row types stay in the engine."""
    from discreet.mondrian.external import partition_stored
    from discreet.recoding.stored_classes import StoredClasses
    from discreet.search.star_schema import in_database

    given = {name: value for name, value in (choice.options or {}).items() if value is not None}
    options = mondrian_options(RecodingModel.ORDERED_MULTI, given)
    with (
        table.engine("Partitioning in the engine") as engine,
        in_database(engine, table.spec, table.settings) as facts,
        partition_stored(
            facts, request.requirement, table.settings, options, notice=reporter.notice
        ) as stored,
    ):
        recoding = StoredClasses(
            model=stored.model,
            attributes=tuple(hierarchy.attribute for hierarchy in stored.hierarchies),
            requirement=stored.requirement,
            labels=stored.tables.labels,
            leaves=stored.tables.leaves,
            derived=stored.tables.derived,
            row_types=stored.tables.row_types,
            shown=stored.tables.shown,
            suppression=policy,
            warnings=stored.warnings,
        )
        release = publish(
            engine,
            table.spec,
            stored,
            recoding,
            output,
            overwrite=overwrite,
            settings=table.settings,
            summary=str(options.summary),
        )
        told = RecodingFacts(
            model=stored.model,
            requirement=stored.requirement,
            rows=stored.rows,
            classes=release.audit.classes,
            smallest=release.audit.k,
            suppressed=0,
            mean=release.audit.rows / release.audit.classes,
            largest=max(release.audit.class_rows or release.audit.class_sizes),
            summary=str(options.summary),
            work=(("fragments cut in the engine", f"{stored.fragments:,}"),),
        )
    return ReleaseResult(release, recoding=told)
