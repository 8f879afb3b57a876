"""Privacy criteria as values, and the base classes for criteria of your own.

::

    from discreet.criteria import DistinctDiversity

    wish = table.negotiate(k=10, criteria=[DistinctDiversity(3, "disease")])

``criteria_from`` reads criteria by name, in the form of the spec's ``[request]``::

    >>> criteria_from({"t": 0.2, "k": 5})
    (TCloseness(value=0.2, attribute=None, distance='equal'), KAnonymity(value=5, attribute=None))

``register`` adds a criterion, which one file defines, to every verb: docs/extending.md.
"""

from discreet.model.criteria.alpha_deassociation import AlphaDeassociation
from discreet.model.criteria.attack_gain import AttackGain
from discreet.model.criteria.base import AuditedBy, Criterion, Need, Parameter
from discreet.model.criteria.beta_likeness import BetaLikeness
from discreet.model.criteria.delta_disclosure import DeltaDisclosure
from discreet.model.criteria.delta_presence import DeltaPresence
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.entropy_diversity import EntropyDiversity
from discreet.model.criteria.k_anonymity import HighestRisk, KAnonymity
from discreet.model.criteria.k_map import KMap
from discreet.model.criteria.lkc_privacy import LKCPrivacy
from discreet.model.criteria.p_sensitivity import PSensitivity
from discreet.model.criteria.population_uniques import PopulationUniques
from discreet.model.criteria.proximity import Proximity
from discreet.model.criteria.recursive_diversity import RecursiveDiversity
from discreet.model.criteria.registry import criteria_from, register
from discreet.model.criteria.release_level import CellsCriterion, Groups, ReleaseCriterion
from discreet.model.criteria.release_shares import AverageRisk, RecordsAtRisk, SampleUniques
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.criteria.value_range import ValueRange
from discreet.model.criteria.weighted_k import WeightedKAnonymity
from discreet.model.criterion_inputs import ClassPopulation, ClassValues, SensitiveAttribute, SizeTails
from discreet.model.option import option

__all__ = [
    "AlphaDeassociation",
    "AttackGain",
    "AuditedBy",
    "AverageRisk",
    "BetaLikeness",
    "CellsCriterion",
    "ClassPopulation",
    "ClassValues",
    "Criterion",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctDiversity",
    "EntropyDiversity",
    "Groups",
    "HighestRisk",
    "KAnonymity",
    "KMap",
    "LKCPrivacy",
    "Need",
    "PSensitivity",
    "Parameter",
    "PopulationUniques",
    "Proximity",
    "RecordsAtRisk",
    "RecursiveDiversity",
    "ReleaseCriterion",
    "SampleUniques",
    "SensitiveAttribute",
    "SizeTails",
    "TCloseness",
    "ValueRange",
    "WeightedKAnonymity",
    "criteria_from",
    "option",
    "register",
]
