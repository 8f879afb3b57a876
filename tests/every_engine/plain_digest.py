"""Digest of a database's table in plain Python."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from discreet.sql import row_hashes


def plain_digest(rows: Counter[tuple[Any, ...]]) -> str:
    """Compute the digest of ``sql.row_hashes`` in plain Python."""

    def sha256(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    def text(cell: Any) -> str:
        return "-," if cell is None else f"{len(cell)}:{cell},"

    width = len(next(iter(rows)))
    few = [i for i in range(width) if len({row[i] for row in rows}) <= row_hashes.MOST_LINE_CELLS]
    lines: dict[str, list[str]] = {}
    for row, number in rows.items():
        cells = "".join(text(cell) for i, cell in enumerate(row) if i not in few[-1:])
        lines.setdefault(cells, []).append(f"{text(row[few[-1]])}{number};" if few else str(number))
    parts: dict[str, list[str]] = {}
    for cells, entries in lines.items():
        found = sha256(cells + "".join(sorted(entries)))
        parts.setdefault(found[:4], []).append(found)
    return sha256("".join(sorted(sha256("".join(sorted(part))) for part in parts.values())))
