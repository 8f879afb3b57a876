"""SQL phrases in which the engines differ: one table with a column per database.

Covers DuckDB, PostgreSQL (15 and later) and Spark (4 and later, ANSI mode with quoted identifiers).
Statements are written in the common subset; where there is none, a statement takes its phrase from
``Dialect``, so that no code branches on the engine. Types have the house's names (DuckDB's), which
``type_name`` translates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Hashes:
    """SHA-256 as bytes: half as long as hexadecimal digits, with the same sort order, and faster.

    ``digest`` is the digest of a text, ``part`` the number of a digest's first two bytes, and ``joined`` an
    aggregate that concatenates the digits of all digests of a sorted subquery in its order.
    """

    digest: str
    part: str
    joined: str


@dataclass(frozen=True)
class Dialect:
    """The SQL phrases of one database; ``{0}`` and ``{1}`` in them are expressions.

    Names, types and literals:

    - ``types``: names of the house types in this database, where they differ.
    - ``texts``: canonical text of a house type, where that is not a plain cast.
    - ``few_texts``: type of a column of few distinct texts (literals) that is written faster than a text.
    - ``name_quote`` encloses names; ``escapes`` lists the characters that literals double or escape.

    Comparisons and patterns:

    - ``same``: NULL-safe equality, which a join can hash, of two expressions of one type; ``same_text``: the
      same for texts, where that is faster; ``differs``: NULL-safe inequality.
    - ``full_match``: whether a whole text matches a pattern (a literal), NULL for NULL; ``extract``: the text
      that the one group of a pattern matches.
    - ``may_be_stars``: a fast test that every text of stars passes, with or without leading blanks, and few
      other texts pass.

    Numbers:

    - ``try_whole``, ``try_double``: the number that a text denotes, NULL if it denotes none;
      ``plain_double``: the same for a text that is known to be a plain number.
    - ``integer_cast`` rounds a number by the database's rule; ``truncated`` cuts off its decimals;
      ``remainder`` and ``rounded`` take a second expression and return exact decimals if
      ``decimal_functions``.
    - ``integer_division``: integers are divided without remainder.
    - ``wide`` makes an exact number wide enough for sums; ``{1}`` is its number of decimals.
    - ``bit_count``: number of set bits of a BIGINT.

    Rows, numbering and order:

    - ``numbers_to`` yields the rows 1 to a number, next to the other columns of a SELECT.
    - ``cells`` yields a row for each of several texts, ``{1}`` being their number: ``place`` from 0, and the
      text ``v``; None: each column needs a separate query.
    - ``any_order`` is written inside ``OVER ()`` to number rows in no order; ``distinct_number`` is unique
      per row and may leave gaps.
    - ``binary_order`` sorts texts by their code points.
    - ``random_key``: a sort key per row of random bits from the operating system's generator; None: keys are
      loaded (``release.publication_job``). ``random_order`` sorts the rows of a query by a random key.
    - ``sorted_rows`` sorts by keys, each formatted with ``nulls_last``; ``{1}`` lists the same expressions
      without it.
    - ``sorts_before_joins``: a join in one thread keeps the order of its larger side or subquery;
      ``keeps_stored_order``: it does if that side is a stored table; ``runs_in_order``: windows without an
      order read a subquery's rows in its order.
    - ``dense_groups``: two statements that turn on, and off, counting in an array, for as many groups as a
      permuted release may have; ``sorted_groups``: likewise for grouping by sorting, which is faster for
      ordered rows.

    Hashes:

    - ``sha256``: hexadecimal digest of a text; ``joined_in_order``: aggregate that concatenates such texts in
      ascending order; ``joined_as_sorted``: in the order of a sorted subquery, for databases that keep it,
      which then also have ``hashes``.
    - ``row_hash``: a number that depends on every cell of a list (``hash_cell``) and on its position, and
      that distinguishes NULL from all values; ``one_text_hash``: hash of one text, where that is faster;
      ``text_hash``: hash of a text that is equal in every database.
    - ``hash_sum`` adds up such numbers exactly; ``repeated_sum`` weights each by a second expression;
      ``multiplies_sums``: products of a sum and such a number are exact, too.

    Storage and capabilities:

    - ``cells_sent``: tables of up to this many texts are assembled before they are loaded, where joins of
      small tables are more expensive.
    - ``rows_at_once``: number of rows that a join of wide rows should hold; None: rows spill to disk.
    - ``parquet_folder``: relation of a path of Parquet files (an identifier), where no function reads them.
    - ``reads_files``: the files of a release are read in place, so that a column of texts stays one.
    - ``table_macros``: the database has table macros; ``lists``: a cell can contain a list, whose items are
      read by position faster than rows are joined.
    """

    name: str
    types: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    few_texts: str | None = None
    sorts_before_joins: bool = False
    runs_in_order: bool = False
    keeps_stored_order: bool = False
    cells_sent: int = 0
    same: str = "({0} IS NOT DISTINCT FROM {1})"
    same_text: str = "({0} IS NOT DISTINCT FROM {1})"
    full_match: str = "regexp_full_match({0}, {1})"
    extract: str = "regexp_extract({0}, {1}, 1)"
    try_whole: str = "TRY_CAST({0} AS BIGINT)"
    try_double: str = "TRY_CAST({0} AS DOUBLE)"
    numbers_to: str = "unnest(range(1, {0} + 1))"
    any_order: str = ""
    distinct_number: str = "row_number() OVER ()"
    binary_order: str = "{0}"
    approximate_distinct: str = "approx_count_distinct({0})"
    random_key: str | None = None
    random_order: str = "ORDER BY {0}"
    sorted_rows: str = "ORDER BY {0}"
    nulls_last: str = "{0} NULLS LAST"
    name_quote: str = '"'
    escapes: tuple[tuple[str, str], ...] = (("'", "''"),)
    may_be_stars: str = "{0} LIKE '%*%'"
    differs: str = "{0} IS DISTINCT FROM {1}"
    integer_cast: str = "TRY_CAST({0} AS BIGINT)"
    plain_double: str = "TRY_CAST({0} AS DOUBLE)"
    truncated: str = "TRUNC({0})"
    remainder: str = "({0} % NULLIF({1}, 0))"
    rounded: str = "ROUND({0}, {1})"
    decimal_functions: bool = False
    rows_at_once: int | None = None
    integer_division: bool = False
    wide: str = "{0}"
    sha256: str = "sha256({0})"
    bit_count: str = "bit_count({0})"
    joined_in_order: str = "string_agg({0}, '' ORDER BY {0})"
    joined_as_sorted: str | None = None
    hashes: Hashes | None = None
    row_hash: str = "hash(hash({0}))"
    hash_cell: str = "{0}"
    one_text_hash: str | None = None
    text_hash: str = "CAST('0x' || substring(md5({0}), 1, 15) AS BIGINT)"
    hash_sum: str = "sum({0})"
    repeated_sum: str = "sum(CAST({0} AS HUGEINT) * {1})"
    multiplies_sums: bool = False
    cells: str | None = "unnest(range({1})) AS place, unnest([{0}]) AS v"
    parquet_folder: str | None = None
    reads_files: bool = False
    table_macros: bool = False
    lists: bool = False
    dense_groups: tuple[str, str] | None = None
    sorted_groups: tuple[str, str] | None = None

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        return self.name_quote + name.replace(self.name_quote, self.name_quote * 2) + self.name_quote

    def literal(self, text: str) -> str:
        """Return a text as a literal."""
        for mark, escaped in self.escapes:
            text = text.replace(mark, escaped)
        return f"'{text}'"

    def type_name(self, house: str) -> str:
        """Return this database's name of a house type, with its parameters.

        >>> POSTGRES.type_name("DOUBLE"), SPARK.type_name("VARCHAR"), SPARK.type_name("DECIMAL(6,1)")
        ('DOUBLE PRECISION', 'STRING', 'DECIMAL(6,1)')
        """
        base, parenthesis, rest = house.partition("(")
        return self.types.get(base.strip(), base.strip()) + parenthesis + rest

    def cast(self, expression: str, house: str) -> str:
        """Return an expression cast to a house type."""
        return f"CAST({expression} AS {self.type_name(house)})"

    def text(self, expression: str, house: str = "") -> str:
        """Return the canonical text of an expression of a house type: the same in every database."""
        phrase = self.texts.get(_text_kind(house))
        return self.cast(expression, "VARCHAR") if phrase is None else phrase.format(expression)


def _text_kind(house: str) -> str:
    """Return the key of a house type in ``texts``.

    It is ``FRACTION`` for decimals without a digit before the point, else the type without parameters.
    """
    base, _, parameters = house.partition("(")
    digits = [number.strip() for number in parameters.rstrip(")").split(",")]
    fraction = base.strip() == "DECIMAL" and len(digits) == 2 and digits[0] == digits[1]
    return "FRACTION" if fraction else base.strip()


DUCKDB = Dialect(
    "duckdb",
    may_be_stars="({0} < '+' OR {0} >= chr(128))",
    rows_at_once=1 << 21,
    few_texts="ENUM({0})",
    sorts_before_joins=True,
    runs_in_order=True,
    keeps_stored_order=True,
    reads_files=True,
    table_macros=True,
    lists=True,
    # Two million counts, 16 MiB per thread. Not set globally: other queries have larger aggregate states.
    dense_groups=("SET perfect_ht_threshold = 21", "RESET perfect_ht_threshold"),
)

_NUMBER = r"^[ \t\n\f\r]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{{1,3}})?[ \t\n\f\r]*$"

_FRACTION = "regexp_replace(CAST({0} AS {1}), '^(-?)0[.]', '{2}.')"

# PostgreSQL writes one digit more than the others if a shorter text is halfway between two doubles.
_POSTGRES_MANTISSA = "CAST(split_part(CAST({0} AS TEXT), 'e', 1) AS NUMERIC)"
_POSTGRES_SHORTER = (
    f"(CAST(trim_scale(round({_POSTGRES_MANTISSA}, greatest(scale({_POSTGRES_MANTISSA}) - 1, 0))) AS TEXT) "
    "|| 'e' || split_part(CAST({0} AS TEXT), 'e', 2))"
)

# As DuckDB: zero with its sign, inf and nan, plain digits from 1e-4 to 1e16, else an exponent.
_POSTGRES_FLOAT = (
    "CASE WHEN {0} = 0 THEN CASE WHEN CAST({0} AS TEXT) LIKE '-%' THEN '-0.0' ELSE '0.0' END "
    "WHEN CAST({0} AS TEXT) IN ('NaN', 'Infinity', '-Infinity') THEN replace(lower(CAST({0} AS TEXT)), "
    "'infinity', 'inf') "
    "WHEN abs({0}) >= 1e-4 AND abs({0}) < 1e16 THEN "
    "regexp_replace(CAST(CAST(CAST({0} AS TEXT) AS NUMERIC) AS TEXT), '^(-?[0-9]+)$', '\\1.0') "
    "WHEN abs({0}) < 1e-4 OR abs({0}) >= 1e23 THEN CAST({0} AS TEXT) "
    f"WHEN CAST({_POSTGRES_SHORTER} AS DOUBLE PRECISION) = {{0}} THEN {_POSTGRES_SHORTER} "
    "ELSE CAST({0} AS TEXT) END"
)

# Java writes the shortest digits only between these bounds; beyond them, increasing precisions are tried.
_SPARK_DOUBLE = (
    "CASE WHEN {0} IS NULL THEN NULL WHEN isnan({0}) THEN 'nan' "
    "WHEN {0} = 0 OR (abs({0}) >= 0.001D AND abs({0}) < 1e7D) THEN CAST({0} AS STRING) "
    "WHEN abs({0}) >= 0.0001D AND abs({0}) < 1e16D THEN "
    "regexp_replace(CAST(CAST({0} AS DECIMAL(38,21)) AS STRING), '([.][0-9]+?)0+$', '$1') "
    "WHEN abs({0}) > 1.7976931348623157e308D THEN CASE WHEN {0} > 0 THEN 'inf' ELSE '-inf' END "
    "ELSE regexp_replace(CASE "
    "WHEN try_cast(format_string('%.0e', {0}) AS DOUBLE) = {0} THEN format_string('%.0e', {0}) "
    "WHEN try_cast(format_string('%.14e', {0}) AS DOUBLE) = {0} THEN format_string('%.14e', {0}) "
    "WHEN try_cast(format_string('%.15e', {0}) AS DOUBLE) = {0} THEN format_string('%.15e', {0}) "
    "ELSE format_string('%.16e', {0}) END, '[.]?0+e', 'e') END"
)

# Java's digits in DuckDB's notation: the text is split at its exponent.
_SPARK_FLOAT = (
    "CASE WHEN {0} IS NULL THEN NULL WHEN isnan({0}) THEN 'nan' "
    "WHEN abs({0}) > 3.4028234663852886e38D THEN CASE WHEN {0} > 0 THEN 'inf' ELSE '-inf' END "
    "WHEN {0} = 0 OR (abs({0}) >= 0.001D AND abs({0}) < 1e7D) THEN CAST({0} AS STRING) "
    "WHEN abs(CAST(CAST({0} AS STRING) AS DOUBLE)) >= 0.0001D AND abs({0}) < 1e16D THEN "
    "regexp_replace(CAST(CAST(CAST({0} AS STRING) AS DECIMAL(38,21)) AS STRING), '([.][0-9]+?)0+$', '$1') "
    "ELSE concat(regexp_replace(split_part(CAST({0} AS STRING), 'E', 1), '[.]0$', ''), 'e', "
    "CASE WHEN abs({0}) < 1 THEN '-' ELSE '+' END, "
    "lpad(replace(split_part(CAST({0} AS STRING), 'E', 2), '-', ''), 2, '0')) END"
)

# Java writes years before 1 and years of more than four digits differently.
_SPARK_DAY = (
    "CASE WHEN year({0}) BETWEEN 1 AND 9999 THEN CAST({0} AS STRING) "
    "WHEN year({0}) > 9999 THEN ltrim('+', CAST({0} AS STRING)) "
    "ELSE concat(lpad(CAST(1 - year({0}) AS STRING), 4, '0'), date_format({0}, '-MM-dd'), ' (BC)'"
)

_SPARK_TIME = ", substr(CAST({0} AS STRING), instr(CAST({0} AS STRING), ' '))) END"

# Byte by byte: printable ASCII except quotes and the backslash is unchanged, the rest becomes \xHH.
_SPARK_BYTES = (
    "CASE WHEN length({0}) = 0 THEN '' ELSE array_join(transform(sequence(1, length({0})), i -> "
    "CASE WHEN conv(substr(hex({0}), 2 * i - 1, 2), 16, 10) BETWEEN 32 AND 126 "
    "AND substr(hex({0}), 2 * i - 1, 2) NOT IN ('22', '27', '5C') "
    "THEN chr(CAST(conv(substr(hex({0}), 2 * i - 1, 2), 16, 10) AS INTEGER)) "
    "ELSE concat('\\x', substr(hex({0}), 2 * i - 1, 2)) END), '') END"
)

_POSTGRES_MOMENT = "regexp_replace(CAST({0} AS TEXT), '^(.*) (.*) BC$', '\\1 (BC) \\2')"

POSTGRES = Dialect(
    "postgres",
    types={
        "VARCHAR": "TEXT",
        "DOUBLE": "DOUBLE PRECISION",
        "FLOAT": "REAL",
        "TINYINT": "SMALLINT",
        "UTINYINT": "SMALLINT",
        "USMALLINT": "INTEGER",
        "UINTEGER": "BIGINT",
        "UBIGINT": "NUMERIC(20,0)",
        "HUGEINT": "NUMERIC(38,0)",
        "BLOB": "BYTEA",
        "TIMESTAMP_S": "TIMESTAMP",
        "TIMESTAMP_MS": "TIMESTAMP",
        "TIMESTAMP_NS": "TIMESTAMP",
        "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ",
    },
    texts={
        "DOUBLE": _POSTGRES_FLOAT,
        "FLOAT": _POSTGRES_FLOAT,
        "FRACTION": _FRACTION.format("{0}", "TEXT", "\\1"),
        "DATE": "replace(CAST({0} AS TEXT), ' BC', ' (BC)')",
        "TIMESTAMP": _POSTGRES_MOMENT,
        "TIMESTAMP WITH TIME ZONE": _POSTGRES_MOMENT,
    },
    # A hash join reads its larger side in order, and a stored table is scanned in the order of writing.
    sorts_before_joins=True,
    runs_in_order=True,
    keeps_stored_order=True,
    # IS NOT DISTINCT FROM cannot be hashed in a join. Arrays can, and NULLs in them are equal.
    same="(ARRAY[{0}] = ARRAY[{1}])",
    same_text="(coalesce({0}, '') = coalesce({1}, '') AND ({0} IS NULL) = ({1} IS NULL))",
    full_match="({0} ~ ('^(?:' || {1} || ')$'))",
    extract="substring({0} FROM {1})",
    try_whole="CASE WHEN {0} ~ '^[+-]?[0-9]{{1,18}}$' THEN CAST({0} AS BIGINT) END",
    # A cast of a number out of range is an error, so the range is first tested with all digits as NUMERIC.
    try_double=f"CASE WHEN {{0}} ~ '{_NUMBER}' THEN CASE "
    "WHEN length({0}) <= 200 AND {0} !~ '[eE][+-]?[0-9]{{3}}' THEN CAST({0} AS DOUBLE PRECISION) "
    "WHEN CAST({0} AS NUMERIC) >= 1.7976931348623159e308 THEN CAST('Infinity' AS DOUBLE PRECISION) "
    "WHEN CAST({0} AS NUMERIC) <= -1.7976931348623159e308 THEN CAST('-Infinity' AS DOUBLE PRECISION) "
    "WHEN abs(CAST({0} AS NUMERIC)) < 5e-324 THEN 0 ELSE CAST({0} AS DOUBLE PRECISION) END END",
    numbers_to="generate_series(1, {0})",
    binary_order='{0} COLLATE "C"',
    approximate_distinct="count(DISTINCT {0})",
    random_key="gen_random_uuid()",
    integer_cast="CAST({0} AS BIGINT)",
    plain_double="CAST({0} AS DOUBLE PRECISION)",
    remainder="(CAST({0} AS NUMERIC) % NULLIF(CAST({1} AS NUMERIC), 0))",
    rounded="ROUND(CAST({0} AS NUMERIC), {1})",
    decimal_functions=True,
    integer_division=True,
    sha256="encode(sha256(convert_to({0}, 'UTF8')), 'hex')",
    bit_count="length(replace(CAST(CAST({0} AS BIT(64)) AS TEXT), '0', ''))",
    # Sorting in a subquery is expensive, so that a line of a single text avoids it.
    joined_in_order='CASE WHEN count({0}) = 1 THEN min({0} COLLATE "C") ELSE '
    "(SELECT string_agg(x, '' ORDER BY x COLLATE \"C\") FROM (SELECT unnest(array_agg({0})) AS x) AS u) END",
    joined_as_sorted="string_agg({0}, '')",
    hashes=Hashes(
        digest="sha256(convert_to({0}, 'UTF8'))",
        part="get_byte({0}, 0) * 256 + get_byte({0}, 1)",
        joined="encode(string_agg({0}, ''), 'hex')",
    ),
    row_hash="hashint8extended(hash_record_extended(ROW({0}), 0), 0)",
    one_text_hash="coalesce(hashtextextended({0}, 0), 1)",
    # In 32-bit halves: products of integers are added up much faster than products of decimals.
    repeated_sum="(sum(({0} >> 32) * {1}) * 4294967296 + sum(({0} & 4294967295) * {1}))",
    multiplies_sums=True,
    text_hash="CAST(CAST('x' || substring(md5(convert_to({0}, 'UTF8')), 1, 15) AS BIT(60)) AS BIGINT)",
    cells="generate_series(0, {1} - 1) AS place, unnest(CAST(ARRAY[{0}] AS TEXT[])) AS v",
    # Parallel workers sort and count a part each, but one process hashes a million groups. A full sort
    # detects rows that are in order; an incremental sort by an index of the first columns does not.
    sorted_groups=(
        "SET enable_hashagg = off; SET enable_incremental_sort = off",
        "RESET enable_hashagg; RESET enable_incremental_sort",
    ),
)

SPARK = Dialect(
    "spark",
    types={
        "VARCHAR": "STRING",
        "UTINYINT": "SMALLINT",
        "USMALLINT": "INTEGER",
        "UINTEGER": "BIGINT",
        "UBIGINT": "DECIMAL(20,0)",
        "HUGEINT": "DECIMAL(38,0)",
        "BLOB": "BINARY",
        "TIMESTAMP": "TIMESTAMP_NTZ",
        "TIMESTAMP_S": "TIMESTAMP_NTZ",
        "TIMESTAMP_MS": "TIMESTAMP_NTZ",
        "TIMESTAMP_NS": "TIMESTAMP_NTZ",
        "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    },
    texts={
        "DOUBLE": _SPARK_DOUBLE,
        "FLOAT": _SPARK_FLOAT,
        "FRACTION": _FRACTION.format("{0}", "STRING", "$1"),
        "DATE": _SPARK_DAY + ") END",
        "TIMESTAMP": _SPARK_DAY + _SPARK_TIME,
        "TIMESTAMP WITH TIME ZONE": f"concat({_SPARK_DAY}{_SPARK_TIME}, '+00')",
        "BLOB": _SPARK_BYTES,
    },
    same="({0} <=> {1})",
    same_text="({0} <=> {1})",
    full_match="({0} RLIKE concat('\\A(?:', {1}, ')\\z'))",
    try_whole="try_cast({0} AS BIGINT)",
    try_double=f"CASE WHEN {{0}} RLIKE '{_NUMBER}' THEN CAST({{0}} AS DOUBLE) END",
    numbers_to="explode(sequence(1, CAST({0} AS INTEGER)))",
    any_order="ORDER BY 1",
    distinct_number="monotonically_increasing_id()",
    approximate_distinct="approx_count_distinct({0})",
    random_key="reflect('java.util.UUID', 'randomUUID')",
    random_order="DISTRIBUTE BY {0} SORT BY {0}",
    # Range partitions come from a sample, which depends on the old row order; hashes depend only on the rows.
    # Stored files are scanned in the order of writing, but a subquery's order is dropped before a join.
    keeps_stored_order=True,
    # Each join of small tables takes two jobs, and a job is more expensive than a million texts.
    cells_sent=1 << 20,
    # Fewer rows are sorted faster than their duplicates are estimated, which takes a separate job.
    sorted_rows="DISTRIBUTE BY {1} SORT BY {0}",
    differs="NOT ({0} <=> {1})",
    truncated="(CASE WHEN {0} < 0 THEN CEIL({0}) ELSE FLOOR({0}) END)",
    wide="CAST({0} AS DECIMAL(38, {1}))",
    sha256="sha2({0}, 256)",
    joined_in_order="array_join(sort_array(collect_list({0})), '')",
    row_hash="xxhash64({0})",
    hash_cell="{0} IS NULL, {0}",
    text_hash="CAST(conv(substring(md5({0}), 1, 15), 16, 10) AS BIGINT)",
    # In 21-bit parts, whose sums are BIGINTs up to 2^41 rows: adding wide decimals is slower than hashing.
    hash_sum="(CAST(sum(shiftright({0}, 42)) AS DECIMAL(20,0)) * 4398046511104 "
    "+ CAST(sum(shiftright({0}, 21) & 2097151) AS DECIMAL(20,0)) * 2097152 + sum({0} & 2097151))",
    repeated_sum="sum(CAST({0} AS DECIMAL(19,0)) * CAST({1} AS DECIMAL(18,0)))",
    cells="posexplode(array({0})) AS (place, v)",
)

PLAIN_SPARK = replace(
    SPARK,
    texts={},
    full_match="({0} RLIKE concat('^(?:', {1}, ')$'))",
    name_quote="`",
    parquet_folder="parquet.{0}",
    escapes=(("\\", "\\\\"), ("'", "\\'")),
)
"""Spark in its default settings: names in backticks and escaping backslashes.

The engine's session uses ANSI mode instead.
"""
