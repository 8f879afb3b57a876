"""Hierarchies of codes (postal codes, telephone numbers, diagnoses): characters masked from one end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from discreet.errors import InputError
from discreet.hierarchy.level_table import hierarchy_from_columns, ordered_leaves
from discreet.hierarchy.messages import quote_value
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, PublicPart
from discreet.model.option import spec_key
from discreet.model.published_cells import LabelForm, LabelKind

MOST_MASK_LEVELS = 64


@dataclass(frozen=True)
class MaskHierarchy:
    """Masks: level i masks the first ``steps[0] + … + steps[i - 1]`` characters counted from ``side``.

    ``steps`` None masks one character per level; a number masks that many per level. The level that would
    mask every character of every value is the top ``*``; further steps are left out.

    Values of unequal length: without ``pad``, a value loses its own last (or first) characters and keeps its
    length, ``217 → 21*`` and ``02174 → 0217*``, until none is left, which is ``*``. So a label depends only
    on its value and on the number of masked characters, while the number of levels depends on the longest
    value. With ``pad``, values are first filled with the mask character to ``length`` (None: that of the
    longest value) on the masked side, so positions count from the other end: ``217 → 217**`` and ``02174 →
    0217*``, then ``217**`` and ``021**``.

    Levels nest because a label at each level is either ``*``, which never changes, or the value's length (or
    the padded one) and its unmasked characters. Two values with equal labels therefore keep equal characters
    at the next level, which masks more of them from the same end.
    """

    side: Literal["right", "left"] = spec_key(
        "The end that is masked first.", '"left"', "right, left", alias="from", default="right"
    )
    character: str = spec_key("Mask character.", '"#"', "one character", default="*")
    steps: int | tuple[int, ...] | None = spec_key(
        "Number of additional characters that each level masks.",
        "[1, 2, 2]",
        "a whole number of at least 1 (characters per level), or a list of them by level",
    )
    pad: bool = spec_key(
        "Whether shorter values are padded to equal length.", "true", "true, false", default=False
    )
    length: int | None = spec_key(
        "The length to which values are padded.", "5", "a whole number of at least 1", ge=1
    )

    def __post_init__(self) -> None:
        if self.side not in ("right", "left"):
            raise InputError(f"mask from {quote_value(self.side)}", allowed="right, left")
        if len(self.character) != 1:
            raise InputError(f"mask character {quote_value(self.character)}", allowed="one character")
        steps = self.steps if isinstance(self.steps, tuple) else (1 if self.steps is None else self.steps,)
        if not steps or min(steps) < 1:
            raise InputError(f"mask step {min(steps, default='none')}", allowed="whole numbers of at least 1")
        if self.length is not None and self.length < 1:
            raise InputError(f"mask length {self.length}", allowed="a whole number of at least 1")
        if self.length is not None and not self.pad:
            raise InputError("a mask with length but without pad", allowed="length together with pad = true")

    @property
    def origin(self) -> str:
        """Short description, such as ``mask from the right``."""
        return f"mask from the {self.side}"

    @property
    def from_data(self) -> bool:
        """True if values are padded to the length of the longest one."""
        return self.pad and self.length is None

    @property
    def public_part(self) -> PublicPart:
        """Levels are public if ``length`` fixes their number; otherwise the longest value does."""
        return PublicPart.NOTHING if self.length is None else PublicPart.LEVELS

    @property
    def label_form(self) -> LabelForm:
        """Form of the labels: the remaining characters."""
        return LabelForm(LabelKind.MASK, side=self.side, character=self.character, pad=self.pad)

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the masked values; raise ``InputError`` for a value above ``length``, or for over 64 levels.

        Cost: one label per value and level.
        """
        leaves = ordered_leaves(attribute, values)
        longest = self._longest(attribute, leaves)
        masked = self._masked(attribute, longest)
        filled = [self._filled(leaf, longest) for leaf in leaves] if self.pad else leaves
        columns = [leaves, *([self._label(text, number) for text in filled] for number in masked)]
        columns.append([TOP] * len(leaves))
        return hierarchy_from_columns(attribute, columns, origin=self.origin, from_data=self.from_data)

    def _longest(self, attribute: str, leaves: Sequence[str]) -> int:
        longest = max(leaves, key=len, default="")
        if self.length is not None and len(longest) > self.length:
            raise InputError(
                f"attribute {quote_value(attribute)}: {quote_value(longest)} of the data has {len(longest)} "
                "characters",
                allowed=f"at most {self.length}, the length of the mask",
            )
        return self.length or len(longest)

    def _masked(self, attribute: str, longest: int) -> list[int]:
        """Return the number of characters that each level below the top masks."""
        if isinstance(self.steps, tuple):
            result = [number for number in accumulate(self.steps) if number < longest]
        else:
            result = list(range(self.steps or 1, longest, self.steps or 1))
        if len(result) >= MOST_MASK_LEVELS:
            raise InputError(
                f"attribute {quote_value(attribute)}: a mask of {len(result) + 1} levels",
                allowed=f"at most {MOST_MASK_LEVELS}",
                advice="Mask several characters per level, such as steps = 10.",
            )
        return result

    def _filled(self, text: str, length: int) -> str:
        fill = self.character * (length - len(text))
        return text + fill if self.side == "right" else fill + text

    def _label(self, text: str, masked: int) -> str:
        if masked >= len(text):
            return (
                TOP  # stars of the value's length would reveal that a longer value exists, perhaps suppressed
            )
        stars = self.character * masked
        return text[: len(text) - masked] + stars if self.side == "right" else stars + text[masked:]
