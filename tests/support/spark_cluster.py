"""A standalone Spark cluster on this machine: one master and two workers of one core each."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.cluster import BIN, free_port_base, until
from tests.support.daemons import Daemons, hidden_from

_DEPLOY = "org.apache.spark.deploy"
#: A driver that executors on this machine can reach, whatever its host name resolves to.
ON_LOOPBACK = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.cores.max": "2",
}


@dataclass
class SparkCluster:
    """Master and workers, whose logs and working directories lie in one directory."""

    directory: Path
    #: Directories that workers and executors see empty, as on machines that share none with the one that submits.
    hidden: Sequence[Path] = ()
    port: int = field(default_factory=free_port_base)

    def __post_init__(self) -> None:
        """Nothing runs yet."""
        self._daemons = Daemons(self.directory)

    @property
    def master(self) -> str:
        """What spark-submit takes."""
        return f"spark://127.0.0.1:{self.port}"

    def start(self) -> SparkCluster:
        """Start master and workers and wait until both workers are registered."""
        here = ["--host", "127.0.0.1"]
        self._run(
            "master", f"{_DEPLOY}.master.Master", *here, "--port", str(self.port), "--webui-port", str(self.port + 1)
        )
        until(lambda: self._alive() is not None, "the Spark master")
        for name in ("worker1", "worker2"):
            size = ["--cores", "1", "--memory", "768m", "--webui-port", "0", "--work-dir", str(self.directory / name)]
            self._run(name, f"{_DEPLOY}.worker.Worker", *here, *size, self.master, hidden=self.hidden)
        until(lambda: self._alive() == 2, "two Spark workers")
        return self

    def stop(self) -> None:
        """End what was started."""
        self._daemons.stop()

    def executors(self) -> int:
        """In how many worker processes executors of jobs have run."""
        return sum(1 for name in ("worker1", "worker2") if any((self.directory / name).glob("app-*/*/stderr")))

    def _run(self, name: str, *command: str, hidden: Sequence[Path] = ()) -> None:
        environment = {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        }
        self._daemons.run(name, hidden_from(hidden, [str(BIN / "spark-class"), *command]), environment)

    def _alive(self) -> int | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port + 1}/json/", timeout=2) as answer:
                return int(json.load(answer)["aliveworkers"])
        except (OSError, ValueError):
            return None
