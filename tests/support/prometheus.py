"""Prometheus, Alertmanager and their checkers, taken out of Debian's package by tools/prometheus_tools.sh."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.rules import alert_rules
from tests.support.cluster import free_port_base, until

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".cache" / "prometheus" / "usr" / "bin"


@cache
def tool(name: str) -> str:
    """Return the path of one of these programs; the test is skipped where it cannot be had, and fails there in CI."""
    if found := shutil.which(name):
        return found
    made = subprocess.run([ROOT / "tools" / "prometheus_tools.sh"], capture_output=True, text=True, check=False)
    if made.returncode and not os.environ.get("CI"):
        pytest.skip(f"no {name}: {made.stderr.strip()}")
    assert made.returncode == 0, made.stderr
    return str(TOOLS / name)


def promtool(*words: str | Path) -> tuple[int, str]:
    """Run promtool; its exit status, and all that it printed."""
    command = [tool("promtool"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def promtool_reads(metrics: str) -> tuple[int, str]:
    """Have promtool check metrics as a scrape gets them; its exit status, and all that it printed."""
    command = [tool("promtool"), "check", "metrics"]
    done = subprocess.run(command, input=metrics.encode(), capture_output=True, check=False, timeout=60)
    return done.returncode, (done.stdout + done.stderr).decode()


@dataclass(frozen=True)
class Prometheus:
    """One that runs here; C(address) is where its interface answers."""

    address: str
    pid: int

    def ask(self, path: str) -> Any:
        """The data of an answer of its interface."""
        with urllib.request.urlopen(f"{self.address}/api/v1/{path}", timeout=30) as answer:
            return json.load(answer)["data"]

    def count(self, query: str) -> int:
        """How many series a query has now."""
        return len(self.ask(f"query?{urllib.parse.urlencode({'query': query})}")["result"])

    def firing(self) -> set[str]:
        """The names of the alerts that fire."""
        return {one["labels"]["alertname"] for one in self.ask("alerts")["alerts"] if one["state"] == "firing"}

    def fired(self) -> dict[str, list[str]]:
        """What operators were told since it runs, by alert: the instance of each, or its cluster."""
        told: dict[str, list[str]] = {}
        for one in self.ask("series?match[]=ALERTS%7Balertstate%3D%22firing%22%7D"):
            told.setdefault(one["alertname"], []).append(one.get("instance") or one.get("cluster", ""))
        return told

    def summaries(self, name: str) -> list[str]:
        """What an operator reads of an alert that fires."""
        return [
            one["annotations"]["summary"] for one in self.ask("alerts")["alerts"] if one["labels"]["alertname"] == name
        ]

    def fires(self, *names: str, timeout: float = 180) -> None:
        """Wait until these alerts fire, whatever else does."""
        wanted = set(names)

        def there() -> bool:
            return wanted <= self.firing()

        try:
            until(there, "alerts", timeout)
        except AssertionError:
            raise AssertionError(f"{wanted - self.firing()} do not fire, but {self.firing()}") from None

    def rests(self, *but: str, timeout: float = 180) -> None:
        """Wait until no alert fires but those."""
        try:
            until(lambda: self.firing() <= set(but), "no alerts", timeout)
        except AssertionError:
            raise AssertionError(f"fires: {self.firing()}") from None


#: A time as rules have it: a range, an offset, a `for`.
_TIME = re.compile(r"(?<![\w$])(\d+)([smhd])(?!\w)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def hastened(rules: Mapping[str, Any], times: int, least: int = 10) -> dict[str, Any]:
    """The same rules with every time that much shorter, and no range shorter than C(least) seconds."""

    def shorter(found: re.Match[str]) -> str:
        return f"{max(least, int(found[1]) * _SECONDS[found[2]] // times)}s"

    def rule(one: Mapping[str, Any]) -> dict[str, Any]:
        # A rule that only records a series has no `for`.
        lasts = {"for": "0s" if one["for"].startswith("0") else "1s"} if "for" in one else {}
        return {**one, "expr": _TIME.sub(shorter, one["expr"]), **lasts}

    return {"groups": [{**group, "rules": [rule(one) for one in group["rules"]]} for group in rules["groups"]]}


@contextlib.contextmanager
def prometheus(
    directory: Path,
    scrape_configs: Sequence[Mapping[str, Any]],
    alerts: Mapping[str, Any],
    every: int = 1,
    is_hastened: bool = True,
    alertmanagers: Sequence[Mapping[str, Any]] = (),
) -> Iterator[Prometheus]:
    """A Prometheus with the alerts of the collection, that much faster as it reads oftener than each 45 seconds."""
    directory.mkdir()
    rules = alert_rules(alerts)
    (directory / "rules.yml").write_text(json.dumps(hastened(rules, 45 // every, 10 * every) if is_hastened else rules))
    config = {
        "global": {"scrape_interval": f"{every}s", "scrape_timeout": f"{every}s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yml"],
        "scrape_configs": list(scrape_configs),
        "alerting": {"alertmanagers": list(alertmanagers)},
    }
    (directory / "prometheus.yml").write_text(json.dumps(config))
    address = f"127.0.0.1:{free_port_base()}"
    command = [tool("prometheus"), f"--config.file={directory / 'prometheus.yml'}", f"--web.listen-address={address}"]
    with (directory / "log").open("w") as log:
        command += [f"--storage.tsdb.path={directory / 'data'}", "--log.level=warn"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    made = Prometheus(f"http://{address}", process.pid)

    def answers() -> bool:
        with contextlib.suppress(OSError):
            return all(one["health"] != "unknown" for one in made.ask("targets")["activeTargets"])
        return False

    try:
        try:
            until(answers, "Prometheus to read its targets", 120)
        except AssertionError:
            raise AssertionError((directory / "log").read_text()[-3000:]) from None
        yield made
    finally:
        process.terminate()
        process.wait(60)
