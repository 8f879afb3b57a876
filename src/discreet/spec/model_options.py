"""A model's options from a TOML file: the keys that the model declares, and no others.

Of patterns, say::

    max_stars = 2
    never = ["education", "salary_class"]
    together = [["work_class", "occupation"]]
    at_most_one = [["age", "sex", "race"]]
    outliers = "suppress"
    [weights]
    age = 2.0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, create_model

from discreet.errors import InputError
from discreet.model.option import Option, OptionKind
from discreet.places.regular_file import read_text
from discreet.spec.problems import StrictTable, validated
from discreet.spec.toml_text import toml_of


def _float(value: object) -> object:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


Decimal = Annotated[float, BeforeValidator(_float), Field(allow_inf_nan=False)]
Weight = Annotated[float, BeforeValidator(_float), Field(ge=0, allow_inf_nan=False)]
_TYPES: Mapping[OptionKind, Any] = {
    OptionKind.WHOLE: int,
    OptionKind.DECIMAL: Decimal,
    OptionKind.FLAG: bool,
    OptionKind.QUASI_IDENTIFIERS: list[str],
    OptionKind.GROUPS: list[list[str]],
    OptionKind.LEVELS: dict[str, int],
    OptionKind.NUMBERS: dict[str, Weight],
}


def load_options(path: Path, options: Sequence[Option], what: str) -> dict[str, Any]:
    """The keys that a file has, with their values; ``what`` is how errors call the file.

    ``InputError`` names the file, the key, the value, and what is allowed.
    """
    try:
        document = toml_of(read_text(path, f"{what} {path}"))
    except OSError as error:
        raise InputError(f"{what} {path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{path} is no TOML: {error}", allowed="TOML in UTF-8") from None
    table = validated(table_of([each for each in options if each.in_spec]), document, label=str(path), key=())
    return {name: value for name, value in table.model_dump().items() if value is not None}


def table_of(options: Sequence[Option]) -> type[StrictTable]:
    """The table of options as a file has them."""
    keys: dict[str, Any] = {each.name: _field(each) for each in options}
    return create_model("OptionsTable", __base__=StrictTable, **keys)


def _field(option: Option) -> tuple[Any, Any]:
    kind = Literal[option.choices] if option.kind is OptionKind.CHOICE else _TYPES.get(option.kind, str)
    if kind is str and option.repeatable:
        kind = list[str]
    bounds = {"ge": option.least, "le": option.most}
    checks: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    return kind | None, Field(None, description=option.allowed, **checks)
