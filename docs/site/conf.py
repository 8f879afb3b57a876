"""How Sphinx makes the site of the pages as they lie: ``make site``; the navigation is docs/site/index.md."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
project = "discreet"
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
author = "the authors of discreet"
copyright = "the authors of discreet, Apache License 2.0"  # noqa: A001

extensions = ["myst_parser"]
root_doc = "docs/site/index"
include_patterns = [
    "docs/**.md",
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/*.md"),
]
exclude_patterns = ["build", ".venv", "out", "dist"]
source_suffix = {".md": "markdown"}
language = "en"
nitpicky = True
# Options and code in prose keep their two hyphens and straight quotes.
smartquotes = False
# Blocks show what is typed and what is printed, with ellipses and other things that no lexer takes.
suppress_warnings = ["misc.highlighting_failure"]

myst_heading_anchors = 4
# A line that begins with a mailing address or a bare one stays what it is in the source tree.
myst_enable_extensions: list[str] = []

html_theme = "furo"
html_title = f"discreet {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# A result is its title: the text around a word is fetched from its page, which browsers refuse of files.
html_show_search_summary = False
html_permalinks_icon = "#"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f4f61", "color-brand-content": "#1f6f94"},
    "dark_css_variables": {"color-brand-primary": "#9ec3d6", "color-brand-content": "#7cc0e0"},
}
# A block that names no language is shown as it is.
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# The site's own front door, one level above the pages, which keep the addresses that they have in the tree.
_DOOR = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>discreet</title>
<meta http-equiv="refresh" content="0; url={home}"><a href="{home}">discreet</a></html>
"""


def _open_door(app: Any, failure: Exception | None) -> None:
    """Write index.html at the top of the site."""
    if failure is None and app.builder.format == "html":
        Path(app.outdir, "index.html").write_text(_DOOR.format(home=f"{root_doc}.html"), encoding="utf-8")


def setup(app: Any) -> None:
    """Tell Sphinx what to do at the end."""
    app.connect("build-finished", _open_door)
