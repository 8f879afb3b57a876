"""What one server knows while it runs: who is signed in, and everybody's workspace and jobs."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock

from discreet.errors import InputError
from discreet.places import file_lock
from discreet.web.config import ServerConfig
from discreet.web.jobs import Jobs
from discreet.web.login_gate import LoginGate
from discreet.web.passwords import PasswordFile, check_user_name
from discreet.web.session import LOCAL_USER, Sessions, StartTokens
from discreet.web.workspace import Workspace

_LOCK_NAME = ".lock"
SECONDS_FOR_JOBS = 3.0


class ServerState:
    """Sessions, start links, workspaces and jobs of one server; ``close`` ends them."""

    def __init__(self, config: ServerConfig) -> None:
        config.check()
        self.config = config
        self.sessions = Sessions()
        self.start_tokens = StartTokens()
        self.gate = LoginGate()
        self.passwords = None if config.password_file is None else PasswordFile(config.password_file)
        self.closing = False
        self._lock = Lock()
        self._workspaces: dict[str, Workspace] = {}
        self._jobs: dict[str, Jobs] = {}
        self._folder_lock = lock_folder(config.workspace)
        if not config.by_password:
            self.workspace_of(LOCAL_USER)

    def workspace_of(self, user: str) -> Workspace:
        """A user's workspace; without a password file there is one user, who has the whole folder."""
        with self._lock:
            if user not in self._workspaces:
                folder = self.config.workspace
                if self.config.by_password:
                    folder = folder / "users" / check_user_name(user)
                self._workspaces[user] = Workspace(
                    user,
                    folder,
                    self.config.settings,
                    spec=self.config.spec,
                    root=self.config.root,
                    databases=not self.config.by_password,  # else one user would come in by another's right
                )
            return self._workspaces[user]

    def jobs_of(self, user: str) -> Jobs:
        """A user's jobs."""
        with self._lock:
            return self._jobs.setdefault(user, Jobs())

    def close(self) -> None:
        """Cancel every job, and let another server have the folder."""
        self.closing = True
        for jobs in self._jobs.values():
            jobs.close()
        for jobs in self._jobs.values():
            jobs.close(SECONDS_FOR_JOBS)
        for workspace in self._workspaces.values():
            workspace.forget()
        if self._folder_lock is not None:
            os.close(self._folder_lock)
            self._folder_lock = None


def lock_folder(folder: Path) -> int | None:
    """Take a workspace's folder for this server; ``InputError`` where another one has it.

    The lock goes with the process, however that ends. Where the system has none of the kind (Windows) there
    is no such protection, and None is returned.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        descriptor = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(
            f"the workspace {folder} cannot be used: {(error.strerror or 'error').lower()}",
            advice="Give --workspace another folder.",
        ) from None
    if not file_lock.AVAILABLE:  # pragma: no cover - Windows
        os.close(descriptor)
        return None
    try:
        file_lock.lock_at_once(descriptor)
    except OSError:
        os.close(descriptor)
        raise InputError(
            f"another server uses the workspace {folder}",
            advice="Use that one, or give --workspace another folder.",
        ) from None
    return descriptor
