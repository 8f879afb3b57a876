"""Where a run's tables lie while it lasts: Parquet files in a folder that every executor reaches.

A stored table is computed once and read from its files ever after. Caching does not promise that: a partition
that is evicted, or lost with its executor, is computed again, and random keys and row numbers come out
otherwise. A local checkpoint does promise it, yet is lost with its executor, is kept row by row, and tells
the planner nothing of its size.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines import failures
from discreet.engines.spark.session import SparkSessions
from discreet.engines.temporary_folder import TemporaryFolder
from discreet.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_HERE = "file:"
_PATTERN = re.compile(r"[{}\[\]*?\\]")


def address_of(path: Path) -> str:
    """A path of this machine as Spark takes it: no character is encoded."""
    return f"{_HERE}{path}"


def parquet_at(
    session: SparkSession, *places: str, schema: StructType | None = None, base: str | None = None
) -> DataFrame:
    """The rows of Parquet files at addresses in which no character stands for others.

    Folders between the ``base`` and the files, ``column=value``, are columns. Such characters are escaped one
    by one: ``__globPaths__`` would do for one address, but of several Spark reads each as often as there are
    addresses with such a character.
    """
    reader = session.read.options(mergeSchema="false")
    if base is not None:
        reader = reader.option("basePath", base)
    escaped = (_PATTERN.sub(r"\\\g<0>", place) for place in places)
    return (reader if schema is None else reader.schema(schema)).parquet(*escaped)


class Scratch:
    """An owner-only folder for one engine, here or on the cluster's file system, removed by ``close``."""

    def __init__(self, sessions: SparkSessions) -> None:
        self._session: SparkSession = sessions.own
        place = os.environ.get("DISCREET_SPARK_SCRATCH") or _default_place(sessions)
        self._remote: str | None = None
        if "://" in place and not place.startswith("file:"):
            self._remote = f"{place.rstrip('/')}/discreet-{secrets.token_hex(8)}"
            self._make_remote()
        self._temporary = _owner_only_folder(None if self._remote else place)
        self._folder = self._temporary.path
        self._number = 0

    @property
    def folder(self) -> Path:
        """The part of it on this machine."""
        return self._folder

    def new_place(self) -> str:
        """An address for a table's files, where nothing is yet."""
        self._number += 1
        if self._remote is not None:
            return f"{self._remote}/t{self._number}"
        return address_of(self._folder / f"t{self._number}")

    def store(self, frame: DataFrame) -> str:
        """Compute a frame, once, into files; their address."""
        place = self.new_place()
        try:
            frame.write.parquet(place)
        except BaseException:
            self.remove(place)
            raise
        return place

    def hand_over(self, path: Path) -> str:
        """The address of a file of this machine's part, put where the executors reach it."""
        if self._remote is None:
            return address_of(path)
        place = f"{self.new_place()}.parquet"
        system, target = self._system(place)
        system.copyFromLocalFile(True, True, self._java_path(address_of(path)), target)
        return place

    def files(self, place: str) -> list[Path]:
        """The files of a stored table, on this machine and in the order of its rows."""
        if self._remote is not None:
            copy = self._folder / place.rpartition("/")[2]
            system, source = self._system(place)
            system.copyToLocalFile(False, source, self._java_path(address_of(copy)), True)
            folder = copy
        else:
            folder = Path(place.removeprefix(_HERE))
        return sorted(folder.glob("part-*.parquet"))

    def remove(self, place: str) -> None:
        """Remove a stored table's files, and the copy of them on this machine."""
        copy = self._folder / place.rpartition("/")[2]
        shutil.rmtree(copy, ignore_errors=True)
        copy.unlink(missing_ok=True)
        if self._remote is not None:
            with suppress(Exception):
                system, path = self._system(place)
                system.delete(path, True)

    def close(self) -> None:
        """Remove everything; a second call does nothing."""
        if self._remote is not None:
            with suppress(Exception):
                system, path = self._system(self._remote)
                system.delete(path, True)
        self._temporary.remove()

    def _make_remote(self) -> None:
        system, path = self._system(str(self._remote))
        owner_only = self._java("org.apache.hadoop.fs.permission.FsPermission")("700")
        system.mkdirs(path, owner_only)
        system.setPermission(path, owner_only)

    def _system(self, place: str) -> tuple[Any, Any]:
        path = self._java_path(place)
        context: Any = self._session.sparkContext
        return path.getFileSystem(context._jsc.hadoopConfiguration()), path

    def _java_path(self, place: str) -> Any:
        return self._java("org.apache.hadoop.fs.Path")(place)

    def _java(self, name: str) -> Any:
        found: Any = self._session.sparkContext._jvm
        for part in name.split("."):
            found = getattr(found, part)
        return found


def _default_place(sessions: SparkSessions) -> str:
    """The temporary folder of this machine for a local session, else that of the cluster's file system."""
    if sessions.is_local:
        return tempfile.gettempdir()
    context: Any = sessions.own.sparkContext
    shared = str(context._jsc.hadoopConfiguration().get("fs.defaultFS") or "file:///")
    if shared.startswith("file:"):
        raise InputError(
            "the Spark cluster has no file system that all its machines reach",
            allowed="DISCREET_SPARK_SCRATCH: a shared folder, or an address such as hdfs://…/tmp",
            advice="Set it to where temporary tables may be kept.",
        )
    return f"{shared.rstrip('/')}/tmp"


def _owner_only_folder(parent: str | None) -> TemporaryFolder:
    within = None if parent is None else parent.removeprefix("file://")
    try:
        return TemporaryFolder(within)
    except OSError as error:
        raise failures.from_os(error, Path(within or tempfile.gettempdir())) from None
