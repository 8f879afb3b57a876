"""How a file is read: as its owner says, and for the rest as the file itself tells."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.engines.files.delimited_text import DELIMITERS
from discreet.engines.files.sources import told_of_cells, unquoted_nulls_of
from discreet.engines.files.unquoted_nulls import bare_words
from discreet.model.file_form import FileForm
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.profile.source_form import infer_form
from discreet.release.manifest import has_manifest
from discreet.verbs.reporting import Reporter

_USUAL = {"encoding": "utf-8", "delimiter": ",", "quote": '"'}


@dataclass(frozen=True)
class FileReading:
    """A source with all that is known of its file; ``told`` are sentences on what was guessed, and why."""

    source: SourceSpec
    told: tuple[str, ...] = ()


def read_so(source: SourceSpec, given: FileForm | None = None) -> FileReading:
    """A source as somebody says, and what he left out as its file tells.

    ``InputError`` where the file cannot be opened. A table, a folder and Parquet have nothing to tell.
    """
    form = given or FileForm()
    asked = form.applied(source)
    path = asked.path
    if path is None or asked.table is not None or path.is_dir():
        return FileReading(asked, told_of_cells(asked))
    found = infer_form(path, asked.label, asked.format, known=form)
    if found.delimiter is None and found.format != "json":
        return FileReading(asked, told_of_cells(asked))
    told = {"encoding": found.encoding, "delimiter": found.delimiter, "quote": found.quote or None}
    open_ = {key: value for key, value in told.items() if value is not None and getattr(form, key) is None}
    if found.format == "tsv":
        open_.pop("delimiter", None)
    notes = tuple(
        _sentence(key, DELIMITERS.get(value, value), found.reasons[key])
        for key, value in open_.items()
        if value != _USUAL[key]
    )
    known = {key: value for key, value in open_.items() if key != "delimiter" or value != ","}
    return FileReading(replace(asked, **known), notes)  # type: ignore[arg-type]


def _sentence(key: str, value: str, reason: str) -> str:
    return f"The {key} was read as {value} ({reason.removeprefix(f'{value}: ')})."


def with_unquoted_nulls(source: SourceSpec) -> SourceSpec:
    """Return a source with the bare words of its file that are NULL.

    Nothing changes where it quotes no texts, has no such word, or says itself what such words are.
    """
    path = source.path
    if source.unquoted_nulls is not None or path is None or not path.is_file():
        return source
    words = unquoted_nulls_of(source)
    delimiter = source.delimiter or ("\t" if path.suffix.lower() in (".tsv", ".tab") else ",")
    found = bare_words(path, delimiter, words) if words else ()
    return replace(source, unquoted_nulls=found) if found else source


def release_read_so(address: ReleaseAddress, given: FileForm, reporter: Reporter) -> ReleaseAddress:
    """A file of another program's as somebody says and as it tells; the reporter is told what was guessed."""
    if address.path is None or not address.path.is_file() or has_manifest(address):
        given.applied(address.source())
        return replace(address, form=given)
    reading = read_so(address.source(), given)
    for sentence in reading.told:
        reporter.notice(sentence)
    source = reading.source
    return replace(
        address,
        form=FileForm(source.format, source.encoding, source.delimiter, source.quote, given.null_values),
    )
