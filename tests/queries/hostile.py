"""Queries that must be refused, hostile or unsupported, by the kind of reason."""

from __future__ import annotations

from collections.abc import Iterator

FUNCTIONS = """
pg_sleep(1) sleep(1) read_text('/etc/passwd') read_csv('/etc/passwd') read_blob('/etc/passwd')
getenv('HOME')
current_setting('threads') nextval('s') setval('s', 1) random() setseed(0.5) uuid() gen_random_uuid()
now()
current_date current_timestamp current_user session_user version() pg_read_file('/etc/passwd')
lo_import('/x')
dblink('x', 'y') pg_terminate_backend(1) query_to_xml('SELECT 1', true, true, '') xpath('/', x) hash(sex)
md5(sex)
sha256(sex) regexp_matches(sex, '(a+)+$') regexp_replace(sex, 'a', 'b') repeat(sex, 1000000)
rpad(sex, 99, 'x')
lpad(sex, 99, 'x') format('{}', sex) printf('%s', sex) string_agg(sex) list(sex) array_agg(sex)
json_extract(sex, '$')
to_json(sex) error('x') eval('1') query('SELECT 1') query_table('t') glob('/etc/*')
file_size('/etc/passwd')
exp(age) ln(age) power(age, 99) sqrt(age) factorial(age) log(age) sin(age) bit_count(age) age_in_days(age)
reverse(sex) translate(sex, 'a', 'b') replace(sex, 'a', 'b') split_part(sex, 'a', 1) initcap(sex)
ascii(sex) chr(age)
concat(sex, zip) concat_ws('-', sex, zip) contains(sex, 'a') instr(sex, 'a') position('a' IN sex)
levenshtein(sex, zip)
jaccard(sex, zip) strftime(sex, '%Y') date_trunc('day', sex) extract(year FROM sex) to_date(sex)
epoch(sex)
row(age, sex) struct_pack(a := age) map([1], [2]) list_value(age) unnest([age]) generate_series(1, 9)
range(9)
count(*) sum(age) max(age) row_number() lag(age) first(age) any_value(sex) quantile(age, 0.5) stddev(age)
system('id') shell('id') load_extension('x') install('httpfs') pragma_version() duckdb_settings()
duckdb_secrets()
in_search_path('a', 'b') txid_current() write_log('x') getvariable('x') nullif(age) coalesce()
round(age, -1)
round(age, zip) substring(sex, age, 1) left(sex, -1) right(sex, age) greatest('b', 1) least(2, 'a')
upper(1) abs('x')
trim(BOTH 'x' FROM sex) length(5) mod(age) cast(age AS blob) cast(sex AS json) cast(age AS decimal(5,2))
cast(sex AS date)
cast(sex AS timestamp) cast(age AS integer[]) sex::uuid sex::interval try_cast(sex AS bit)
"""

