"""A standalone Spark cluster on this machine: one master and two workers of one core each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.cluster import BIN, free_port_base, until

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
    """Processes that this object started, and that it alone ends, by their ids."""

    directory: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    port: int = field(default_factory=free_port_base)

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
            self._run(name, f"{_DEPLOY}.worker.Worker", *here, *size, self.master)
        until(lambda: self._alive() == 2, "two Spark workers")
        return self

    def stop(self) -> None:
        """End what was started."""
        for process in reversed(self.processes):
            os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            process.wait(timeout=30)

    def executors(self) -> int:
        """In how many worker processes executors of jobs have run."""
        return sum(1 for name in ("worker1", "worker2") if any((self.directory / name).glob("app-*/*/stderr")))

    def _run(self, name: str, *command: str) -> None:
        environment = {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self.directory / f"{name}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen(
                    [str(BIN / "spark-class"), *command],
                    stdout=log,
                    stderr=log,
                    env={**environment, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
                    start_new_session=True,
                )
            )

    def _alive(self) -> int | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port + 1}/json/", timeout=2) as answer:
                return int(json.load(answer)["aliveworkers"])
        except (OSError, ValueError):
            return None
