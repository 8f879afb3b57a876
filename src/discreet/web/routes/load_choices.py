"""Screen 1, Load: what there is to choose from before a table is open: sheets, databases and their tables."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from discreet.screens.databases import databases_to_choose, tables_to_choose
from discreet.screens.source_view import sheets_to_choose
from discreet.web.dependencies import CurrentWorkspace
from discreet.web.problems import RESPONSES
from discreet.web.source_form import DatabaseBody, SourceBody, database_address, source_of

router = APIRouter(prefix="/api/load", tags=["load"], responses=RESPONSES)


class DatabasesAnswer(BaseModel):
    """Databases by name; ``allowed`` says whether this server opens any at all."""

    allowed: bool
    databases: list[DatabaseBody]


class TablesAnswer(BaseModel):
    """The names of tables, with their schemas."""

    tables: list[str]


class SheetsAnswer(BaseModel):
    """Sheets to choose from; none where there is no choice."""

    sheets: list[str]


@router.post("/sheets", summary="The sheets of a spreadsheet")
def sheets(body: SourceBody, workspace: CurrentWorkspace) -> SheetsAnswer:
    """The sheets among which one is to be chosen, where a spreadsheet has several with cells."""
    return SheetsAnswer(sheets=list(sheets_to_choose(source_of(body, workspace))))


@router.get("/databases", summary="Databases to choose from")
def databases(workspace: CurrentWorkspace) -> DatabasesAnswer:
    """The databases whose addresses the server's environment and service file hold, by name."""
    found = databases_to_choose() if workspace.databases else ()
    return DatabasesAnswer(
        allowed=workspace.databases,
        databases=[DatabaseBody(name=each.name, service=each.is_service) for each in found],
    )


@router.post("/tables", summary="The tables of a database")
def tables(body: DatabaseBody, workspace: CurrentWorkspace) -> TablesAnswer:
    """The names of tables and views that the server's user may read there. No row is read."""
    url = database_address(body, workspace)
    return TablesAnswer(tables=list(tables_to_choose(url, workspace.settings)))
