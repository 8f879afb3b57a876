"""Values of ``[attributes.NAME]`` (hierarchy, format, pseudonyms, shift, domain) and ``[privacy_budget]``.

Each reader takes the unvalidated value, the label of the spec and the key, and returns a value of ``model``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from discreet.errors import InputError
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.hierarchy.level_table import LevelsHierarchy
from discreet.hierarchy.messages import quote_value
from discreet.model.cell_format import CellFormat
from discreet.model.hierarchy import HierarchySource, PublicPart
from discreet.model.identifiers.base import DateShift, Pseudonymizer, method_options
from discreet.model.privacy_loss import PrivacyLoss, parse_delta, parse_epsilon
from discreet.model.registry import suggest_name
from discreet.model.table_spec import Attribute, AttributeRole, PrivacyBudget, PublicDomain, SourceSpec
from discreet.places.address import parse_path
from discreet.spec.validation import (
    KeyPath,
    StrictTable,
    TextList,
    format_key,
    format_toml_value,
    locate_error,
    make_section,
    toml_key,
    validate_table,
)

if TYPE_CHECKING:
    from discreet.spec.hierarchy_tables import KindTable


def _hierarchy_tables() -> Mapping[str, type[KindTable]]:
    """Return the hierarchy tables by kind; imported here, since a spec with only files needs none of them."""
    from discreet.spec.hierarchy_tables import HIERARCHY_TABLES

    return HIERARCHY_TABLES


class HierarchyReader:
    """Reader of a hierarchy's description in a spec.

    ``objects`` also admits values that only Python can pass: a ``HierarchySource``, a path object, a mapping
    from each leaf to its levels, and a list of rows.
    """

    def __init__(self, base: Path, label: str, *, objects: bool) -> None:
        self.base = base
        self.label = label
        self.objects = objects

    def read(self, value: object, key: KeyPath) -> HierarchySource:
        """Return the source; raise ``InputError`` with the spec, the key and the allowed values."""
        if isinstance(value, str) and value:
            return FileHierarchy(self.base / self._path(value, key))
        if isinstance(value, Mapping) and (isinstance(value.get("kind"), str) or not self.objects):
            return self._of_kind(value, key)
        result = self._of_object(value, key) if self.objects else None
        if result is None:
            allowed = 'the path of a CSV file in quotes, or a table such as {kind = "mask"}; kinds: '
            raise InputError(
                f"{self.label}: {format_key(key)} = {format_toml_value(value)}",
                allowed=allowed + ", ".join(_hierarchy_tables()),
            )
        return result

    def _of_kind(self, value: Mapping[str, Any], key: KeyPath) -> HierarchySource:
        kind, kinds = value.get("kind"), _hierarchy_tables()
        if "kind" not in value:
            raise InputError(
                f"{self.label}: {format_key((*key, 'kind'))} is missing", allowed=", ".join(kinds)
            )
        if not isinstance(kind, str) or kind not in kinds:
            raise InputError(
                f"{self.label}: {format_key((*key, 'kind'))} = {format_toml_value(kind)}",
                allowed=", ".join(kinds),
                advice=suggest_name(kind, kinds),
            )
        table = validate_table(kinds[kind], value, label=self.label, key=key)
        try:
            source = table.source()
        except InputError as error:
            raise locate_error(error, label=self.label, key=key) from None
        if not isinstance(source, FileHierarchy):
            return source
        return replace(source, path=self.base / self._path(value["path"], (*key, "path")))

    def _path(self, text: str, key: KeyPath) -> Path:
        try:
            return parse_path(text, "the path of a hierarchy file")
        except InputError as error:
            raise locate_error(error, label=self.label, key=key) from None

    def _of_object(self, value: Any, key: KeyPath) -> HierarchySource | None:
        if isinstance(value, Path):
            return FileHierarchy(self.base / value)
        if isinstance(value, Mapping | list | tuple):
            try:
                return LevelsHierarchy.of(value)
            except InputError as error:
                raise locate_error(error, label=self.label, key=key) from None
        is_source = callable(getattr(value, "build", None)) and not isinstance(value, type)
        source: HierarchySource | None = value if is_source else None
        return source


TextOrTexts = Annotated[
    TextList, BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
]


CellFormatTable = make_section(
    "CellFormatTable", CellFormat, units=TextOrTexts, dates=TextOrTexts, strip=(bool | None, None)
)


def read_cell_format(
    content: object, hierarchy: HierarchySource | None, *, label: str, key: KeyPath
) -> CellFormat | None:
    """Return the cell format that an attribute declares, or None.

    Values that the attribute's hierarchy lists under others are kept unchanged. A ``CellFormat`` from Python
    is returned unchanged. Raises ``InputError`` with the key and the allowed values.
    """
    if content is None:
        return None
    if isinstance(content, CellFormat):
        return content
    if not isinstance(content, Mapping):
        raise InputError(
            f"{label}: {'.'.join(map(str, key))} = {format_toml_value(content)}",
            allowed='a table such as {decimal = ",", unit = "€"}, {dates = "%d.%m.%Y"} or {strip = true}',
        )
    keys = dict(validate_table(CellFormatTable, content, label=label, key=key))
    strip = keys.pop("strip")
    keys["others"] = tuple(dict.fromkeys((*keys["others"], *getattr(hierarchy, "others", ()))))
    try:
        form = CellFormat(**keys)
        _check_cell_format(form, strip, hierarchy)
    except InputError as error:
        raise locate_error(error, label=label, key=key) from None
    return form


def _check_cell_format(form: CellFormat, strip: bool | None, hierarchy: HierarchySource | None) -> None:
    """Raise ``InputError`` for an empty format, and for dates if the hierarchy has its own date format."""
    if not form.is_number and not form.dates and not strip:
        raise InputError("the table is empty", allowed="decimal, thousands, unit, dates, or strip = true")
    if strip is False:
        raise InputError("strip = false together with a cell format", advice="Remove format, or strip.")
    if form.dates and getattr(hierarchy, "format", None) is not None:
        raise InputError(
            "dates together with a hierarchy with a format: dates are read once",
            advice="Remove format from the hierarchy.",
        )


ShiftTable = make_section("ShiftTable", DateShift, key=str)


def _methods_by_name() -> dict[str, type[Pseudonymizer]]:
    """Return all pseudonymization methods by name; imported here, since most specs need none of them."""
    from discreet.model.identifiers.methods import known_methods

    return known_methods()


def read_pseudonymization(content: object, base: Path, *, label: str, key: KeyPath) -> Pseudonymizer | None:
    """Return the pseudonymization of an identifier, or None; paths are relative to ``base``."""
    if content is None:
        return None
    ways = _methods_by_name()
    if not isinstance(content, Mapping):
        raise InputError(
            f"{label}: {format_key(key)} = {format_toml_value(content)}",
            allowed=f'a table with a method: {", ".join(ways)}; such as {{method = "per-release"}}',
        )
    name = content.get("method")
    if name not in ways:
        fact = "is missing" if name is None else f"= {format_toml_value(name)}"
        raise InputError(
            f"{label}: {format_key((*key, 'method'))} {fact}",
            allowed=", ".join(ways),
            advice=suggest_name(str(name), list(ways)),
        )
    return _build_method(
        ways[str(name)], {k: v for k, v in content.items() if k != "method"}, base, label, key
    )


def _build_method(
    kind: type[Pseudonymizer], values_given: Mapping[str, Any], base: Path, label: str, key: KeyPath
) -> Pseudonymizer:
    options = method_options(kind)
    for name in values_given:
        if name not in options:
            raise InputError(
                f"{label}: {format_key((*key, name))} is not an option of the method {kind.name}",
                allowed=", ".join(options) or "none",
            )
    values = dict(values_given)
    if "key" in options:
        path = values.get("key")
        if not isinstance(path, str) or not path:
            raise InputError(
                f"{label}: {format_key((*key, 'key'))} is missing",
                allowed="the path of a file in quotes; it is created if missing, readable only by its owner",
            )
        values["key"] = base / path
    try:
        return kind(**values)
    except InputError as error:
        raise locate_error(error, label=label, key=key) from None


def read_shift(content: object, base: Path, *, label: str, key: KeyPath) -> DateShift | None:
    """Return the date shift of a column, or None."""
    if content is None:
        return None
    keys = dict(validate_table(ShiftTable, content, label=label, key=key))
    return DateShift(**keys | {"key": base / keys["key"]})


def with_subject(document: dict[str, Any], subject: str, label: str) -> dict[str, Any]:
    """Return the document with its subject; raise ``InputError`` if it names another one."""
    source = document.get("source")
    if not isinstance(source, Mapping):
        return document
    named = source.get("subject", subject)
    if named != subject:
        raise InputError(
            f"{label}: source.subject = {quote_value(named)}, and by the relational spec it is "
            f"{quote_value(subject)}",
            advice="Remove it: the references determine each row's person.",
        )
    return {**document, "source": {**source, "subject": subject}}


def pseudonyms_and_shifts(source: SourceSpec, attributes: list[Attribute], label: str) -> dict[str, Any]:
    """Return pseudonymizations and date shifts of a source; raise ``InputError`` for invalid combinations.

    Shifts require a subject, and the subject's pseudonymization must be injective.
    """
    ways = {a.name: a.pseudonymization for a in attributes if a.pseudonymization is not None}
    shifts = {a.name: a.date_shift for a in attributes if a.date_shift is not None}
    subject = source.subject
    if shifts and subject is None:
        name = next(iter(shifts))
        raise InputError(
            f"{label}: {format_key(('attributes', name, 'date_shift'))} without a subject",
            allowed="date shifts where [source] names the subject, whose dates are moved together",
            advice='Give subject = "COLUMN" in [source].',
        )
    if subject in ways and not ways[subject].is_injective:
        raise InputError(
            f"{label}: the subject {quote_value(subject)} is published by the method {ways[subject].name}, "
            "which maps several people to one",
            allowed=", ".join(name for name, way in _methods_by_name().items() if way.is_injective),
        )
    return {"pseudonymizations": ways, "date_shifts": shifts}


def check_treated_roles(attribute: Attribute, label: str) -> None:
    """Raise ``InputError`` if an attribute has a way but is not an identifier, or a shift and is one."""
    name, role = attribute.name, attribute.role
    is_identifier = role is AttributeRole.IDENTIFIER
    if attribute.pseudonymization is not None and not is_identifier:
        raise InputError(
            f"{label}: {format_key(('attributes', name, 'pseudonymization'))} for an attribute whose role is "
            f"{role}",
            allowed="pseudonymization for identifiers only",
            advice=f'Remove it, or give the attribute role = "{AttributeRole.IDENTIFIER}".',
        )
    if attribute.date_shift is not None and is_identifier:
        raise InputError(
            f"{label}: {format_key(('attributes', name, 'date_shift'))} for an identifier",
            allowed="date_shift for columns that are published unchanged or generalized",
            advice="Remove it.",
        )


HIERARCHY_DOMAIN = "hierarchy"
_MOST_VALUES = 1_000_000


class BudgetSection(StrictTable):
    """Section ``[privacy_budget]``."""

    epsilon: Any = toml_key(
        "The ε that all differentially private releases of the table may spend together.",
        "1.0",
        "a number above 0, such as 1.0",
        default=...,
    )
    delta: Any = toml_key(
        "The δ that they may spend together; 0 if omitted.",
        "0.000001",
        "a number of at least 0 and below 1, such as 0.000001",
        default=0,
    )
    table: str | None = toml_key(
        "The table's name in the ledger, if it is in memory or is read from several places.",
        '"census-2026"',
        "a name in quotes",
        min_length=1,
    )


class _DomainRange(StrictTable):
    """Table ``domain = {least = 17, most = 90}``."""

    least: int
    most: int


def read_domain(
    value: object, hierarchy: HierarchySource | None, *, label: str, key: KeyPath
) -> PublicDomain | None:
    """Return the public domain of an attribute, or None; raise ``InputError`` for an invalid one."""
    if value is None:
        return None
    if value == HIERARCHY_DOMAIN:
        if (
            hierarchy is None
            or getattr(hierarchy, "public_part", PublicPart.NOTHING) is not PublicPart.HIERARCHY
        ):
            raise InputError(
                f"{label}: {format_key(key)} = {quote_value(HIERARCHY_DOMAIN)}, but the attribute has no "
                "hierarchy whose values were there before the data",
                allowed="a hierarchy that lists its leaves: a file, levels, a taxonomy",
                advice='List the values, domain = ["…"], or whole numbers, domain = {least = 0, most = 99}.',
            )
        return PublicDomain()
    if isinstance(value, Mapping):
        return PublicDomain(_domain_of_range(value, label, key))
    if isinstance(value, list | tuple) and value:
        return PublicDomain(_domain_of_list(value, label, key))
    raise _domain_error(value, label, key)


def read_budget(content: object, label: str) -> PrivacyBudget | None:
    """Return the budget of ``[privacy_budget]``, or None."""
    if content is None:
        return None
    key = ("privacy_budget",)
    table = validate_table(BudgetSection, content, label=label, key=key)
    total = PrivacyLoss(
        parse_epsilon(f"{label}: privacy_budget.epsilon", table.epsilon),
        parse_delta(f"{label}: privacy_budget.delta", table.delta),
    )
    return PrivacyBudget(total, table.table)


def _domain_of_range(value: Mapping[Any, Any], label: str, key: KeyPath) -> tuple[str, ...]:
    if set(value) != {"least", "most"}:
        raise _domain_error(value, label, key)
    ends = validate_table(_DomainRange, value, label=label, key=key)
    if not 0 <= ends.most - ends.least < _MOST_VALUES:
        raise InputError(
            f"{label}: {format_key(key)} = {{least = {ends.least}, most = {ends.most}}}",
            allowed=f"a least number that is not above the most, and at most {_MOST_VALUES:,} numbers",
        )
    return tuple(str(number) for number in range(ends.least, ends.most + 1))


def _domain_of_list(value: list[Any] | tuple[Any, ...], label: str, key: KeyPath) -> tuple[str, ...]:
    texts = []
    for index, one in enumerate(value):
        if isinstance(one, bool) or not isinstance(one, str | int):
            raise _domain_error(one, label, (*key, index))
        texts.append(str(one))
    twice = [text for text, times in Counter(texts).items() if times > 1]
    if twice:
        raise InputError(
            f"{label}: {format_key(key)}: {quote_value(twice[0])} is listed twice", allowed="each once"
        )
    return tuple(texts)


def _domain_error(value: object, label: str, key: KeyPath) -> InputError:
    return InputError(
        f"{label}: {format_key(key)} = {format_toml_value(value)}",
        allowed=f'"{HIERARCHY_DOMAIN}", a list of texts, or whole numbers such as {{least = 17, most = 90}}',
    )
