# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/sentences finds what an operator reads, and nothing else."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.cluster import ROOT

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "sentences"))

PLAY = """
- name: Restart the nodes
  hosts: all
  tasks:
    - name: Roll | Restart the node in its turn
      block:
        - name: Roll | Refuse a node that is down
          ansible.builtin.assert:
            that: alive
            fail_msg: >-
              {{ inventory_hostname }} is down.
              fix: start it.
      rescue:
        - ansible.builtin.debug:
            msg: Nothing was changed.
  vars:
    secret: !vault |
      $ANSIBLE_VAULT;1.1;AES256
"""
CODE = '''
"""What this file is for, in many words."""
DOCUMENTATION = r"""
module: one with a long description of it
"""
WORDS = "three words only"


def refuse(broker: int, names: list[str]) -> None:
    """Refuse something or other for a test."""
    if broker:
        raise ValueError(
            f"broker {broker} is down, so topics {', '.join(names)} have no leader. "
            "fix: start it again"
        )
    print("plugins/some/path/of/a/file.py", 17)
'''


def test_names_and_messages_of_tasks_are_found_at_any_depth() -> None:
    found = [(one.kind, one.text) for one in TOOL["of_tasks"](PLAY)]
    assert found == [
        (TOOL["NAMES"], "Restart the nodes"),
        (TOOL["NAMES"], "Roll | Restart the node in its turn"),
        (TOOL["NAMES"], "Roll | Refuse a node that is down"),
        (TOOL["SAID"], "{{ inventory_hostname }} is down. fix: start it."),
        (TOOL["SAID"], "Nothing was changed."),
    ]
    assert list(TOOL["of_tasks"]("kafka_version: 4.4.0\n")) == []


def test_texts_of_python_are_found_with_their_line_and_without_documentation() -> None:
    assert [(one.line, one.text) for one in TOOL["of_code"](CODE)] == [
        (13, "broker {broker} is down, so topics {...} have no leader. fix: start it again")
    ]


def test_the_page_of_signs_has_only_sentences_that_hide_who_acts(tmp_path: Path) -> None:
    tasks = tmp_path / "main.yml"
    tasks.write_text("- name: Let nobody in\n- name: Close the port\n- name: Let nobody in\n")
    (tmp_path / "defaults").mkdir()
    (tmp_path / "defaults" / "main.yml").write_text("- name: Somebody\n")
    files = [tasks, tmp_path / "defaults" / "main.yml"]
    assert TOOL["page"](files, signs=True).count("- Let nobody in\n") == 1
    assert "Close the port" not in TOOL["page"](files, signs=True)
    assert "Somebody" not in TOOL["page"](files)
    assert f"### {tasks}\n\n- Let nobody in\n- Close the port\n" in TOOL["page"](files)


def test_the_tool_reads_this_repository_and_refuses_what_is_not_there() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "sentences", ROOT / "playbooks"], capture_output=True, text=True, check=True
    )
    assert "### playbooks/site.yml" in done.stdout
    refused = subprocess.run(
        [sys.executable, ROOT / "tools" / "sentences", "nowhere"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "no such file or option: nowhere" in refused.stderr
