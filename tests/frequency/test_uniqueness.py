from discreet.engines.base import Engine
from discreet.frequency.rollup import AttributeUniqueness, measure_uniqueness
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.table_spec import NullPolicy, SourceSpec
from discreet.settings import Settings
from tests.frequency.conftest import Row, arrow_table, table_spec

ROWS: list[Row] = [
    ("1", "f", "w"),
    ("1", "f", "w"),
    ("1", "m", "w"),
    ("2", "m", "w"),
    ("3", "m", "w"),
    (None, "m", "w"),
    (None, "m", "w"),
]


def test_uniqueness_of_each_quasi_identifier_is_measured(engine: Engine, shared_settings: Settings) -> None:
    spec = table_spec(SourceSpec(data=arrow_table(["age", "sex", "race"], ROWS)), ["age", "sex", "race"])
    found = measure_uniqueness(count_frequency_set(engine, spec, shared_settings))
    assert (found.rows, found.row_types, found.unique_rows) == (7, 5, 3)
    assert found.class_sizes == {1: 3, 2: 2}
    assert found.attributes == (
        AttributeUniqueness("age", values=3, null_rows=2, unique_by_value=2, unique_at_top=0),
        AttributeUniqueness("sex", values=2, null_rows=0, unique_by_value=0, unique_at_top=2),
        AttributeUniqueness("race", values=1, null_rows=0, unique_by_value=0, unique_at_top=3),
    )
    assert found.warnings == (
        "'age' is NULL in 2 rows, which count as one value.",
        "'race' is the same in every row.",
    )
    assert found.as_json()["class_sizes"] == {"1": 3, "2": 2}


def test_uniqueness_warns_of_identifiers_and_dropped_rows(engine: Engine, shared_settings: Settings) -> None:
    rows: list[Row] = [(str(i), "x") for i in range(9)] + [(None, "x")]
    source = SourceSpec(data=arrow_table(["id", "q"], rows), null_policy=NullPolicy.DROP)
    found = measure_uniqueness(count_frequency_set(engine, table_spec(source, ["id", "q"]), shared_settings))
    assert found.warnings == (
        "1 rows with NULL were left out.",
        "'id' singles out 9 of 9 rows; is it an identifier?",
        "'q' is the same in every row.",
    )
