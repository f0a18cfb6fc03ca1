"""Hadoop on this machine for tests: a real HDFS and a real YARN, one process for each of their four daemons.

The jars are Hadoop's own minicluster of the version whose client PySpark brings along; what that leaves to its user
comes from PySpark's jars.
"""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyspark

from tests.support.cluster import free_port_base, until
from tests.support.daemons import Daemons, hidden_from
from tests.support.modules import REPOSITORY
from tests.support.spark import fetched_jars

_LOCK = REPOSITORY / "tests" / "support" / "hadoop-3.5.0.lock.json"
_SPARK_JARS = Path(pyspark.__file__).parent / "jars"
_JAVA = ["java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=INFO"]
_HDFS, _YARN = "org.apache.hadoop.hdfs.server", "org.apache.hadoop.yarn.server"


@dataclass
class HadoopCluster:
    """One NameNode, DataNode, ResourceManager and NodeManager; containers do not see the `hidden` directories."""

    directory: Path
    hidden: Sequence[Path] = ()
    port: int = field(default_factory=free_port_base)

    def __post_init__(self) -> None:
        """Write the configuration, which spark-submit gets as HADOOP_CONF_DIR."""
        self._daemons = Daemons(self.directory)
        self.conf.mkdir()
        for name, properties in (("core", self._core()), ("hdfs", self._hdfs()), ("yarn", self._yarn())):
            (self.conf / f"{name}-site.xml").write_text(_site(properties))

    @property
    def conf(self) -> Path:
        """The directory of its configuration."""
        return self.directory / "conf"

    @property
    def files(self) -> str:
        """The URI of its file system."""
        return f"hdfs://127.0.0.1:{self.port}"

    @property
    def logs(self) -> Path:
        """Where containers leave what they print, a directory for each."""
        return self.directory / "logs"

    def spark_conf(self) -> dict[str, str]:
        """Settings of a small job: Spark's own jars are on every machine, as they are on a machine with PySpark."""
        return {
            "spark.yarn.jars": f"local:{_SPARK_JARS}/*",
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.instances": "1",
            "spark.executor.cores": "2",
            "spark.yarn.am.memory": "512m",
        }

    def start(self) -> HadoopCluster:
        """Start all four and wait until the NodeManager has registered."""
        name_node = _java(self.conf, f"{_HDFS}.namenode.NameNode")
        subprocess.run([*name_node, "-format"], check=True, capture_output=True)
        self._daemons.run("namenode", name_node)
        self._daemons.run("datanode", _java(self.conf, f"{_HDFS}.datanode.DataNode"))
        self._daemons.run("resourcemanager", _java(self.conf, f"{_YARN}.resourcemanager.ResourceManager"))
        node_manager = _java(self.conf, f"{_YARN}.nodemanager.NodeManager")
        self._daemons.run("nodemanager", hidden_from(self.hidden, node_manager))
        until(lambda: self._data_nodes() == 1, "the DataNode", 120)
        until(lambda: self._nodes() == ["RUNNING"], "the NodeManager", 120)
        self._shell("-mkdir", "-p", "/events")
        return self

    def stop(self) -> None:
        """End what was started."""
        self._daemons.stop()

    def applications(self) -> list[tuple[str, str]]:
        """State and final status of each application that was submitted."""
        answer = _answer(f"http://127.0.0.1:{self.port + 11}/ws/v1/cluster/apps") or {}
        return [(app["state"], app["finalStatus"]) for app in (answer.get("apps") or {}).get("app", [])]

    def printed(self) -> str:
        """What all containers have printed, and how they were started."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.logs.rglob("*")) if path.is_file())

    def listing(self, path: str) -> str:
        """All that is below a path of HDFS, a line each."""
        return self._shell("-ls", "-R", path)

    def content(self, pattern: str) -> str:
        """What the files of HDFS hold that a pattern names."""
        return self._shell("-cat", pattern)

    def _shell(self, *arguments: str) -> str:
        command = [*_java(self.conf, "org.apache.hadoop.fs.FsShell"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def _nodes(self) -> list[str]:
        answer = _answer(f"http://127.0.0.1:{self.port + 11}/ws/v1/cluster/nodes") or {}
        return [node["state"] for node in (answer.get("nodes") or {}).get("node", [])]

    def _data_nodes(self) -> int:
        answer = _answer(f"http://127.0.0.1:{self.port + 1}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")
        beans = (answer or {}).get("beans", [])
        return int(beans[0]["NumLiveDataNodes"]) if beans else 0

    def _core(self) -> dict[str, str]:
        return {"fs.defaultFS": self.files, "hadoop.tmp.dir": str(self.directory / "hadoop")}

    def _hdfs(self) -> dict[str, str]:
        return {
            "dfs.replication": "1",
            "dfs.namenode.http-address": self._at(1),
            "dfs.datanode.address": self._at(2),
            "dfs.datanode.http.address": self._at(3),
            "dfs.datanode.ipc.address": self._at(4),
        }

    def _yarn(self) -> dict[str, str]:
        return {
            "yarn.resourcemanager.hostname": "127.0.0.1",
            "yarn.resourcemanager.webapp.address": self._at(11),
            "yarn.resourcemanager.address": self._at(12),
            "yarn.resourcemanager.scheduler.address": self._at(13),
            "yarn.resourcemanager.resource-tracker.address": self._at(14),
            "yarn.resourcemanager.admin.address": self._at(15),
            "yarn.resourcemanager.scheduler.class": f"{_YARN}.resourcemanager.scheduler.fifo.FifoScheduler",
            "yarn.nodemanager.hostname": "127.0.0.1",
            "yarn.nodemanager.bind-host": "127.0.0.1",
            "yarn.nodemanager.address": self._at(16),
            "yarn.nodemanager.localizer.address": self._at(17),
            "yarn.nodemanager.webapp.address": self._at(18),
            "yarn.nodemanager.local-dirs": str(self.directory / "containers"),
            "yarn.nodemanager.log-dirs": str(self.logs),
            "yarn.nodemanager.resource.memory-mb": "4096",
            "yarn.nodemanager.resource.cpu-vcores": "4",
            "yarn.nodemanager.vmem-check-enabled": "false",
            # A disk of this machine that is nearly full is no matter of these tests.
            "yarn.nodemanager.disk-health-checker.enable": "false",
            "yarn.scheduler.minimum-allocation-mb": "128",
        }

    def _at(self, offset: int) -> str:
        return f"127.0.0.1:{self.port + offset}"


def _java(conf: Path, daemon: str) -> list[str]:
    classes = os.pathsep.join([str(conf), *fetched_jars(_LOCK, "hadoop-3.5.0"), f"{_SPARK_JARS}/*"])
    return [*_JAVA, "-cp", classes, daemon]


def _site(properties: dict[str, str]) -> str:
    rows = "\n".join(
        f"<property><name>{name}</name><value>{escape(value)}</value></property>" for name, value in properties.items()
    )
    return f"<configuration>\n{rows}\n</configuration>\n"


def _answer(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None
