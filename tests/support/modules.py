"""Run a module of the collection for real and return its result.

A module runs as it would on a node, in a process of its own that gets its arguments as Ansible passes them; the process
is forked from one that has Ansible's module code and the client libraries loaded, since ansible-playbook takes two
seconds of a processor for each call. A module that has an action plugin of the same name runs through ansible-playbook,
since that is where most of what it does happens; so does one of another collection.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
#: What Ansible's own code adds to what a module returns.
_ADDED = {"invocation", "deprecations", "exception"}
_LIBRARIES = ["confluent_kafka.admin", "kafka", "kazoo.client"]
_PRELOADED = [
    "ansible.module_utils.basic",
    "ansible.module_utils.testing",
    "confluent_kafka.admin",
    "kafka",
    "kazoo.client",
]


def run_module(
    name: str,
    args: dict[str, Any],
    *,
    check: bool = False,
    diff: bool = False,
    timeout: int = 300,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run one module on this machine with these arguments and return its JSON result, failed or not.

    C(timeout) is in seconds. C(environment) are variables beside ours; with them it runs through Ansible. Raises
    AssertionError with the output when it gave no result.
    """
    # Not above: the forked process imports this file, and where the code of the control node is imported Ansible shows
    # warnings itself, so that no module returns one.
    from tests.support.ansible_words import misread

    short = name.rpartition(".")[2]
    foreign = not name.startswith("streamops.kafka.")
    if foreign or environment or (REPOSITORY / "plugins" / "action" / f"{short}.py").exists():
        return _through_ansible(name, args, check, diff, timeout, environment or {})
    ours, theirs = _forks().Pipe(duplex=False)
    process = _forks().Process(target=_module, args=(short, args, check, diff, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(timeout), f"{name} gave no result in {timeout} s"
        output = ours.recv()
    except EOFError:
        raise AssertionError(f"{name} ended without a word") from None
    finally:
        process.kill()
        process.join()
    assert output.startswith("{"), f"{name} gave no result: {output}"
    given = json.loads(output)
    assert not misread(given.keys() - _ADDED), f"{name} returns what Ansible takes for its own: {misread(given)}"
    result = {"failed": False, "changed": False, **given}
    if "warnings" in result:
        # Ansible takes the text out of each, as a task's result has it.
        result["warnings"] = [one["event"]["msg"] if isinstance(one, dict) else one for one in result["warnings"]]
    return result


@cache
def _forks() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ansible.module_utils.basic", *_LIBRARIES])
    return context


def _module(name: str, args: dict[str, Any], check: bool, diff: bool, answer: Connection) -> None:
    """What the forked process does: the module's own main, and its last words back."""
    from ansible.module_utils.testing import patch_module_args

    # pytest has it on its path already; a program that runs a module elsewhere may not.
    sys.path.append(str(REPOSITORY / "collections"))
    module = importlib.import_module(f"ansible_collections.streamops.kafka.plugins.modules.{name}")
    printed = io.StringIO()
    given = {**args, "_ansible_check_mode": check, "_ansible_diff": diff, "_ansible_socket": None}
    with patch_module_args(given), contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        module.main()
    answer.send(printed.getvalue().strip())


def _through_ansible(
    name: str, args: dict[str, Any], check: bool, diff: bool, timeout: int, environment: Mapping[str, str]
) -> dict[str, Any]:
    """The arguments travel in a playbook that only its owner may read, never on a command line."""
    task = {"name": "The module under test", name: args}
    where = {"ansible_python_interpreter": sys.executable}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": where, "tasks": [task]}
    with tempfile.TemporaryDirectory(prefix="run_module") as folder:
        playbook = Path(folder) / "play.yml"
        playbook.touch(mode=0o600)
        playbook.write_text(json.dumps([play]))  # JSON is YAML.
        command = [sys.executable, "-m", "ansible", "playbook", "-i", "localhost,", str(playbook)]
        command += ["--check"] * check + ["--diff"] * diff
        variables = {**_environment(), **environment}
        done = subprocess.run(
            command, cwd=REPOSITORY, env=variables, capture_output=True, text=True, timeout=timeout, check=False
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
