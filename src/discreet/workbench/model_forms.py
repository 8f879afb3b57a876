"""The models that a table can be published under, each with its own options as fields of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from discreet.errors import InputError
from discreet.model.class_recoding import RecodingModel
from discreet.model.pattern import OutlierPolicy
from discreet.model.permuted_release import PERMUTATION, ReleaseForm
from discreet.permutation.partitions import PartitionStrategy
from discreet.workbench.modeling import PATTERNS
from discreet.workbench.pattern_options import METHODS

NEGOTIATED = "negotiated"
"""Not a model: full-domain recoding at levels that are given."""


class FieldKind(StrEnum):
    """What a field takes."""

    CHOICE = "choice"
    WHOLE = "whole"
    DECIMAL = "decimal"
    TEXT = "text"
    QUASI_IDENTIFIERS = "quasi-identifiers"
    SENSITIVE = "sensitive"


@dataclass(frozen=True)
class OptionField:
    """One option of a model; ``default`` is what stands where nothing is chosen."""

    name: str
    label: str
    kind: FieldKind
    choices: tuple[str, ...] = ()
    default: str | None = None
    hint: str = ""

    def value(self, given: object) -> Any:
        """What was given, as the model takes it, None where nothing was; ``InputError`` for another kind."""
        if given is None or given == "" or given == []:
            return None
        if self.kind is FieldKind.QUASI_IDENTIFIERS:
            if isinstance(given, list) and all(isinstance(name, str) for name in given):
                return given
            raise InputError(f"{self.label}: not a list of names", allowed="names of quasi-identifiers")
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            raise InputError(f"{self.label}: not one value", allowed=self._allowed)
        if self.kind is FieldKind.WHOLE:
            return self._number(str(given), int)
        if self.kind is FieldKind.DECIMAL:
            return self._number(str(given), float)
        text = str(given)
        if self.choices and text not in self.choices:
            raise InputError(f"{self.label} '{text}'", allowed=self._allowed)
        return text

    @property
    def _allowed(self) -> str:
        words = {FieldKind.WHOLE: "a whole number", FieldKind.DECIMAL: "a number"}
        return ", ".join(self.choices) or words.get(self.kind, "a text")

    def _number(self, text: str, kind: type[int] | type[float]) -> int | float:
        try:
            return kind(text)
        except (ValueError, OverflowError):
            raise InputError(f"{self.label} '{text}'", allowed=self._allowed) from None


@dataclass(frozen=True)
class ModelForm:
    """A model by its name, what it does in a sentence, its options, and which common options it takes."""

    name: str
    title: str
    text: str
    fields: tuple[OptionField, ...] = ()
    takes_levels: bool = False
    takes_suppression: bool = True
    takes_l: bool = True
    formats: tuple[str, ...] = (".csv", ".parquet")

    def options(self, given: Mapping[str, object]) -> dict[str, Any]:
        """The options as the model takes them; ``InputError`` for one that it does not have."""
        known = {field.name: field for field in self.fields}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InputError(
                f"the {self.name} model has no option '{unknown[0]}'", allowed=", ".join(known) or "none"
            )
        found = {name: known[name].value(value) for name, value in given.items()}
        return {name: value for name, value in found.items() if value is not None}


def _choice(name: str, label: str, choices: Sequence[str], default: str, hint: str = "") -> OptionField:
    return OptionField(name, label, FieldKind.CHOICE, tuple(map(str, choices)), default, hint)


_CATEGORICAL = _choice(
    "categorical",
    "Categories are cut",
    ("order", "hierarchy"),
    "order",
    "anywhere in the order of the leaves, or between children only",
)
_TIE = _choice("tie", "Among equal cuts", ("fewest-values", "first"), "fewest-values")
_CUT = _choice(
    "cut", "A class is cut at", ("best", "median"), "best", "the nearest allowable value, or the median alone"
)
_SUMMARY = _choice("summary", "A class shows", ("ranges", "means", "sets", "lca"), "ranges")
_LOCAL = (
    OptionField(
        "effort", "Rounds of improvement", FieldKind.TEXT, (), "fast", "fast, or a whole number of rounds"
    ),
    OptionField("time_budget", "Seconds at most", FieldKind.DECIMAL, (), None, "ends the rounds early"),
    OptionField("seed", "Seed", FieldKind.WHOLE, (), "0", "the same seed gives the same classes"),
    _choice("summary", "A class shows", ("lca", "ranges", "sets"), "lca"),
)
_PATTERN = (
    OptionField(
        "max_stars", "Stars of a row at most", FieldKind.WHOLE, (), None, "empty: as many as it takes"
    ),
    OptionField("never", "Never starred", FieldKind.QUASI_IDENTIFIERS),
    _choice("cells", "Patterns may show", ("stars", "levels"), "stars", "values or stars, or every level"),
    _choice("method", "Rows are assigned", METHODS, "greedy"),
    _choice("outliers", "Rows that fit no pattern", tuple(OutlierPolicy), str(OutlierPolicy.SUPPRESS)),
)
_PERMUTATION = (
    OptionField("sensitive", "Attribute to permute", FieldKind.SENSITIVE),
    OptionField("e", "Least range of a group (e)", FieldKind.TEXT, (), "0", "in the attribute's unit"),
    _choice("partition", "Groups are found by", [s for s in PartitionStrategy if s != "recoding"], "min-sum"),
    OptionField(
        "near",
        "Cut along (qi-aware)",
        FieldKind.QUASI_IDENTIFIERS,
        hint="what questions are asked of; all where none is chosen",
    ),
    _choice("form", "Written as", tuple(ReleaseForm), "one-table"),
)
_ORDERED_SINGLE = (
    _choice(
        "method", "Cuts are found by", ("greedy", "optimal"), "greedy", "least loss, or least cost proven"
    ),
    _choice(
        "cost", "Least (optimal)", ("", "c-dm", "c-avg"), "", "empty: c-dm, the squares of the class sizes"
    ),
    OptionField("time_limit", "Seconds at most (optimal)", FieldKind.DECIMAL, (), None, "60 where empty"),
)
_TAXONOMY = (
    (RecodingModel.ATTRIBUTE_SUPPRESSION, "Attribute suppression", "Each column as it is, or not at all."),
    (RecodingModel.FULL_SUBTREE, "Full subtree", "Whole branches of a hierarchy rise together."),
    (
        RecodingModel.ORDERED_SINGLE,
        "Ordered, one dimension",
        "Each column is cut into intervals, the same in every row.",
    ),
    (
        RecodingModel.UNRESTRICTED_SINGLE,
        "Unrestricted, one dimension",
        "Each value rises by itself, the same in every row.",
    ),
    (RecodingModel.FULL_SUBGRAPH, "Full subgraph", "Combinations of values rise, whole subgraphs at a time."),
    (
        RecodingModel.UNRESTRICTED_MULTI,
        "Unrestricted, several dimensions",
        "Each combination of values rises by itself.",
    ),
    (RecodingModel.CELL_SUPPRESSION, "Cell suppression", "Single cells are starred."),
)
_OWN = {RecodingModel.ORDERED_SINGLE: _ORDERED_SINGLE}

MODEL_FORMS: tuple[ModelForm, ...] = (
    ModelForm(
        NEGOTIATED,
        "Negotiated levels",
        "Every value of a column goes to one level: the node that was chosen in Negotiate.",
        takes_levels=True,
    ),
    ModelForm(
        str(RecodingModel.FULL_DOMAIN),
        "Full-domain",
        "Every value of a column goes to one level: the node that loses least detail.",
    ),
    ModelForm(
        "mondrian",
        "Mondrian",
        "The rows are cut in two again and again, each time where it costs least. Finer than one level "
        "per column.",
        (_CUT, _CATEGORICAL, _TIE, _SUMMARY),
        takes_suppression=False,
    ),
    ModelForm(
        "relaxed-mondrian",
        "Relaxed Mondrian",
        "As Mondrian, but equal rows may be divided over both sides: classes of k to 2k − 1 rows.",
        (_CATEGORICAL, _TIE, _SUMMARY),
        takes_suppression=False,
    ),
    ModelForm(
        "local",
        "Local recoding",
        "Rows that agree may be generalized differently, cell by cell. Keeps the most detail.",
        _LOCAL,
    ),
    ModelForm(
        PATTERNS,
        "Patterns",
        "You say in which combinations cells may be starred; rows are assigned to the cheapest.",
        _PATTERN,
    ),
    ModelForm(
        PERMUTATION,
        "Permutation",
        "Quasi-identifiers stay exact; the sensitive values change places within groups. k counts "
        "distinct values.",
        _PERMUTATION,
        takes_suppression=False,
        takes_l=False,
        formats=(".csv", ".parquet", ".duckdb"),
    ),
    *(ModelForm(str(name), title, text, _OWN.get(name, ())) for name, title, text in _TAXONOMY),
)


def form_of(name: str) -> ModelForm:
    """The form of a model; ``InputError`` for one that there is not."""
    for form in MODEL_FORMS:
        if form.name == name:
            return form
    raise InputError(f"model '{name}'", allowed=", ".join(form.name for form in MODEL_FORMS))