CLAUSES = """
SELECT * FROM people
SELECT age FROM people
SELECT age, COUNT(*) FROM people
SELECT 1 FROM people
SELECT 'x', COUNT(*) FROM people
SELECT COUNT(*)
SELECT COUNT(*) FROM people LIMIT 1
SELECT COUNT(*) FROM people LIMIT 1 OFFSET 2
SELECT COUNT(*) FROM people OFFSET 2
SELECT COUNT(*) FROM people FETCH FIRST 1 ROWS ONLY
SELECT DISTINCT COUNT(*) FROM people
SELECT DISTINCT ON (sex) COUNT(*) FROM people
SELECT COUNT(DISTINCT salary) FROM people
SELECT COUNT(DISTINCT sex) FROM people
SELECT SUM(DISTINCT salary) FROM people
SELECT COUNT(*) FROM people GROUP BY
SELECT COUNT(*) FILTER (WHERE sex = 'F') FROM people
SELECT SUM(salary) FILTER (WHERE age > 30) FROM people
SELECT SUM(salary) OVER () FROM people
SELECT COUNT(*) OVER (PARTITION BY sex) FROM people
SELECT SUM(salary) FROM people WINDOW w AS (ORDER BY age)
SELECT ROW_NUMBER() OVER () FROM people
SELECT SUM(salary) FROM people GROUP BY sex HAVING SUM(salary) > 3
SELECT SUM(salary) FROM people HAVING COUNT(*) > 3
SELECT SUM(salary) FROM people QUALIFY ROW_NUMBER() OVER () = 1
SELECT SUM(salary) FROM people GROUP BY ROLLUP (sex)
SELECT SUM(salary) FROM people GROUP BY CUBE (sex, age)
SELECT SUM(salary) FROM people GROUP BY GROUPING SETS ((sex), (age))
SELECT SUM(salary) FROM people GROUP BY ALL
SELECT SUM(salary) FROM people GROUP BY salary
SELECT SUM(salary) FROM people GROUP BY group_id
SELECT SUM(salary) FROM people GROUP BY 2
SELECT SUM(salary) FROM people GROUP BY 0
SELECT SUM(salary) FROM people GROUP BY 1
SELECT SUM(salary) FROM people GROUP BY 'x'
SELECT SUM(salary) FROM people GROUP BY NULL
SELECT SUM(salary) FROM people GROUP BY 1 + 1
SELECT SUM(salary) FROM people GROUP BY (SELECT 1)
SELECT SUM(salary) FROM people GROUP BY random()
SELECT SUM(salary) FROM people GROUP BY ssn
SELECT SUM(salary) FROM people GROUP BY unknown
SELECT SUM(salary) FROM people ORDER BY salary
SELECT SUM(salary) FROM people ORDER BY 1
SELECT SUM(salary) FROM people ORDER BY age
SELECT SUM(salary) FROM people GROUP BY sex ORDER BY SUM(salary)
SELECT SUM(salary) FROM people GROUP BY sex ORDER BY age
SELECT SUM(salary) FROM people GROUP BY sex ORDER BY ALL
SELECT SUM(salary * 2) FROM people
SELECT SUM(salary + age) FROM people
SELECT SUM(-salary) FROM people
SELECT SUM(CASE WHEN age > 30 THEN salary END) FROM people
SELECT SUM(salary) + 1 FROM people
SELECT SUM(salary) / COUNT(*) FROM people
SELECT ROUND(AVG(salary)) FROM people
SELECT COALESCE(SUM(salary), 0) FROM people
SELECT CAST(SUM(salary) AS VARCHAR) FROM people
SELECT MIN(salary, 2) FROM people
SELECT MAX(salary, 1) FROM people
SELECT SUM(age) FROM people
SELECT AVG(zip) FROM people
SELECT COUNT(age) FROM people
SELECT COUNT(group_id) FROM people
SELECT COUNT(1) FROM people
SELECT COUNT() FROM people
SELECT COUNT(salary, age) FROM people
SELECT COUNT(people.*) FROM people
SELECT SUM(*) FROM people
SELECT SUM(ssn) FROM people
SELECT SUM(unknown) FROM people
SELECT MEDIAN(salary) FROM people
SELECT STDDEV(salary) FROM people
SELECT ARRAY_AGG(salary ORDER BY age) FROM people
SELECT QUANTILE(salary, 0.5) FROM people
SELECT ARG_MAX(age, salary) FROM people
SELECT COUNT_IF(age > 3) FROM people
SELECT CORR(age, salary) FROM people
SELECT SUM(salary ORDER BY age) FROM people
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY salary) FROM people
SELECT COUNT(*) INTO stolen FROM people
SELECT COUNT(*) FROM people FOR UPDATE
SELECT COUNT(*) FROM people FOR SHARE
SELECT COUNT(*) FROM people USING SAMPLE 10%
SELECT COUNT(*) FROM people TABLESAMPLE (10 PERCENT)
SELECT COUNT(*) FROM people, other
SELECT COUNT(*) FROM people, people AS p2
SELECT COUNT(*) FROM people JOIN other ON true
SELECT COUNT(*) FROM people JOIN other USING (age)
SELECT COUNT(*) FROM people NATURAL JOIN other
SELECT COUNT(*) FROM people CROSS JOIN other
SELECT COUNT(*) FROM people LEFT JOIN other ON people.age = other.age
SELECT COUNT(*) FROM people POSITIONAL JOIN other
SELECT COUNT(*) FROM people ASOF JOIN other ON people.age >= other.age
SELECT COUNT(*) FROM people, LATERAL (SELECT 1)
SELECT COUNT(*) FROM people, UNNEST([1, 2])
SELECT COUNT(*) FROM (SELECT * FROM people)
SELECT COUNT(*) FROM (SELECT 1) AS people
SELECT COUNT(*) FROM (VALUES (1)) AS people
SELECT COUNT(*) FROM read_csv('/etc/passwd')
SELECT COUNT(*) FROM '/etc/passwd'
SELECT COUNT(*) FROM "people.csv"
SELECT COUNT(*) FROM "../people"
SELECT COUNT(*) FROM range(10)
SELECT COUNT(*) FROM pragma_table_info('people')
SELECT COUNT(*) FROM information_schema.tables
SELECT COUNT(*) FROM other.people
SELECT COUNT(*) FROM a.b.people
SELECT COUNT(*) FROM people AS p (a, b)
SELECT COUNT(*) FROM people PIVOT (SUM(salary) FOR sex IN ('F'))
SELECT COUNT(*) FROM people UNPIVOT (x FOR y IN (age))
SELECT COUNT(*) FROM people AT (VERSION => 1)
SELECT COUNT(*) FROM ONLY people FOR UPDATE
SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1)
SELECT COUNT(*) FROM people WHERE age IN (SELECT age FROM other)
SELECT COUNT(*) FROM people WHERE age = (SELECT 1)
SELECT COUNT(*) FROM people WHERE age > ALL (SELECT 1)
SELECT COUNT(*) FROM people WHERE age > ANY ([1])
SELECT COUNT(*) FROM people WHERE age = ANY (ARRAY[1])
SELECT COUNT(*) FROM people WHERE (age, sex) = (1, 'F')
SELECT COUNT(*) FROM people WHERE (age, sex) IN ((1, 'F'))
SELECT COUNT(*) FROM people WHERE age
SELECT COUNT(*) FROM people WHERE sex
SELECT COUNT(*) FROM people WHERE 1
SELECT COUNT(*) FROM people WHERE 'x'
SELECT COUNT(*) FROM people WHERE NULL
SELECT COUNT(*) FROM people WHERE age = ?
SELECT COUNT(*) FROM people WHERE age = $1
SELECT COUNT(*) FROM people WHERE age = :age
SELECT COUNT(*) FROM people WHERE age = {{ age }}
SELECT COUNT(*) FROM people WHERE age = #1
SELECT COUNT(*) FROM people WHERE COLUMNS(*) > 1
SELECT COUNT(*) FROM people WHERE people.* IS NULL
SELECT COUNT(*) FROM people WHERE other.age > 1
SELECT COUNT(*) FROM people WHERE a.people.age > 1
SELECT COUNT(*) FROM people WHERE age.x > 1
SELECT COUNT(*) FROM people WHERE sex[1] = 'F'
SELECT COUNT(*) FROM people WHERE sex[1:2] = 'F'
SELECT COUNT(*) FROM people WHERE sex -> 'x' = 'F'
SELECT COUNT(*) FROM people WHERE sex ->> 'x' = 'F'
SELECT COUNT(*) FROM people WHERE sex ~ 'F'
SELECT COUNT(*) FROM people WHERE sex SIMILAR TO 'F'
SELECT COUNT(*) FROM people WHERE sex GLOB 'F*'
SELECT COUNT(*) FROM people WHERE sex LIKE 'F' ESCAPE '!'
SELECT COUNT(*) FROM people WHERE sex LIKE zip
SELECT COUNT(*) FROM people WHERE sex LIKE 'F' || '%'
SELECT COUNT(*) FROM people WHERE sex LIKE 'F\\%'
SELECT COUNT(*) FROM people WHERE sex LIKE 5
SELECT COUNT(*) FROM people WHERE sex COLLATE nocase = 'f'
SELECT COUNT(*) FROM people WHERE age & 1 = 1
SELECT COUNT(*) FROM people WHERE age | 1 = 1
SELECT COUNT(*) FROM people WHERE age << 1 = 2
SELECT COUNT(*) FROM people WHERE age >> 1 = 2
SELECT COUNT(*) FROM people WHERE xor(age, 1) = 1
SELECT COUNT(*) FROM people WHERE ~age = 1
SELECT COUNT(*) FROM people WHERE age ^ 2 = 4
SELECT COUNT(*) FROM people WHERE age ** 2 = 4
SELECT COUNT(*) FROM people WHERE age // 2 = 4
SELECT COUNT(*) FROM people WHERE age = 'F' + 1
SELECT COUNT(*) FROM people WHERE sex || 1 = 'F1'
SELECT COUNT(*) FROM people WHERE 1 = 'F'
SELECT COUNT(*) FROM people WHERE age BETWEEN 1 AND 'x'
SELECT COUNT(*) FROM people WHERE age = zip
SELECT COUNT(*) FROM people WHERE age < zip
SELECT COUNT(*) FROM people WHERE age IN (zip)
SELECT COUNT(*) FROM people WHERE age IN ()
SELECT COUNT(*) FROM people WHERE CASE WHEN age > 1 THEN 1 ELSE 'x' END = 1
SELECT COUNT(*) FROM people WHERE CASE age WHEN 'x' THEN 1 END = 'y'
SELECT COUNT(*) FROM people WHERE CASE WHEN age THEN 1 END = 1
SELECT COUNT(*) FROM people WHERE (age > 1) = (sex = 'F')
SELECT COUNT(*) FROM people WHERE (age > 1) + 1 = 2
SELECT COUNT(*) FROM people WHERE age = DATE '2020-01-01'
SELECT COUNT(*) FROM people WHERE age = INTERVAL 1 DAY
SELECT COUNT(*) FROM people WHERE age = [1]
SELECT COUNT(*) FROM people WHERE age = {'a': 1}
SELECT COUNT(*) FROM people WHERE age = X'00'
SELECT COUNT(*) FROM people WHERE age = 1e999
SELECT COUNT(*) FROM people WHERE age = 0x1F
SELECT COUNT(*) FROM people WHERE age = lambda x: x
SELECT COUNT(*) FROM people WHERE age = (x -> x)
SELECT COUNT(*) FROM people WHERE ssn = '1'
SELECT COUNT(*) FROM people WHERE nonsense = 1
SELECT COUNT(*) FROM people WHERE rowid = 1
SELECT COUNT(*) FROM people WHERE age = 1 AND
SELECT COUNT(*) FROM people WHERE (age = 1
SELECT COUNT(*) FROM people WHERE age = 'x
SELECT COUNT(*) FROM people WHERE age == == 1
SELECT COUNT(*) FROM WHERE
SELEKT COUNT(*) FROM people

;
-- only a comment
/* nothing */
people
1
SELECT
FROM people
TABLE people
VALUES (1)
DESCRIBE people
EXPLAIN SELECT COUNT(*) FROM people
PRAGMA version
CALL pragma_version()
SET threads = 1
ATTACH 'x.db'
INSTALL httpfs
EXPORT DATABASE '/tmp/x'
COPY people TO '/tmp/x.csv'
CREATE TABLE x AS SELECT COUNT(*) FROM people
CREATE SECRET (TYPE s3)
DROP TABLE people
INSERT INTO people VALUES (1)
DELETE FROM people
MERGE INTO people USING x ON true WHEN MATCHED THEN DELETE
GRANT ALL ON people TO x
BEGIN TRANSACTION
PREPARE x AS SELECT 1
EXECUTE x
DO $$ BEGIN END $$
SELECT COUNT(*) FROM people; DROP TABLE people
SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people
SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM people
SELECT COUNT(*) FROM people UNION ALL SELECT 1
SELECT COUNT(*) FROM people INTERSECT SELECT 1
SELECT COUNT(*) FROM people EXCEPT SELECT 1
(SELECT COUNT(*) FROM people)
WITH x AS (SELECT 1) SELECT COUNT(*) FROM people
WITH RECURSIVE x AS (SELECT 1) SELECT COUNT(*) FROM people
WITH people AS (DELETE FROM x RETURNING *) SELECT COUNT(*) FROM people
SELECT (SELECT 1), COUNT(*) FROM people
SELECT COUNT(*), (SELECT MAX(age) FROM other) FROM people
SELECT COLUMNS(*), COUNT(*) FROM people
SELECT people.*, COUNT(*) FROM people
SELECT * EXCLUDE (age) FROM people
SELECT STRUCT_PACK(a := COUNT(*)) FROM people
SELECT UNNEST([1, 2]), COUNT(*) FROM people
"""

