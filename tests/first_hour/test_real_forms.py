"""Real and damaged files: released and audited, or refused with advice."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run

__all__ = ["run"]

TOWNS = ("Köln", "Bonn", "Aachen")


def table(
    line: str = "{age},{sex},{town},{ill}", header: str = "age,sex,town,disease", end: str = "\n"
) -> str:
    """Return a header and 24 rows in a format."""
    rows = [
        line.format(
            i=i,
            age=20 + i % 4 * 10,
            sex="mf"[i % 2],
            town=TOWNS[i % 3],
            ill=("flu", "cold")[i // 2 % 2],
            day=1 + i,
            money=1000 + 37 * i,
            flag=("true", "false")[i % 2],
            null=("\\N", "7")[i % 2],
        )
        for i in range(24)
    ]
    return end.join([header, *rows, ""])


def lines_of_json() -> str:
    """Return JSON lines with a nested value and a list."""
    people = [
        {"age": 20 + i % 4 * 10, "where": {"town": TOWNS[i % 3]}, "tags": ["a"] * (i % 3), "ill": "flu"}
        for i in range(24)
    ]
    return "".join(json.dumps(person) + "\n" for person in people)


RELEASED: dict[str, str | bytes] = {
    "plain.csv": table(),
    "latin1.csv": table().encode("latin-1"),
    "utf16.csv": table().encode("utf-16"),
    "bom.csv": table(end="\r\n").encode("utf-8-sig"),
    "zipped.csv.gz": gzip.compress(table().encode()),
    "tabs.tsv": table(line="{age}\t{sex}\t{town}", header="age\tsex\ttown"),
    "tabs.csv": table(line="{age}\t{sex}\t{town}", header="age\tsex\ttown"),
    "bars.csv": table(line="{age}|{sex}|{town}", header="age|sex|town"),
    "commas.csv": table(line="{age};{money},50;{town}", header="age;Kosten;town"),
    "money.csv": table(line='{age},"${money}.00",{town}', header="age,salary,town"),
    "percent.csv": table(line="{age},{day}%,{town}", header="age,share,town"),
    "dump.csv": table(line="{age},{null},{town}", header="age,visits,town"),
    "spss.csv": table(line="{age},-99,{sex}\n99,-98,{sex}", header="age,q1,sex"),
    "stata.csv": table(line="{age},.,{sex}\n{age},.a,{sex}", header="age,q1,sex"),
    "sas.csv": table(line='"{age}","{day:02d}JAN2020","{sex}"', header='"AGE","DT","SEX"'),
    "mixed_dates.csv": table(line="{day:02d}.05.2020,{sex}\n2020-05-{day:02d},{sex}", header="came,sex"),
    "open_dates.csv": table(line="0{sex},01/02/2020", header="sex,came"),
    "pandas_index.csv": table(line="{i},{age},{sex}", header=",age,sex"),
    "booleans.csv": table(line="{age},{flag},{sex}", header="age,smoker,sex"),
    "huge.csv": table(line="9{i:030d},{age},{sex}", header="number,age,sex"),
    "huge_few.csv": table(line="9{i:030d},{age},{sex}\n9{i:030d},{age},{sex}", header="n,age,sex"),
    "quoted.csv": table(line='"{age}","a ""b"", c\nd","{sex}"', header='"age","say ""it""","sex"'),
    "break_in_name.csv": table(header='age,"sex\n(m/f)",town,disease', end="\r\n"),
    "one_column.csv": table(line="{age}", header="age"),
    "sql_names.csv": table(line="{age},{sex},{town}", header='select,"a;b",a.b'),
    "blank_lines.csv": table(end="\n\n"),
    "same_case.csv": table(header="age,Sex,town,illness"),
    "nested.jsonl": lines_of_json(),
    "decimals.csv": table(line="{age},{day}.{i}5e-3,{sex}", header="age,x,sex"),
    "zeros.csv": table(line="{age},0{i:04d},{sex}\n{age},0{i:04d},{sex}", header="age,plz,sex"),
    "all_null.csv": table(line="{age},,{sex}", header="age,nothing,sex"),
}
REFUSED_OR_RELEASED: dict[str, str | bytes] = {
    "twice.csv": table(header="age,sex,sex,disease"),
    "twice_by_case.csv": table(header="age,Sex,sex,disease"),
    "blank_name.csv": table(header="age,,town,disease"),
    "blank_names.csv": table(header="age,,,disease"),
    "no_header.csv": table().split("\n", 1)[1],
    "ragged_short.csv": table() + "23,m\n",
    "ragged_long.csv": table() + "23,m,Bonn,flu,more,and more\n",
    "unbalanced.csv": table() + '23,"m,Bonn,flu\n24,f,Bonn,flu\n',
    "nul.csv": table().replace("Bonn", "Bo\0nn"),
    "only_header.csv": "age,sex,town\n",
    "empty.csv": b"",
    "blank.csv": b"\n\n\n",
    "old_mac.csv": table(end="\r"),
    "mixed_ends.csv": table() + "23,m,Bonn,flu\r\n24,f,Bonn,cold\r",
    "title.csv": "Report of May\n\n" + table(),
    "total.csv": table() + "Total,24,,\n",
    "sep_line.csv": "sep=;\n" + table(line="{age};{sex}", header="age;sex"),
    "no_gzip.csv.gz": table(),
    "binary.csv": bytes(range(256)) * 9,
    "no_parquet.parquet": table(),
    "no_json.jsonl": table(),
    "array.json": json.dumps([{"age": 20 + i % 4, "sex": "m"} for i in range(24)]),
    "broken.jsonl": lines_of_json() + '{"age": 3',
    "cut_utf8.csv": table().encode()[:-30] + b"\xff\xc3",
}


def released(run: Run, name: str, content: str | bytes) -> tuple[int, str]:
    """Run ``init``, ``publish`` and ``audit``; return the final status and the last command's output.

    ``publish`` negotiates itself.
    """
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    for command in (
        ("init", name),
        ("publish", "discreet.toml", "--k", "2", "--max-suppressed", "50%", "--output", "release.csv"),
        ("audit", "release.csv"),
    ):
        found = run(*command)
        if found.status:
            return found.status, " ".join(f"{command[0]}: {found.err}".split())
    return 0, found.out


@pytest.mark.parametrize("name", RELEASED)
def test_what_programs_write_is_released_and_audited(name: str, run: Run) -> None:
    status, said = released(run, name, RELEASED[name])
    assert status == 0, said


@pytest.mark.parametrize("name", REFUSED_OR_RELEASED)
def test_what_is_broken_is_refused_with_a_way_out(name: str, run: Run) -> None:
    status, said = released(run, name, REFUSED_OR_RELEASED[name])
    assert status in (0, 2), said
    if status:
        assert said.startswith("init: "), said  # unreadable files are refused at once
        assert name in said
        assert "Please report" not in said
