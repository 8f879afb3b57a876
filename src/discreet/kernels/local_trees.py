"""Hierarchies as bit fields: how much a class loses, told from the bits in which its members differ.

A *key* holds one field per attribute and in it one bit group per level: the value's place among its siblings,
the leaf level in the low bits. Two leaves agree at a level where their fields agree in that level's group and
above. So the exclusive or of two keys tells, per attribute, the level of their lowest common ancestor, and
the or of such differences tells it for a whole class: its *spread*. A field never crosses a word; keys take
as many words as they need.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from discreet.kernels.local_jit import compiled_lean

Array = NDArray[Any]


class Trees(NamedTuple):
    """The hierarchies of all attributes, as arrays.

    ``word[j]`` is the word of attribute j's field. ``masks[first[j] … first[j + 1] - 1]`` are, from level 0
    on, the bits that must agree at that level: a spread that touches n of them means level n. A cell of level
    ``level`` above leaf ``code`` loses ``losses[base[j] + level * width[j] + code]``, infinite above the
    greatest level allowed.
    """

    word: Array
    first: Array
    masks: Array
    base: Array
    width: Array
    losses: Array


@compiled_lean
def loss_of_spread(spread: Array, codes: Array, member: int, trees: Trees) -> float:
    """The loss of one row of a class of this spread; row ``member`` of ``codes`` holds a member's leaves."""
    loss = 0.0
    for j in range(len(trees.word)):
        bits = spread[trees.word[j]]
        level = 0
        for m in range(trees.first[j], trees.first[j + 1]):
            level += (bits & trees.masks[m]) != 0
        loss += trees.losses[trees.base[j] + level * trees.width[j] + codes[member, j]]
    return loss
