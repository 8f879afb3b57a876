"""More file formats: the message for each, and no internal error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

import discreet
from tests.cli.conftest import Run, run
from tests.first_hour.test_real_forms import released, table

__all__ = ["run"]

RELEASED: dict[str, str | bytes] = {
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
SAID: dict[str, tuple[str | bytes, str]] = {
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


@pytest.mark.parametrize("name", RELEASED)
def test_what_programs_write_is_released_and_audited(name: str, run: Run) -> None:
    status, said = released(run, name, RELEASED[name])
    assert status == 0, said


@pytest.mark.parametrize("name", [*SAID, *REFUSED])
def test_what_is_odd_is_said_and_what_is_broken_is_refused_with_a_way_out(name: str, run: Run) -> None:
    content, said = {**SAID, **REFUSED}[name]
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    found = run("init", name)
    assert found.status == (2 if name in REFUSED else 0)
    assert said in " ".join(f"{found.out} {found.err}".split())


def test_a_mark_before_a_name_is_refused_and_not_lost_in_a_release() -> None:
    frame = pd.DataFrame({"\ufeffage": [20, 21] * 20, "sex": ["m", "f"] * 20})
    with pytest.raises(discreet.InputError, match="byte order mark"):
        discreet.init(frame)
