"""``discreet.attack``: what an attacker gets out of a release, from the file and what lies beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.columns import columns_of, exact_columns, manifest_of
from discreet.attacks.declaration import Attack
from discreet.attacks.disclosure import disclosure_of
from discreet.attacks.finding import Finding
from discreet.attacks.grounds import Grounds
from discreet.attacks.linkage import Linkage
from discreet.attacks.linking import Ground, Original, link, population_risk
from discreet.attacks.published import PublishedTable, read_published
from discreet.attacks.registry import AskedAttacks, attacks_of
from discreet.attacks.risk import PopulationRisk, prosecutor, threshold_of
from discreet.attacks.singled_out import singled_out
from discreet.attacks.standing_out import smallest_classes
from discreet.attacks.uniques import minimal_uniques
from discreet.engines.connect import connect
from discreet.errors import InputError
from discreet.model.file_form import FileForm
from discreet.model.permuted_release import DE_FINETTI, NOT_PROTECTED
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.results.attack_result import AttackResult, TableRisk
from discreet.settings import Settings
from discreet.verbs.addresses import ReleasePlace, address_of
from discreet.verbs.file_reading import release_read_so
from discreet.verbs.interruption import interruptible
from discreet.verbs.reporting import SILENT, Advance, Reporter

if TYPE_CHECKING:
    from discreet.verbs.table import Table

__all__ = ["PERMUTED_WARNINGS", "AttackResult", "attack", "key_of"]

PERMUTED_WARNINGS = (NOT_PROTECTED, DE_FINETTI)
_NO_ORIGINAL = "Without the original nothing is known of the risk before: name its spec."


def attack(
    release: ReleasePlace,
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
    by: AskedAttacks = None,
    options: Mapping[str, object] | None = None,
    persons: bool = False,
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    null_values: Sequence[str] = (),
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> AttackResult:
    """Attack a release, ours or foreign: risks, uniques, homogeneous classes, linkage with a file.

    ``release`` is a path, or a ``ReleaseAddress``. ``table`` is the original (``discreet.open``): with it the
    risk before is known, and what generalized cells stand for. ``outside`` is a file of the attacker's,
    ``population`` one of the whole population; ``match`` maps their columns to quasi-identifiers (None:
    columns of the same name), and ``key``, ``OUTSIDE=ORIGINAL`` or a name that both have, says who is who.
    Columns of the release come from its manifest where they are not given.

    ``by`` are further attacks by name or as values (``discreet.attackers``), ``"all"`` for all that can be
    tried, ``options`` theirs by name; with ``persons`` they tell of single persons. ``format`` to
    ``null_values`` say how the outside files are read, else another program's release. ``InputError`` for a
    file or a column that does not fit.
    """
    form = FileForm(format, encoding, delimiter, quote, tuple(null_values))
    given = outside or population
    address = release_read_so(address_of(release), FileForm() if given else form, reporter)
    attacks, named = attacks_of(by, options)
    pair = None if key is None else key_of(key)
    files = tuple(_read_so(path, form, reporter) for path in (outside, population))
    chance, most = threshold_of(str(threshold)), threshold_of(str(dominance), "dominance")
    original = None if table is None else Original(table.spec, table.frequency_set)
    spec = None if table is None else table.spec
    used = settings or (table.settings if table is not None else Settings.from_environment())
    stage = reporter.stage("Attacking the release")
    with connect(used, address.source()) as engine, interruptible(engine), stage:
        manifest = manifest_of(address, engine)
        columns = columns_of(address, manifest, spec, quasi_identifiers, sensitive)
        ground = Ground(original, exact_columns(manifest))
        published = read_published(engine, address.source(), columns, used, ground.null_values)
        grounds = Grounds(engine, published, ground, manifest, used, chance, files[0], match, pair, persons)
        single = singled_out(engine, address.source(), columns, published, manifest, used)
        found = _by_files(grounds, files[1]), _findings(attacks, grounds, reporter, named=named)
    return replace(_result(address, grounds, *found, most, reporter), single_values=single)


def _result(
    address: ReleaseAddress,
    grounds: Grounds,
    by_files: tuple[Linkage | None, PopulationRisk | None],
    findings: tuple[Finding, ...],
    most: Fraction,
    reporter: Reporter,
) -> AttackResult:
    """The common attacks, and what the others found."""
    published, original, manifest = grounds.published, grounds.ground.original, grounds.manifest
    before, after = _risks(published, original, grounds.threshold, reporter)
    unknown = (_NO_ORIGINAL,) if original is None else ()
    return AttackResult(
        path=address.shown_path,
        model=None if manifest is None else str(manifest.model),
        by_group=published.by_group,
        threshold=float(grounds.threshold),
        dominance=float(most),
        starred=published.starred,
        before=before,
        after=after,
        journalist=by_files[1],
        standing_out=smallest_classes(published),
        disclosure=tuple(disclosure_of(values, most) for values in published.sensitive),
        linkage=by_files[0],
        warnings=(PERMUTED_WARNINGS if published.by_group else ()) + unknown,
        findings=findings,
    )


def _by_files(
    grounds: Grounds, population: SourceSpec | None
) -> tuple[Linkage | None, PopulationRisk | None]:
    """Linkage with the attacker's file, and the journalist's risk by one of the population."""
    told = (grounds.ground, grounds.settings)
    linkage = journalist = None
    if grounds.outside is not None:
        linkage = link(
            grounds.engine,
            grounds.published,
            grounds.outside,
            *told,
            match=grounds.match,
            key=grounds.key,
        )
    if population is not None:
        match = grounds.match if grounds.outside is None else None
        journalist = population_risk(
            grounds.engine, grounds.published, population, *told, grounds.threshold, match=match
        )
    return linkage, journalist


def _findings(
    attacks: Sequence[Attack], grounds: Grounds, reporter: Reporter, *, named: bool
) -> tuple[Finding, ...]:
    """What each attack finds; one that cannot be tried is an error where it was named."""
    found = []
    for each in attacks:
        with reporter.stage(f"Attacking: {each.title.lower()}") as advance:
            found.append(each.tried(replace(grounds, advance=advance), asked=named))
    return tuple(found)


def _read_so(path: str | Path | None, form: FileForm, reporter: Reporter) -> SourceSpec | None:
    """A file of the attacker's, as somebody says and as it tells."""
    if path is None:
        return None
    return release_read_so(ReleaseAddress(path=Path(path)), form, reporter).source()


def key_of(text: str) -> tuple[str, str]:
    """``OUTSIDE=ORIGINAL``, split at the last ``=``, or one name for both; else ``InputError``."""
    outside, sign, original = text.rpartition("=")
    if not original or (sign and not outside):
        raise InputError(f"key '{text}'", allowed="COLUMN=COLUMN, the file's and the original's")
    return (outside, original) if sign else (original, original)


def _risks(
    published: PublishedTable, original: Original | None, threshold: Fraction, reporter: Reporter
) -> tuple[TableRisk | None, TableRisk]:
    """The original as an attacker would find it, where it is known, and the release."""
    before = None
    with reporter.stage("Looking for minimal uniques in the release") as advance:
        after = _risk(published.attributes, published.shown, published.rows, threshold, advance)
    if original is not None:
        counted = original.frequency_set
        with reporter.stage("Looking for minimal uniques in the original") as advance:
            before = _risk(counted.attributes, counted.codes, counted.counts, threshold, advance)
    return before, after


def _risk(
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
        prosecutor=prosecutor(rows, threshold),
        uniques=minimal_uniques(attributes, codes, rows, progress=advance),
    )