SENSITIVE = """
{0} > 3 | {0} IS NULL | {0} IS NOT NULL | {0} IN (1, 2) | {0} BETWEEN 1 AND 2 | NOT {0} = 1 | {0} LIKE '1%'
age + {0} > 3 | abs({0}) = 1 | coalesce({0}, 0) = 0 | CASE WHEN {0} > 1 THEN 1 END = 1 | age > {0} | {0} = {0}
sex = 'F' OR {0} = 3 | age > 3 AND NOT ({0} < 2) | upper({0}) = 'X' | CAST({0} AS VARCHAR) = '1' | -{0} < 0
nullif(age, {0}) IS NULL | greatest(age, {0}) > 1 | {0} % 2 = 0 | age IN (1, {0}) | age BETWEEN {0} AND 9
{0} IS DISTINCT FROM 3 | CASE {0} WHEN 1 THEN 1 END = 1 | length({0}) = 1 | ({0} > 1) IS TRUE
round({0}) = 1 | {0} || 'x' = '1x' | CASE WHEN age > 1 THEN {0} END = 1 | left({0}, 1) = '1'
""".replace("\n", " | ")

SPELLINGS = ("salary", "SALARY", '"salary"', "people.salary", "group_id", '"Group_Id"', "ssn")
PLACES = (
    "SELECT COUNT(*) FROM people WHERE {}",
    "SELECT SUM(salary) FROM people GROUP BY {}",
)


def hostile() -> Iterator[str]:
    """Yield every query once."""
    functions = [f for line in FUNCTIONS.splitlines() for f in _calls(line)]
    for function in functions:
        yield f"SELECT COUNT(*) FROM people WHERE {function} = 1"
    for function in functions:
        yield f"SELECT COUNT(*) FROM people GROUP BY {function}"
    yield from CLAUSES.splitlines()[1:]
    for condition in SENSITIVE.split(" | "):
        if condition.strip():
            for spelling in SPELLINGS:
                yield f"SELECT COUNT(*) FROM people WHERE {condition.strip().format(spelling)}"
    for place in PLACES:
        yield place.format("(" * 5000 + "age" + ")" * 5000 + " = 1")
    yield "SELECT COUNT(*) FROM people WHERE " + " OR ".join(["age = 1"] * 5000)
    yield f"SELECT {', '.join(['COUNT(*)'] * 101)} FROM people"


def _calls(line: str) -> Iterator[str]:
    """Split at blanks outside parentheses."""
    depth, start = 0, 0
    for place, sign in enumerate(line + " "):
        depth += (sign == "(") - (sign == ")")
        if sign == " " and depth == 0:
            if line[start:place]:
                yield line[start:place]
            start = place + 1
