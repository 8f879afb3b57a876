"""Projects of ten people, in the format in which ARX saves them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

ROWS = """\
name;age;city;diagnosis;note
Ada;23;Köln;flu;a
Bea;23;Köln;cold;b
Cid;27;Bonn;flu;c
Dan;27;Bonn;gout;d
Eva;41;Bonn;flu;e
Fay;41;Köln;cold;f
Gil;44;Jena;flu;g
Hal;44;Jena;gout;h
Ida;48;Jena;cold;i
Jon;48;Jena;flu;j
"""
HIERARCHIES = {
    "age": "23;20-29;*\n27;20-29;*\n41;40-49;*\n44;40-49;*\n48;40-49;*\n",
    # has two values at the top: ARX never makes it one
    "city": '"Köln";West\nBonn;West\nJena;East\n',
}
MODELS = (
    "2-anonymity",
    "distinct-2-diversity for attribute 'diagnosis'",
    "0.2-closeness with hierarchical ground-distance for attribute 'diagnosis'",
)


def tag(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>\n"


def column(name: str, kind: str, reference: str = "", maximum: str = "All", extra: str = "") -> str:
    levels = tag("ref", reference) + tag("min", "All") + tag("max", maximum) if reference else ""
    inner = tag("name", name) + tag("type", f"{kind}_ATTRIBUTE") + tag("datatype", "String") + levels + extra
    return f"<assigment>\n{inner}</assigment>\n"


def parts(**changed: str) -> dict[str, str]:
    """Return the parts of a project by name; a change names the part in letters, ``input_config_xml``."""
    definition = "<definition>\n" + column("name", "IDENTIFYING")
    definition += column(
        "age",
        "QUASI_IDENTIFYING",
        "hierarchies/age.csv",
        "1",
        tag("microaggregationFunction", "Arithmetic mean"),
    )
    definition += column("city", "QUASI_IDENTIFYING", "hierarchies/city.csv")
    definition += column("diagnosis", "SENSITIVE", extra=tag("response", "true"))
    definition += column("note", "INSENSITIVE") + "</definition>"
    weights = "".join(
        f"<attributeWeight>{tag('attribute', name)}{tag('weight', weight)}</attributeWeight>\n"
        for name, weight in (("age", "1.0"), ("city", "0.5"))
    )
    config = (
        f"<config>\n{tag('relativeMaxOutliers', '0.05')}{tag('metric', 'Loss')}"
        f"<attributeWeights>{weights}</attributeWeights>"
        f"<criteria>{''.join(tag('criterion', model) for model in MODELS)}</criteria></config>"
    )
    found = {
        "metadata.xml": f"<metadata>{tag('version', '3.9.1')}{tag('vocabulary', '2.0')}</metadata>",
        "project.dat": "a Java object",
        "project.xml": f"<project>{tag('name', 'Ten people')}{tag('separator', ';')}</project>",
        "data/input.csv": ROWS,
        "input/config.dat": "another",
        "input/config.xml": config,
        "input/definition.xml": definition,
        **{f"input/hierarchies/{name}.csv": text for name, text in HIERARCHIES.items()},
    }
    letters = {"".join(c if c.isalnum() else "_" for c in name): name for name in found}
    return found | {letters[name]: text for name, text in changed.items()}


def write_project(path: Path, contents: Mapping[str, str | bytes] | None = None) -> Path:
    """Write a project to a path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (parts() if contents is None else contents).items():
            archive.writestr(name, text)
    return path
