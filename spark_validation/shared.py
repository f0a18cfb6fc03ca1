"""A directory that the host that submits and the driver on another machine both reach, through Spark's Hadoop client.

The one that submits makes it, says again and again that it waits, and removes it in the end. The driver puts its files
there. Whatever file systems Spark reaches will do: HDFS, an object store, a mounted one (file:).
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark import SparkContext

#: What a job leaves, progress first: the others are whole when they are there.
FILES = ("progress.jsonl", "ledger.json", "result.json", "report.html")
_AWAITED = "awaited"


def driver_java() -> Any:
    """The Java side of this driver, which is there before any session is."""
    SparkContext._ensure_initialized()
    return SparkContext._jvm


class SharedDirectory:
    """The directory of one run; every call may raise the error of its file system."""

    def __init__(self, java: Any, uri: str) -> None:
        """Find the file system; nothing is made."""
        self._java, self._base = java, java.org.apache.hadoop.fs.Path(uri)
        self._system = self._base.getFileSystem(java.org.apache.spark.deploy.SparkHadoopUtil.get().conf())

    def renew(self, count: int) -> None:
        """Say that the result is waited for, which also makes the directory; another count makes it newer."""
        stream = self._system.create(self._path(_AWAITED), True)
        try:
            stream.writeBytes(str(count))
        finally:
            stream.close()

    def renewed(self) -> int | None:
        """Return when that was said last, by the clock of the file system; None when nobody waits any more."""
        if not self._system.exists(self._path(_AWAITED)):
            return None
        return int(self._system.getFileStatus(self._path(_AWAITED)).getModificationTime())

    def put(self, local: Path) -> None:
        """Copy a file there, over an older one."""
        self._system.copyFromLocalFile(False, True, self._local(local), self._path(local.name))

    def get(self, name: str, local: Path) -> bool:
        """Copy a file from there in the place of an older one; tells whether there is any."""
        if not self._system.exists(self._path(name)):
            return False
        unfinished = local.with_name(f".{local.name}.new")
        # Without the file of checksums that Hadoop puts beside what it writes here.
        self._system.copyToLocalFile(False, self._path(name), self._local(unfinished), True)
        unfinished.replace(local)
        return True

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self._system.delete(self._base, True)

    def _path(self, name: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self._base, name)

    def _local(self, path: Path) -> Any:
        return self._java.org.apache.hadoop.fs.Path(path.resolve().as_uri())
