"""Routes of signing in and out: the start link, the login page, the session, and the shell of the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from pydantic import BaseModel, Field

from discreet.model.json_documents import program_version
from discreet.web.error_responses import RESPONSES, FieldError, NotAllowed
from discreet.web.request_guard import (
    CurrentClientRequest,
    CurrentServer,
    CurrentSession,
    cookie_name,
    session_token,
    set_session_cookie,
)
from discreet.web.server_state import LOCAL_USER, LoginMethod

STATIC = Path(__file__).resolve().parent.parent / "static"

router = APIRouter()


class SessionAnswer(BaseModel):
    """The signed-in user and the login method."""

    user: str = Field(description="The user's name; `local` on a server with one user.")
    login: LoginMethod = Field(description="token: the start link; password; proxy: a reverse proxy.")
    workbench: str = Field(description="The version of discreet.")


class SignIn(BaseModel):
    """A user's name and password."""

    user: str = Field(max_length=64)
    password: str = Field(max_length=1024)


class Health(BaseModel):
    """The server's status."""

    status: str = Field("ok", description="Always ok.")


@router.get("/", include_in_schema=False)
def index() -> FileResponse:
    """Return the workbench's page."""
    return _page("index.html")


@router.get("/api-docs", include_in_schema=False)
def api_docs() -> FileResponse:
    """Return the documentation of this interface, which loads no external resource."""
    return _page("api-docs.html")


@router.get("/favicon.ico", include_in_schema=False)
def favicon() -> FileResponse:
    """Return the icon that browsers request."""
    return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")


@router.get("/login", include_in_schema=False)
def login_page(server: CurrentServer) -> FileResponse:
    """Return the login page, or the page that explains where the start link is."""
    return _page("login.html" if server.config.uses_passwords else "signed-out.html")


@router.get("/start", include_in_schema=False)
def start(server: CurrentServer, client_request: CurrentClientRequest, token: str = "") -> Response:
    """Exchange the start link's token, once, for the session's cookie."""
    if server.config.uses_passwords or not server.start_tokens.redeem(token):
        return RedirectResponse("/login", status_code=303)
    answer = RedirectResponse("/", status_code=303)
    set_session_cookie(answer, client_request, server, server.sessions.open(LOCAL_USER, "token"))
    return answer


@router.get("/api/health", tags=["session"], summary="Status of the server")
def health() -> Health:
    """Return the status to any client whose Host and Origin are allowed; without facts about the data."""
    return Health(status="ok")


@router.get("/api/session", tags=["session"], summary="The session", responses=RESPONSES)
def session(current: CurrentSession) -> SessionAnswer:
    """Return the session of the cookie."""
    return SessionAnswer(user=current.user, login=current.login, workbench=program_version())


@router.post("/api/session", tags=["session"], summary="Sign in", responses=RESPONSES)
def sign_in(
    body: SignIn, server: CurrentServer, client_request: CurrentClientRequest, response: Response
) -> SessionAnswer:
    """Sign in with a password. After five failures each attempt waits twice as long as the previous one."""
    if server.passwords is None:
        raise NotAllowed("this server has no passwords", advice="Open the start link that it printed.")
    server.login_throttle.check(client_request.address, body.user)
    if not server.passwords.verify(body.user, body.password):
        server.login_throttle.failed(client_request.address, body.user)
        raise FieldError("the user name or the password is wrong", field="password")
    server.login_throttle.succeeded(client_request.address, body.user)
    token = server.sessions.open(body.user, "password")
    set_session_cookie(response, client_request, server, token)
    return SessionAnswer(user=body.user, login="password", workbench=program_version())


@router.delete("/api/session", tags=["session"], summary="Sign out", status_code=204, responses=RESPONSES)
def sign_out(
    request: Request,
    current: CurrentSession,
    server: CurrentServer,
    client_request: CurrentClientRequest,
    everywhere: Annotated[bool, Query(description="Also end the user's other sessions.")] = False,
) -> Response:
    """End the session; the workspace and its jobs are kept."""
    token = session_token(request.scope, client_request, server)
    if token is not None:
        server.sessions.close(token)
    if everywhere:
        server.sessions.close_all(current.user)
    answer = Response(status_code=204)
    answer.delete_cookie(
        cookie_name(client_request, server),
        path="/",
        httponly=True,
        samesite="strict",
        secure=client_request.is_secure,
    )
    return answer


def _page(name: str) -> FileResponse:
    return FileResponse(STATIC / name, media_type="text/html; charset=utf-8")
