# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run calls the Alertmanagers that it silences, where one of them is far from well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.modules import REPOSITORY

TASKS = REPOSITORY / "roles" / "_common" / "tasks" / "silence"
PASSWORD = "very-secret-word"
SETTINGS = {
    "kafka_monitoring_silence_seconds": 100,
    "kafka_monitoring_alertmanager_url": "",
    "kafka_monitoring_alertmanager_user": "runs",
    "kafka_monitoring_alertmanager_password": PASSWORD,
    "kafka_monitoring_alertmanager_ca_file": "",
}


class Calls:
    """An HTTP server that answers as an Alertmanager does, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        calls = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                """Make a silence, named by its number."""
                calls.answer(self, {"silenceID": f"made-{len(calls.asked)}"})

            def do_DELETE(self) -> None:
                """Lift a silence."""
                calls.answer(self, {})

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler, said: dict[str, str]) -> None:
        """Note a call, and answer it."""
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        self.asked.append((handler.command, handler.path, json.loads(body) if body else {}))
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.end_headers()
        handler.wfile.write(json.dumps(said).encode())

    def end(self) -> None:
        """Answer nothing more."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def calls() -> Iterator[Calls]:
    one = Calls()
    yield one
    one.end()


def run(tmp_path: Path, settings: dict[str, Any], alertmanagers: list[dict[str, str]], *arguments: str) -> str:
    """Silence two clusters and lift that again, with hosts that all want sudo, which is not there."""
    local = {"ansible_connection": "local"}
    hosts = {
        "a": {**local, "kafka_cluster_name": "of(1)|all.*"},
        "b": {**local, "kafka_cluster_name": "payments"},
        "prom1": local,
        # Refused at once.
        "gone": {"ansible_host": "127.0.0.1", "ansible_port": 1},
    }
    no_sudo = {"ansible_become": True, "ansible_become_user": "daemon", "ansible_become_exe": "/nonexistent/sudo"}
    variables = {**no_sudo, "ansible_python_interpreter": sys.executable}
    plays = [
        {
            "hosts": "a,b",
            "gather_facts": False,
            "any_errors_fatal": True,
            "vars_files": [str(REPOSITORY / "roles/_common/vars/main/silence.yml")],
            "vars": {
                "_settings": settings,
                "_model": {"monitoring": {"planned": ["KafkaOne", "KafkaTwo"], "alertmanagers": alertmanagers}},
            },
            "tasks": [{"ansible.builtin.include_tasks": str(TASKS / f"{one}.yml")} for one in ("set", "lift")],
        },
        {
            "hosts": "all",
            "gather_facts": False,
            "tasks": [{"ansible.builtin.debug": {"msg": "{{ inventory_hostname }} is still there"}}],
        },
    ]
    (tmp_path / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": variables}}))
    (tmp_path / "play.json").write_text(json.dumps(plays))
    (tmp_path / "ansible.cfg").write_text("[defaults]\nhost_key_checking = false\n")
    command = ["ansible-playbook", "-i", str(tmp_path / "inventory.json"), str(tmp_path / "play.json"), *arguments]
    environment = {**os.environ, "ANSIBLE_CONFIG": str(tmp_path / "ansible.cfg")}
    made = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    for host in hosts:
        assert f"{host} is still there" in made.stdout
    return made.stdout + made.stderr


def test_a_machine_that_cannot_be_reached_is_told_in_a_sentence_and_the_others_silence(
    tmp_path: Path, calls: Calls
) -> None:
    alertmanagers = [{"host": "gone", "url": calls.url}, {"host": "prom1", "url": calls.url}]
    output = run(tmp_path, SETTINGS, alertmanagers)
    told = " ".join(output.split())
    assert f"alerts of cluster payments are not silenced at {calls.url}, as seen from gone: " in told
    assert "as seen from prom1" not in told
    assert "module_args" not in told, "what is told of a machine that cannot be reached is no page of JSON"
    made = [body["matchers"][0] for method, _path, body in calls.asked if method == "POST"]
    assert sorted(one["value"] for one in made) == ["of(1)|all.*", "payments"]
    assert not any(one["isRegex"] for one in made)
    lifted = {path for method, path, _body in calls.asked if method == "DELETE"}
    assert lifted == {f"/api/v2/silence/made-{number}" for number in (0, 1)}


def test_the_control_node_needs_no_sudo_and_tells_no_password(tmp_path: Path, calls: Calls) -> None:
    output = run(tmp_path, {**SETTINGS, "kafka_monitoring_alertmanager_url": f"{calls.url}/of/a/proxy//"}, [], "-vvv")
    assert "are not silenced" not in output
    assert PASSWORD not in output
    posted = [path for method, path, _body in calls.asked if method == "POST"]
    assert posted == ["/of/a/proxy/api/v2/silences"] * 2
