"""Several releases of one table laid beside each other (Ganta, Kasiviswanathan and Smith 2008).

Two releases, each safe alone, may single out together: who knows in which class of each a person is knows
that the person's row is in what the two classes have in common. Counted are these common parts, with the
publisher's own table. An attacker without it does not see the parts themselves; but what all of a person's
classes show narrows down to the part, and may be no more than it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from discreet.attacks.columns import columns_of, manifest_of
from discreet.attacks.composition import CommonParts, Whole, classes_in, common_parts, permutes_values
from discreet.attacks.declaration import Attack, Need
from discreet.attacks.finding import Figure, Finding, FoundTable, ValueKind, columns, count
from discreet.attacks.grounds import Grounds
from discreet.attacks.linking import Original
from discreet.attacks.published import read_published
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.option import OptionKind, option
from discreet.model.release_address import ReleaseAddress
from discreet.places.address import path_of
from discreet.settings import Settings


@dataclass(frozen=True)
class Intersection(Attack):
    """What a release and earlier ones of the same rows tell together."""

    name: ClassVar[str] = "intersection"
    title: ClassVar[str] = "Beside earlier releases"
    text: ClassVar[str] = (
        "An attacker knows that a person is in this release and in earlier ones: whose rows are in all "
        "classes of the person's?"
    )
    source: ClassVar[str] = "Ganta, Kasiviswanathan and Smith 2008"
    needs: ClassVar[tuple[Need, ...]] = (Need.EARLIER, Need.ORIGINAL, Need.CLASSES)

    earlier: str | Path | Sequence[str | Path] | None = option(
        None,
        kind=OptionKind.FILE,
        repeatable=True,
        metavar="RELEASE",
        help="an earlier release of the same rows",
        label="An earlier release",
    )

    def run(self, grounds: Grounds) -> Finding:
        """The common parts of all releases."""
        original = grounds.ground.original
        assert original is not None
        here = [classes_in(grounds.published, original, "the release")]
        there = [self._classes(grounds, original, release) for release in self._releases()]
        alone = common_parts(original.frequency_set, here)
        parts = common_parts(original.frequency_set, here + there)
        return self.found(grounds, _figures(parts), (_table(alone, parts),))

    def _releases(self) -> list[str]:
        given = self.earlier or ()
        return [str(each) for each in ([given] if isinstance(given, str | Path) else given)]

    def _classes(self, grounds: Grounds, original: Original, release: str) -> Whole:
        address = ReleaseAddress(path=path_of(release))
        return classes_in_release(grounds.engine, address, original, grounds.settings)


def classes_in_release(
    engine: Engine, address: ReleaseAddress, original: Original, settings: Settings
) -> Whole:
    """The class of each row type in a release that is read for it, with its manifest; ``InputError`` as
    ``classes_in`` raises it, and where there is no such release."""
    manifest = manifest_of(address, engine)
    if manifest is None:
        raise InputError(
            f"{address.label} has no manifest",
            allowed="a release of this program's, with its manifest beside it",
        )
    # Classes are told by quasi-identifiers alone; values that nearly every row has to itself take gigabytes.
    wanted = replace(columns_of(address, manifest, original.spec, None, ()), sensitive=())
    if wanted.group is not None:
        raise permutes_values(address.label)
    published = read_published(engine, address.source(), wanted, settings, original.spec.source.null_values)
    return classes_in(published, original, address.label)


def _figures(parts: CommonParts) -> tuple[Figure, ...]:
    both, apart = parts.everywhere, ~parts.everywhere
    return (
        count("k", "k of the intersection", parts.k(both)),
        count("k_of_one", "k of those whom only some of the releases show", parts.k(apart)),
        *(
            count(f"l_{name}", f"fewest values of {name} in the intersection", least)
            for name, least in parts.l(both).items()
        ),
        count("parts", "common parts", int(both.sum())),
        count("singled_out", "rows alone in their part", int(parts.rows[parts.rows == 1].sum())),
    )


def _table(alone: CommonParts, parts: CommonParts) -> FoundTable:
    """The release alone, all releases together, and the rows that not all of them show."""
    told = (
        ("this release alone", alone, alone.everywhere),
        ("all releases together", parts, parts.everywhere),
        ("shown by some of them only", parts, ~parts.everywhere),
    )
    names = tuple(parts.distinct)
    return FoundTable(
        "The release and the intersection",
        columns(
            "an attacker lays together",
            ("rows", ValueKind.COUNT),
            ("parts", ValueKind.COUNT),
            ("smallest", ValueKind.COUNT),
            *((f"fewest values of {name}", ValueKind.COUNT) for name in names),
        ),
        tuple(
            (
                title,
                int(found.rows[which].sum()),
                int(which.sum()),
                found.k(which),
                *(found.l(which).get(name) for name in names),
            )
            for title, found, which in told
        ),
    )
