"""Reading of source files: detected encoding and delimiter, and cells that break a declared format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from discreet.engines.connection import connect
from discreet.engines.files.delimited_text import DELIMITER_NAMES, find_bare_words
from discreet.engines.files.sources import describe_cell_reading, source_unquoted_nulls
from discreet.engines.registry import engine_of
from discreet.engines.source_query import UnmatchedText, find_unmatched_texts
from discreet.engines.source_tables import open_source_table
from discreet.model.release_address import FileOptions, ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.printing.document import format_quantity
from discreet.profile.file_format_inference import infer_file_format
from discreet.release.manifest import has_manifest
from discreet.settings import Settings
from discreet.verbs.run_context import Reporter, interruptible_engine

_DEFAULT_FORM = {"encoding": "utf-8", "delimiter": ",", "quote": '"'}


class FileKeywords(TypedDict, total=False):
    """Keywords of the form of a file of another program; those that are not given are detected."""

    format: str | None
    encoding: str | None
    delimiter: str | None
    quote: str | None
    null_values: Sequence[str]


def parse_file_options(options: Mapping[str, Any]) -> FileOptions:
    """Return the form of a file from the keywords of a verb, which may have others."""
    found = {name: value for name, value in options.items() if name in FileKeywords.__annotations__}
    return FileOptions(**(found | {"null_values": tuple(options.get("null_values", ()))}))


@dataclass(frozen=True)
class FileReading:
    """Source with explicit and detected options; ``notes`` explain the detected ones."""

    source: SourceSpec
    notes: tuple[str, ...] = ()


def infer_source_form(source: SourceSpec, explicit_form: FileOptions | None = None) -> FileReading:
    """Complete a source's explicit options with options detected from its file.

    A table, a folder and Parquet have no such options. Raises ``InputError`` if the file cannot be opened.
    """
    form = explicit_form or FileOptions()
    declared = form.apply_to(source)
    path = declared.path
    if path is None or declared.table is not None or path.is_dir():
        return FileReading(declared, describe_cell_reading(declared))
    found = infer_file_format(path, declared.label, declared.format, known=form)
    if found.delimiter is None and found.format != "json":
        return FileReading(declared, describe_cell_reading(declared))
    inferred = {"encoding": found.encoding, "delimiter": found.delimiter, "quote": found.quote or None}
    open_ = {
        key: value for key, value in inferred.items() if value is not None and getattr(form, key) is None
    }
    if found.format == "tsv":
        open_.pop("delimiter", None)
    notes = tuple(
        _inference_sentence(key, DELIMITER_NAMES.get(value, value), found.reasons[key])
        for key, value in open_.items()
        if value != _DEFAULT_FORM[key]
    )
    known = {key: value for key, value in open_.items() if key != "delimiter" or value != ","}
    return FileReading(replace(declared, **known), notes)  # type: ignore[arg-type]


def _inference_sentence(key: str, value: str, reason: str) -> str:
    return f"The {key} was read as {value} ({reason.removeprefix(f'{value}: ')})."


def infer_unquoted_nulls(source: SourceSpec) -> SourceSpec:
    """Return a source with the unquoted words of its file that mean NULL.

    Nothing changes if the file does not quote texts, has no such word, or if the source declares the words.
    """
    path = source.path
    if source.unquoted_nulls is not None or path is None or not path.is_file():
        return source
    words = source_unquoted_nulls(source)
    delimiter = source.delimiter or ("\t" if path.suffix.lower() in (".tsv", ".tab") else ",")
    found = find_bare_words(path, delimiter, words) if words else ()
    return replace(source, unquoted_nulls=found) if found else source


def infer_release_form(
    address: ReleaseAddress, explicit_form: FileOptions, reporter: Reporter
) -> ReleaseAddress:
    """Return a release of another program with explicit and detected options; guesses go to the reporter."""
    if address.path is None or not address.path.is_file() or has_manifest(address):
        explicit_form.apply_to(address.source())
        return replace(address, form=explicit_form)
    reading = infer_source_form(address.source(), explicit_form)
    for sentence in reading.notes:
        reporter.notice(sentence)
    source = reading.source
    return replace(
        address,
        form=FileOptions(
            source.format, source.encoding, source.delimiter, source.quote, explicit_form.null_values
        ),
    )


MAX_INVALID_TEXTS = 50
"""Limit of different texts per column that may become NULL or stay; more indicate another format."""

_MAX_LISTED_TEXTS, _MAX_TEXT_LENGTH = 3, 40


@dataclass(frozen=True)
class FormatErrors:
    """Texts of a column that its format does not match, the most frequent first.

    There are at most ``MAX_INVALID_TEXTS`` + 1.
    """

    column: str
    texts: tuple[UnmatchedText, ...]

    @property
    def message(self) -> str:
        """Error message with texts and rows."""
        text = "; ".join(_describe_text(each) for each in self.texts[:_MAX_LISTED_TEXTS])
        more = len(self.texts) - _MAX_LISTED_TEXTS
        others = (
            ""
            if more <= 0
            else f"; and {'over ' if more > MAX_INVALID_TEXTS - _MAX_LISTED_TEXTS else ''}"
            f"{format_quantity(more, 'other')}"
        )
        return f"Cells of '{self.column}' do not match the format: {text}{others}"


def find_format_errors(source: SourceSpec, column: str, settings: Settings) -> FormatErrors | None:
    """Find the cells that one column's declared format does not match; None without any.

    Cost: one scan. Raises ``InputError`` if the source cannot be read.
    """
    single_column = replace(source, formats={column: source.formats[column]}, decimal=None)
    # One thread reads the rows in order, so that row numbers are those of the file.
    in_order = replace(settings, threads=1)
    with (
        connect(in_order, single_column) as engine,
        interruptible_engine(engine),
        open_source_table(engine, single_column) as table,
    ):
        if column not in table.written:
            return None
        numbered = engine_of(single_column).embedded
        texts = find_unmatched_texts(engine, table, column, most=MAX_INVALID_TEXTS + 1, numbered=numbered)
    return FormatErrors(column, texts) if texts else None


def _describe_text(misread: UnmatchedText) -> str:
    excerpt = misread.text if len(misread.text) <= _MAX_TEXT_LENGTH else misread.text[:_MAX_TEXT_LENGTH] + "…"
    times = "" if misread.cells == 1 else f", {misread.cells:,} times"
    first = (
        "" if misread.row is None else f"{' in' if misread.cells == 1 else ', first in'} row {misread.row:,}"
    )
    return f"“{excerpt}”{times}{first}"
