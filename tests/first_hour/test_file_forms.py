"""Real and damaged files: released and audited, or refused with advice."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

import discreet
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
    "utf16.csv": table().encode("utf-16"),
    "bom.csv": table(end="\r\n").encode("utf-8-sig"),
    "zipped.csv.gz": gzip.compress(table().encode()),
    "tabs.tsv": table(line="{age}\t{sex}\t{town}", header="age\tsex\ttown"),
    "commas.csv": table(line="{age};{money},50;{town}", header="age;Kosten;town"),
    "money.csv": table(line='{age},"${money}.00",{town}', header="age,salary,town"),
    "dump.csv": table(line="{age},{null},{town}", header="age,visits,town"),
    "spss.csv": table(line="{age},-99,{sex}\n99,-98,{sex}", header="age,q1,sex"),
    "stata.csv": table(line="{age},.,{sex}\n{age},.a,{sex}", header="age,q1,sex"),
    "sas.csv": table(line='"{age}","{day:02d}JAN2020","{sex}"', header='"AGE","DT","SEX"'),
    "mixed_dates.csv": table(line="{day:02d}.05.2020,{sex}\n2020-05-{day:02d},{sex}", header="came,sex"),
    "open_dates.csv": table(line="0{sex},01/02/2020", header="sex,came"),
    "pandas_index.csv": table(line="{i},{age},{sex}", header=",age,sex"),
    "huge_few.csv": table(line="9{i:030d},{age},{sex}\n9{i:030d},{age},{sex}", header="n,age,sex"),
    "quoted.csv": table(line='"{age}","a ""b"", c\nd","{sex}"', header='"age","say ""it""","sex"'),
    "break_in_name.csv": table(header='age,"sex\n(m/f)",town,disease', end="\r\n"),
    "sql_names.csv": table(line="{age},{sex},{town}", header='select,"a;b",a.b'),
    "blank_lines.csv": table(end="\n\n"),
    "nested.jsonl": lines_of_json(),
    "decimals.csv": table(line="{age},{day}.{i}5e-3,{sex}", header="age,x,sex"),
    "zeros.csv": table(line="{age},0{i:04d},{sex}\n{age},0{i:04d},{sex}", header="age,plz,sex"),
    "unicode_text.txt": table("{age}\t{sex}\t{money},50", "Alter\tGeschl\tBetrag", "\r\n").encode("utf-16"),
    "old_mac.csv": table("{age};{sex};{town}", "age;sex;town", "\r").encode("mac_roman"),
    "polish.csv": table("{age};{sex};Łódź", "wiek;płeć;miasto").encode("cp1250"),
    "two_marks.csv": b"\xef\xbb\xbf" * 2 + table().encode(),
    "joined.csv.gz": gzip.compress(table().encode()) + gzip.compress(b"20,m,Bonn,flu\n"),
    "control.csv": table("{age},{sex},\x1b[31m{town}", "age,sex,town"),
    "star_cells.csv": table("{age},{sex},*", "age,sex,town"),
    "reserved.csv": table(header="rows,k,role,*"),
    "cells_of_two_kinds.jsonl": "".join(
        json.dumps({"age": 20 + i % 4 if i % 5 else "unknown", "sex": "m"}) + "\n" for i in range(30)
    ),
    "keys_that_differ.jsonl": "".join(
        json.dumps({"age": 20 + i % 4, ("sex" if i % 2 else "town"): "m"}) + "\n" for i in range(30)
    ),
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
    "mixed_ends.csv": table() + "23,m,Bonn,flu\r\n24,f,Bonn,cold\r",
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
def test_files_of_programs_are_released_and_audited(name: str, run: Run) -> None:
    status, printed = released(run, name, RELEASED[name])
    assert status == 0, printed


@pytest.mark.parametrize("name", REFUSED_OR_RELEASED)
def test_broken_files_are_refused_with_advice(name: str, run: Run) -> None:
    status, printed = released(run, name, REFUSED_OR_RELEASED[name])
    assert status in (0, 2), printed
    if status:
        assert printed.startswith("init: "), printed  # unreadable files are refused at once
        assert name in printed
        assert "Please report" not in printed


