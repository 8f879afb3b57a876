import pytest

from discreet.sql.cell_expressions import (
    any_null,
    canonical_text,
    cell_text,
    group_key,
    group_key_type,
    is_binary,
    is_nested,
)


def test_text_columns_are_their_own_text() -> None:
    assert canonical_text("c0", "VARCHAR") == "c0"
    assert canonical_text("c0", "DECIMAL(5,2)") == "CAST(c0 AS VARCHAR)"


def test_null_values_are_compared_with_the_whole_text() -> None:
    assert cell_text("c0", "VARCHAR") == "c0"
    assert cell_text("c0", "VARCHAR", ["?", "n'a"]) == "CASE WHEN c0 IN ('?', 'n''a') THEN NULL ELSE c0 END"
    assert "CAST(c0 AS VARCHAR) IN ('99')" in cell_text("c0", "BIGINT", ["99"])


@pytest.mark.parametrize(
    "kind",
    ["VARCHAR", "BIGINT", "UTINYINT", "HUGEINT", "DECIMAL(10,2)", "DATE", "TIMESTAMP WITH TIME ZONE", "ENUM"],
)
def test_injective_types_are_grouped_as_they_are(kind: str) -> None:
    assert group_key("c0", kind) == "c0"
    assert group_key_type(kind) == kind


@pytest.mark.parametrize(
    "kind", ["DOUBLE", "FLOAT", "INTERVAL", "TIME WITH TIME ZONE", "BIT", "JSON", '"NULL"']
)
def test_types_with_equal_values_of_different_text_are_grouped_by_text(kind: str) -> None:
    assert group_key("c0", kind) == "CAST(c0 AS VARCHAR)"
    assert group_key_type(kind) == "VARCHAR"


def test_nested_and_binary_types_are_told_from_scalars() -> None:
    assert all(
        map(
            is_nested,
            ["INTEGER[]", "VARCHAR[3]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "UNION(a INT)"],
        )
    )
    assert not any(map(is_nested, ["VARCHAR", "DECIMAL(5,2)", "ENUM", "JSON"]))
    assert is_binary("BLOB")
    assert not is_binary("VARCHAR")


def test_any_null_of_nothing_is_false() -> None:
    assert any_null([]) == "FALSE"
    assert any_null(["a", "b"]) == "((a) IS NULL OR (b) IS NULL)"
