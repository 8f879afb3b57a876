"""Edits of a spec's mapping, and the study of a table's columns that edits are based on.

Every edit returns a new mapping that loads: keys that an edit makes invalid are removed with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from discreet.engines.connection import connect
from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.column_study import (
    SIZE_THRESHOLDS,
    ColumnStudy,
    MostIdentifyingSets,
    SetUniqueness,
    compute_uniqueness,
    find_most_identifying_sets,
    study_columns,
)
from discreet.profile.spec_proposal import LATTICE_TOO_LARGE_REASON
from discreet.settings import Settings
from discreet.spec.attribute_section import HIERARCHY_DOMAIN
from discreet.verbs.run_context import SILENT, Reporter, interruptible_engine

SpecMapping = dict[str, Any]

_DEFAULTS: Mapping[str, Any] = {
    "encoding": "utf-8",
    "quote": '"',
    "strip": False,
    "keep_codes": False,
    "rows_are_people": False,
    "warnings": [],
    "null_values": [],
    "null_policy": "value",
    "unlisted_columns": "drop",
}


def source_as_mapping(source: SourceSpec) -> SpecMapping:
    """Return the reading options of a source, as in the spec's ``[source]``, without defaults."""
    return _without_defaults(
        {
            "format": source.format,
            "encoding": source.encoding,
            "delimiter": source.delimiter,
            "quote": source.quote,
            "decimal": source.decimal,
            "strip": source.strip,
            "keep_codes": source.keep_codes,
            "version": source.version,
            "null_values": list(source.null_values),
            "unquoted_nulls": None if source.unquoted_nulls is None else list(source.unquoted_nulls),
            "null_policy": str(source.null_policy),
            "subject": source.subject,
            "rows_are_people": source.rows_are_people,
            "warnings": list(source.warnings),
            "survey_weight": source.survey_weight,
            "unlisted_columns": str(source.unlisted_columns),
            "subset": _subset_as_mapping(source),
        }
    )


def _subset_as_mapping(source: SourceSpec) -> SpecMapping | None:
    chosen = source.subset
    return None if chosen is None else {"column": chosen.column, "values": list(chosen.values)}


def with_source(document: Mapping[str, Any], source: Mapping[str, Any]) -> SpecMapping:
    """Replace the source; values that are None or defaults are omitted.

    A subject is an identifier, so its column gets that role.
    """
    result = _copy_mapping(document)
    result["source"] = source_table = _without_defaults(source)
    subject = source_table.get("subject")
    if subject is not None and str(subject) in result["attributes"]:
        return with_roles(result, {str(subject): AttributeRole.IDENTIFIER})
    return result


def with_roles(
    document: Mapping[str, Any],
    roles: Mapping[str, AttributeRole | None],
    *,
    hierarchies: Mapping[str, Mapping[str, Any] | str | None] | None = None,
) -> SpecMapping:
    """Change the roles of columns; None removes a column from the spec.

    ``hierarchies`` are used for columns that become quasi-identifiers. Raises ``InputError`` if the subject
    would have a role other than identifier.
    """
    found = _copy_mapping(document)
    attributes = found["attributes"]
    for name, role in roles.items():
        if role is None:
            attributes.pop(name, None)
            continue
        if name == found["source"].get("subject") and role is not AttributeRole.IDENTIFIER:
            raise InputError(
                f"{quote_value(name)} is the subject, so it cannot be {role}",
                allowed="identifier, or not listed",
                advice="Choose another subject on Load first.",
            )
        entry = dict(attributes.get(name, {}))
        was = entry.get("role")
        entry["role"] = str(role)
        # Only identifiers have a replacement, and their own dates are not shifted.
        entry.pop("date_shift" if role is AttributeRole.IDENTIFIER else "pseudonymization", None)
        if role is not AttributeRole.QUASI_IDENTIFIER:
            other_keys = ("hierarchy",) if role is AttributeRole.SENSITIVE and was == str(role) else ()
            for option in ("hierarchy", "weight", "numeric"):
                if option not in other_keys:
                    entry.pop(option, None)
            if entry.get("domain") == HIERARCHY_DOMAIN and "hierarchy" not in entry:
                del entry["domain"]
        elif was != str(role) and (proposed := (hierarchies or {}).get(name)) is not None:
            entry["hierarchy"] = proposed
        attributes[name] = entry
    return _prune_request(found)


