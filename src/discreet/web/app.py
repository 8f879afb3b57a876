"""The application: routes behind the guard, and a description of them that needs nothing from outside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from discreet.model.own_version import own_version
from discreet.web import problems
from discreet.web.config import ServerConfig
from discreet.web.guard import Guard
from discreet.web.routes import (
    analyst,
    attacker,
    columns,
    compare,
    entry,
    hierarchies,
    hierarchy_files,
    jobs,
    lattice_nodes,
    load,
    load_choices,
    negotiate,
    publish,
    releases,
    scripts,
    versions,
    workspace,
)
from discreet.web.server_state import ServerState
from discreet.web.write_order import OrderedWrites

_DESCRIPTION = (
    "Everything that the pages of the workbench show, as JSON. Requests carry the session's cookie; those"
    " that change something carry an `Origin` header with the server's own address, as browsers send it. An"
    ' answer with a status of 400 or more is `{"error": {"kind", "message", "allowed", "advice", "field"}}`.'
)
_TAGS = [
    {"name": "session", "description": "Signing in and out."},
    {"name": "workspace", "description": "The user's folder: spec, uploads, history."},
    {
        "name": "versions",
        "description": "What there was after each change: taking back, doing again, going back.",
    },
    {"name": "jobs", "description": "Long work: progress, results, cancelling."},
    {"name": "load", "description": "Screen 1: the table, its preview, how NULL is read."},
    {"name": "columns", "description": "Screen 2: roles, proposals and uniqueness."},
    {"name": "hierarchies", "description": "Screen 3: hierarchies, their builders and checks."},
    {"name": "negotiate", "description": "Screen 4: the lattice, answers, relaxations, the frontier."},
    {"name": "compare", "description": "Answers, releases and models side by side."},
    {"name": "analyst", "description": "Screen 5: what a release keeps."},
    {"name": "attacker", "description": "Screen 6: what a release gives away."},
    {"name": "publish", "description": "Screen 7: releases, their audits and reports."},
    {"name": "scripts", "description": "What was clicked, as a command and as a program."},
]


_ROUTES = (
    entry,
    workspace,
    versions,
    jobs,
    load,
    load_choices,
    columns,
    hierarchies,
    hierarchy_files,
    negotiate,
    lattice_nodes,
    compare,
    analyst,
    attacker,
    publish,
    releases,
    scripts,
)


def create_app(config: ServerConfig) -> FastAPI:
    """The workbench's application; ``InputError`` where the configuration is unsafe or its folder in use.

    ``app.state.server`` is its ``ServerState``, which the application's end closes.
    """
    state = ServerState(config)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await run_in_threadpool(state.close)

    # The routes themselves: a router that is included is made once more for each application, when a request
    # first looks through it: two tenths of a second in all. Files come first: a page begins with a hundred.
    files = Mount("/static", StaticFiles(directory=entry.STATIC), name="static")
    app = FastAPI(
        title="discreet workbench",
        version=own_version(),
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        swagger_ui_oauth2_redirect_url=None,
        routes=[files, *(route for each in _ROUTES for route in each.router.routes)],
    )
    app.state.server = state
    problems.install(app)
    app.add_middleware(OrderedWrites, state=state)  # inside of the guard, which finds the session
    app.add_middleware(Guard, state=state)
    return app
