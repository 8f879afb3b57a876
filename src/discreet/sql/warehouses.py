"""Dialects that queries of a release are asked and written in, though discreet connects to no such database.

Whoever loads a release into a warehouse asks it there, by a rewritten query or by views. No such server was
ever asked what discreet writes for it: that it reads as SQL of the warehouse is tested by parsing. Counting,
recoding and auditing are none of these dialects' matters, so their columns have only what queries take.

Snowflake, SQL reference: "Data types", "String constants", REGEXP_LIKE, which matches whole texts, and
TRY_CAST, which takes texts alone. BigQuery, GoogleSQL reference: "Lexical structure", "Conversion rules",
REGEXP_CONTAINS, MOD, which takes no FLOAT64, and BIGNUMERIC, of 38 digits on either side of the point.
"""

from __future__ import annotations

from discreet.sql.dialect import Dialect

SNOWFLAKE = Dialect(
    "snowflake",
    types={"HUGEINT": "DECIMAL(38,0)", "BLOB": "BINARY"},
    escapes=(("\\", "\\\\"), ("'", "''")),
    full_match="regexp_like({0}, {1})",
    whole="CAST({0} AS BIGINT)",
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
    # A literal ends with its line unless the line's end is escaped.
    escapes=(("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r")),
    full_match="regexp_contains({0}, concat('^(?:', {1}, ')$'))",
    whole="CAST({0} AS BIGINT)",
    plain_double="safe_cast({0} AS FLOAT64)",
    remainder="mod(CAST({0} AS BIGNUMERIC), NULLIF(CAST({1} AS BIGNUMERIC), 0))",
    rounded="ROUND(CAST({0} AS BIGNUMERIC), {1})",
    decimal_functions=True,
    wide="CAST({0} AS BIGNUMERIC)",
)

WITHOUT_ENGINE = (SNOWFLAKE, BIGQUERY)
