"""SQL phrases in which the engines differ: one table with a column per database.

DuckDB, PostgreSQL (15 and later) and Spark (4 and later, ANSI mode with quoted identifiers). Statements are
written in the common subset; where there is none, a statement takes its phrase from ``Dialect``, so no code
branches on the engine. Types go by the house's names (DuckDB's), which ``type_name`` translates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Hashes:
    """SHA-256 as bytes, which are half as long as their digits and sort as these do, and faster.

    ``digest`` is a text's, ``part`` the number that a digest's first two bytes make; ``joined`` are the
    digits of all digests of a sorted subquery in its order, as an aggregate.
    """

    digest: str
    part: str
    joined: str


@dataclass(frozen=True)
class Dialect:
    """The phrases of one database. ``{0}`` and ``{1}`` in them are expressions.

    ``same`` is NULL-safe equality that a join can hash; both sides are of one type, which for ``same_text``,
    where that is faster, is text. ``full_match`` says whether a whole text matches a pattern (a literal),
    NULL for NULL; ``extract`` is what the one group of a pattern found in a text. ``try_whole`` and
    ``try_double`` are the number that a text says, NULL where it says none. ``numbers_to`` yields the rows 1
    to a number, beside the other columns of a SELECT. ``any_order`` stands inside ``OVER ()`` of row numbers
    in no order; ``distinct_number`` is a number of each row's own, which may leave gaps. ``binary_order``
    sorts texts by their code points. ``random_key`` is a sort key of random bits from the operating system's
    generator, one per row; where it is None, keys are loaded (``release.publication_job``). ``texts`` maps a
    house type to its canonical text, where that is no plain cast. ``find_dictionary`` is the type of a column
    of few different texts (literals) which is written faster than a text. ``sorts_before_joins`` says that
    one thread's join keeps the order of its larger side or subquery; ``runs_in_order`` that windows of no
    order go over a subquery's rows in theirs; ``keeps_stored_order`` that it does where that side is a stored
    table. Tables of up to ``cells_sent`` texts are put together before they are loaded, where joins of small
    tables cost more. ``random_order`` says that a query's rows go by a random key, each in a place of its
    own; ``sorted_rows`` that they go by sort keys, each with ``nulls_last``, ``{1}`` being the same as
    expressions alone; from ``counts_rows`` rows on, those which are often alike are best put together and
    counted before they are sorted (None: never). ``rows_at_once`` are as many rows as a join of wide rows
    should be asked to hold, None where any number goes to disk by itself. ``name_quote`` stands around names;
    ``escapes`` are what literals double or escape. ``differs`` is NULL-safe inequality. ``may_be_stars`` is a
    quick test that every text of stars passes, blanks before it or not, and few others. ``whole`` rounds a
    number as the database does, ``plain_double`` what a text says that was seen to be a plain number,
    ``truncated`` cuts its decimals off; ``remainder`` and ``rounded`` take a second expression, and give
    exact decimals where ``decimal_functions``. ``whole_division`` says that whole numbers are divided without
    a remainder. ``wide`` makes an exact number wide enough to be summed; ``{1}`` are its decimals. ``sha256``
    is a text's digest in hexadecimal digits; ``joined_in_order`` puts such texts together in ascending order,
    as an aggregate, and ``joined_as_sorted`` in that of a sorted subquery, where a database keeps to it; such
    a one has ``hashes``. ``bit_count`` is how many bits of a BIGINT are set. ``row_hash`` is a number that
    depends on each of a list of cells (``hash_cell``) and on its place, NULL told from all values,
    ``one_text_hash`` one of a row of one text, where that is faster, and ``text_hash`` one of a text, the
    same in every database; ``hash_sum`` adds such numbers up exactly, ``repeated_sum`` each of them as often
    as a second expression says, and ``multiplies_sums`` says that a product of a sum and such a number is
    exact, too. ``cells`` yields a row for each of some texts, of which ``{1}`` is the number: its ``place``
    from 0, and itself, ``v``; where it is None, each column is a query of its own. ``parquet_folder`` stands
    behind FROM for a path of Parquet files, an identifier, where no function reads them. ``reads_files`` says
    that a release's files are read as they lie, so that a column of texts is one; ``table_macros`` that there
    are macros of tables, and ``lists`` that a cell holds a list, which is read by place faster than rows are
    joined. ``dense_groups`` are two statements: that groups of so many numbers as a permuted release may have
    are counted in an array, and that this is over; ``sorted_groups`` that rows are grouped by sorting them,
    as is faster where they lie in order.
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
    counts_rows: int | None = None
    name_quote: str = '"'
    escapes: tuple[tuple[str, str], ...] = (("'", "''"),)
    may_be_stars: str = "{0} LIKE '%*%'"
    differs: str = "{0} IS DISTINCT FROM {1}"
    whole: str = "TRY_CAST({0} AS BIGINT)"
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
        """A name, quoted."""
        return self.name_quote + name.replace(self.name_quote, self.name_quote * 2) + self.name_quote

    def literal(self, text: str) -> str:
        """A text as a literal."""
        for mark, escaped in self.escapes:
            text = text.replace(mark, escaped)
        return f"'{text}'"

    def type_name(self, house: str) -> str:
        """A house type in this database's words, its parameters kept.

        >>> POSTGRES.type_name("DOUBLE"), SPARK.type_name("VARCHAR"), SPARK.type_name("DECIMAL(6,1)")
        ('DOUBLE PRECISION', 'STRING', 'DECIMAL(6,1)')
        """
        base, parenthesis, rest = house.partition("(")
        return self.types.get(base.strip(), base.strip()) + parenthesis + rest

    def cast(self, expression: str, house: str) -> str:
        """An expression as a house type."""
        return f"CAST({expression} AS {self.type_name(house)})"

    def text(self, expression: str, house: str = "") -> str:
        """The canonical text of an expression of a house type: the same in every database."""
        phrase = self.texts.get(_text_kind(house))
        return self.cast(expression, "VARCHAR") if phrase is None else phrase.format(expression)


