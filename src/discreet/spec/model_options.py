"""The description of a pattern mask: a TOML file of vectors, or of constraints.

::

    max_stars = 2
    never = ["education", "salary_class"]
    together = [["work_class", "occupation"]]
    at_most_one = [["age", "sex", "race"]]
    outliers = "suppress"
    [weights]
    age = 2.0
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from discreet.errors import InputError
from discreet.places.regular_file import read_text
from discreet.spec.problems import StrictTable, validated

_NAMES = 'a list of quasi-identifiers, such as ["age", "sex"]'
_GROUPS = 'a list of groups of quasi-identifiers, such as [["age", "sex"]]'


def _float(value: object) -> object:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


Weight = Annotated[float, BeforeValidator(_float), Field(ge=0, allow_inf_nan=False)]


class PatternsTable(StrictTable):
    """The keys of a mask's description."""

    pattern: list[str] | None = Field(
        None, description='a list of vectors, one sign per quasi-identifier, such as ["..*", "*.."]'
    )
    max_stars: int | None = Field(None, ge=0, description="a whole number of at least 0")
    never: list[str] | None = Field(None, description=_NAMES)
    required: list[str] | None = Field(None, description=_NAMES)
    together: list[list[str]] | None = Field(None, description=_GROUPS)
    at_most_one: list[list[str]] | None = Field(None, description=_GROUPS)
    cells: Literal["stars", "levels"] | None = Field(None, description="stars, levels")
    cost: Literal["precision", "loss"] | None = Field(None, description="precision, loss")
    outliers: Literal["suppress", "delete", "error"] | None = Field(
        None, description="suppress, delete, error"
    )
    tie: Literal["last-column-first", "first-column-first", "as-given", "best"] | None = Field(
        None, description="last-column-first, first-column-first, as-given, best"
    )
    method: str | None = Field(None, min_length=1, description="the name of a method, such as greedy")
    weights: dict[str, Weight] | None = Field(
        None, description="a table of numbers of at least 0 by quasi-identifier"
    )


def load_patterns(path: Path) -> dict[str, Any]:
    """The keys that a description has, with their values.

    ``InputError`` names the file, the key, the value, and what is allowed.
    """
    try:
        document = tomllib.loads(read_text(path, f"the patterns {path}"))
    except OSError as error:
        raise InputError(f"the patterns {path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is no TOML: {error}", allowed="TOML in UTF-8") from None
    return patterns_of(document, str(path))


def patterns_of(document: Mapping[str, Any], label: str) -> dict[str, Any]:
    """The same from a mapping."""
    table = validated(PatternsTable, document, label=label, key=())
    return {name: value for name, value in table.model_dump().items() if value is not None}
