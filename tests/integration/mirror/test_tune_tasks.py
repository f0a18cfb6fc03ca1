# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks of a tuning, run by Ansible as they stand, with modules in place of ours that only write down their calls.

What these modules do at clusters is proven by test_mirror_tune.py; here it is their order, and what follows a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.support.cluster import ROOT, environment

TASKS = ROOT / "roles" / "mirror_maker" / "tasks"
#: Modules of ours, and of the lock, by the name under which the calls are written down.
MODULES = {"mirror_tune_process": "process", "mirror_tune": "tune", "acls": "rights", "node_files": "files"}
#: A module that writes its call into C(calls) and answers from C(answers). It fails from the time on that C(failures)
#: says: 1 is its first call.
STANDS_IN = """#!/usr/bin/python
# WANT_JSON
import json, pathlib, sys
options = json.load(open(sys.argv[1]))
place = pathlib.Path("FOLDER")
call = "NAME " + " ".join(str(options[key]) for key in ("state", "run") if options.get(key))
with open(place / "calls", "a") as file:
    file.write(call + "\\n")
answers, failures = (json.loads((place / name).read_text()) for name in ("answers", "failures"))
times = [line.strip() for line in open(place / "calls")].count(call.strip())
failed = times >= failures.get(call.strip(), times + 1)
print(json.dumps({"changed": True, **answers.get(call, {}), "failed": failed, "msg": call}))
"""
GOOD = {"records": 5, "seconds": 2.0, "bytes_per_second": 7, "first_at": 1.0, "last_at": 3.0}
ANSWERS = {
    "tune planned": {"lines": ["the plan"]},
    "tune loaded": {"records": 5, "plan": {"partitions": 3}},
    "tune measured 1": GOOD,
    "tune measured 2": GOOD,
    "process stopped": {"samples": [], "ran": True, "complaints": ["a complaint"]},
}
LOCK_SECONDS = yaml.safe_load((ROOT / "roles" / "mirror_maker" / "vars" / "main.yml").read_text())[
    "_mirror_maker_tune_lock_seconds"
]
#: Before anything is written: the plan, and an earlier tuning on the same machine ends before its memory is looked at.
BEGIN = ["tune planned", "process stopped", "process looked"]
CLEAN = ["process stopped", "tune absent", "rights", "rights"]


class Done(NamedTuple):
    """How a tuning ended: its code, what it said, and the calls of modules in their order."""

    rc: int
    output: str
    calls: list[str]


