"""Texts of the screens: messages of the library without options and TOML keys, requests as one line, hints.

A message is rewritten by regular expressions; a hint is a warning of the proposal with a button that applies
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from discreet.errors import InputError
from discreet.model.criteria.registry import CRITERIA
from discreet.model.requirement import Requirement

_HIERARCHY_RULES = (
    (
        r"width = 5, widths = \[5, 10, 20\], breaks = \[18, 35, 65\], …",
        "widths such as 5, 10, 20, or bounds such as 18, 35, 65",
    ),
    (r"intervals without a width", "intervals without widths or bounds"),
    (r"breaks = \[([^\]]*)\]", r"bounds \1"),
    (r"such as \[18, 35, 65\], or a list of such lists", "such as 18, 35, 65, each level after a semicolon"),
    (r"breaks: the bound", "the bound"),
    (r"lower = (\S+) above upper = (\S+)", r"the lowest end \1 is above the highest, \2"),
    (r"numbers as lower and upper", "numbers as the lowest and the highest end"),
    (
        r"Give the hierarchy a format, or several, as in format = \[.*?\]; list the value under "
        r"others, or in \[source\] in null_values",
        "Give a format, or several with | between; or list the value under Other values, or read it as NULL "
        "on Load",
    ),
    (
        r"(List )?(it|unknown values|the value) (in the hierarchy as|as|under) others( = \[.*?\])?, "
        r"or (in \[source\] )?(as|in) null_values( = \[[^\]]*\])?( in \[source\])?",
        r"\1\2 under Other values, or read it as NULL on Load",
    ),
    (
        r"Write (\w+) = (\S+) in the hierarchy, or others = \[[^\]]*\]",
        r"Set the \1 end to \2 on Hierarchies, or list it under Other values",
    ),
    (r"\bunder others\b", "under Other values"),
    (r"\bout of others\b", "out of Other values"),
    (r"an order with both sizes and fanout", "both values per group and groups per group"),
    (r"an order without sizes or fanout", "neither values per group nor groups per group"),
    (
        r"sizes = \[3, 6\], fanout = \[3, 2\] or fanout = 2",
        "values per group such as 3, 6, or groups per group such as 3, 2",
    ),
    (r"order fanout (\S+)", r"groups per group: \1"),
    (r"order size (\S+)", r"values per group: \1"),
    (r"a mask with length but without pad", "a length of codes that are not filled up"),
    (r"length together with pad = true", "a length where short codes are filled up"),
    (r"such as steps = 10", "such as 10"),
    (r'Use \{kind = "auto", by = "order"\}', "Group by order"),
    (r"Save the file as UTF-8, or give the hierarchy as \{.*\}", "Save the file as UTF-8"),
    (r"Write ; between cells, or give the hierarchy as \{.*\}", "Write ; between cells"),
    (r"least_level = (\S+), above", r"a least level of \1, above"),
)

_FILE_RULES = (
    (
        r"Give another delimiter: delimiter in \[source\], as in --delimiter ' '",
        "Choose another delimiter on Load",
    ),
    (r"Name one by --table [A-Z]+, or by table in the spec's \[source\]", "Choose one on Load"),
    (
        r"Set encoding = \"utf-16\": in the spec's \[source\], or where the file is named, as in "
        r"--encoding utf-16",
        "Choose utf-16 as the encoding on Load",
    ),
    (
        r"Set the file's encoding, such as (.*): in the spec's \[source\], or where the file is named, "
        r"as in --encoding \S+\.",
        r"Choose its encoding on Load, such as \1.",
    ),
    (r" \(engine = \"spark\" and table = \"…\" in \[source\]\)", ""),
    (r', as in \{decimal = ",", thousands = "\."\}', ""),
    (r"such as pivot = (\d+)", r"such as \1"),
    (r"where letters are wrong, say --encoding", "where letters are wrong, choose another one"),
    (r"a path below the folder given by --root", "a path below the server's root"),
    (r"start discreet serve with another --root", "start the server with another root"),
    (
        r"Choose another (\S+), or (?:ask for it to be (?:overwritten|replaced)|overwrite it) "
        r"\(--overwrite\)",
        r"Choose another \1, or replace it",
    ),
    (r"Choose another name, or add --overwrite", "Choose another name, or replace it"),
    (r'Set null_policy = "value" in \[source\]', "Let NULL be a value of its own on Load"),
    (
        r'Add "" to null_values in \[source\], so that it is read as NULL',
        "Read the empty text as NULL on Load",
    ),
)

_LIMIT_RULES = (
    (r" \(--memory-limit, DISCREET_MEMORY_LIMIT\)", ", this server's memory limit"),
    (r"Raise DISCREET_MEMORY_LIMIT, name", "Start the server with more memory, name"),
    (
        r" discreet search, and discreet publish with --level or --model mondrian, "
        r"process such tables in the database\.",
        "",
    ),
    (r"Raise --memory-limit, or leave --workload out\.", "Start the server with more memory."),
    (r"Raise (the limit|--memory-limit)(?=[,.])", "Start the server with more memory"),
    (r" \(--threads 1\)", ""),
)

_RELEASE_RULES = (
    (r"Name it: --[a-z-]+ [A-Z]+\.", "Choose it."),
    (
        r"^(column-sets|suda2|population-uniques|survey-weights|skewness|background-knowledge|minimality|downcoding"
        r"|households|control-set|linkage-with-errors|intersection): ",
        "",
    ),
    (r"a partial lattice \(--partial [\d.]+%\), ", ""),
    (r"--accept-relaxation with one of (.*)", r"another limit, or other levels"),
    (
        r"Use discreet negotiate to see the result of each relaxation",
        "Negotiate shows the possible relaxations",
    ),
    (
        r"Use discreet negotiate to see the possible relaxations",
        "Negotiate shows the possible relaxations",
    ),
    (r" \(--max-suppressed\)", ""),
    (r"levels that are negotiated \(no --model\)", "levels that are chosen in Negotiate"),
    (r"Use no --model or full-domain, or", "Choose levels in Negotiate, or the model Full-domain, or"),
    (r"Negotiate without --model", "Choose levels in Negotiate"),
    (r'Give an attribute role = "([a-z-]+)"', r"Give a column the role \1 on Columns"),
    (r'(at least one attribute|it|the attribute) role = "([a-z-]+)"', r"\1 the role \2 on Columns"),
    (r"Use --method greedy( for l)?\.", "Let cuts be found by greedy."),
    (r"--max-suppressed 0, or --cost c-dm", "no suppressed row, or optimal cuts of the least discernibility"),
    (r"with --partition qi-aware", "groups that are found along a quasi-identifier"),
    (r"with --partition recoding", "groups that are the classes of another model"),
    (r"a release of --model permutation", "a permuted release"),
    (r"Omit min_level, or use summary lca", "Set no least level, or show lowest common ancestors"),
    (r"min_level with summary ", "least levels for classes shown as "),
    (
        r"Give \[population\] with a path, or subset in \[source\]\.",
        "The spec can name a table of more people, or the part that is published.",
    ),
    (
        r"Name the columns that an attacker may know, each by --quasi-identifier COLUMN\.",
        "Its manifest should name the quasi-identifiers.",
    ),
    (r"Name the publisher's spec, too: --spec \S+\.", "The publisher's spec has it."),
    (
        r"Name its public hierarchy, --hierarchy .*, or the spec: --spec FILE",
        "The publisher's spec has its hierarchy",
    ),
    (
        r"Name the spec (of the original|that the release was made with): --spec SPEC",
        r"Open the spec \1 on Load",
    ),
    (r"(Name [^:.]*): --[a-z-]+ [A-Z]+\.", r"\1."),
    (
        r"Say which columns match: --match COLUMN=COLUMN, the file's and the release's",
        "Say which columns match, the file's and the release's",
    ),
)

_REQUEST_RULES = (
    (r"set subject = (\"[^\"]*\") in \[source\]", r"choose \1 as the subject on Load"),
    (r"(by )?null_values = \[[^\]]*\] in \[source\]", "on Load"),
    (r"; or keep it with others = \[[^\]]*\] in the written form", "; or leave it as it is on Load"),
    (r"null_values( = \[[^\]]*\])?", "the texts read as NULL"),
    (r"(,? ?in|of|from) the spec's \[source\]", " on Load"),
    (r"(in|to|from) \[source\]", "on Load"),
    (r"(in|of) the spec's \[request\]", "in the request"),
    (r"(in|of) \[request\]", "in the request"),
    (r"\[attributes\.([^\]]+)\]", r"\1"),
    (r"(Answered from a partial lattice: .*%), ranked by \w+\)", r"\1)"),
    (r"(?<=No solution by relaxing )max_suppressed", "the limit of suppressed rows"),
    (r"(No solution by relaxing .*)\bheight\b", r"\1the levels"),
    (r"allow --max-suppressed (\S*[\w%])", r"allow \1 to be suppressed"),
    (r"--max-suppressed (\S*[\w%])", r"\1 suppressed at most"),
    (r"--(k|l) (\d+)", r"\1 = \2"),
    (r"Give k=(\d+)", r"Give k = \1"),
    (r"\bmax_level\b( in the request)?", "the greatest level"),
    (r"\bmin_level\b( in the request)?", "the least level"),
)


def _compile_rules(rules: Sequence[tuple[str, str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), words) for pattern, words in rules)


_ANSWER_PATTERNS = _compile_rules(_REQUEST_RULES)
_ALL_PATTERNS = (
    *_compile_rules((*_HIERARCHY_RULES, *_FILE_RULES, *_LIMIT_RULES, *_RELEASE_RULES)),
    *_ANSWER_PATTERNS,
)


def screen_message(text: str | None) -> str | None:
    """Rewrite a message without TOML keys and command-line options."""
    return None if text is None else _apply_rules(_ALL_PATTERNS, text)


def answer_message(text: str) -> str:
    """Rewrite a sentence of an answer with the few rules that apply to it.

    Several sentences are rewritten at each move of a slider, so all rules would be too slow.
    """
    return _apply_rules(_ANSWER_PATTERNS, text)


def _apply_rules(rules: Sequence[tuple[re.Pattern[str], str]], text: str) -> str:
    for pattern, words in rules:
        text = pattern.sub(words, text)
    return text


_REQUEST_KEYS = frozenset(
    {
        "k",
        "l",
        "max_suppressed",
        "max_level",
        "min_level",
        "scope",
        "row_order",
        "cost",
        "criteria",
        "suppressed_rows",
    }
)


def describe_request(request: Mapping[str, Any]) -> str:
    """Describe a request in words: the form of the pages, or a spec's ``[request]``.

    >>> describe_request({"k": 5, "l": 3, "t": 0.2, "max_suppressed": "1%", "max_level": {"age": 2}})
    'k = 5, l = 3, t-closeness 0.2, at most 1% suppressed, age at most level 2'
    """
    return ", ".join(_request_parts(request)) or "nothing"


def describe_requirement(requirement: Requirement) -> str:
    """Describe the requirement on each class in words."""
    return describe_request(requirement.as_json())


def _request_parts(request: Mapping[str, Any]) -> Iterator[str]:
    if request.get("k") is not None:
        yield f"k = {request['k']:,}"
    l = request.get("l")
    if isinstance(l, Mapping):
        yield from (f"l = {least} of {name}" for name, least in l.items())
    elif l is not None:
        yield f"l = {l}"
    others = {name: setting for name, setting in request.items() if name not in _REQUEST_KEYS}
    for name, setting in {**others, **(request.get("criteria") or {})}.items():
        yield from _describe_criterion(name, setting)
    limit = request.get("max_suppressed")
    if limit is not None:
        yield f"at most {limit:,} suppressed" if isinstance(limit, int) else f"at most {limit} suppressed"
    for key, side in (("max_level", "at most"), ("min_level", "at least")):
        yield from (f"{name} {side} level {level}" for name, level in (request.get(key) or {}).items())
    if request.get("scope") == "global":
        yield "relaxed height anywhere"
    if request.get("cost") is not None:
        yield f"by the cost {_describe_cost(request['cost'])}"
    if request.get("row_order") not in (None, "sorted"):
        yield f"rows in {request['row_order']} order"
    if request.get("suppressed_rows") == "star":
        yield "suppressed rows starred"


def _describe_criterion(name: str, setting: Any) -> Iterator[str]:
    """Yield the words of a criterion: a number, numbers by attribute, or tables with fixed parts."""
    title = _criterion_title(name)
    if isinstance(setting, Mapping):
        setting = [{"attribute": attribute, "value": value} for attribute, value in setting.items()]
    for each in setting if isinstance(setting, list) else [{"value": setting}]:
        parts = {key: value for key, value in each.items() if key not in ("value", "attribute")}
        fixed = ", ".join(f"{key} {value}" for key, value in parts.items())
        of = f" of {each['attribute']}" if each.get("attribute") else ""
        yield f"{title} {each.get('value')}{of}{f' ({fixed})' if fixed else ''}"


def _criterion_title(name: str) -> str:
    try:
        return CRITERIA.named(name).title
    except InputError:
        return name  # a criterion of a package that is not installed


def _describe_cost(cost: Any) -> str:
    if not isinstance(cost, Mapping):
        return str(cost)
    options = ", ".join(f"{key} {value}" for key, value in cost.items() if key != "name")
    return f"{cost.get('name')} ({options})" if options else str(cost.get("name"))


_REPEATED_VALUES = re.compile(
    r"(.*) If it names the person, set subject = (\".*\") in \[source\], so that (.*)", re.DOTALL
)
_UNUSUAL_TEXTS = re.compile(r"(.*), write null_values = (\[.*\]) in \[source\].*", re.DOTALL)
_DROPPED_COLUMN = "dropped until you decide"  # the Columns screen has its own notice for these


class Act(BaseModel):
    """The action of a button: another reading of the source."""

    label: str
    subject: str | None = None
    null_values: list[str] = Field(default_factory=list, description="Further texts that are read as NULL.")


class Advice(BaseModel):
    """A warning, with an action that a button offers."""

    text: str
    act: Act | None = None


def hints_of_warnings(warnings: Sequence[str]) -> list[Advice]:
    """Convert the warnings of a proposal to the form of the screens."""
    return [_hint(text) for text in warnings if _DROPPED_COLUMN not in text]


def _hint(text: str) -> Advice:
    if match := _REPEATED_VALUES.fullmatch(text):
        name = str(json.loads(match[2]))
        act = Act(label=f"{name} identifies the person", subject=name)
        return Advice(
            text=f"{match[1]} If it identifies the person, choose it as the subject: {match[3]}", act=act
        )
    if match := _UNUSUAL_TEXTS.fullmatch(text):
        texts: list[Any] = json.loads(match[2])
        listed = ", ".join(map(str, texts))
        return Advice(
            text=f"{match[1]}, read it as NULL.",
            act=Act(label=f"Read {listed} as NULL", null_values=[str(each) for each in texts]),
        )
    return Advice(text=screen_message(text) or "")