REPORTED: dict[str, tuple[str | bytes, str]] = {
    "totals.csv": (table("{age};{sex};{money}", "age;sex;cost") + "Summe;;54321\n", "'age' holds 'Summe'"),
    "caret.csv": (table("{age}^{sex}", "age^sex"), "If it is several, name the delimiter"),
    "fixed.txt": (table("{age}  {sex} Bonn", "AGE SEX TOWN"), "If it is several, name the delimiter"),
    "mysql.txt": (
        table("| {age} | {sex} |", "+-----+-----+"),
        "If it is several, name the delimiter",
    ),
    "two_units.csv": (
        table("{age},{day} kg\n{age},{day} lb", "age,weight"),
        "numbers of several units, kg, lb: it is read as text",
    ),
    "months.csv": (table("{age},{day:02d}/2023", "age,month"), "holds months without days"),
    "two_encodings.csv": (
        table().encode() + "25,m,Köln,flu\n".encode("latin-1"),
        "some bytes are UTF-8 and others are not",
    ),
    "cyrillic.csv": (table("{age};м", "age;пол").encode("koi8-r"), "where letters are wrong, say --encoding"),
    "error_cells.csv": (table("{age},#NAME?\n{age},{money}", "age,cost"), "Read as NULL: '#NAME?'"),
}
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "japanese.csv": (table("{age},東京", "年齢,性別").encode("shift_jis"), "Set the file's encoding"),
    "note_below.csv": (table() + "\n* provisional\n", "Remove notes below the table and rules in it."),
    "end_of_file.csv": (table() + "\x1a", "Remove notes below the table"),
    "comments.csv": (
        "# by a tool\n# in 2024\n" + table(),
        "Remove lines above the one that names the columns",
    ),
    "title.csv": (
        "Export;;;\n;;;\n" + table().replace(",", ";"),
        "Name them; remove lines above the table",
    ),
    "psql.txt": (
        " age | sex\n-----+-----\n" + table("  {age} | {sex}", " ")[2:] + "(24 rows)\n",
        "Remove notes below the table and rules in it.",
    ),
    "r_rows.csv": (table('"{i}",{age},"{sex}"', '"age","sex"'), "row.names = FALSE"),
    "r_table.txt": (table('"{i}" {age} "{sex}"', '"age" "sex"'), "--delimiter ' '"),
    "backslashes.csv": (table('{age},"said \\"no\\", ok"', "age,note"), "double quotes inside"),
    "two_lines.csv": ("age,sex,sex\n" + table("{age},{sex},x", "age,m,f"), "Rename one of them."),
    "old.xls": (b"\xd0\xcf\x11\xe0" + bytes(600), "Save the sheet as .xlsx or as CSV"),
    "sheet.ods": (b"PK\x03\x04", "Save the sheet as .xlsx or as CSV"),
    "people.zip": (b"PK\x03\x04", "Unpack it first."),
    "people.rds": (b"\x1f\x8b", "Write it from R as Parquet or CSV."),
    "people.accdb": (b"\x00\x01", "Export the table as CSV in UTF-8."),
    "rows.xml": ("<rows/>", "Write its table as CSV or JSON lines."),
    "people": (table(), "--format csv"),
    "cut.csv.gz": (gzip.compress(table().encode())[:-9], "Unpack it, or copy it again."),
}


@pytest.mark.parametrize("name", [*REPORTED, *REFUSED])
def test_odd_files_are_reported_and_broken_ones_refused_with_advice(name: str, run: Run) -> None:
    content, expected = {**REPORTED, **REFUSED}[name]
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    found = run("init", name)
    assert found.status == (2 if name in REFUSED else 0)
    assert expected in " ".join(f"{found.out} {found.err}".split())


def test_byte_order_mark_before_a_name_is_refused_and_not_lost_in_a_release() -> None:
    frame = pd.DataFrame({"\ufeffage": [20, 21] * 20, "sex": ["m", "f"] * 20})
    with pytest.raises(discreet.InputError, match="byte order mark"):
        discreet.init(frame)