def with_format(document: Mapping[str, Any], name: str, written: Mapping[str, Any] | None) -> SpecMapping:
    """Change the cell format of a listed column; None means cells without a declared format."""
    result = _copy_mapping(document)
    entry = result["attributes"].get(name)
    if not isinstance(entry, dict):
        raise InputError(
            f"{quote_value(name)} is not listed in the spec", advice="Give it a role on Columns first."
        )
    if written is None:
        entry.pop("format", None)
    else:
        entry["format"] = dict(written)
    return result


def with_weight(document: Mapping[str, Any], name: str, weight: float | None) -> SpecMapping:
    """Change the weight of a quasi-identifier; None or 1 is the default."""
    result = _copy_mapping(document)
    entry = _require_quasi_identifier(result, name)
    if weight is None or weight == 1:
        entry.pop("weight", None)
    else:
        entry["weight"] = int(weight) if float(weight).is_integer() else weight
    return result


def with_hierarchy(document: Mapping[str, Any], name: str, hierarchy: object) -> SpecMapping:
    """Change a quasi-identifier's hierarchy: a file's path, a builder's table, or None for value → ``*``.

    In Python other values that ``discreet.open`` accepts are allowed too. Level bounds of the attribute are
    removed from the request, since they refer to the previous hierarchy.
    """
    found = _copy_mapping(document)
    entry = _require_quasi_identifier(found, name)
    if hierarchy is None:
        entry.pop("hierarchy", None)
    else:
        entry["hierarchy"] = dict(hierarchy) if isinstance(hierarchy, Mapping) else hierarchy
    for bounds in ("max_level", "min_level"):
        if isinstance(found.get("request", {}).get(bounds), dict):
            found["request"][bounds].pop(name, None)
    return _prune_request(found)


def _require_quasi_identifier(document: SpecMapping, name: str) -> dict[str, Any]:
    entry = document["attributes"].get(name)
    if not isinstance(entry, dict) or entry.get("role") != AttributeRole.QUASI_IDENTIFIER:
        raise InputError(f"{quote_value(name)} is not a quasi-identifier", advice="Give it that role first.")
    return entry


def _without_defaults(source: Mapping[str, Any]) -> SpecMapping:
    return {key: value for key, value in source.items() if value is not None and _DEFAULTS.get(key) != value}


def _copy_mapping(document: Mapping[str, Any]) -> SpecMapping:
    result = deepcopy(dict(document))
    result.setdefault("source", {})
    result.setdefault("attributes", {})
    return result


def _prune_request(document: SpecMapping) -> SpecMapping:
    """Remove the request's bounds of attributes that now have another role."""
    request = document.get("request")
    if not isinstance(request, dict):
        return document
    roles = {name: entry.get("role") for name, entry in document["attributes"].items()}
    for key, bounds in list(request.items()):
        levels = key in ("max_level", "min_level")
        role = AttributeRole.QUASI_IDENTIFIER if levels else AttributeRole.SENSITIVE  # l and further criteria
        if isinstance(bounds, dict):
            remaining = {name: bound for name, bound in bounds.items() if roles.get(name) == role}
            if remaining:
                request[key] = remaining
            else:
                del request[key]
    if AttributeRole.SENSITIVE not in roles.values():
        request.pop("l", None)
    if not request:
        del document["request"]
    return document


