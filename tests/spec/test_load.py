"""Specs that load, and a table of specs that are refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.hierarchy import FileHierarchy, IntervalHierarchy
from discreet.model.table_spec import AttributeRole, NullPolicy, TableSpec, UnlistedPolicy
from discreet.spec.spec_reader import load_spec

WHOLE = """
[source]
path = "people.csv"
format = "csv"
encoding = "latin-1"
delimiter = ";"
quote = "'"
null_values = ["?", ""]
nulls = "drop"
subject = "patient"
unlisted = "insensitive"

[attributes.sex]
role = "quasi-identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = "hierarchies/age.csv"
weight = 2.5

[attributes.zip]
role = "quasi-identifier"
hierarchy = {kind = "mask"}
weight = 2

[attributes.diagnosis]
role = "sensitive"

[attributes.name]
role = "identifier"

[attributes.note]
role = "insensitive"

[request]
k = 10
l = {diagnosis = 3}
max_suppressed = "1%"
scope = "global"

[request.max_level]
age = 2
zip = 0

[request.min_level]
age = 1
"""


def spec_of(folder: Path, text: str | bytes) -> TableSpec:
    path = folder / "discreet.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_spec(path)


def test_a_whole_spec(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, WHOLE)
    source, request = spec.source, spec.request
    assert spec.path == tmp_path / "discreet.toml"
    assert (source.path, source.data) == (tmp_path / "people.csv", None)
    assert (source.format, source.encoding, source.delimiter, source.quote) == ("csv", "latin-1", ";", "'")
    assert (source.null_values, source.nulls) == (("?", ""), NullPolicy.DROP)
    assert (source.subject, source.unlisted) == ("patient", UnlistedPolicy.INSENSITIVE)
    assert [(a.name, a.role.value, a.weight) for a in spec.attributes] == [
        ("sex", "quasi-identifier", 1.0),
        ("age", "quasi-identifier", 2.5),
        ("zip", "quasi-identifier", 2.0),
        ("diagnosis", "sensitive", 1.0),
        ("name", "identifier", 1.0),
        ("note", "insensitive", 1.0),
        ("patient", "identifier", 1.0),
    ]
    assert spec.attributes[0].hierarchy is None
    assert spec.attributes[1].hierarchy == FileHierarchy(tmp_path / "hierarchies" / "age.csv")
    assert (request.k, request.l, request.max_suppressed, request.scope) == (
        10,
        {"diagnosis": 3},
        "1%",
        "global",
    )
    assert (request.max_level, request.min_level) == ({"age": 2, "zip": 0}, {"age": 1})


def test_the_defaults(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, '[source]\npath = "/data/people.parquet"')
    assert spec.source.path == Path("/data/people.parquet")
    assert (spec.source.format, spec.source.encoding, spec.source.quote) == (None, "utf-8", '"')
    assert (spec.source.nulls, spec.source.unlisted) == (NullPolicy.VALUE, UnlistedPolicy.DROP)
    assert spec.attributes == ()
    assert (spec.request.k, spec.request.l, spec.request.max_suppressed) == (None, None, None)


def test_the_subject_is_an_identifier_even_where_it_is_listed(tmp_path: Path) -> None:
    text = '[source]\npath = "a"\nsubject = "id"\n[attributes.id]\nrole = "identifier"'
    assert [(a.name, a.role) for a in spec_of(tmp_path, text).attributes] == [
        ("id", AttributeRole.IDENTIFIER)
    ]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ('"a.b"', "a.b"),
        ('"a b"', "a b"),
        ('"say \\"x\\""', 'say "x"'),
        ("'back\\slash'", "back\\slash"),
        ('"Größe ☃"', "Größe ☃"),
        ('"two\\nlines"', "two\nlines"),
        ("1984", "1984"),
        ('""', ""),
        ('"kind"', "kind"),
    ],
)
def test_odd_names_of_columns(key: str, name: str, tmp_path: Path) -> None:
    text = (
        f'[source]\npath = "a"\n[attributes.{key}]\nrole = "quasi-identifier"\n[request.max_level]\n{key} = 1'
    )
    spec = spec_of(tmp_path, text)
    assert [a.name for a in spec.attributes] == [name]
    assert spec.request.max_level == {name: 1}


def test_a_byte_order_mark_and_carriage_returns(tmp_path: Path) -> None:
    text = "\ufeff" + WHOLE.replace("\n", "\r\n")
    assert len(spec_of(tmp_path, text).attributes) == 7


SOURCE = '[source]\npath = "a.csv"\n'
AGE = SOURCE + '[attributes.age]\nrole = "quasi-identifier"\n'

BAD: dict[str, tuple[str | bytes, list[str]]] = {
    # TOML
    "no TOML": ("name,age\n", ["discreet.toml, line 1, column", "Allowed: TOML"]),
    "a data file": ("17;a;b\n", ["discreet.toml, line 1"]),
    "a text without quotes": ("[source]\npath = a.csv\n", ["line 2, column 8", "Write quotes around texts"]),
    "a table twice": (AGE + "[attributes.age]\n", ["line 5", "twice"]),
    "a key twice": (AGE + 'role = "identifier"', ["discreet.toml", "overwrite"]),
    "not UTF-8": (b'[source]\npath = "\xe9"', ["line 2: byte 0xe9 is not UTF-8"]),
    "nested too deep": ("a = " + "[" * 100_000, ["discreet.toml"]),
    # the spec as a whole
    "nothing": ("", ["source.path is missing", "CSV, TSV, Parquet or JSON-lines"]),
    "an unknown table": (SOURCE + "[atributes]", ["unknown key 'atributes'", "Did you mean 'attributes'?"]),
    "source no table": ("source = 3", ["source = 3", "a table: path, url, table, engine, format"]),
    "attributes no table": (
        SOURCE.replace("[", "attributes = 'x'\n["),
        ["attributes = 'x'", "by column name"],
    ),
    "request no table": ("request = [1]\n" + SOURCE, ["request = [1]", "a table: k, l"]),
    # [source]
    "an unknown key": (
        '[source]\npth = "a"',
        ["source has an unknown key 'pth'", "null_values", "mean 'path'?"],
    ),
    "path no text": ("[source]\npath = 3", ["source.path = 3", "the path of a file in quotes"]),
    "path empty": ('[source]\npath = ""', ["source.path = ''"]),
    "a password": (
        '[source]\nurl = "postgresql://me:secret@host/db"\ntable = "people"',
        ["source.url contains a password", "PGPASSWORD", "~/.pgpass"],
    ),
    "a password among the options": (
        '[source]\nurl = "postgresql://host/db?password=secret"\ntable = "people"',
        ["source.url contains a password"],
    ),
    "a database without a table": (
        '[source]\nurl = "postgresql://host/db"',
        ["source.url without source.table", 'table = "clinic.people"'],
    ),
    "another database": (
        '[source]\nurl = "mysql://host/db"',
        ["source.url", "postgresql://ann@localhost/clinic"],
    ),
    "a database and a file": (
        SOURCE + 'url = "postgresql://host/db"\ntable = "t"',
        ["together with source.url"],
    ),
    "a database's encoding": (
        '[source]\nurl = "postgresql://host/db"\ntable = "t"\nencoding = "latin-1"',
        ["source.encoding concerns files"],
    ),
    "a table of nothing": ('[source]\ntable = "t"', ["source.path is missing"]),
    "another engine": (SOURCE + 'engine = "ibis"', ["source.engine = 'ibis'", "spark"]),
    "null values no list": (SOURCE + 'null_values = "?"', ["source.null_values = '?'", '["?", "-9"]']),
    "null values no texts": (
        SOURCE + 'null_values = ["?", -9]',
        ["source.null_values[1] = -9", '["?", "-9"]'],
    ),
    "nulls": (SOURCE + 'nulls = "keep"', ["source.nulls = 'keep'", "value, drop"]),
    "unlisted": (SOURCE + "unlisted = true", ["source.unlisted = true", "drop, insensitive"]),
    "format": (
        SOURCE + 'format = "ods"',
        ["source.format = 'ods'", "csv, tsv, parquet, json, jsonl, ndjson"],
    ),
    "encoding": (SOURCE + 'encoding = "utf-9"', ["source.encoding = 'utf-9'", "latin-1"]),
    "encoding no text": (SOURCE + "encoding = 8", ["source.encoding = 8"]),
    "encoding of bytes": (SOURCE + 'encoding = "base64"', ["source.encoding = 'base64'"]),
    "delimiter": (SOURCE + 'delimiter = "::"', ["source.delimiter = '::'", "one character"]),
    "quote": (SOURCE + "quote = \"''\"", ["source.quote = ''''", "one character"]),
    "quote and delimiter": (
        SOURCE + "quote = ';'\ndelimiter = ';'",
        ["source.quote and source.delimiter", "';'"],
    ),
    "subject no text": (SOURCE + "subject = 1", ["source.subject = 1", "the name of a column"]),
    "subject with another role": (
        SOURCE + 'subject = "age"\n[attributes.age]\nrole = "quasi-identifier"',
        ["source.subject = 'age', whose role is quasi-identifier", 'role = "identifier"'],
    ),
    # [attributes]
    "attribute no table": (
        SOURCE + '[attributes]\nage = "sensitive"',
        ["attributes.age = 'sensitive'", "role"],
    ),
    "role missing": (SOURCE + "[attributes.age]", ["attributes.age.role is missing", "quasi-identifier"]),
    "role": (
        SOURCE + '[attributes."age at visit"]\nrole = "quasi"',
        [
            "attributes.\"age at visit\".role = 'quasi'",
            "identifier, quasi-identifier, sensitive, insensitive",
        ],
    ),
    "unknown key of an attribute": (
        AGE + "wieght = 2",
        ["attributes.age has an unknown key 'wieght'", "'weight'?"],
    ),
    "weight zero": (AGE + "weight = 0", ["attributes.age.weight = 0", "a number above 0"]),
    "weight below zero": (AGE + "weight = -0.5", ["attributes.age.weight = -0.5"]),
    "weight infinite": (AGE + "weight = inf", ["attributes.age.weight = Infinity"]),
    "weight no number": (AGE + 'weight = "2"', ["attributes.age.weight = '2'"]),
    "weight a truth value": (AGE + "weight = true", ["attributes.age.weight = true"]),
    "weight of another role": (
        SOURCE + '[attributes.age]\nrole = "sensitive"\nweight = 1',
        ["attributes.age.weight", "role is sensitive", "quasi-identifiers only"],
    ),
    "hierarchy of another role": (
        SOURCE + '[attributes.age]\nrole = "insensitive"\nhierarchy = "age.csv"',
        [
            "attributes.age.hierarchy",
            "role is insensitive",
            "quasi-identifiers and sensitive attributes only",
        ],
    ),
    # [request]
    "unknown key of the request": (
        AGE + "[request]\nmax_supressed = 1",
        ["request has an", "'max_suppressed'?"],
    ),
    "k zero": (AGE + "[request]\nk = 0", ["request.k = 0", "a whole number of at least 1"]),
    "k a fraction": (AGE + "[request]\nk = 2.5", ["request.k = 2.5"]),
    "k a text": (AGE + '[request]\nk = "2"', ["request.k = '2'"]),
    "k a truth value": (AGE + "[request]\nk = true", ["request.k = true"]),
    "l zero": (AGE + "[request]\nl = 0", ["request.l = 0", "by sensitive attribute"]),
    "l a fraction": (AGE + "[request]\nl = 1.5", ["request.l = 1.5"]),
    "l of an attribute": (AGE + "[request.l]\nage = true", ["request.l.age = true"]),
    "l of an attribute that is not sensitive": (
        AGE + '[attributes.ill]\nrole = "sensitive"\n[request.l]\nage = 2',
        ["request.l.age: 'age' is not a sensitive attribute", "'ill'"],
    ),
    "l without a sensitive attribute": (AGE + "[request.l]\nage = 2", ["names no sensitive attribute"]),
    "a limit above all": (
        AGE + '[request]\nmax_suppressed = "101%"',
        ["request.max_suppressed = '101%'", "100%"],
    ),
    "a limit below zero": (AGE + "[request]\nmax_suppressed = -1", ["request.max_suppressed = -1"]),
    "a limit as a fraction": (
        AGE + "[request]\nmax_suppressed = 0.01",
        ["request.max_suppressed = 0.01", '"1%"'],
    ),
    "a limit as a truth value": (AGE + "[request]\nmax_suppressed = true", ["request.max_suppressed = true"]),
    "scope": (AGE + '[request]\nscope = "all"', ["request.scope = 'all'", "above, global"]),
    "level below zero": (AGE + "[request.max_level]\nage = -1", ["request.max_level.age = -1", "at least 0"]),
    "level a fraction": (AGE + "[request.min_level]\nage = 0.5", ["request.min_level.age = 0.5"]),
    "levels no table": (AGE + "[request]\nmax_level = 2", ["request.max_level = 2", "by quasi-identifier"]),
    "level of an unknown attribute": (
        AGE + "[request.max_level]\nagee = 1",
        ["request.max_level.agee: 'agee' is not a quasi-identifier", "Allowed: 'age'", "Did you mean 'age'?"],
    ),
    "level of another role": (
        SOURCE + '[attributes.ill]\nrole = "sensitive"\n[request.min_level]\nill = 1',
        ["request.min_level.ill", "names no quasi-identifier"],
    ),
    "levels crossed": (
        AGE + "[request]\nmin_level = {age = 2}\nmax_level = {age = 1}",
        ["request.min_level.age = 2, above max_level = 1", "0 to 1"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_spec_is_refused(name: str, tmp_path: Path) -> None:
    text, parts = BAD[name]
    with pytest.raises(InputError) as caught:
        spec_of(tmp_path, text)
    message = str(caught.value)
    assert caught.value.message.startswith(str(tmp_path / "discreet.toml"))
    for part in parts:
        assert part in message
    assert "secret" not in message
    assert "pydantic" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_missing_spec_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml does not exist.*discreet init DATA"):
        load_spec(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        load_spec(tmp_path)


def test_numbers_in_toml_are_exact(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, AGE + 'hierarchy = {kind = "intervals", widths = [0.1, 0.30]}')
    assert spec.attributes[0].hierarchy == IntervalHierarchy((Decimal("0.1"), Decimal("0.3")))
