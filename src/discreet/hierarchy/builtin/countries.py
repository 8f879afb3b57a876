"""Countries and areas in regions, by ISO 3166 codes or English names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from discreet.hierarchy.builtin.declaration import Builtin, Labels
from discreet.hierarchy.builtin.outline import entries


def _country(value: str) -> Labels | None:
    """Sub-region and region of DE, DEU, 276 or Germany, in any case."""
    key = _plain(value)
    return _countries().get(f"{int(key):03}" if key.isascii() and key.isdecimal() else key)


@cache
def _countries() -> Mapping[str, Labels]:
    """Sub-region and region by codes and names."""
    found: dict[str, Labels] = {}
    for region, sub_region, line in entries("countries.outline"):
        two, three, number, names = line.split(maxsplit=3)
        for text in (two, three, number, *names.split("; ")):
            found[_plain(text)] = (sub_region, region)
    return found


def _plain(text: str) -> str:
    """Lower case, without accents, signs as blanks."""
    letters = unicodedata.normalize("NFKD", text.casefold()).replace("’", "'")
    kept = "".join(c for c in letters if not unicodedata.combining(c))
    return " ".join(re.findall(r"\w+", kept))


COUNTRY = Builtin(
    "country",
    "Countries and areas in sub-regions and regions",
    ("sub-region", "region"),
    "United Nations, Standard country or area codes for statistical use (M49), and ISO 3166-1, 2023",
    "Germany",
    _country,
    "country land pais pays paese nation nationality native citizenship birthplace staat herkunft",
)
