"""What the watcher saw from before the first run to now, all tests before this one included."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from typing import Any

from tests.support.machines import Machine, docker


def watched() -> dict[str, Any]:
    """What the watcher has seen until now."""
    docker("kill", "--signal", "USR1", "watcher")
    time.sleep(1)
    seen: dict[str, Any] = json.loads(docker("logs", "--tail", "1", "watcher"))
    return seen


def test_no_process_ever_had_a_secret_in_its_arguments_or_environment(
    machines: dict[str, Machine], note: Callable[[str], None]
) -> None:
    # Format, start, users, ACLs, Spark, restarts, changes by hand and their repair.
    canary = subprocess.run(["sleep", "1"], env={"CANARY": "planted-canary"}, check=True)
    assert canary.returncode == 0
    seen = watched()
    assert any("canary" in hit for hit in seen["hits"]), "the watcher does not see environments"
    configs = {one.config_file for one in machines.values() if one.is_process}
    assert configs <= set(seen["services"]), "the watcher does not see the machines"
    assert [hit for hit in seen["hits"] if "canary" not in hit] == []
    note(f"watcher: {seen['samples']} looks, {seen['processes']} command lines and {seen['environments']} environments")
