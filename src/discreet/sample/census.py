"""Census of the demo: invented, plausible people, none of them real, and its spec.

Every column is drawn by inverse transform from uniform numbers of a seeded generator, with weights that
depend on columns drawn before: age, then sex and municipality, education and marital status by age,
occupation by education and age, diagnosis by age, sex and occupation. The weights are round numbers chosen
for this sample. Cost: one pass per column.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

CENSUS_ROWS = 30_000
CENSUS_SEED = 2026

SEXES = ("female", "male")
EDUCATIONS = (
    "no-certificate",
    "primary",
    "lower-secondary",
    "upper-secondary",
    "vocational",
    "bachelor",
    "master",
    "doctorate",
)
MARITAL_STATUSES = ("single", "married", "partnership", "separated", "divorced", "widowed")
OCCUPATIONS = (
    "farming",
    "crafts",
    "factory",
    "transport",
    "care",
    "sales",
    "office",
    "teaching",
    "engineering",
    "medicine",
    "management",
    "student",
    "at-home",
    "retired",
)
DIAGNOSES = (
    "healthy",
    "hypertension",
    "diabetes",
    "asthma",
    "back-pain",
    "depression",
    "migraine",
    "arthritis",
    "heart-disease",
    "cancer",
)

# Weights; one row each for ages below 25, 25-44, 45-64, and 65 and older.
_EDUCATION_BY_AGE = (
    (1, 3, 22, 44, 15, 13, 2, 0),
    (1, 4, 10, 22, 25, 23, 13, 2),
    (2, 8, 17, 25, 28, 12, 7, 1),
    (4, 22, 26, 20, 20, 5, 2, 1),
)
_MARITAL_BY_AGE = ((86, 4, 10, 0, 0, 0), (38, 42, 14, 2, 4, 0), (12, 62, 6, 4, 14, 2), (6, 52, 2, 2, 10, 28))
# Weights; one row per education. The weights of the last three occupations depend on age instead.
_OCCUPATION_BY_EDUCATION = (
    (14, 12, 34, 12, 12, 14, 1, 0, 0, 0, 1),
    (12, 16, 30, 14, 12, 13, 2, 0, 0, 0, 1),
    (7, 18, 20, 13, 15, 20, 5, 0, 0, 0, 2),
    (4, 10, 9, 8, 14, 23, 23, 2, 2, 1, 4),
    (5, 30, 12, 8, 14, 13, 10, 1, 4, 0, 3),
    (1, 2, 1, 2, 8, 12, 27, 16, 15, 5, 11),
    (1, 1, 0, 1, 3, 5, 16, 21, 21, 13, 18),
    (0, 0, 0, 0, 1, 2, 5, 30, 22, 32, 8),
)
_DIAGNOSIS_BY_AGE = (
    (780, 5, 8, 70, 40, 55, 35, 2, 2, 3),
    (640, 40, 22, 50, 110, 75, 40, 10, 5, 8),
    (400, 190, 80, 40, 120, 60, 25, 45, 25, 25),
    (210, 280, 120, 35, 70, 40, 10, 120, 75, 50),
)
_REGIONS = (30, 24, 18, 13, 9, 6)
_MUNICIPALITIES_PER_REGION = 8


def generate_census(rows: int = CENSUS_ROWS, seed: int = CENSUS_SEED) -> dict[str, list[str]]:
    """Generate the columns of the table as text, each ``rows`` long; deterministic in its arguments.

    ``person_id`` is an identifier, ``diagnosis`` is sensitive, the six between are quasi-identifiers.
    """
    generator = np.random.default_rng(seed)
    age = _draw_ages(generator, rows)
    band = np.digitize(age, (25, 45, 65))
    female = generator.random(rows) < 0.49 + np.maximum(age - 60, 0) * 0.004
    education = _draw_categories(generator, np.array(_EDUCATION_BY_AGE)[band])
    occupation = _draw_occupations(generator, age, education, female)
    return {
        "person_id": _draw_identifiers(generator, rows),
        "age": [str(a) for a in age.tolist()],
        "sex": _labels(SEXES, np.where(female, 0, 1)),
        "municipality": _draw_municipalities(generator, rows, education),
        "education": _labels(EDUCATIONS, education),
        "marital_status": _labels(
            MARITAL_STATUSES, _draw_categories(generator, np.array(_MARITAL_BY_AGE)[band])
        ),
        "occupation": _labels(OCCUPATIONS, occupation),
        "diagnosis": _labels(DIAGNOSES, _draw_diagnoses(generator, band, female, occupation)),
    }


def write_census(path: Path, rows: int = CENSUS_ROWS, seed: int = CENSUS_SEED) -> None:
    """Write the sample as CSV (UTF-8, comma, LF) to a new file; raise ``FileExistsError`` if it exists."""
    columns = generate_census(rows, seed)
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _draw_categories(generator: np.random.Generator, weights: ArrayLike) -> NDArray[np.int64]:
    """Draw one category per row of ``weights``, shape ``(rows, categories)``, each row summing above 0."""
    steps = np.cumsum(np.asarray(weights, dtype=np.float64), axis=1)
    drawn = generator.random(len(steps)) * steps[:, -1]
    result: NDArray[np.int64] = (drawn[:, None] >= steps).sum(axis=1)
    return result


def _draw_ages(generator: np.random.Generator, rows: int) -> NDArray[np.int64]:
    """Draw ages of adults, 18 to 94: about constant up to 55, then falling."""
    ages = np.arange(18, 95)
    weights = np.where(ages < 55, 10.0 + np.minimum(ages - 18, 10) * 0.2, 12.0 * 0.955 ** (ages - 55))
    steps = np.cumsum(weights)
    drawn = np.searchsorted(steps, generator.random(rows) * steps[-1], side="right")
    result: NDArray[np.int64] = ages[drawn]
    return result


def _draw_occupations(
    generator: np.random.Generator,
    age: NDArray[np.int64],
    education: NDArray[np.int64],
    female: NDArray[np.bool_],
) -> NDArray[np.int64]:
    weights = np.zeros((len(age), len(OCCUPATIONS)))
    weights[:, :11] = np.array(_OCCUPATION_BY_EDUCATION)[education]
    care_and_teaching = [OCCUPATIONS.index("care"), OCCUPATIONS.index("teaching")]
    weights[:, care_and_teaching] *= np.where(female, 1.8, 0.6)[:, None]
    weights[:, [1, 3, 8]] *= np.where(female, 0.35, 1.5)[:, None]
    weights[:, OCCUPATIONS.index("student")] = np.where(age < 24, 110, np.where(age < 30, 22, 0))
    weights[:, OCCUPATIONS.index("at-home")] = np.where(female, 16, 6)
    retired = np.select([age < 55, age < 63, age < 68], [1.0, 18.0, 170.0], 2400.0)
    weights[:, OCCUPATIONS.index("retired")] = retired
    return _draw_categories(generator, weights)


def _draw_diagnoses(
    generator: np.random.Generator,
    band: NDArray[np.int64],
    female: NDArray[np.bool_],
    occupation: NDArray[np.int64],
) -> NDArray[np.int64]:
    weights = np.array(_DIAGNOSIS_BY_AGE, dtype=np.float64)[band]
    strenuous = np.isin(occupation, [OCCUPATIONS.index(o) for o in ("farming", "crafts", "factory", "care")])
    weights[:, DIAGNOSES.index("back-pain")] *= np.where(strenuous, 1.9, 0.8)
    weights[:, DIAGNOSES.index("migraine")] *= np.where(female, 1.6, 0.5)
    weights[:, DIAGNOSES.index("heart-disease")] *= np.where(female, 0.7, 1.4)
    return _draw_categories(generator, weights)


def _draw_municipalities(
    generator: np.random.Generator, rows: int, education: NDArray[np.int64]
) -> list[str]:
    """Draw codes of five digits: a region, then a municipality in it; the first of each is the largest."""
    region_weights = np.tile(np.array(_REGIONS, dtype=np.float64), (rows, 1))
    region_weights[:, 0] *= 1 + 0.18 * (education >= EDUCATIONS.index("bachelor"))
    region = _draw_categories(generator, region_weights)
    sizes = 1.0 / np.arange(1, _MUNICIPALITIES_PER_REGION + 1) ** 1.2
    municipality = _draw_categories(generator, np.tile(sizes, (rows, 1)))
    places = zip(region.tolist(), municipality.tolist(), strict=True)
    return [f"{r + 1}{p // 5}{p % 5 * 2}{(7 * r + 3 * p) % 10}0" for r, p in places]


def _draw_identifiers(generator: np.random.Generator, rows: int) -> list[str]:
    """Draw a different number for each person, in random order."""
    numbers = np.argsort(generator.random(rows)) + 100_001
    return [f"P{number}" for number in numbers.tolist()]


def _labels(names: Sequence[str], codes: NDArray[np.int64]) -> list[str]:
    return [names[code] for code in codes.tolist()]


_EDUCATION = {
    "below-upper-secondary": {
        "no-certificate-or-primary": ["no-certificate", "primary"],
        "lower-secondary": ["lower-secondary"],
    },
    "upper-secondary-or-vocational": {"upper-secondary": ["upper-secondary"], "vocational": ["vocational"]},
    "university": {"bachelor": ["bachelor"], "master-or-doctorate": ["master", "doctorate"]},
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
    "not-employed": {"before-or-outside-work": ["student", "at-home"], "after-work": ["retired"]},
}


def census_spec(path: str) -> dict[str, Any]:
    """Return the spec of a census that ``write_census`` wrote to ``path`` (relative to the spec)."""
    return {
        "source": {"path": path},
        "attributes": {
            "person_id": {"role": "identifier"},
            "age": _quasi_identifier_entry({"kind": "intervals", "widths": [5, 10, 20]}),
            "sex": _quasi_identifier_entry(None),
            "municipality": _quasi_identifier_entry({"kind": "mask", "steps": [2, 2]}),
            "education": _quasi_identifier_entry({"kind": "taxonomy", "tree": _EDUCATION}),
            "marital_status": _quasi_identifier_entry({"kind": "taxonomy", "tree": _MARITAL_STATUS}),
            "occupation": _quasi_identifier_entry({"kind": "taxonomy", "tree": _OCCUPATION}),
            "diagnosis": {"role": "sensitive"},
        },
        "request": {"l": 2},
    }


def _quasi_identifier_entry(hierarchy: dict[str, Any] | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": "quasi-identifier"}
    if hierarchy is not None:
        entry["hierarchy"] = hierarchy
    return entry
