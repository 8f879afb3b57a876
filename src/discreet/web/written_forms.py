"""How a column's cells are written, as the Load screen says it: refused at once where cells are not."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from discreet.errors import InputError
from discreet.verbs.missed_cells import MOST_TEXTS, missed_cells
from discreet.verbs.spec_edits import with_written
from discreet.web.problems import FieldError
from discreet.web.workspace import Workspace


class WrittenBody(BaseModel):
    """How the cells of a column are written: the keys of the spec's ``written``; none for as they stand."""

    column: str
    written: dict[str, str | int | bool | list[str] | None] = Field(default_factory=dict)
    missed: Literal["refuse", "null", "keep"] = Field(
        "refuse", description="Cells without the form: refused, read as NULL, or left as they are."
    )


def document_written(body: WrittenBody, workspace: Workspace) -> dict[str, Any]:
    """The spec's mapping with another written form of a column, which fits every cell of it.

    Hold the workspace's ``editing``. ``InputError`` for a form that cannot be; ``FieldError`` of the field
    ``missed`` for cells that it does not fit, unless they are to be NULL or to stay as they are.
    """
    document = workspace.document()
    form = {key: value for key, value in body.written.items() if value not in (None, "", [])}
    if not form:
        return with_written(document, body.column, None)
    kept = (document["attributes"].get(body.column, {}).get("written") or {}).get("others")
    form |= {} if kept is None else {"others": kept}
    found = with_written(document, body.column, form)
    spec = workspace.checked_spec(found)
    missed = missed_cells(spec.source, body.column, workspace.settings)
    if missed is None:
        return found
    texts = [each.text for each in missed.texts]
    if len(texts) > MOST_TEXTS:
        field = "dates" if form.get("dates") else "decimal"
        raise FieldError(
            missed.message, field=field, advice="Say how these are written, or choose another form."
        )
    if body.missed == "refuse":
        advice = "Say how these are written too, read them as NULL, or leave them as they are."
        raise FieldError(missed.message, field="missed", advice=advice)
    if body.missed == "null":
        source = document["source"]
        nulls = list(dict.fromkeys([*source.get("null_values", []), *texts]))
        return {**found, "source": {**source, "null_values": nulls}}
    return with_written(document, body.column, {**form, "others": [*(kept or []), *texts]})


def field_of(error: InputError) -> str:
    """The field of a written form that an error is about."""
    said = error.message.rpartition("written")[2]
    fields = {
        "pivot": "pivot",
        "date": "dates",
        "thousands": "thousands",
        "unit": "unit",
        "decimal": "decimal",
    }
    return next((field for word, field in fields.items() if word in said), "column")
