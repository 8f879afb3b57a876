"""Transformer for scikit-learn pipelines that generalizes quasi-identifiers to k-anonymous classes.

::

    from discreet.sklearn import KAnonymizer

    model = make_pipeline(KAnonymizer(k=10), OneHotEncoder(handle_unknown="ignore"), LogisticRegression())

Hierarchies, levels and classes come only from the rows of ``fit``. ``transform`` generalizes each row to its
class among these. A row without such a class is suppressed or raises an error; its original values are never
returned. Requires ``discreet[sklearn]``.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.verbs.table import open as open_table

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError:
    raise InputError(
        "the transformer needs scikit-learn 1.6 or newer, which is not installed",
        advice="pip install 'discreet[sklearn]'.",
    ) from None

__all__ = ["KAnonymizer"]

_UNSEEN = -1
_SUPPRESS, _ERROR = "suppress", "error"
_LABELS, _CODES = "labels", "codes"


class KAnonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Full-domain generalization of all columns such that every combination has at least ``k`` training rows.

    Parameters: ``k``; ``max_suppressed``, the number of training rows that may be suppressed (``"1%"``, or a
    number of rows); ``hierarchies``, one per column name (``x0``, ``x1``, … where columns have none) as in a
    spec, by default ``{"kind": "auto"}``, which builds the hierarchy from the training rows; ``unknown``, the
    treatment in ``transform`` of a row with a value that ``fit`` did not see, or of a class that it did not
    retain: ``"suppress"`` (each cell is ``*``, because a transformer must not drop rows) or ``"error"``
    (``ValueError``); ``output``, ``"labels"`` (texts, None where a value is missing) or ``"codes"`` (integers
    in the order of the hierarchy: -1 where suppressed, the number of labels where missing).

    After ``fit``: ``levels_`` by column, ``suppressed_`` (training rows), ``n_features_in_``,
    ``feature_names_in_``. k holds among the training rows. Other rows get one of the training classes; among
    themselves, a class may contain a single row. All columns are quasi-identifiers: select them with
    scikit-learn's ``ColumnTransformer``. Raises ``ValueError`` for invalid parameters and for fewer than k
    rows. Samarati 2001; LeFevre et al. 2005.
    """

    def __init__(
        self,
        k: int = 5,
        *,
        max_suppressed: str | int = "1%",
        hierarchies: Mapping[str, Mapping[str, Any]] | None = None,
        unknown: str = _SUPPRESS,
        output: str = _LABELS,
    ) -> None:
        self.k = k
        self.max_suppressed = max_suppressed
        self.hierarchies = hierarchies
        self.unknown = unknown
        self.output = output

    def fit(self, X: ArrayLike, y: object = None) -> KAnonymizer:  # noqa: N803
        """Build hierarchies, choose the levels, and retain the classes of at least k rows; ``y`` is ignored.

        ``X`` has shape ``(rows, columns)``: an array, or a frame of pandas or polars.
        """
        del y
        self._check_parameters()
        cells = _cells_as_texts(_check_input(self, X, reset=True))
        if len(cells) < self.k:
            raise ValueError(f"{len(cells)} samples are fewer than k = {self.k}: no class could be shown")
        names = self._names()
        if unknown := set(self.hierarchies or {}) - set(names):
            raise ValueError(f"hierarchies of columns that are not there: {', '.join(sorted(unknown))}")
        try:
            counted, levels = _count_and_solve(
                cells, names, self.k, self.max_suppressed, self.hierarchies or {}
            )
        except InputError as error:
            raise ValueError(str(error)) from error
        self.levels_ = dict(zip(names, levels, strict=True))
        self._levels = levels
        self._hierarchies = counted.hierarchies
        self._classes = _retained_classes(counted, levels, self.k)
        self.suppressed_ = counted.rows - sum(self._classes.values())
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the rows generalized to their training classes, in their order.

        The shape is ``(rows, columns)``.
        """
        check_is_fitted(self)
        codes = self._codes(_cells_as_texts(_check_input(self, X, reset=False)))
        return codes if self.output == _CODES else self._labels(codes)

    def __sklearn_tags__(self) -> Any:
        """Declare that missing values, categories and texts are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_parameters(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            raise ValueError(f"k = {self.k!r}; allowed: a whole number of at least 1")
        for name, allowed in (("unknown", (_SUPPRESS, _ERROR)), ("output", (_LABELS, _CODES))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} = {getattr(self, name)!r}; allowed: {', '.join(allowed)}")

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{i}" for i in range(self.n_features_in_)]

    def _codes(self, cells: list[tuple[str | None, ...]]) -> NDArray[np.int64]:
        """Return positions in the chosen levels; rows without a retained class are wholly suppressed."""
        result = np.full((len(cells), len(self._hierarchies)), _UNSEEN, np.int64)
        maps = [h.level_map(level) for h, level in zip(self._hierarchies, self._levels, strict=True)]
        for row, texts in enumerate(cells):
            leaves = [_leaf_code(h, text) for h, text in zip(self._hierarchies, texts, strict=True)]
            leaf_codes = tuple(int(m[leaf]) for m, leaf in zip(maps, leaves, strict=True) if leaf is not None)
            if leaf_codes in self._classes:  # a row with an unknown value has fewer codes than any class
                result[row] = leaf_codes
            elif self.unknown == _ERROR:
                names = self._names()
                where = next((names[i] for i, leaf in enumerate(leaves) if leaf is None), None)
                what = "its combination was not kept" if where is None else f"its {where} was not seen"
                raise ValueError(f"row {row}: {what} by fit, so it cannot be shown")
        return result

    def _labels(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        cells = np.empty(codes.shape, dtype=object)
        for i, (hierarchy, level) in enumerate(zip(self._hierarchies, self._levels, strict=True)):
            labels = (*hierarchy.labels[level], None, TOP)
            # NULL's code is the position after the labels; -1 indexes the last element, which is ``*``
            cells[:, i] = [labels[code] for code in codes[:, i]]
        return cells


def _check_input(estimator: KAnonymizer, data: ArrayLike, *, reset: bool) -> NDArray[Any]:
    """Return the cells after scikit-learn's validation, which refuses infinite numbers."""
    cells: NDArray[Any] = validate_data(
        estimator, data, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=1
    )
    if cells.dtype.kind not in "OUSbiufmM":
        raise ValueError(f"Complex data not supported: cells of type {cells.dtype}")
    return cells


def _cells_as_texts(cells: NDArray[Any]) -> list[tuple[str | None, ...]]:
    """Return the rows as texts; equal numbers of different types have the same text."""
    return [tuple(map(_cell_as_text, row)) for row in cells.tolist()]


def _cell_as_text(cell: object) -> str | None:
    if cell is None or cell != cell or type(cell).__name__ == "NAType":  # NaN and NaT differ from themselves
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return str(int(cell)) if math.isfinite(cell) and cell.is_integer() else repr(cell)
    if isinstance(cell, dict | list):
        raise TypeError(f"argument must be a string or a number: a cell is a {type(cell).__name__}")
    return str(cell)


def _count_and_solve(
    cells: list[tuple[str | None, ...]],
    names: list[str],
    k: int,
    max_suppressed: str | int,
    hierarchies: Mapping[str, Mapping[str, Any]],
) -> tuple[FrequencySet, list[int]]:
    """Count the rows and return them with the levels of the exact answer; ``InputError`` if there is none."""
    attributes = {
        f"c{i}": {"role": "quasi-identifier", "hierarchy": dict(hierarchies.get(name, {"kind": "auto"}))}
        for i, name in enumerate(names)
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(_csv_lines(cells, len(names)))
        table = open_table(path, {"attributes": attributes})
        counted = table.frequency_set
        exact = table.negotiate(k=int(k), max_suppressed=max_suppressed).exact
    if exact is None:
        raise InputError(f"no levels meet k = {k} within {max_suppressed} suppressed", advice="Allow more.")
    return counted, [exact.levels[name] for name in counted.attributes]


def _csv_lines(cells: list[tuple[str | None, ...]], columns: int) -> Iterator[str]:
    """Yield CSV lines: texts are quoted, and a missing value is an empty unquoted field."""
    yield ",".join(f"c{i}" for i in range(columns)) + "\n"
    for row in cells:
        yield ",".join("" if c is None else '"' + c.replace('"', '""') + '"' for c in row) + "\n"


def _leaf_code(hierarchy: GeneralizationHierarchy, text: str | None) -> int | None:
    """Return the code of a value, or None for a value that the hierarchy does not contain."""
    return hierarchy.null_code if text is None else hierarchy.code_of_leaf.get(text)


def _retained_classes(counted: FrequencySet, levels: list[int], k: int) -> dict[tuple[int, ...], int]:
    """Return the row count of each class of at least k rows at the given levels, keyed by its codes."""
    maps = [h.level_map(level) for h, level in zip(counted.hierarchies, levels, strict=True)]
    cell_codes = np.stack([m[counted.codes[:, i]] for i, m in enumerate(maps)], axis=1)
    sizes: dict[tuple[int, ...], int] = {}
    for row, rows in zip(cell_codes.tolist(), counted.counts.tolist(), strict=True):
        sizes[tuple(row)] = sizes.get(tuple(row), 0) + rows
    return {row: rows for row, rows in sizes.items() if rows >= k}
