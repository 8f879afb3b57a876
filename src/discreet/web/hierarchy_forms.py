"""The forms and answers of the Hierarchies screen: what is asked and told over REST."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

MOST_LEAVES = 20_000
"""A tree of more leaves is told by its levels alone."""


class ParameterFacts(BaseModel):
    """One field of a builder's form."""

    name: str
    label: str
    form: str = Field(
        description="number, numbers, bounds, end, whole, wholes, text, texts, formats, choice, flag, outline"
    )
    hint: str
    choices: list[str]
    initial: str | bool


class BuilderFacts(BaseModel):
    """One builder."""

    kind: str
    title: str
    words: str
    parameters: list[ParameterFacts]


class HierarchyFacts(BaseModel):
    """One quasi-identifier's hierarchy at a glance."""

    name: str
    kind: str = Field(description="file, levels, flat, or a builder's kind.")
    origin: str
    values: int = Field(description="Distinct values in the data.")
    height: int | None
    error: str | None = Field(description="Why it cannot be built.")
    from_data: bool = Field(description="Whether it was made from the data, of which a release then tells.")


class HierarchiesAnswer(BaseModel):
    """Every quasi-identifier's hierarchy; or the job that profiles the columns first."""

    job: str | None = None
    rows: int = 0
    hierarchies: list[HierarchyFacts] = Field(default_factory=list)
    builders: list[BuilderFacts] = Field(default_factory=list)


class LevelFacts(BaseModel):
    """One level: its values, each one's parent in the next level, the rows and leaves below it."""

    labels: list[str]
    parents: list[int]
    rows: list[int]
    leaves: list[int]


class LevelFigures(BaseModel):
    """One level in figures, whatever the size of the tree."""

    level: int
    values: int
    smallest: int = Field(description="Rows of its rarest value that occurs.")
    example: str = Field(description="What the most frequent value becomes.")


class ProblemFacts(BaseModel):
    """A fault of a hierarchy's table."""

    row: int | None
    level: int | None
    message: str
    advice: str


class OfferFacts(BaseModel):
    """A built-in hierarchy that fits a column's values."""

    name: str
    title: str
    source: str = Field(description="The classification, and its year.")
    is_named: bool = Field(description="Whether the column's name speaks for it, too.")
    typed: dict[str, str | bool] = Field(description="The builder's form.")
    path: list[str] = Field(description="What the most frequent value becomes, level by level.")


class HierarchyAnswer(BaseModel):
    """A hierarchy: its tree where it can be built, what is wrong where it cannot."""

    attribute: str
    kind: str
    origin: str
    typed: dict[str, str | bool] = Field(description="The builder's form.")
    rows: int
    null_rows: int
    values: int
    height: int | None
    levels: list[LevelFacts] = Field(description="Leaves first; empty for very many leaves.")
    figures: list[LevelFigures]
    notes: list[str]
    problems: list[ProblemFacts]
    missing: list[str] = Field(description="Values of the data without a leaf.")
    offers: list[OfferFacts] = Field(
        default_factory=list, description="Built-in hierarchies that fit the values, those of its name first."
    )


class BuildBody(BaseModel):
    """A builder's form as it was filled in."""

    attribute: str
    kind: str = Field(description='A builder\'s kind; "flat" for value → *.')
    typed: dict[str, str | bool] = Field(default_factory=dict)


class EditBody(BaseModel):
    """One change by hand."""

    attribute: str
    change: Literal["group", "move", "rename", "ungroup", "add_level", "remove_level", "add_values"]
    level: int = Field(0, ge=0, le=1000)
    labels: list[str] = Field(default_factory=list, max_length=MOST_LEAVES)
    name: str = Field("", max_length=500)
    target: str = Field("", max_length=500)


class FileBody(BaseModel):
    """A file by its name, and its text."""

    name: str = Field(min_length=1, max_length=300)
    text: str = Field(max_length=3_000_000)


class FilesBody(BaseModel):
    """Files that may be hierarchies; ``use`` says which file is taken for which quasi-identifier."""

    files: list[FileBody] = Field(min_length=1, max_length=500)
    use: dict[str, str] = Field(default_factory=dict, description="Names of files by quasi-identifier.")


class MatchFacts(BaseModel):
    """What becomes of one file."""

    name: str
    columns: list[str] = Field(description="The quasi-identifiers that it fits; empty where it fits none.")
    reason: str
    levels: int


class MatchesAnswer(BaseModel):
    """What becomes of each file. Nothing is saved."""

    matches: list[MatchFacts]


class TextBody(BaseModel):
    """A hierarchy in ARX's form: one line per leaf, ``leaf;level 1;…;*``."""

    attribute: str
    text: str = Field(max_length=3_000_000)
