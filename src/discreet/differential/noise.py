"""Calibrated noise for counts, drawn by OpenDP.

For M marginals and at most ``bound`` counted rows per person:

- discrete Laplace noise of scale b costs ε = M·bound/b (Ghosh et al. 2009; Dwork et al. 2006);
- discrete Gaussian noise of scale σ costs ρ = M·bound²/(2σ²) of zCDP, converted to (ε,δ) (Canonne et al.
  2020);
- a marginal whose cells come from the rows gets discrete Laplace noise on its occurring cells, and cells
  below a threshold are dropped, which costs the δ (Rogers 2023).

The scale is the smallest that OpenDP's privacy map accepts. Noise has no seed. OpenDP is imported on first
use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from importlib.metadata import version
from math import exp, inf, log, nextafter, sqrt
from typing import Any

from discreet.errors import InputError, InternalError
from discreet.model.privacy_loss import PrivacyLoss


def load_opendp() -> Any:
    """Return the library; raise ``InputError`` where it is not installed.

    The modules in use are imported one by one: its prelude would load several table libraries.
    """
    try:
        import opendp.combinators
        import opendp.domains
        import opendp.measurements
        import opendp.measures
        import opendp.metrics
    except ImportError:
        raise InputError(
            "differentially private noise needs OpenDP, which is not installed",
            advice="Install it: pip install 'discreet[dp]'.",
        ) from None
    # OpenDP marks every part without a completed review "contrib". The measurements used here have a proof.
    opendp.mod.enable_features("contrib")
    return opendp


def name_opendp() -> str:
    """Return the library's name and version, as manifests state them."""
    return f"opendp {version('opendp')}"


_SMALLEST_SCALE, _LARGEST_SCALE = 1e-3, 1e12
_ANY_THRESHOLD = 1 << 50
"""Threshold for computing ε, which does not depend on the threshold that follows the noise."""
_REACH_PROBABILITY = 0.05


