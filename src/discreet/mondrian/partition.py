"""Mondrian: multidimensional partitioning from the top down (LeFevre et al. 2006).

Definition. The rows are points, one coordinate per quasi-identifier (``space``). A class that holds the
whole table is cut in two across one attribute, the halves are cut on, and a class is final where no cut
leaves two classes that meet the requirement. Strict: a cut runs between two values, so the classes are
disjoint boxes and equal rows stay together. Relaxed: the rows at the median are divided over both sides,
and classes may overlap.

Differences from the paper. Row types with counts are cut instead of rows, which gives the same classes. The
paper greedily tries the median of one attribute; here the next widest attribute is tried where that fails,
and with ``best`` every allowable cut of each (``options``). Equal ranges are decided by an explicit rule.
The requirement may be anything that is monotone under merging; because the union of a class that meets such
a requirement with one that does not may fail it, each proposed cut is then tested by itself.

Cost: for n row types of d attributes about n·d steps for each level of the tree of cuts, some log2(rows/k).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NoSolution
from discreet.frequency.class_facts import FactCounter
from discreet.frequency.class_summary import classes_to_recoding
from discreet.frequency.failing_criteria import failing_as_a_whole
from discreet.frequency.subject_rows import rows_for_subjects, tell_of_subjects
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.class_test import ClassTest
from discreet.model.evaluator import Evaluator
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.subject_rows import class_test_of_subjects, counting_rows
from discreet.model.validity import AllOf, class_test_of
from discreet.mondrian.compiled import (
    cut_compiled,
    divide_compiled,
    fits_kernels,
    occurring_compiled,
    ready,
)
from discreet.mondrian.cuts import CutChooser, WidestFirst
from discreet.mondrian.greedy import ClassCounter, Progress, cut_greedily
from discreet.mondrian.options import MondrianOptions
from discreet.mondrian.relaxed import Parts, divide
from discreet.mondrian.space import Space
from discreet.settings import Settings

Notice = Callable[[str], None]
"""Called with one line about what a run waits for."""


def partition(
    frequency_set: FrequencySet,
    requirement: Requirement,
    settings: Settings,
    options: MondrianOptions = MondrianOptions(),  # noqa: B008
    *,
    class_test: ClassTest | None = None,
    chooser: CutChooser | None = None,
    evaluator: Evaluator | str = Evaluator.AUTO,
    notice: Notice | None = None,
    progress: Progress | None = None,
) -> ClassRecoding:
    """The table cut into classes that meet ``requirement``, and ``class_test`` where one is given.

    No row is suppressed. The result does not depend on the order of row types, on ``settings.threads``, or on
    ``evaluator``. A class test or a chooser of cuts of the caller's own runs in numpy, and so does whatever
    is asked beside k and l.

    Raises ``NoSolution`` where the table as a whole fails the requirement; ``InputError`` where neither a
    requirement nor a class test is given, for l of an attribute that is not sensitive, for a subject with
    several rows in relaxed Mondrian or beside a class test, for a criterion that is not monotone, and for
    relaxed Mondrian with more than k and l.
    """
    counted = counting_rows(frequency_set)
    if counted.subjects is not None:
        if options.relaxed:
            rows_for_subjects(frequency_set)
        if class_test is not None:
            raise class_test_of_subjects()
        classes = _by_subject(counted, requirement, options, chooser, notice, progress)
        return classes_to_recoding(
            frequency_set,
            classes,
            requirement,
            RecodingModel.ORDERED_MULTI,
            options.summary,
            suppression=options.suppression,
            by_tree=options.by_tree,
        )
    if options.relaxed:
        _check_relaxed(requirement, class_test, chooser)
    test = _test(counted, requirement, class_test)
    _check_whole(counted, requirement, test)
    how = Evaluator(evaluator)
    if options.relaxed:
        space = Space.of(counted, options)
        if not requirement.of_values and _use_kernels(
            "relaxed", counted, requirement.least_rows, how, notice
        ):
            parts = divide_compiled(space, requirement, settings.threads)
        else:
            parts = divide(space, requirement)
        return _recoding(frequency_set, parts, requirement, options)
    if class_test is None and chooser is None and not requirement.others:
        classes = strict_classes(
            counted, requirement, settings, options, evaluator=how, notice=notice, progress=progress
        )
    else:
        _tell(requirement, notice)
        space = Space.of(counted, options)
        classes = cut_greedily(space, chooser or WidestFirst(options, requirement.least_rows), test, progress)
    recoding = classes_to_recoding(
        frequency_set,
        classes,
        requirement,
        RecodingModel.ORDERED_MULTI,
        options.summary,
        suppression=options.suppression,
        by_tree=options.by_tree,
    )
    return replace(recoding, class_test=class_test)


def strict_classes(
    table: FrequencySet,
    requirement: Requirement,
    settings: Settings,
    options: MondrianOptions,
    *,
    occurring: Sequence[NDArray[np.int64]] | None = None,
    evaluator: Evaluator = Evaluator.AUTO,
    notice: Notice | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """The class of each row type for k and distinct l; the table as a whole meets them, and has no subjects.

    ``occurring`` is for a fragment of a table (see ``Space.of``).
    """
    if _use_kernels("strict", table, requirement.least_rows, evaluator, notice):
        space = Space.of(table, options, occurring or occurring_compiled(table, options.categorical))
        return cut_compiled(space, options.cut, requirement, settings.threads)
    test = class_test_of(requirement, table.sensitive_attributes)
    space = Space.of(table, options, occurring)
    return cut_greedily(space, WidestFirst(options, requirement.least_rows), test, progress)


def _by_subject(
    table: FrequencySet,
    requirement: Requirement,
    options: MondrianOptions,
    chooser: CutChooser | None,
    notice: Notice | None,
    progress: Progress | None,
) -> NDArray[np.int64]:
    """The class of each row type where subjects are counted, each class by itself.

    Cuts are proposed by rows, as the median of rows divides an analyst's table best; each side is then judged
    by its subjects.
    """
    test = _test(table, requirement, None)
    facts = FactCounter.of(table, requirement)
    if not table.row_types or not facts.holds(np.arange(table.row_types)):
        raise _whole_fails(table, requirement)
    tell_of_subjects("partitioning", notice)
    space = Space.of(table, options)
    widest = chooser or WidestFirst(options, requirement.least_rows)
    return cut_greedily(space, widest, test, progress, subjects=facts)


def _tell(requirement: Requirement, notice: Notice | None) -> None:
    """Say that the kernels, which know k and distinct l, do not serve this requirement."""
    if requirement.others and notice is not None:
        names = ", ".join(dict.fromkeys(criterion.name for criterion in requirement.others))
        notice(f"plain numpy does the partitioning for {names}, much more slowly")


def _recoding(
    frequency_set: FrequencySet, parts: Parts, requirement: Requirement, options: MondrianOptions
) -> ClassRecoding:
    return classes_to_recoding(
        frequency_set,
        parts.classes,
        requirement,
        RecodingModel.RELAXED_MULTI,
        options.summary,
        row_types=parts.row_types,
        rows=parts.rows,
        suppression=options.suppression,
        by_tree=options.by_tree,
    )


def _test(counted: FrequencySet, requirement: Requirement, class_test: ClassTest | None) -> ClassTest:
    if requirement.is_empty and class_test is None:
        raise InputError("no requirement", allowed="k, l, or a class test")
    FactCounter.of(counted, requirement)
    known = tuple(sets.of for sets in counted.sensitive)
    plain = class_test_of(requirement, counted.sensitive_attributes, known)
    if class_test is None:
        return plain
    uncounted = [sets.attribute for sets in counted.sensitive if sets.counts is None]
    if uncounted:
        raise InputError(
            f"the frequency set holds no rows by value of '{uncounted[0]}', which a class test may need",
            advice="Count the table by count_frequency_set.",
        )
    return AllOf((plain, class_test))


def _check_whole(counted: FrequencySet, requirement: Requirement, test: ClassTest) -> None:
    """Raise ``NoSolution`` unless the class of all rows meets the test."""
    every: NDArray[np.int64] = np.arange(counted.row_types)
    if counted.row_types and ClassCounter(counted, test).holds(every):
        return
    raise _whole_fails(counted, requirement)


def _whole_fails(counted: FrequencySet, requirement: Requirement) -> NoSolution:
    return NoSolution(
        f"the table as a whole, {counted.rows:,} rows, does not meet {requirement}"
        if not requirement.is_empty
        else "the table as a whole does not meet the class test",
        advice=None
        if requirement.is_empty
        else f"Ask for less: {failing_as_a_whole(counted, requirement).relaxing}.",
    )


def _check_relaxed(
    requirement: Requirement, class_test: ClassTest | None, chooser: CutChooser | None
) -> None:
    given = [f"{criterion} ({criterion.title})" for criterion in requirement.others]
    given += ["a class test"] if class_test is not None else []
    given += ["a chooser of cuts"] if chooser is not None else []
    if not given:
        return
    raise InputError(
        "relaxed Mondrian divides equal rows over classes, and which row goes where is drawn when the "
        f"recoding is applied; {given[0]} cannot be kept",
        allowed="k and l with relaxed Mondrian, or strict Mondrian",
    )


def _use_kernels(
    part: str, table: FrequencySet, least_rows: int, evaluator: Evaluator, notice: Notice | None
) -> bool:
    if evaluator is Evaluator.AUTO:
        return ready(part, table, least_rows, notice)
    if evaluator is Evaluator.KERNELS and not fits_kernels(table):
        raise InputError("a row type has over four thousand million rows", allowed="the numpy twin")
    return evaluator is Evaluator.KERNELS
