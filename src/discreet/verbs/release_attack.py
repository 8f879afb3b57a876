"""``discreet.attack``: risks, minimal uniques, disclosure, linkage and named attacks on a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attribute_disclosure import compute_disclosure
from discreet.attacks.declaration import Attack, AttackInput
from discreet.attacks.finding import Finding
from discreet.attacks.linkage import (
    CellInterpretation,
    Linkage,
    OriginalTable,
    compute_population_risk,
    measure_linkage,
)
from discreet.attacks.published_table import (
    ReleaseClasses,
    find_exact_columns,
    find_manifest,
    read_published,
    select_columns,
)
from discreet.attacks.registry import AttackSelection, select_attacks
from discreet.attacks.reidentification_risk import (
    PopulationRisk,
    compute_prosecutor_risk,
    count_singled_out_rows,
    find_outlier_classes,
    parse_threshold,
)
from discreet.attacks.suda import count_minimal_uniques
from discreet.engines.connection import connect
from discreet.errors import InputError
from discreet.model.release_address import FileOptions, ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.results.attack_result import AttackResult, TableRisk
from discreet.results.request_defaults import with_keywords
from discreet.settings import Settings
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.run_context import SILENT, Advance, Reporter, interruptible_engine
from discreet.verbs.source_reading import FileKeywords, infer_release_form, parse_file_options

if TYPE_CHECKING:
    from discreet.verbs.table import Table

__all__ = ["AttackResult", "attack", "parse_key_pair"]

_NO_ORIGINAL = "The risk before recoding is unknown: give the spec of the original."


@with_keywords(FileKeywords)
def attack(
    release: ReleaseLocation,
    *,
    table: Table | None = None,
    outside: str | Path | None = None,
    population: str | Path | None = None,
    match: Mapping[str, str] | None = None,
    key: str | None = None,
    threshold: str | float = "0.05",
    dominance: str | float = "0.8",
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    by: AttackSelection = None,
    options: Mapping[str, object] | None = None,
    persons: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
    **form_options: Unpack[FileKeywords],
) -> AttackResult:
    """Attack a release of any program: risks, minimal uniques, homogeneous classes, linkage with a file.

    ``release`` is a path or a ``ReleaseAddress``. ``table`` is the original (``discreet.open``); it adds the
    risk before recoding and the meaning of generalized cells. ``outside`` is a file of the attacker,
    ``population`` a file of the whole population; ``match`` maps their columns to quasi-identifiers (None:
    equal names), and ``key``, either ``OUTSIDE=ORIGINAL`` or one common name, identifies the same person in
    both. Columns of the release that are not given come from its manifest.

    ``by`` selects further attacks by name or value (``discreet.attackers``), or ``"all"`` for every
    applicable attack; ``options`` are their options by name, and ``persons`` adds findings about single
    persons. ``format`` to ``null_values`` describe the outside files, or without them the release of another
    program.

    Raises ``InputError`` for a file or a column that does not fit.

    >>> result = discreet.attack("release.csv", table=discreet.open("discreet.toml"))  # doctest: +SKIP
    >>> result.after.prosecutor.highest  # doctest: +SKIP
    """
    form = parse_file_options(form_options)
    reference = outside or population
    address = infer_release_form(address_of(release), FileOptions() if reference else form, reporter)
    attacks, named = select_attacks(by, options)
    pair = None if key is None else parse_key_pair(key)
    files = tuple(_read_file(path, form, reporter) for path in (outside, population))
    chance, most = parse_threshold(str(threshold)), parse_threshold(str(dominance), "dominance")
    original = None if table is None else OriginalTable(table.spec, table.frequency_set)
    spec = None if table is None else table.spec
    used = settings or (table.settings if table is not None else Settings.from_environment())
    stage = reporter.stage("Attacking the release")
    with connect(used, address.source()) as engine, interruptible_engine(engine), stage:
        manifest = find_manifest(address, engine)
        columns = select_columns(address, manifest, spec, quasi_identifiers, sensitive)
        ground = CellInterpretation(original, find_exact_columns(manifest))
        published = read_published(engine, address.source(), columns, used, ground.null_values)
        attack_input = AttackInput(
            engine, published, ground, manifest, used, chance, files[0], match, pair, persons
        )
        single = count_singled_out_rows(engine, address.source(), columns, published, manifest, used)
        found = (
            _file_attacks(attack_input, files[1]),
            _named_attacks(attacks, attack_input, reporter, named=named),
        )
    return replace(_make_result(address, attack_input, *found, most, reporter), single_values=single)


def _make_result(
    address: ReleaseAddress,
    attack_input: AttackInput,
    by_files: tuple[Linkage | None, PopulationRisk | None],
    findings: tuple[Finding, ...],
    most: Fraction,
    reporter: Reporter,
) -> AttackResult:
    """Collect the common attacks and the findings of the named ones."""
    published, original, manifest = (
        attack_input.published,
        attack_input.ground.original,
        attack_input.manifest,
    )
    before, after = _measure_risks(published, original, attack_input.threshold, reporter)
    unknown = (_NO_ORIGINAL,) if original is None else ()
    return AttackResult(
        path=address.display_path,
        model=None if manifest is None else str(manifest.model),
        by_group=not published.kind.has_classes,
        threshold=float(attack_input.threshold),
        dominance=float(most),
        starred=published.starred,
        before=before,
        after=after,
        journalist=by_files[1],
        outlier_classes=find_outlier_classes(published),
        disclosure=tuple(compute_disclosure(values, most) for values in published.sensitive),
        linkage=by_files[0],
        warnings=published.kind.cautions + unknown,
        findings=findings,
    )


def _file_attacks(
    attack_input: AttackInput, population: SourceSpec | None
) -> tuple[Linkage | None, PopulationRisk | None]:
    """Compute linkage with the attacker's file, and journalist risk from the population file."""
    common = (attack_input.ground, attack_input.settings)
    linkage = journalist = None
    if attack_input.outside is not None:
        linkage = measure_linkage(
            attack_input.engine,
            attack_input.published,
            attack_input.outside,
            *common,
            match=attack_input.match,
            key=attack_input.key,
        )
    if population is not None:
        match = attack_input.match if attack_input.outside is None else None
        journalist = compute_population_risk(
            attack_input.engine,
            attack_input.published,
            population,
            *common,
            attack_input.threshold,
            match=match,
        )
    return linkage, journalist


