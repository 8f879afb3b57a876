"""The commands that a verb suggests next, ready to copy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.model.negotiation import Relaxation
from discreet.model.request import Request, SuppressionLimit
from discreet.verbs.command_texts import request_options

if TYPE_CHECKING:
    from discreet.printing.document import Document
    from discreet.results.answers import AnswerResult, NegotiationResult


FILE, TABLE = "--output release.csv", "--table SCHEMA.NAME"
"""Where a release may go: a file, or a table of the database that has the source."""


def publish_steps(result: NegotiationResult, spec: Path, target: str = FILE) -> Document:
    """How to publish the exact answer, or a relaxation that leaves rows to publish."""
    from discreet.printing.document import BLANK, Line, Tone

    publishable = [a for a in result.answers if a.suppressed < result.rows]
    if not publishable:
        return ()
    if result.basis is not None:
        return _level_steps(publishable, spec, target)
    command = f"discreet publish {shlex.quote(str(spec))}{request_options(result.request)}"
    if result.exact is not None:
        title, accept = "To publish it:", ""
    else:
        names = [str(a.relaxed) for a in publishable]
        chosen = str(Relaxation.HEIGHT) if Relaxation.HEIGHT in names else names[0]
        title = f"To publish a relaxation ({', '.join(names)}):"
        accept = f" --accept {chosen}"
    step = Line(f"  {command}{accept} {target}", Tone.HINT, verbatim=True)
    return (BLANK, Line(title), step)


def publish_locally(request: Request, spec: Path, effort: str | None, target: str = FILE) -> Document:
    """How to publish a request's exact answer by local recoding."""
    from discreet.printing.document import BLANK, Line, Tone

    rounds = "" if effort is None else f" --effort {shlex.quote(effort)}"
    command = f"discreet publish {shlex.quote(str(spec))} --model local{request_options(request)}{rounds}"
    step = Line(f"  {command} {target}", Tone.HINT, verbatim=True)
    return (BLANK, Line("To publish it:"), step)


def _level_steps(answers: list[AnswerResult], spec: Path, target: str) -> Document:
    """How to publish the first of some answers by its levels, which need no lattice."""
    from discreet.printing.document import BLANK, Line, Tone

    answer = next((a for a in answers if a.relaxed in (None, str(Relaxation.HEIGHT))), answers[0])
    wish = Request(answer.answer.requirement, SuppressionLimit(rows=answer.suppressed))
    levels = "".join(f" --level {shlex.quote(f'{name}={level}')}" for name, level in answer.levels.items())
    command = f"discreet publish {shlex.quote(str(spec))}{levels}{request_options(wish)}"
    title = f"To publish {f'the relaxation of {answer.relaxed}' if answer.relaxed else 'it'}:"
    step = Line(f"  {command} {target}", Tone.HINT, verbatim=True)
    return (BLANK, Line(title), step)
