"""The scikit-learn transformer: only training rows decide, and no original value is shown."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from unittest import SkipTest

import numpy as np
import pandas
import pytest

if TYPE_CHECKING:
    from discreet.sklearn import KAnonymizer

K = 4


def made_with(**options: Any) -> KAnonymizer:
    """Return the transformer; importing scikit-learn takes a second, so it is imported only here."""
    from discreet.sklearn import KAnonymizer

    return KAnonymizer(**options)


def people(rows: int, seed: int, oldest: int = 60) -> pandas.DataFrame:
    drawn = np.random.default_rng(seed)
    return pandas.DataFrame(
        {
            "age": drawn.integers(20, oldest, rows),
            "city": drawn.choice(["Berlin", "Bonn", "Bremen", None], rows),
            "weight": drawn.normal(70, 10, rows).round(0),
        }
    )


@pytest.fixture(scope="module")
def training() -> pandas.DataFrame:
    return people(300, 1)


@pytest.fixture(scope="module")
def fitted(training: pandas.DataFrame) -> KAnonymizer:
    return made_with(k=K, max_suppressed="5%").fit(training)


def test_every_combination_is_that_of_k_training_rows(
    training: pandas.DataFrame, fitted: KAnonymizer
) -> None:
    from sklearn.base import clone

    shown = fitted.transform(training)
    sizes = Counter(map(tuple, shown.tolist()))
    suppressed = sizes.pop(("*",) * 3, 0)
    assert min(sizes.values()) >= K
    assert len(sizes) > 1
    assert suppressed == fitted.suppressed_ <= 15
    assert set(fitted.levels_) == {"age", "city", "weight"}
    again = clone(fitted).fit_transform(training)
    assert again.tolist() == shown.tolist()


def test_transform_is_independent_of_other_rows(training: pandas.DataFrame, fitted: KAnonymizer) -> None:
    before = fitted.transform(training).tolist()
    state = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    strangers = people(200, 2, oldest=90)
    together = fitted.transform(pandas.concat([training, strangers], ignore_index=True)).tolist()
    assert together[:300] == before  # independent of the other rows
    assert together[300:] == [fitted.transform(strangers.iloc[[i]]).tolist()[0] for i in range(200)]
    assert {name: value for name, value in vars(fitted).items() if name.endswith("_")} == state
    known = set(map(tuple, before)) | {("*",) * 3}
    assert set(map(tuple, together[300:])) <= known  # a class of the training rows, or suppressed


def test_value_without_a_leaf_suppresses_its_row_or_raises(
    training: pandas.DataFrame, fitted: KAnonymizer
) -> None:
    stranger = training.iloc[[0, 1]].copy()
    stranger.loc[stranger.index[1], "city"] = "Bielefeld"
    shown = fitted.transform(stranger).tolist()
    assert shown[1] == ["*", "*", "*"]
    assert "Bielefeld" not in str(shown)
    strict = made_with(k=K, max_suppressed="5%", unknown="error").fit(training)
    with pytest.raises(ValueError, match="row 1: its city was not seen") as error:
        strict.transform(stranger)
    assert "Bielefeld" not in str(error.value)


def test_combination_suppressed_in_training_is_suppressed() -> None:
    rows = [["a", "x"]] * 5 + [["b", "y"]] * 5 + [["a", "y"]]
    plain = {"kind": "levels", "rows": [["a", "*"], ["b", "*"]]}
    other = {"kind": "levels", "rows": [["x", "*"], ["y", "*"], ["z", "*"]]}
    made = made_with(k=5, max_suppressed=1, hierarchies={"x0": plain, "x1": other}).fit(rows)
    assert made.suppressed_ == 1
    assert made.transform([["a", "x"], ["a", "y"], ["b", "x"], ["a", "z"]]).tolist() == [
        ["a", "x"],
        ["*", "*"],
        ["*", "*"],
        ["*", "*"],
    ]
    codes = made_with(k=5, max_suppressed=1, hierarchies={"x0": plain, "x1": other}, output="codes")
    assert codes.fit(rows).transform([["b", "y"], ["a", "y"]]).tolist() == [[1, 1], [-1, -1]]


def test_transformer_in_a_pipeline_names_its_columns(training: pandas.DataFrame, fitted: KAnonymizer) -> None:
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    assert fitted.get_feature_names_out().tolist() == ["age", "city", "weight"]
    frame = clone(fitted).set_output(transform="pandas").fit_transform(training)
    assert list(frame.columns) == ["age", "city", "weight"]
    assert frame.index.equals(training.index)
    model = make_pipeline(
        made_with(k=K, max_suppressed="5%"), OneHotEncoder(handle_unknown="ignore"), LogisticRegression()
    )
    scores = cross_val_score(model, training, training["age"] > 40, cv=3, error_score="raise")
    assert scores.mean() > 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k = 0"),
        ({"k": 301}, "fewer than k"),
        ({"unknown": "keep"}, "unknown = 'keep'"),
        ({"output": "onehot"}, "output = 'onehot'"),
        ({"max_suppressed": "lots"}, "lots"),
        ({"hierarchies": {"town": {"kind": "auto"}}}, "town"),
    ],
)
def test_invalid_values_are_refused(
    training: pandas.DataFrame, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        made_with(**options).fit(training)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_transformer_passes_the_checks_of_scikit_learn() -> None:
    from sklearn.utils.estimator_checks import estimator_checks_generator

    checks = estimator_checks_generator(made_with(k=1, output="codes"), mark=None)
    failed = {}
    for estimator, check in checks:
        try:
            check(estimator)
        except SkipTest:
            continue
        except Exception as error:
            failed[check.func.__name__] = f"{type(error).__name__}: {str(error)[:300]}"
    assert failed == {}
