"""The site lists every page once, and has no broken link."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs import commands_page, errors_page, python_page
from docs.images import concepts

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "docs" / "site" / "index.md"
PAGES = sorted(
    {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")} - {HOME}
)


@pytest.mark.parametrize("made", [commands_page, python_page, errors_page], ids=lambda made: made.__name__)
def test_reference_page_is_current(made: object) -> None:
    """``python docs/NAME_page.py`` writes it again."""
    assert made.PAGE.read_text(encoding="utf-8") == made.page()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", concepts.DRAWN)
def test_picture_is_current(name: str) -> None:
    """``python docs/images/concepts.py`` draws it again."""
    drawn = (ROOT / "docs" / "images" / f"concept-{name}.svg").read_text(encoding="utf-8")
    assert drawn == concepts.DRAWN[name]()


@pytest.mark.slow
def test_site_is_built_without_a_warning_and_loads_nothing(tmp_path: Path) -> None:
    """A page that is not listed and a broken link are warnings, and warnings are errors."""
    pytest.importorskip("furo", reason="furo is missing: pip install 'discreet[site]'")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    folders = ["-d", str(tmp_path / "cache"), "-c", str(HOME.parent), str(ROOT), str(tmp_path / "site")]
    done = subprocess.run([*command, *folders], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(PAGES)
    loads = re.compile(
        r"<(?:script|img|iframe|source)[^>]+src=\"(?:https?:)?//|<link[^>]+href=\"(?:https?:)?//"
    )
    assert [str(page) for page in pages if loads.search(page.read_text(encoding="utf-8"))] == []
    sheets = (tmp_path / "site").rglob("*.css")
    assert [
        str(s) for s in sheets if re.search(r"url\([\"']?https?:|@import", s.read_text(encoding="utf-8"))
    ] == []
    assert (tmp_path / "site" / "searchindex.js").is_file()
