"""What ``discreet check`` found, in the forms that pipelines read: JUnit's XML and SARIF 2.1.0.

Records are kept and shown by others, so no cell of a file may stand in them: of a file that cannot be checked
they tell the kind of error alone, since its text may quote a cell.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from discreet.results.file_checks import Check, FileCheck, FileChecks, Region

PROGRAM = "discreet"
_SUITES = "discreet check"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ONE_BYTE = 256
_NAMES = {
    "k": "every class has at least k rows",
    "l": "every class has at least l different sensitive values",
    "groups": "every group of a permuted release has its different values",
    "the file": "the file is the one that its manifest describes",
    "unchecked": "the file could be checked",
}


def junit(found: FileChecks) -> str:
    """An XML document: a suite for each file, a case for each check; what cannot be checked is an error."""
    suites = ElementTree.Element("testsuites", name=_SUITES)
    for each in found.files:
        cases = [_case(each, check) for check in each.checks] or [_case(each, None)]
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=_in_xml(each.file),
            tests=str(len(cases)),
            failures=str(sum(not check.passed for check in each.checks)),
            errors=str(int(each.error is not None)),
            time=f"{each.seconds:.3f}",
        )
        suite.extend(cases)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(each: FileCheck, check: Check | None) -> ElementTree.Element:
    name = "unchecked" if check is None else check.name
    case = ElementTree.Element("testcase", classname=_in_xml(each.file), name=_in_xml(name))
    if each.error is not None:
        ElementTree.SubElement(case, "error", message=_in_xml(_reason(each)))
    elif check is not None and not check.passed:
        ElementTree.SubElement(case, "failure", message=_in_xml(check.told))
    return case


def _in_xml(text: str) -> str:
    """Return a text with escapes in place of the characters that XML 1.0 has no form for.

    >>> _in_xml("a\\x01b")
    'a\\\\x01b'
    """
    return _NOT_IN_XML.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < _ONE_BYTE else f"\\u{code:04x}"


def sarif(found: FileChecks, version: str) -> str:
    """A log of one run: a rule for each kind of check, a result for each check that failed."""
    results = [result for each in found.files for result in _results(each)]
    rules = dict.fromkeys(result["ruleId"] for result in results)
    driver = {
        "name": PROGRAM,
        "version": version,
        "rules": [{"id": rule, "shortDescription": {"text": _NAMES.get(rule, rule)}} for rule in rules],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _results(each: FileCheck) -> list[dict[str, Any]]:
    if each.error is not None:
        return [_result(each, "unchecked", _reason(each), each.region)]
    return [
        _result(each, check.name.partition(" of ")[0], check.told, check.region)
        for check in each.checks
        if not check.passed
    ]


def _result(each: FileCheck, rule: str, text: str, region: Region | None) -> dict[str, Any]:
    uri = quote(each.file.encode("utf-8", "surrogateescape"))
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if region is not None:
        told = {"startLine": region.line, "startColumn": region.start, "endColumn": region.end}
        place["region"] = {key: value for key, value in told.items() if value is not None}
    locations = [{"physicalLocation": place}]
    return {"ruleId": rule, "level": "error", "message": {"text": _in_xml(text)}, "locations": locations}


def _reason(each: FileCheck) -> str:
    assert each.error is not None
    return f"{each.error.kind}: `discreet check {each.file}` tells why"
