import pytest

from discreet.sql.quoting import identifier, literal, qualified


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("age", '"age"'),
        ("select", '"select"'),
        ('a"b', '"a""b"'),
        ('"; DROP TABLE people; --', '"""; DROP TABLE people; --"'),
        ("größe ☃", '"größe ☃"'),
    ],
)
def test_identifier_doubles_quotes(name: str, quoted: str) -> None:
    assert identifier(name) == quoted


@pytest.mark.parametrize(
    ("text", "quoted"), [("it's", "'it''s'"), ("", "''"), ("'; --", "'''; --'"), ('"', "'\"'")]
)
def test_literal_doubles_quotes(text: str, quoted: str) -> None:
    assert literal(text) == quoted


def test_qualified_names_the_relation_where_one_is_given() -> None:
    assert qualified("c0") == '"c0"'
    assert qualified("c0", "s") == '"s"."c0"'