def _text_kind(house: str) -> str:
    """A house type as ``texts`` names it: ``FRACTION`` for decimals without a digit before the point."""
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
    counts_rows=0,
    reads_files=True,
    table_macros=True,
    lists=True,
    # Two million counts, 16 MiB for each thread; elsewhere, what is counted for a group may be larger.
    dense_groups=("SET perfect_ht_threshold = 21", "RESET perfect_ht_threshold"),
)

_NUMBER = r"^[ \t\n\f\r]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{{1,3}})?[ \t\n\f\r]*$"

_FRACTION = "regexp_replace(CAST({0} AS {1}), '^(-?)0[.]', '{2}.')"

# PostgreSQL writes a digit more than the others where a shorter text lies just between two doubles.
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

# Java writes the shortest digits between these bounds only; beyond them they are searched for.
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

# The digits are Java's, the form DuckDB's: the text is taken apart at its exponent.
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

# Years before 1 and beyond four digits are written otherwise by Java.
_SPARK_DAY = (
    "CASE WHEN year({0}) BETWEEN 1 AND 9999 THEN CAST({0} AS STRING) "
    "WHEN year({0}) > 9999 THEN ltrim('+', CAST({0} AS STRING)) "
    "ELSE concat(lpad(CAST(1 - year({0}) AS STRING), 4, '0'), date_format({0}, '-MM-dd'), ' (BC)'"
)

_SPARK_TIME = ", substr(CAST({0} AS STRING), instr(CAST({0} AS STRING), ' '))) END"

