"""MariaDB's expressions for ``sql.dialect``; the session rewrites the rest. Loaded at every start."""

from __future__ import annotations

from dataclasses import replace

from discreet.sql.dialect import Dialect

ABSENT = "discreet_absent"
"""Name of a function that does not exist: marks constructs that MariaDB's SQL cannot express."""

_NUMBER = r"^[ \t\n\f\r]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{{1,3}})?[ \t\n\f\r]*$"
_TEXT = "CAST({0} AS CHAR)"
_DIGITS = "CAST(CAST({0} AS CHAR) AS DECIMAL(65,30))"
_PLAIN = f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM CAST({_DIGITS} AS CHAR)))"
_EXPONENT = f"CAST(substring_index({_TEXT}, 'e', -1) AS SIGNED)"
# Text of a double as DuckDB writes it: plain digits from 1e-4 to 1e16, else an exponent of at least two
# digits. The server uses an exponent where that is shorter, which is only above 1e15 and below 1e-9; its
# digits are the shortest.
_DOUBLE = (
    "CASE WHEN {0} = 0 THEN '0.0' "
    f"WHEN abs({{0}}) >= 1e-4 AND abs({{0}}) < 1e16 THEN CASE WHEN {_PLAIN} LIKE '%.%' THEN {_PLAIN} "
    f"ELSE {_PLAIN} || '.0' END "
    f"WHEN {_TEXT} LIKE '%e%' THEN substring_index({_TEXT}, 'e', 1) || 'e' || "
    f"CASE WHEN {_EXPONENT} < 0 THEN '-' ELSE '+' END || lpad(abs({_EXPONENT}), "
    f"greatest(2, char_length(abs({_EXPONENT}))), '0') "
    # 0.0000123: the digits without leading zeros, with the point after the first digit.
    f"ELSE regexp_replace(regexp_replace({_TEXT}, '^(-?)0[.]0*([1-9])([0-9]+)$', '\\1\\2.\\3'), "
    "'^(-?)0[.]0*([1-9])$', '\\1\\2') || 'e-' || lpad(char_length(regexp_replace("
    f"{_TEXT}, '^-?0[.](0*)[1-9].*$', '\\1')) + 1, 2, '0') END"
)
_MOMENT = (
    "CASE WHEN {0} IS NULL THEN NULL WHEN CAST({0} AS CHAR) LIKE '%.%' THEN TRIM(TRAILING '.' FROM "
    "TRIM(TRAILING '0' FROM CAST({0} AS CHAR))) ELSE CAST({0} AS CHAR) END"
)

MARIADB = Dialect(
    "mariadb",
    types={
        "VARCHAR": "CHAR",
        "BOOLEAN": "SIGNED",
        "TINYINT": "SIGNED",
        "SMALLINT": "SIGNED",
        "INTEGER": "SIGNED",
        "BIGINT": "SIGNED",
        "UTINYINT": "SIGNED",
        "USMALLINT": "SIGNED",
        "UINTEGER": "SIGNED",
        "UBIGINT": "UNSIGNED",
        "HUGEINT": "DECIMAL(38,0)",
        "TIMESTAMP": "DATETIME(6)",
        "TIMESTAMP WITH TIME ZONE": "DATETIME(6)",
    },
    texts={
        "DOUBLE": _DOUBLE,
        "FRACTION": "regexp_replace(CAST({0} AS CHAR), '^(-?)0[.]', '\\1.')",
        "TIMESTAMP": _MOMENT,
        "TIMESTAMP WITH TIME ZONE": f"({_MOMENT}) || '+00'",
        "BLOB": "CAST(regexp_replace(hex({0}), '(..)', '\\\\x\\1') AS CHAR)",
    },
    same="({0} <=> {1})",
    same_text="({0} <=> {1})",
    differs="NOT ({0} <=> {1})",
    full_match="({0} REGEXP ('\\A(?:' || {1} || ')\\z'))",
    extract="CASE WHEN {0} REGEXP {1} THEN regexp_replace(regexp_substr({0}, {1}), {1}, '\\1') ELSE '' END",
    try_whole="CASE WHEN {0} REGEXP '^[+-]?[0-9]{{1,18}}$' THEN CAST({0} AS SIGNED) END",
    try_double=f"CASE WHEN {{0}} REGEXP '{_NUMBER}' THEN CAST({{0}} AS DOUBLE) END",
    nulls_last="{0} IS NULL, {0}",
    numbers_to=f"{ABSENT}({{0}})",
    approximate_distinct="count(DISTINCT {0})",
    random_key="hex(random_bytes(16))",
    integer_cast="CAST({0} AS SIGNED)",
    plain_double="CAST({0} AS DOUBLE)",
    truncated="TRUNCATE({0}, 0)",
    remainder="(CAST({0} AS DECIMAL(65,15)) % NULLIF(CAST({1} AS DECIMAL(65,15)), 0))",
    rounded="ROUND(CAST({0} AS DECIMAL(65,15)), {1})",
    sha256="sha2({0}, 256)",
    joined_in_order="group_concat({0} ORDER BY {0} SEPARATOR '')",
    row_hash="CAST(conv(substring(md5(concat_ws(',', {0})), 1, 15), 16, 10) AS SIGNED)",
    hash_cell="coalesce(char_length({0}) || ':' || {0}, '-')",
    text_hash="CAST(conv(substring(md5({0}), 1, 15), 16, 10) AS SIGNED)",
    multiplies_sums=True,
    cells=None,
)

PLAIN_MARIADB = replace(MARIADB, name_quote="`", escapes=(("\\", "\\\\"), ("'", "\\'")))
"""MariaDB with its default settings: names in backticks, backslash escapes."""
