"""Specs from TOML and from Python values, and a table of refused specs."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from discreet.engines.registry import engine_of
from discreet.errors import InputError
from discreet.hierarchy import FileHierarchy, IntervalHierarchy, LevelsHierarchy
from discreet.model.table_spec import AttributeRole, NullPolicy, TableSpec, UnlistedPolicy
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec, spec_from_mapping
from discreet.verbs.table import open as open_table
from tests.spec.loaded_spec import SOURCE, load_text

WHOLE = """
[source]
path = "people.csv"
format = "csv"
encoding = "latin-1"
delimiter = ";"
quote = "'"
null_values = ["?", ""]
null_policy = "drop"
subject = "patient"
unlisted_columns = "insensitive"

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


def of_mapping(document: dict[str, object], data: object | None = None) -> TableSpec:
    return spec_from_mapping(document, base=Path("base"), label="the mapping", data=data)


def hierarchy_of(hierarchy: object) -> object:
    attributes = {"age": {"role": "quasi-identifier", "hierarchy": hierarchy}}
    return of_mapping({"source": {"path": "a.csv"}, "attributes": attributes}).attributes[0].hierarchy


@pytest.mark.parametrize("text", [WHOLE, "\ufeff" + WHOLE.replace("\n", "\r\n")], ids=["LF", "BOM and CRLF"])
def test_spec_with_every_section_is_read(text: str, tmp_path: Path) -> None:
    spec = load_text(tmp_path, text)
    source, request = spec.source, spec.request
    assert (spec.path, source.path, source.data) == (
        tmp_path / "discreet.toml",
        tmp_path / "people.csv",
        None,
    )
    assert (source.format, source.encoding, source.delimiter, source.quote) == ("csv", "latin-1", ";", "'")
    assert (source.null_values, source.null_policy) == (("?", ""), NullPolicy.DROP)
    assert (source.subject, source.unlisted_columns) == ("patient", UnlistedPolicy.INSENSITIVE)
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
    assert (request.k, request.l, request.max_suppressed) == (10, {"diagnosis": 3}, "1%")
    assert (request.scope, request.max_level, request.min_level) == (
        "global",
        {"age": 2, "zip": 0},
        {"age": 1},
    )


def test_spec_with_only_a_path_has_the_defaults(tmp_path: Path) -> None:
    spec = load_text(tmp_path, '[source]\npath = "/data/people.parquet"')
    assert spec.source.path == Path("/data/people.parquet")
    assert (spec.source.format, spec.source.encoding, spec.source.quote) == (None, "utf-8", '"')
    assert (spec.source.null_policy, spec.source.unlisted_columns) == (NullPolicy.VALUE, UnlistedPolicy.DROP)
    assert spec.attributes == ()
    assert (spec.request.k, spec.request.l, spec.request.max_suppressed) == (None, None, None)


def test_subject_listed_as_identifier_is_one_attribute(tmp_path: Path) -> None:
    text = '[source]\npath = "a"\nsubject = "id"\n[attributes.id]\nrole = "identifier"'
    roles = [(a.name, a.role) for a in load_text(tmp_path, text).attributes]
    assert roles == [("id", AttributeRole.IDENTIFIER)]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ('"a.b"', "a.b"),
        ('"say \\"x\\""', 'say "x"'),
        ("'back\\slash'", "back\\slash"),
        ('"Größe ☃\\n"', "Größe ☃\n"),
        ("1984", "1984"),
        ('""', ""),
        ('"kind"', "kind"),
    ],
)
def test_unusual_column_names_are_read(key: str, name: str, tmp_path: Path) -> None:
    spec = load_text(
        tmp_path, f'{SOURCE}[attributes.{key}]\nrole = "quasi-identifier"\n[request.max_level]\n{key} = 1'
    )
    assert [a.name for a in spec.attributes] == [name]
    assert spec.request.max_level == {name: 1}


def test_numbers_in_toml_are_exact(tmp_path: Path) -> None:
    spec = load_text(tmp_path, AGE + 'hierarchy = {kind = "intervals", widths = [0.1, 0.30]}')
    assert spec.attributes[0].hierarchy == IntervalHierarchy((Decimal("0.1"), Decimal("0.3")))


AGE = SOURCE + '[attributes.age]\nrole = "quasi-identifier"\n'
DATABASE = '[source]\nurl = "postgresql://host/db"\n'

