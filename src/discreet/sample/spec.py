"""The spec of the generated census, as a mapping: roles, and a hierarchy for each quasi-identifier."""

from __future__ import annotations

from typing import Any

_EDUCATION = {
    "below-upper-secondary": {
        "no-certificate-or-primary": ["no-certificate", "primary"],
        "lower-secondary": ["lower-secondary"],
    },
    "upper-secondary-or-vocational": {
        "upper-secondary": ["upper-secondary"],
        "vocational": ["vocational"],
    },
    "university": {
        "bachelor": ["bachelor"],
        "master-or-doctorate": ["master", "doctorate"],
    },
}
_MARITAL_STATUS = {
    "never-married": ["single"],
    "with-partner": ["married", "partnership"],
    "partner-lost": ["separated", "divorced", "widowed"],
}
_OCCUPATION = {
    "employed": {
        "manual": ["farming", "crafts", "factory", "transport"],
        "service": ["care", "sales", "office"],
        "professional": ["teaching", "engineering", "medicine", "management"],
    },
    "not-employed": {
        "before-or-beside-work": ["student", "at-home"],
        "after-work": ["retired"],
    },
}


def census_document(path: str) -> dict[str, Any]:
    """The spec of a census that ``write_census`` wrote to ``path`` (relative to the spec)."""
    return {
        "source": {"path": path},
        "attributes": {
            "person_id": {"role": "identifier"},
            "age": _quasi_identifier({"kind": "intervals", "widths": [5, 10, 20]}),
            "sex": _quasi_identifier(None),
            "municipality": _quasi_identifier({"kind": "mask", "steps": [2, 2]}),
            "education": _quasi_identifier({"kind": "taxonomy", "tree": _EDUCATION}),
            "marital_status": _quasi_identifier({"kind": "taxonomy", "tree": _MARITAL_STATUS}),
            "occupation": _quasi_identifier({"kind": "taxonomy", "tree": _OCCUPATION}),
            "diagnosis": {"role": "sensitive"},
        },
        "request": {"l": 2},
    }


def _quasi_identifier(hierarchy: dict[str, Any] | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": "quasi-identifier"}
    if hierarchy is not None:
        entry["hierarchy"] = hierarchy
    return entry
