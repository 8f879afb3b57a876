"""Three realistic tables: a hospital's export, a survey, a spreadsheet saved as CSV."""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def hospital(path: Path, rows: int = 900) -> None:
    """Write admissions: Windows-1252, semicolons, decimal commas, two date formats, repeated patients."""
    draw = random.Random(7)
    patients = [
        (
            f"{number:08d}",
            f"{draw.choice(['Müller', 'Weiß', 'Öztürk', 'Lefèvre', 'Groß'])}, {draw.choice('ABCDEFG')}.",
            date(1930, 1, 1) + timedelta(days=draw.randrange(32_000)),
            draw.choice(["m", "w", "w ", "M", "d"] if draw.random() < 0.2 else ["m", "w"]),
            f"{draw.choice([1067, 4109, 10115, 20095, 80331]) + draw.randrange(40):05d}",
        )
        for number in range(1, rows // 3 + 1)
    ]
    lines = []
    for case in range(rows):
        number, name, born, sex, place = draw.choice(patients)
        came = date(2021, 1, 1) + timedelta(days=draw.randrange(1_000))
        stay = draw.randrange(1, 30)
        form = "%d.%m.%Y" if draw.random() < 0.7 else "%Y-%m-%d"
        cost = f"{draw.randrange(400, 20_000)},{draw.randrange(100):02d}"
        lines.append(
            (
                number,
                f"F{100_000 + case}",
                name,
                f"{born:%d.%m.%Y}",
                sex,
                place if draw.random() > 0.02 else "NA",
                came.strftime(form),
                (came + timedelta(days=stay)).strftime(form) if draw.random() > 0.03 else "NULL",
                stay,
                f"{draw.choice('IJKM')}{draw.randrange(10, 14)}.{draw.randrange(3)}",
                cost if draw.random() > 0.02 else "k.A.",
                draw.choice(["Chirurgie", "Innere", "Gynäkologie"]),
            )
        )
    names = "PatNr;Fallnummer;Name;Geburtsdatum;Geschlecht;PLZ;Aufnahme;Entlassung;Verweildauer;"
    names += "Diagnose;Kosten;Station"
    text = StringIO()
    text.write(names + "\n")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(lines)
    path.write_bytes(text.getvalue().encode("windows-1252"))


def survey(path: Path, rows: int = 1_000) -> None:
    """Write a survey: 150 columns, most of them items, a weight per row, and a list column."""
    draw = random.Random(11)
    columns: dict[str, Any] = {
        "respondent": [f"R{number:06d}" for number in range(rows)],
        "weight": [draw.lognormvariate(0, 0.4) for _ in range(rows)],
        "age": [draw.randrange(18, 95) if draw.random() > 0.01 else -9 for _ in range(rows)],
        "sex": [draw.choice(["male", "female"]) for _ in range(rows)],
        "region": [
            draw.choice(["North", "East", "South", "West"]) + f" {draw.randrange(4)}" for _ in range(rows)
        ],
        "isco08": [
            f"{draw.choice('123579')}{draw.choice('123')}{draw.choice('123')}{draw.randrange(4)}"
            for _ in range(rows)
        ],
        "income_net": [
            round(draw.lognormvariate(7.6, 0.5), 2) if draw.random() > 0.1 else None for _ in range(rows)
        ],
        "media": [draw.sample(["tv", "radio", "web", "print"], draw.randrange(3)) for _ in range(rows)],
        "interview": [date(2023, 3, 1) + timedelta(days=draw.randrange(60)) for _ in range(rows)],
    }
    for item in range(1, 142):
        columns[f"q{item:03d}"] = [draw.choice([1, 2, 3, 4, 5, -8, -9]) for _ in range(rows)]
    pq.write_table(pa.table(columns), path)


def payroll(path: Path, rows: int = 600) -> None:
    """Write a payroll: a byte order mark, CRLF, money, blanks, mixed case, duplicates, US dates."""
    draw = random.Random(3)
    lines = []
    for number in range(rows):
        born = date(1958, 1, 1) + timedelta(days=draw.randrange(16_000))
        hired = date(2000, 1, 1) + timedelta(days=draw.randrange(8_000))
        lines.append(
            (
                f"E{1000 + number}",
                f"{draw.choice(['Ann', 'Bob', 'Di'])} {draw.choice(['Smith', 'Jones'])} {number % 97}",
                f"{born:%m/%d/%Y}",
                f"{hired:%m/%d/%y}",
                draw.choice(["Sales", "sales", "SALES", "Sales ", "IT", "HR", "Legal"]),
                draw.choice(["F", "M", "f", "M "]),
                f"${draw.randrange(28_000, 190_000):,}.00" if draw.random() > 0.03 else "n/a",
                draw.choice(["New York", "Boston", "Austin", "new york", "Boston  "]),
                f"{draw.randrange(101)}%",
                draw.choice(["", "", "left early"]),
                draw.choice([-1, *range(22, 65)]),
            )
        )
    lines += [draw.choice(lines) for _ in range(25)]
    names = [
        "Employee",
        'Name "as in passport"',
        "DOB",
        "Hire Date",
        "Dept",
        "Gender",
        "Salary",
        "Office",
        "Bonus",
        "Note",
        "Age",
    ]
    text = StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([names, *lines])
    path.write_bytes(text.getvalue().encode("utf-8-sig"))
