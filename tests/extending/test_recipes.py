"""The recipes of the page are the files that the tests of this folder run."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "extending.md"


@pytest.mark.parametrize("recipe", sorted(path.name for path in HERE.glob("toy_*.py")))
def test_page_repeats_each_recipe_exactly(recipe: str) -> None:
    text = (HERE / recipe).read_text(encoding="utf-8")
    assert f"```python\n{text}```\n" in PAGE.read_text(encoding="utf-8")