# Byte by byte: printable ASCII as it is, but for quotes and the backslash, the rest as \xHH.
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
    # A hash join reads its larger side as it comes, and what is stored is scanned as it was written.
    sorts_before_joins=True,
    runs_in_order=True,
    keeps_stored_order=True,
    # IS NOT DISTINCT FROM cannot be hashed in a join. Arrays can, and NULLs in them are equal.
    same="(ARRAY[{0}] = ARRAY[{1}])",
    same_text="(coalesce({0}, '') = coalesce({1}, '') AND ({0} IS NULL) = ({1} IS NULL))",
    full_match="({0} ~ ('^(?:' || {1} || ')$'))",
    extract="substring({0} FROM {1})",
    try_whole="CASE WHEN {0} ~ '^[+-]?[0-9]{{1,18}}$' THEN CAST({0} AS BIGINT) END",
    # A number too large is an error to a cast, so it is looked at with all its digits before.
    try_double=f"CASE WHEN {{0}} ~ '{_NUMBER}' THEN CASE "
    "WHEN length({0}) <= 200 AND {0} !~ '[eE][+-]?[0-9]{{3}}' THEN CAST({0} AS DOUBLE PRECISION) "
    "WHEN CAST({0} AS NUMERIC) >= 1.7976931348623159e308 THEN CAST('Infinity' AS DOUBLE PRECISION) "
    "WHEN CAST({0} AS NUMERIC) <= -1.7976931348623159e308 THEN CAST('-Infinity' AS DOUBLE PRECISION) "
    "WHEN abs(CAST({0} AS NUMERIC)) < 5e-324 THEN 0 ELSE CAST({0} AS DOUBLE PRECISION) END END",
    numbers_to="generate_series(1, {0})",
    binary_order='{0} COLLATE "C"',
    approximate_distinct="count(DISTINCT {0})",
    random_key="gen_random_uuid()",
    whole="CAST({0} AS BIGINT)",
    plain_double="CAST({0} AS DOUBLE PRECISION)",
    remainder="(CAST({0} AS NUMERIC) % NULLIF(CAST({1} AS NUMERIC), 0))",
    rounded="ROUND(CAST({0} AS NUMERIC), {1})",
    decimal_functions=True,
    integer_division=True,
    sha256="encode(sha256(convert_to({0}, 'UTF8')), 'hex')",
    bit_count="length(replace(CAST(CAST({0} AS BIT(64)) AS TEXT), '0', ''))",
    # Sorted in a subquery, which costs more than a line of one text does otherwise.
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
    # In halves: products of whole numbers are added up much faster than those of decimals.
    repeated_sum="(sum(({0} >> 32) * {1}) * 4294967296 + sum(({0} & 4294967295) * {1}))",
    multiplies_sums=True,
    text_hash="CAST(CAST('x' || substring(md5(convert_to({0}, 'UTF8')), 1, 15) AS BIT(60)) AS BIGINT)",
    cells="generate_series(0, {1} - 1) AS place, unnest(CAST(ARRAY[{0}] AS TEXT[])) AS v",
    # Workers sort and count a part each; hashing a million groups is one process's work. A sort sees that
    # rows lie in order, an incremental one by an index of the first columns does not.
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
    # Ranges would be found by a sample, which depends on how the rows lay; hashes depend on the rows alone.
    # Stored files are scanned as they were written, but a subquery's order is dropped before a join.
    keeps_stored_order=True,
    # Each join of small tables is two jobs, and a job costs more than a million texts.
    cells_sent=1 << 20,
    # Fewer are sorted in less time than the estimate takes, which is a job of its own.
    counts_rows=4_000_000,
    sorted_rows="DISTRIBUTE BY {1} SORT BY {0}",
    differs="NOT ({0} <=> {1})",
    truncated="(CASE WHEN {0} < 0 THEN CEIL({0}) ELSE FLOOR({0}) END)",
    wide="CAST({0} AS DECIMAL(38, {1}))",
    sha256="sha2({0}, 256)",
    joined_in_order="array_join(sort_array(collect_list({0})), '')",
    row_hash="xxhash64({0})",
    hash_cell="{0} IS NULL, {0}",
    text_hash="CAST(conv(substring(md5({0}), 1, 15), 16, 10) AS BIGINT)",
    # By three parts, whose sums are BIGINTs up to 2^41 rows: adding wide decimals costs more than hashing.
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
"""Spark as its users have it: names in backticks, backslashes that escape; the engine's session is ANSI's."""
