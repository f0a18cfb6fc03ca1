"""ansible-rulebook as a process, in an environment of its own, and alerts as Alertmanager sends them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.awx_stub import TOKEN
from tests.support.cluster import ROOT

#: Names collections by ansible-galaxy, so it needs ansible-core, which it does not ask pip for.
PACKAGES = ("ansible-rulebook==1.3.2", "ansible-core==2.19.14")
PLACE = ROOT / ".cache" / "ansible-rulebook"
#: What Alertmanager shows to the webhook.
ALERT_TOKEN = "token-of-alertmanager"


@cache
def programs() -> Path:
    """Return the directory of ansible-rulebook; the test is skipped where it cannot be had, and fails there in CI."""
    if not (PLACE / "bin" / "ansible-rulebook").exists():
        made = subprocess.run([sys.executable, "-m", "venv", str(PLACE)], capture_output=True, text=True, check=False)
        if not made.returncode:
            pip = [str(PLACE / "bin" / "pip"), "install", "--quiet", *PACKAGES]
            made = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=900)
        if made.returncode and not os.environ.get("CI"):
            pytest.skip(f"no ansible-rulebook: {made.stderr.strip()}")
        assert made.returncode == 0, made.stderr
    return PLACE / "bin"


@contextmanager
def listening(rulebook: str, awx: str, port: int, directory: Path, settings: Mapping[str, Any]) -> Iterator[Path]:
    """Run a rulebook with an AWX until the block ends; what it says is the file that comes with it."""
    given = directory / "settings.yml"
    given.write_text(json.dumps({"kafka_eda_token": ALERT_TOKEN, "kafka_eda_port": port, **settings}))
    environment = {
        **os.environ,
        "PATH": f"{programs()}:{os.environ['PATH']}",
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
        "EDA_CONTROLLER_URL": awx,
        "EDA_CONTROLLER_TOKEN": TOKEN,
        "EDA_JOB_TEMPLATE_REFRESH_DELAY": "0.2",
    }
    command = [str(programs() / "ansible-rulebook"), "-r", rulebook, "--vars", str(given), "--verbose"]
    said = directory / "ansible-rulebook.log"
    with said.open("w") as log:
        process = subprocess.Popen(command, cwd=directory, env=environment, stdout=log, stderr=log)
    try:
        _wait_for(process, port, said)
        yield said
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_for(process: subprocess.Popen[bytes], port: int, said: Path) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        if send([], port, token=None) == 401:
            return
        time.sleep(0.2)
    pytest.fail(f"ansible-rulebook does not listen: {said.read_text()}")


def alert(
    name: str, cluster: str, status: str = "firing", start: str = "20:00", instance: str = "k1"
) -> dict[str, Any]:
    """Return one alert as Alertmanager's webhook has it; its fingerprint is of its labels."""
    labels = {"alertname": name, "cluster": cluster, "instance": instance, "severity": "critical"}
    return {
        "status": status,
        "labels": labels,
        "annotations": {"summary": "a {{ text }} with braces"},
        "startsAt": f"2026-01-01T{start}:00Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "fingerprint": json.dumps(labels, sort_keys=True),
    }


def send(alerts: Sequence[dict[str, Any]], port: int, token: str | None = ALERT_TOKEN) -> int:
    """Post alerts as Alertmanager does; the status of the answer, 0 for none."""
    body = {"version": "4", "receiver": "eda", "status": "firing", "alerts": alerts, "groupLabels": {}}
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code
    except (urllib.error.URLError, TimeoutError):
        return 0
