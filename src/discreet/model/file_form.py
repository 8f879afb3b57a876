"""What somebody who knows a file says of how it is read; what he leaves out is told from the file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec

_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "\\t": "\t"}


@dataclass(frozen=True)
class FileForm:
    """A file's format and how its text is cut into cells; None is told from the file.

    ``delimiter`` is a character or its name (comma, semicolon, tab, bar), ``quote`` a character or empty for
    none. ``null_values`` are cell texts that are read as NULL.
    """

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    null_values: tuple[str, ...] = ()

    def applied(self, source: SourceSpec) -> SourceSpec:
        """A source read so; ``InputError`` where what is said concerns files, and the source is none."""
        given = {
            "format": self.format,
            "encoding": self.encoding,
            "delimiter": _DELIMITERS.get(str(self.delimiter), self.delimiter),
            "quote": self.quote,
        }
        changed = {key: value for key, value in given.items() if value is not None}
        if changed and source.path is None:
            key = next(iter(changed))
            raise InputError(f"the {key} of {source.label}, which is no file", advice=f"Leave out the {key}.")
        known = {str(key): value for key, value in changed.items()}
        return replace(
            source,
            null_values=tuple(dict.fromkeys((*source.null_values, *self.null_values))),
            **known,  # type: ignore[arg-type]
        )
