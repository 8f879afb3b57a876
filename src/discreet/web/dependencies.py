"""What routes and sockets ask for: the session, its user's workspace and jobs, the server."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from discreet.web.jobs import Jobs
from discreet.web.problems import SignedOut
from discreet.web.server_state import ServerState
from discreet.web.session import Session
from discreet.web.visits import Visit
from discreet.web.workspace import Workspace


def current_server(connection: HTTPConnection) -> ServerState:
    """The server's state."""
    state: ServerState = connection.app.state.server
    return state


def current_visit(connection: HTTPConnection) -> Visit:
    """Whence the request comes."""
    visit: Visit = connection.scope["discreet.visit"]
    return visit


def current_session(connection: HTTPConnection) -> Session:
    """The session, which the guard has found."""
    session = connection.scope.get("discreet.session")
    if not isinstance(session, Session):
        raise SignedOut("nobody is signed in", advice="Open the start link, or sign in.")
    return session


def current_workspace(
    server: Annotated[ServerState, Depends(current_server)],
    session: Annotated[Session, Depends(current_session)],
) -> Workspace:
    """The workspace of who is signed in."""
    return server.workspace_of(session.user)


def current_jobs(
    server: Annotated[ServerState, Depends(current_server)],
    session: Annotated[Session, Depends(current_session)],
) -> Jobs:
    """The jobs of who is signed in."""
    return server.jobs_of(session.user)


CurrentServer = Annotated[ServerState, Depends(current_server)]
CurrentVisit = Annotated[Visit, Depends(current_visit)]
CurrentSession = Annotated[Session, Depends(current_session)]
CurrentWorkspace = Annotated[Workspace, Depends(current_workspace)]
CurrentJobs = Annotated[Jobs, Depends(current_jobs)]
