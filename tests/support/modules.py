"""Run a module of the collection for real, through ansible-playbook, and return its result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]


def run_module(
    name: str, args: dict[str, Any], *, check: bool = False, diff: bool = False, timeout: int = 300
) -> dict[str, Any]:
    """Run one module on localhost with these arguments and return its JSON result, failed or not.

    The arguments travel in a playbook that only its owner may read, never on a command line. C(timeout) is in
    seconds. Raises AssertionError with Ansible's output when Ansible itself could not run the task.
    """
    task = {"name": "The module under test", name: args}
    where = {"ansible_python_interpreter": sys.executable}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": where, "tasks": [task]}
    with tempfile.TemporaryDirectory(prefix="run_module") as folder:
        playbook = Path(folder) / "play.yml"
        playbook.touch(mode=0o600)
        playbook.write_text(json.dumps([play]))  # JSON is YAML.
        command = [sys.executable, "-m", "ansible", "playbook", "-i", "localhost,", str(playbook)]
        command += ["--check"] * check + ["--diff"] * diff
        done = subprocess.run(
            command, cwd=REPOSITORY, env=_environment(), capture_output=True, text=True, timeout=timeout, check=False
        )
    return _result(done)


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "ANSIBLE_CONFIG": str(REPOSITORY / "ansible.cfg"),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
        "ANSIBLE_LOCALHOST_WARNING": "false",
    }


def _result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    output = f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    start = done.stdout.find("{")
    assert start >= 0, f"ansible-playbook gave no result: {output}"
    tasks = json.loads(done.stdout[start:])["plays"][0]["tasks"]
    assert tasks, f"the task did not run: {output}"
    result: dict[str, Any] = tasks[-1]["hosts"]["localhost"]
    return {"failed": False, "changed": False, **result}
