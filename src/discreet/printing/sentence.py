"""The first letter of a sentence."""

from __future__ import annotations

import re

_SYMBOL = re.compile(r"[^\W\d_](?=[-(=])|(?![aiAI])[^\W\d_](?![\w'’])|[\u0370-\u03ff]")


def capitalized(text: str) -> str:
    """Return a text with a capital first, unless it begins with a symbol or a name that begins with one.

    Greek capitals look like Latin ones, and T is not t: a criterion's name is never changed.

    >>> [capitalized(text) for text in ("the rows", "t-closeness", "α-deassociation", "a share")]
    ['The rows', 't-closeness', 'α-deassociation', 'A share']
    """
    return text if _SYMBOL.match(text) else text[:1].upper() + text[1:]
