"""The site lists every page once, and has no broken link."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs import commands_page, errors_page, python_page
from docs.images import concepts
from docs.site import conf

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "docs" / "site" / "index.md"
PAGES = sorted(
    {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")} - {HOME}
)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT).with_suffix(""))


def listed() -> list[str]:
    """Return the pages of the navigation, in order."""
    found = []
    for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", HOME.read_text(encoding="utf-8"), re.M | re.S):
        entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
        found += [line[line.index("</") + 2 : -1] for line in entries]
    return found


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(listed()) == sorted(name_of(page) for page in PAGES)


@pytest.mark.parametrize("made", [commands_page, python_page, errors_page], ids=lambda made: made.__name__)
def test_a_reference_is_what_the_code_says(made: object) -> None:
    """``python docs/NAME_page.py`` writes it again."""
    assert made.PAGE.read_text(encoding="utf-8") == made.page()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", concepts.DRAWN)
def test_a_picture_is_what_is_computed(name: str) -> None:
    """``python docs/images/concepts.py`` draws it again."""
    drawn = (ROOT / "docs" / "images" / f"concept-{name}.svg").read_text(encoding="utf-8")
    assert drawn == concepts.DRAWN[name]()


def test_what_the_pictures_show() -> None:
    assert concepts.suppressed((0, 0, 0), k=2) == 8
    assert concepts.suppressed((1, 1, 0), k=3) == 0
    assert concepts.suppressed((3, 2, 1), k=10) == 0
    assert all(len(rows) >= 3 for rows in concepts.cut(concepts.POINTS, 2, k=3))
    for group in concepts.groups(concepts.SALARIES, k=3, e=5):
        shown = [concepts.SALARIES[place] for place in group]
        assert len(set(shown)) >= 3
        assert max(shown) - min(shown) >= 5


def test_warnings_are_found_in_the_code() -> None:
    codes = {code for code, _ in errors_page.warnings()}
    assert {"no-k", "homogeneous-class", "low-k", "definetti", "estimated-entropy"} <= codes


def test_the_settings_of_the_site_name_no_address() -> None:
    assert "://" not in Path(conf.__file__).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_nothing_of_a_network(tmp_path: Path) -> None:
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