@dataclass(frozen=True, eq=False)
class TableStudy:
    """Study of a table for the choice of roles and hierarchies; it contains values of the data."""

    study: ColumnStudy

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return self.study.coded.rows

    @property
    def names(self) -> tuple[str, ...]:
        """Columns in the source's order, without those of nested values or bytes."""
        return self.study.names

    @property
    def null_texts(self) -> tuple[str, ...]:
        """Texts that probably mean NULL."""
        return self.study.proposal.null_texts

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read first."""
        return self.study.proposal.warnings

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Columns of nested values or bytes."""
        return self.study.unreadable

    def applied(self, source: SourceSpec) -> SourceSpec:
        """Return a source with the proposed cell formats and treatment of blanks."""
        return self.study.proposal.applied(source)

    def with_null_values(self, texts: Collection[str]) -> TableStudy:
        """Return the study with some texts read as NULL, without reading the source again."""
        return TableStudy(self.study.with_null_values(texts)) if texts else self

    def document(self, path: str | None) -> dict[str, Any]:
        """Return the proposed spec as a mapping; ``path`` is the source's path in the spec."""
        return self.study.proposal.document(path)

    @property
    def given_up(self) -> tuple[str, ...]:
        """Columns that are dropped by default, because the lattice would be too large with them."""
        return tuple(name for name, reason in self.reasons().items() if LATTICE_TOO_LARGE_REASON in reason)

    def reasons(self) -> dict[str, str]:
        """Return the reason of each proposed role, by column."""
        return self.study.proposal.reasons

    def proposed_hierarchy(self, name: str) -> dict[str, Any] | str | None:
        """Return the proposed hierarchy of a column, as in the spec; None for value → ``*``."""
        return self.study.hierarchy(name).table

    def values(self, name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return a column's values in order, without NULL, and the rows of each."""
        return self.study.occurring(name)

    def null_rows(self, name: str) -> int:
        """Count the rows in which a column is NULL."""
        return self.study.numbers(name)[1]

    def column_json(self, name: str) -> dict[str, Any]:
        """Describe one column: counts, proposed role with reason and kind of identifier, frequent values."""
        proposed = self.study.proposed[name]
        kind = self.study.kind(name)
        values, null_rows, unique_rows, most = self.study.numbers(name)
        return {
            "name": name,
            "proposed": str(proposed.role),
            "reason": proposed.reason,
            "form": None if proposed.form is None else proposed.form.sentence,
            "kind": None
            if kind is None
            else {"letter": kind.letter, "title": kind.title, "is_direct": kind.is_direct},
            "values": values,
            "null_rows": null_rows,
            "unique_rows": unique_rows,
            "most": most,
            "examples": list(self.study.examples(name)),
        }

    def uniqueness(self, names: Sequence[str]) -> dict[str, Any]:
        """Measure how many rows a set of columns makes unique (``profile.column_study``).

        Raises ``InputError`` for an unknown column, or one with values that stay in the database.
        """
        apart = [name for name in names if not self.study.is_coded(name)]
        if apart:
            raise InputError(
                f"'{apart[0]}' is probably an identifier: its values stay in the database",
                allowed=", ".join(self.study.coded.names),
            )
        return _uniqueness_as_json(compute_uniqueness(self.study.coded, names))

    def worst(self, names: Sequence[str], size: int) -> dict[str, Any]:
        """Find the sets of ``size`` columns with most unique rows, among columns that are in memory."""
        coded = [name for name in names if self.study.is_coded(name)]
        found: MostIdentifyingSets = find_most_identifying_sets(self.study.coded, coded, size)
        return {
            "size": size,
            "best": [_uniqueness_as_json(each) for each in found.best],
            "examined": found.sets_examined,
            "possible": found.possible,
        }


def study_table(source: SourceSpec, settings: Settings, reporter: Reporter = SILENT) -> TableStudy:
    """Study a source's columns; raise ``InputError`` if it cannot be read or has no values."""
    with (
        connect(settings, source) as engine,
        interruptible_engine(engine),
        reporter.stage("Profiling columns") as advance,
    ):
        study = study_columns(engine, source, memory_limit=settings.memory_limit, progress=advance)
    if not study.names:
        raise InputError(f"{source.label} has no column with a text, number, date or truth value")
    return TableStudy(study)


def _uniqueness_as_json(uniqueness: SetUniqueness) -> dict[str, Any]:
    return {
        "columns": list(uniqueness.columns),
        "rows": uniqueness.rows,
        "distinct": uniqueness.distinct,
        "unique_rows": uniqueness.unique_rows,
        "smallest": uniqueness.smallest,
        "mean": uniqueness.mean,
        "below": [
            {"size": size, "rows": rows} for size, rows in zip(SIZE_THRESHOLDS, uniqueness.below, strict=True)
        ],
    }