def _named_attacks(
    attacks: Sequence[Attack], attack_input: AttackInput, reporter: Reporter, *, named: bool
) -> tuple[Finding, ...]:
    """Run each attack; one that cannot run raises an error only if it was named."""
    found = []
    for each in attacks:
        with reporter.stage(f"Attacking: {each.title.lower()}") as advance:
            found.append(each.run_or_skip(replace(attack_input, advance=advance), required=named))
    return tuple(found)


def _read_file(path: str | Path | None, form: FileOptions, reporter: Reporter) -> SourceSpec | None:
    """Return the source of an attacker's file, with explicit and detected options."""
    if path is None:
        return None
    return infer_release_form(ReleaseAddress(path=Path(path)), form, reporter).source()


def parse_key_pair(text: str) -> tuple[str, str]:
    """Parse ``OUTSIDE=ORIGINAL`` at the last ``=``, or one name for both; raise ``InputError`` otherwise."""
    outside, sign, original = text.rpartition("=")
    if not original or (sign and not outside):
        raise InputError(f"key '{text}'", allowed="COLUMN=COLUMN, the file's and the original's")
    return (outside, original) if sign else (original, original)


def _measure_risks(
    published: ReleaseClasses, original: OriginalTable | None, threshold: Fraction, reporter: Reporter
) -> tuple[TableRisk | None, TableRisk]:
    """Measure the risk of the original, if it is known, and of the release."""
    before = None
    with reporter.stage("Searching minimal uniques in the release") as advance:
        after = _measure_risk(published.attributes, published.shown, published.rows, threshold, advance)
    if original is not None:
        counted = original.frequency_set
        with reporter.stage("Searching minimal uniques in the original") as advance:
            before = _measure_risk(counted.attributes, counted.codes, counted.counts, threshold, advance)
    return before, after


def _measure_risk(
    attributes: tuple[str, ...],
    codes: NDArray[np.int64],
    rows: NDArray[np.int64],
    threshold: Fraction,
    advance: Advance,
) -> TableRisk:
    sizes, numbers = np.unique(rows, return_counts=True)
    return TableRisk(
        rows=int(rows.sum()),
        classes=len(rows),
        class_sizes=dict(zip(sizes.tolist(), numbers.tolist(), strict=True)),
        prosecutor=compute_prosecutor_risk(rows, threshold),
        uniques=count_minimal_uniques(attributes, codes, rows, progress=advance),
    )