# Values of a wrong type or outside a key's bounds are in test_schema, for every key.
BAD: dict[str, tuple[str | bytes, list[str]]] = {
    # TOML
    "no TOML": ("name,age\n", ["discreet.toml, line 1, column", "Allowed: TOML"]),
    "a text without quotes": ("[source]\npath = a.csv\n", ["line 2, column 8", "Write quotes around texts"]),
    "a table twice": (AGE + "[attributes.age]\n", ["line 5", "twice"]),
    "not UTF-8": (b'[source]\npath = "\xe9"', ["line 2: byte 0xe9 is not UTF-8"]),
    "nested too deep": ("a = " + "[" * 100_000, ["discreet.toml"]),
    # the spec as a whole
    "nothing": ("", ["source.path is missing", "CSV, TSV, Parquet or JSON-lines"]),
    "an unknown table": (SOURCE + "[atributes]", ["unknown key 'atributes'", "Did you mean 'attributes'?"]),
    "source no table": ("source = 3", ["source = 3", "a table: path, url, table, engine, format"]),
    "attributes no table": ("attributes = 'x'\n" + SOURCE, ["attributes = 'x'", "by column name"]),
    "request no table": ("request = [1]\n" + SOURCE, ["request = [1]", "a table: k, l"]),
    # [source]
    "an unknown key": ('[source]\npth = "a"', ["source has an unknown key 'pth'", "mean 'path'?"]),
    "a password": (
        '[source]\nurl = "postgresql://me:secret@host/db"\ntable = "people"',
        ["source.url contains a password", "PGPASSWORD", "~/.pgpass"],
    ),
    "a password among the options": (
        '[source]\nurl = "postgresql://host/db?password=secret"\ntable = "people"',
        ["source.url contains a password"],
    ),
    "a database without a table": (
        DATABASE,
        ["source.url without source.table", 'table = "clinic.people"'],
    ),
    "another database": (
        '[source]\nurl = "mysql://host/db"',
        ["source.url", "postgresql://ann@localhost/clinic"],
    ),
    "a database and a file": (DATABASE + 'path = "a.csv"\ntable = "t"', ["together with source.url"]),
    "a database's encoding": (
        DATABASE + 'table = "t"\nencoding = "latin-1"',
        ["source.encoding concerns files"],
    ),
    "a table without a database": ('[source]\ntable = "t"', ["source.path is missing"]),
    "null values no texts": (SOURCE + 'null_values = ["?", -9]', ["source.null_values[1] = -9"]),
    "an encoding of bytes": (SOURCE + 'encoding = "base64"', ["source.encoding = 'base64'", "latin-1"]),
    "quote and delimiter": (
        SOURCE + "quote = ';'\ndelimiter = ';'",
        ["source.quote and source.delimiter", "';'"],
    ),
    "subject with another role": (
        SOURCE + 'subject = "age"\n[attributes.age]\nrole = "quasi-identifier"',
        ["source.subject = 'age', whose role is quasi-identifier", 'role = "identifier"'],
    ),
    # [attributes]
    "attribute no table": (SOURCE + '[attributes]\nage = "sensitive"', ["attributes.age = 'sensitive'"]),
    "role missing": (SOURCE + "[attributes.age]", ["attributes.age.role is missing", "quasi-identifier"]),
    "role": (
        SOURCE + '[attributes."age at visit"]\nrole = "quasi"',
        ["attributes.\"age at visit\".role = 'quasi'", "identifier, quasi-identifier, sensitive"],
    ),
    "weight zero": (AGE + "weight = 0", ["attributes.age.weight = 0", "a number above 0"]),
    "weight infinite": (AGE + "weight = inf", ["attributes.age.weight = Infinity"]),
    "weight of another role": (
        SOURCE + '[attributes.age]\nrole = "sensitive"\nweight = 1',
        ["attributes.age.weight", "role is sensitive", "quasi-identifiers only"],
    ),
    "hierarchy of another role": (
        SOURCE + '[attributes.age]\nrole = "insensitive"\nhierarchy = "age.csv"',
        ["role is insensitive", "quasi-identifiers and sensitive attributes only"],
    ),
    # [request]
    "k zero": (AGE + "[request]\nk = 0", ["request.k = 0", "a whole number of at least 1"]),
    "k a truth value": (AGE + "[request]\nk = true", ["request.k = true"]),
    "l zero": (AGE + "[request]\nl = 0", ["request.l = 0", "by sensitive attribute"]),
    "l of an attribute": (AGE + "[request.l]\nage = true", ["request.l.age = true"]),
    "l of an attribute that is not sensitive": (
        AGE + '[attributes.ill]\nrole = "sensitive"\n[request.l]\nage = 2',
        ["request.l.age: 'age' is not a sensitive attribute", "'ill'"],
    ),
    "l without a sensitive attribute": (AGE + "[request.l]\nage = 2", ["names no sensitive attribute"]),
    "a limit above all": (AGE + '[request]\nmax_suppressed = "101%"', ["max_suppressed = '101%'", "100%"]),
    "level below zero": (AGE + "[request.max_level]\nage = -1", ["request.max_level.age = -1", "at least 0"]),
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
def test_wrong_spec_is_refused(name: str, tmp_path: Path) -> None:
    text, parts = BAD[name]
    with pytest.raises(InputError) as caught:
        load_text(tmp_path, text)
    message = str(caught.value)
    assert caught.value.message.startswith(str(tmp_path / "discreet.toml"))
    for part in parts:
        assert part in message
    assert "secret" not in message
    assert "pydantic" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_missing_spec_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml does not exist.*discreet init DATA"):
        load_spec(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        load_spec(tmp_path)


# --- Python values ----------------------------------------------------------------------------------------


def test_table_in_memory_is_the_source() -> None:
    data = object()
    spec = of_mapping({"source": {"null_values": ("?",)}, "attributes": {}}, data)
    assert spec.source.data is data
    assert (spec.source.path, spec.path, spec.source.null_values) == (None, None, ("?",))
    assert of_mapping({}, data).source.data is data
    with pytest.raises(
        InputError, match=r"the mapping: source\.path = 'a\.csv' together with a table in memory"
    ):
        of_mapping({"source": {"path": "a.csv"}}, data)


def test_paths_are_relative_to_the_base() -> None:
    assert of_mapping({"source": {"path": Path("a.csv")}}).source.path == Path("base/a.csv")
    for hierarchy in ("h.csv", Path("h.csv"), {"kind": "file", "path": "h.csv"}):
        assert hierarchy_of(hierarchy) == FileHierarchy(Path("base/h.csv"))


def test_hierarchies_may_be_python_values() -> None:
    source = IntervalHierarchy.of(5)
    assert hierarchy_of(source) is source
    assert hierarchy_of({"kind": "intervals", "widths": (5, 10.0)}) == IntervalHierarchy.of([5, 10])
    rows = LevelsHierarchy((("17", "15-19", "*"), ("kind", "x", "*")))
    assert hierarchy_of({17: ["15-19", "*"], "kind": ["x", "*"]}) == rows
    assert hierarchy_of([("17", "15-19", "*"), ["kind", "x", "*"]]) == rows


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        (3, "attributes.age.hierarchy = 3"),
        ("", "attributes.age.hierarchy = ''"),
        (IntervalHierarchy, "attributes.age.hierarchy = "),
        ({"17": 3}, "attributes.age.hierarchy: leaf '17': '3' is not a list"),
        ([1, 2], "attributes.age.hierarchy: a row: '1' is not a list"),
        ({"kind": "interval"}, "attributes.age.hierarchy.kind = 'interval'"),
    ],
)
def test_wrong_python_hierarchy_is_refused(hierarchy: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        hierarchy_of(hierarchy)
    assert f"the mapping: {message}" in str(caught.value)


@pytest.mark.parametrize(
    "document",
    [
        3,
        {1: {}},
        {"attributes": {1: {}}},
        {"attributes": {"a": {2: 3}}},
        {"attributes": {"a": None}},
        {"source": {"path": b"a"}},
        {"source": {"path": "a"}, "request": {"max_level": {1: 1}}},
        {"source": {"path": "a"}, "request": {"l": {1: 1}}},
        {"source": {"path": "a"}, "request": None},
    ],
)
def test_wrong_python_types_are_refused(document: object) -> None:
    check: Callable[..., object] = of_mapping
    with pytest.raises(InputError, match="the mapping"):
        check(document)


# --- databases and catalogs -------------------------------------------------------------------------------


def test_database_table_is_read_without_showing_its_address(tmp_path: Path) -> None:
    text = '[source]\nurl = "postgresql://ann@localhost/clinic"\ntable = "out.people"\n'
    source = load_text(tmp_path, text).source
    assert (source.url, source.path) == ("postgresql://ann@localhost/clinic", None)
    assert source.label == "the table out.people"
    assert "localhost" not in repr(source)


def test_catalog_table_and_folder_of_spark_are_read(tmp_path: Path) -> None:
    for location in ('table = "db.people"', 'path = "people"'):
        source = load_text(tmp_path, f'[source]\nengine = "spark"\n{location}\n').source
        assert engine_of(source).name == "spark"
    assert source.path == tmp_path / "people"


def test_mapping_may_contain_a_password() -> None:
    address = {"url": "postgresql://me:secret@host/db", "table": "t"}
    assert of_mapping({"source": address}).source.url == address["url"]


# --- keys of another role ---------------------------------------------------------------------------------

LEFT_OVER = """
[source]
path = "people.csv"

[attributes.name]
role = "identifier"
hierarchy = "hierarchies/that/is/not/there.csv"
weight = 2

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", width = 10}
"""
NOTE = "'name' is an identifier, so its hierarchy and weight in the spec are not used."


def test_unused_keys_of_an_identifier_are_noted_and_never_published(
    settings: Settings, tmp_path: Path
) -> None:
    rows = "".join(f"p{number},{20 + number}\n" for number in range(8))
    (tmp_path / "people.csv").write_text("name,age\n" + rows, encoding="utf-8")
    (tmp_path / "discreet.toml").write_text(LEFT_OVER, encoding="utf-8")
    table = open_table(tmp_path / "discreet.toml", settings=settings)
    assert NOTE in table.inspect().warnings
    release = table.publish({"age": 1}, tmp_path / "r.csv", k=8)
    assert NOTE in release.release.warnings
    assert "name" not in (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()[0]
    assert NOTE not in (tmp_path / "r.csv.manifest.json").read_text(encoding="utf-8")
