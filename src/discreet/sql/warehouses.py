"""Dialects of warehouses (Snowflake, BigQuery) in which queries of a release can be written.

discreet does not connect to them; the generated SQL is tested by parsing. Only the phrases that queries need
are defined. Loaded on demand, for queries.
"""

from __future__ import annotations

from discreet.sql.dialect import Dialect

SNOWFLAKE = Dialect(
    "snowflake",
    types={"HUGEINT": "DECIMAL(38,0)", "BLOB": "BINARY"},
    escapes=(("\\", "\\\\"), ("'", "''")),
    full_match="regexp_like({0}, {1})",
    integer_cast="CAST({0} AS BIGINT)",
)

BIGQUERY = Dialect(
    "bigquery",
    types={
        "VARCHAR": "STRING",
        "DOUBLE": "FLOAT64",
        "FLOAT": "FLOAT64",
        "DECIMAL": "BIGNUMERIC",
        "HUGEINT": "BIGNUMERIC",
        "BLOB": "BYTES",
    },
    name_quote="`",
    # A literal cannot contain an unescaped line break.
    escapes=(("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r")),
    full_match="regexp_contains({0}, concat('^(?:', {1}, ')$'))",
    integer_cast="CAST({0} AS BIGINT)",
    plain_double="safe_cast({0} AS FLOAT64)",
    remainder="mod(CAST({0} AS BIGNUMERIC), NULLIF(CAST({1} AS BIGNUMERIC), 0))",
    rounded="ROUND(CAST({0} AS BIGNUMERIC), {1})",
    decimal_functions=True,
    wide="CAST({0} AS BIGNUMERIC)",
)

WITHOUT_ENGINE = (SNOWFLAKE, BIGQUERY)
