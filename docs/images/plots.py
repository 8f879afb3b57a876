"""Draws the plots of ``permutation-evaluation.md``, from a whole run of ``python -m papers permutation``.

``python -m docs.images.plots`` writes them next to this file. Marks that a plot draws once and refers to are
drawn at each place instead, so that a picture refers to nothing.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from xml.etree import ElementTree

from papers.reproduction import prepare_run

FOLDER = Path(__file__).resolve().parent
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
PICTURES = {
    "arbitrary-queries": "permutation-arbitrary",
    "partitions": "permutation-partitions",
    "correlation": "permutation-correlation",
}


def without_references(svg: str) -> str:
    """The same drawing, each referred mark written out where it is used."""
    ElementTree.register_namespace("", SVG[1:-1])
    root = ElementTree.fromstring(svg)
    marks = {path.get("id"): path for path in root.iter(f"{SVG}path") if path.get("id")}
    for parent in list(root.iter()):
        for place, used in enumerate(list(parent)):
            if used.tag != f"{SVG}use":
                continue
            mark = marks[(used.get(LINK) or "")[1:]]
            moved = f"translate({used.get('x', '0')} {used.get('y', '0')})"
            style = used.get("style") or mark.get("style") or ""
            drawn = {"d": mark.get("d") or "", "transform": moved, "style": style}
            parent[place] = ElementTree.Element(f"{SVG}path", drawn)
    metadata = root.find(f"{SVG}metadata")
    if metadata is not None:
        root.remove(metadata)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def main() -> None:
    """Run the reproduction, and write its pictures."""
    with tempfile.TemporaryDirectory() as folder:
        run = prepare_run("permutation", folder=Path(folder))
        for _ in run.sections():
            pass
        for name, written in PICTURES.items():
            drawing = Path(folder, f"{name}.svg").read_text(encoding="utf-8")
            (FOLDER / f"{written}.svg").write_text(without_references(drawing), encoding="utf-8")


if __name__ == "__main__":
    main()