class Mechanism(StrEnum):
    """Noise distribution."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"


@dataclass(frozen=True)
class Sensitivity:
    """Sensitivity to one person: a change of at most ``bound`` in each marginal.

    ``public`` marginals have a count for each cell, ``others`` only for cells that occur.
    """

    public: int
    others: int
    bound: int

    @property
    def marginals(self) -> int:
        """Number of marginals."""
        return self.public + self.others


@dataclass(frozen=True)
class Noise:
    """Noise that keeps ``loss``: its scale, and the least noisy count of a published cell from the rows.

    ``epsilon`` and ``rho`` are the values of the library's privacy map, at most the loss.
    """

    mechanism: Mechanism
    loss: PrivacyLoss
    sensitivity: Sensitivity
    scale: float
    epsilon: float
    threshold: int | None = None
    rho: float | None = None

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the noise of one count; an upper bound for the discrete Gaussian."""
        if self.mechanism is Mechanism.GAUSSIAN:
            return self.scale
        share = exp(-1 / self.scale)
        return sqrt(2 * share) / (1 - share)

    @property
    def reach(self) -> int:
        """Bound of the absolute noise that 19 of 20 counts do not exceed."""
        if self.mechanism is Mechanism.GAUSSIAN:
            return int(self.scale * sqrt(2 * log(2 / _REACH_PROBABILITY)))
        # P(|noise| > x) = 2·a^(x+1) / (1 + a) for a = exp(-1/b)
        share = exp(-1 / self.scale)
        return max(0, int(self.scale * log(2 / (_REACH_PROBABILITY * (1 + share)))))

    def add_to_vector(self, counts: Sequence[int]) -> list[int]:
        """Add noise to the concatenated counts of all public marginals."""
        library = load_opendp()
        measurement = _vector_measurement(library, self.mechanism, self.scale)
        return [int(count) for count in measurement([int(count) for count in counts])]

    def add_to_mapping(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Add noise to the counts of cells from the rows; return those that reach the threshold."""
        if self.threshold is None:
            raise InternalError("cells from the rows without a threshold")
        measurement = _mapping_measurement(load_opendp(), self.scale, self.threshold)
        noisy = measurement({key: int(count) for key, count in counts.items()})
        return {str(key): int(count) for key, count in noisy.items()}


def calibrate_noise(mechanism: Mechanism, loss: PrivacyLoss, sensitivity: Sensitivity) -> Noise:
    """Compute the least noise that keeps a loss; raise ``InputError`` where the mechanism cannot keep it.

    A δ that no part of the mechanism would spend is refused too, because the budget would lose it for
    nothing.
    """
    _check_mechanism(mechanism, loss, sensitivity)
    library = load_opendp()
    try:
        if mechanism is Mechanism.GAUSSIAN:
            return _calibrate_gaussian(library, loss, sensitivity)
        return _calibrate_laplace(library, loss, sensitivity)
    except library.mod.OpenDPException:
        raise InputError(
            f"no noise of the {mechanism} mechanism keeps {loss}", advice="Use a larger ε or δ."
        ) from None


def _check_mechanism(mechanism: Mechanism, loss: PrivacyLoss, sensitivity: Sensitivity) -> None:
    if mechanism is Mechanism.GAUSSIAN and sensitivity.others:
        raise InputError(
            "the gaussian mechanism needs public domains, but an attribute has none",
            allowed="public domains with the gaussian mechanism, or the laplace mechanism",
            advice="Give each attribute of the marginals a domain in the spec.",
        )
    needed = mechanism is Mechanism.GAUSSIAN or sensitivity.others > 0
    if needed and not loss.delta:
        why = (
            "the gaussian mechanism"
            if mechanism is Mechanism.GAUSSIAN
            else "attributes without a public domain"
        )
        raise InputError(
            f"{why} without a δ",
            allowed="--delta, far below one divided by the number of persons",
            advice="Give each attribute a domain in the spec, and the laplace mechanism needs no δ."
            if sensitivity.others
            else "Give --delta, or use the laplace mechanism.",
        )
    if loss.delta and not needed:
        raise InputError(
            "an unused δ: all domains are public, and the laplace mechanism needs no δ",
            advice="Leave out --delta.",
        )


def _calibrate_laplace(library: Any, loss: PrivacyLoss, sensitivity: Sensitivity) -> Noise:
    bound = sensitivity.bound

    def epsilon(scale: float) -> Fraction:
        spent = Fraction(0)
        if sensitivity.public:
            vector = _vector_measurement(library, Mechanism.LAPLACE, scale)
            spent += Fraction(vector.map(sensitivity.public * bound))
        if sensitivity.others:
            mapping = _mapping_measurement(library, scale, _ANY_THRESHOLD)
            spent += sensitivity.others * Fraction(mapping.map((bound,) * 3)[0])
        return spent

    # Start at the formula's scale and increase it by single doubles while the map rounds above ε.
    scale = max(float(Fraction(sensitivity.marginals * bound) / loss.epsilon), _SMALLEST_SCALE)
    while epsilon(scale) > loss.epsilon:
        scale = nextafter(scale, inf)
    threshold = _least_threshold(library, loss, sensitivity, scale) if sensitivity.others else None
    return Noise(Mechanism.LAPLACE, loss, sensitivity, scale, float(epsilon(scale)), threshold)


def _least_threshold(library: Any, loss: PrivacyLoss, sensitivity: Sensitivity, scale: float) -> int:
    """Return the least threshold with which each marginal from the rows keeps its share of δ.

    The map of OpenDP 0.16 computes the δ of publishing counts above the threshold, while counts equal to it
    are published too (issue 2922 of opendp/opendp). So the map is evaluated at a threshold smaller by one;
    once that is fixed, this threshold is larger by one than necessary.
    """
    share = loss.delta / sensitivity.others

    def keeps(threshold: int) -> bool:
        delta = _mapping_measurement(library, scale, threshold - 1).map((sensitivity.bound,) * 3)[1]
        return Fraction(delta) <= share

    low = high = sensitivity.bound + 2
    while not keeps(high):
        low, high = high + 1, 2 * high
        if high > _ANY_THRESHOLD:
            raise InputError(
                f"{loss} is too small: no noise keeps this privacy loss", allowed="a larger ε or δ"
            )
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle + 1, high)
    return high


def _calibrate_gaussian(library: Any, loss: PrivacyLoss, sensitivity: Sensitivity) -> Noise:
    # The square root rounds to the nearest double, so the next double is an upper bound.
    distance = nextafter(sensitivity.bound * sqrt(sensitivity.public), inf)
    delta = float(loss.delta)
    while Fraction(delta) > loss.delta:
        delta = nextafter(delta, 0.0)

    def epsilon(scale: float) -> float:
        measurement = _vector_measurement(library, Mechanism.GAUSSIAN, scale)
        profile = library.combinators.make_zCDP_to_approxDP(measurement).map(distance)
        return float(profile.epsilon(delta))

    scale = _least_scale(lambda scale: Fraction(epsilon(scale)) <= loss.epsilon)
    rho = float(_vector_measurement(library, Mechanism.GAUSSIAN, scale).map(distance))
    return Noise(Mechanism.GAUSSIAN, loss, sensitivity, scale, epsilon(scale), rho=rho)


def _least_scale(keeps: Callable[[float], bool]) -> float:
    """Return the least scale that keeps a loss, up to a relative error of 1e-9; larger ones keep it too."""
    low, high = 0.0, 1.0
    while not keeps(high):
        low, high = high, 2 * high
        if high > _LARGEST_SCALE:
            raise InputError("no noise keeps this privacy loss", allowed="a larger ε or δ")
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def _vector_measurement(library: Any, mechanism: Mechanism, scale: float) -> Any:
    domain = library.domains.vector_domain(library.domains.atom_domain(T="i64"))
    if mechanism is Mechanism.GAUSSIAN:
        return library.measurements.make_gaussian(domain, library.metrics.l2_distance(T="f64"), scale)
    return library.measurements.make_laplace(domain, library.metrics.l1_distance(T="i64"), scale)


def _mapping_measurement(library: Any, scale: float, threshold: int) -> Any:
    atom = library.domains.atom_domain
    domain = library.domains.map_domain(atom(T="String"), atom(T="i64"))
    metric = library.metrics.l01inf_distance(library.metrics.absolute_distance(T="i64"))
    return library.measurements.make_laplace_threshold(domain, metric, scale, threshold)
