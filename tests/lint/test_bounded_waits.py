"""What the plugins wait for ends at some time: programs, locks of files, names and connections have a bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.imports import files, name

#: The only files that may call what knows no bound by itself: they give it one. A job of Spark has the loop that
#: watches it.
HELPERS = {
    "_core/commands.py": {"Popen"},
    "_core/network.py": {"getaddrinfo"},
    "_spark/run.py": {"Popen"},
}
#: Calls by their last name, each with what to write instead.
UNBOUND = {
    **dict.fromkeys(("run_command", "Popen", "system", "popen", "check_output", "check_call"), "_core/commands.run"),
    **dict.fromkeys(("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr"), "_core/network.resolve"),
    "create_connection": "_core/network.connect",
    "lockf": "flock with LOCK_NB in a loop with an end",
}
#: Calls that take a time-out, which must be given.
WITH_TIMEOUT = ("open_url", "urlopen", "fetch_url")


def last_name(call: ast.Call) -> str:
    """The name by which something is called, without what it belongs to."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def waits(source: str, allowed: set[str]) -> Iterator[str]:
    """Calls that may wait for ever."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            # Handed on, as module.run_command was to functions that call it.
            if isinstance(node, ast.Attribute) and node.attr == "run_command":
                yield f"line {node.lineno}: run_command; use {UNBOUND[node.attr]}"
            continue
        called, given = last_name(node), {keyword.arg for keyword in node.keywords}
        if called in UNBOUND and called not in allowed and called != "run_command":
            yield f"line {node.lineno}: {called}; use {UNBOUND[called]}"
        if called == "flock" and not any(word in ast.unparse(node) for word in ("LOCK_NB", "LOCK_UN")):
            yield f"line {node.lineno}: flock that waits; use LOCK_NB in a loop with an end"
        if called in WITH_TIMEOUT and "timeout" not in given:
            yield f"line {node.lineno}: {called} without timeout"
        if called == "run" and ast.unparse(node.func) == "subprocess.run" and "timeout" not in given:
            yield f"line {node.lineno}: subprocess.run without timeout; use {UNBOUND['Popen']}"


@pytest.mark.parametrize("path", files("plugins"), ids=name)
def test_nothing_waits_without_a_bound(path: Path) -> None:
    assert list(waits(path.read_text(), HELPERS.get(name(path), set()))) == []


@pytest.mark.parametrize(
    "line",
    [
        "module.run_command(['java'])",
        "work(module.params, module.run_command)",
        "subprocess.run(['java'])",
        "subprocess.Popen(['java'])",
        "fcntl.flock(file, fcntl.LOCK_EX)",
        "socket.create_connection(address, timeout=3)",
        "socket.getaddrinfo(host, port)",
        "open_url(source)",
    ],
)
def test_what_waits_for_ever_is_found(line: str) -> None:
    assert list(waits(line, set()))


@pytest.mark.parametrize(
    "line",
    ["fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)", "subprocess.run(['x'], timeout=3)", "open_url(s, timeout=3)"],
)
def test_what_has_an_end_may_stay(line: str) -> None:
    assert list(waits(line, set())) == []