def run(folder: Path, failures: dict[str, int] | None = None, **answers: Any) -> Done:
    """Tune with two numbers of tasks; these calls fail, each from its n-th time on."""
    library = folder / "library"
    library.mkdir()
    for name in (*MODULES.values(), "lock"):
        text = STANDS_IN.replace("FOLDER", str(folder)).replace("NAME", name)
        (library / f"tune_{name}.py").write_text(text)
    for name in ("tune.yml", "tune_measure.yml", "tune_run.yml", "tune_acls.yml", "tune_tell.yml"):
        text = (TASKS / name).read_text().replace("name: streamops.kafka._common", "name: common")
        for ours, theirs in MODULES.items():
            text = text.replace(f"streamops.kafka.{ours}:", f"tune_{theirs}:")
        (folder / name).write_text(text)
    lock = folder / "roles" / "common" / "tasks" / "lock" / "refresh_all.yml"
    lock.parent.mkdir(parents=True)
    lock.write_text(yaml.safe_dump([{"name": "Lock", "tune_lock": {"state": "{{ _common_lock_seconds }}"}}]))
    runs = [{"number": number, "label": f"{number} tasks"} for number in (1, 2)]
    tune = {
        "refusals": [],
        "host": "localhost",
        "is_host": True,
        "flow": {"source": "a", "target": "b"},
        "heap_bytes": 1,
        "addresses": [],
        "topics": [],
        "topics_exclude": [],
        "tasks_runs": runs,
        "option_runs": [],
        "together_runs": [],
        "acls": {"a": [{}], "b": [{}]},
        "seconds": 200,
        "properties": "",
        "row": "{{ _mirror_maker_tune_run.number }}",
        "lines": "found {{ __mirror_maker_tune_rows | join(' and ') }}",
        "report": [],
    }
    model = {
        "mirroring": {"tune": tune},
        "lock": {"seconds": 1000},
        "release": {"dir": ""},
        "paths": {"java": "", "log": ""},
        "owners": {"node": "", "group": ""},
    }
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "any_errors_fatal": True,
        "vars": {
            "_model": model,
            "_mirror_maker_endpoints": {name: {"connection": {}} for name in "ab"},
            "_mirror_maker_tune_lock_seconds": LOCK_SECONDS,
            "mirror_tune_bytes": 1,
            "mirror_tune_report": "page.html",
            "ansible_python_interpreter": sys.executable,
        },
        "tasks": [{"name": "Tune", "ansible.builtin.include_tasks": "tune.yml"}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    (folder / "failures").write_text(json.dumps(failures or {}))
    (folder / "answers").write_text(json.dumps({**ANSWERS, **answers}))
    command = [sys.executable, "-m", "ansible", "playbook", "play.yml", "-i", "localhost,", "-c", "local"]
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    calls = folder / "calls"
    said = calls.read_text().splitlines() if calls.exists() else []
    return Done(done.returncode, done.stdout + done.stderr, [call.strip() for call in said])


def test_locks_are_renewed_before_the_load_and_before_each_run_for_as_long_as_these_may_take(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.rc == 0, done.output
    assert done.calls[:7] == [*BEGIN, "rights", "rights", "lock 1200", "tune loaded"]
    of_a_run = ["lock 1200", "process started", "tune measured {0}", "process stopped", "tune absent {0}"]
    assert done.calls[7:17] == [step.format(number) for number in (1, 2) for step in of_a_run]
    assert done.calls[17:] == [*CLEAN, "files"]
    assert "found 1 and 2" in done.output


def test_a_run_that_fails_leaves_what_was_found_before_it(tmp_path: Path) -> None:
    done = run(tmp_path, {"tune measured 2": 1})
    assert done.rc != 0
    assert done.calls[-5:] == [*CLEAN, "files"]
    assert "found 1" in done.output


def test_a_step_of_cleaning_up_that_fails_hinders_no_other_one(tmp_path: Path) -> None:
    done = run(tmp_path, {"tune absent": 1, "tune absent 2": 1})
    assert done.rc != 0
    assert done.calls[-5:] == [*CLEAN, "files"]
    # The run had been measured before its copy could not be deleted.
    assert "found 1 and 2" in done.output


def test_a_mirror_that_cannot_be_stopped_keeps_neither_topics_nor_rights(tmp_path: Path) -> None:
    done = run(tmp_path, {"process stopped": 2})
    assert done.rc != 0
    assert done.calls[-6:] == ["tune measured 1", "process stopped", *CLEAN]
    assert "found" not in done.output


def test_nothing_is_written_where_an_earlier_mirror_cannot_be_ended(tmp_path: Path) -> None:
    done = run(tmp_path, {"process stopped": 1})
    assert done.rc != 0
    assert done.calls == ["tune planned", "process stopped"]


def test_nothing_is_written_where_the_machine_has_no_room(tmp_path: Path) -> None:
    done = run(tmp_path, {"process looked": 1})
    assert done.rc != 0
    assert done.calls == BEGIN


def test_only_the_first_run_is_refused_for_bringing_nothing(tmp_path: Path) -> None:
    nothing = {**GOOD, "records": 0, "bytes_per_second": None}
    later = run(tmp_path, **{"tune measured 2": nothing})
    assert later.rc == 0, later.output
    assert "found 1 and 2" in later.output
    folder = tmp_path / "first"
    folder.mkdir()
    first = run(folder, **{"tune measured 1": nothing})
    assert first.rc != 0
    assert "No record came through the mirror of run 1 (1 tasks)" in first.output
    assert first.calls[-4:] == CLEAN
