"""No module and no action plugin returns a key that Ansible takes for its own: a move shown as "skipping" has moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.ansible_words import MEANT, RESERVED, misread

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "plugins" / "modules").glob("*.py"))
#: Files in which results are made.
SOURCES = sorted(
    path
    for room in ("action", "modules", "module_utils", "plugin_utils/progress", "plugin_utils/preflight")
    for path in (ROOT / "plugins" / room).rglob("*.py")
)
#: Calls whose keywords are keys of a result, by the name of the function or of what it is a method of.
_MAKERS = {"result.update", "self.result.update", "dict"}
#: Methods of whatever end a module, and their keywords are keys of its result.
_ENDS = {"exit_json", "fail_json"}
#: Without the last names of all these, a call need not be looked at.
_LAST_NAMES = {*_ENDS, *(maker.rpartition(".")[2] for maker in _MAKERS)}
#: Where Ansible's own meaning is meant.
ON_PURPOSE = {
    ("action/spark_job.py", "skipped"),  # Nothing was started, and the task is shown as skipped.
    ("module_utils/_core/errors.py", "exception"),  # The trace of a library that cannot be imported.
}


def documented(path: Path) -> dict[str, dict[str, str]]:
    """RETURN of a module."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RETURN":
            found: dict[str, dict[str, str]] = yaml.safe_load(ast.literal_eval(node.value))
            return found
    raise AssertionError(f"{path.name} has no RETURN")


def _last_name(called: ast.expr) -> str:
    """Return the name by which something is called, without what it belongs to; empty for what has none."""
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def returned(path: Path) -> Iterator[tuple[str, str]]:
    """The keys of results that stand in the code of a file: of a literal with C(changed), and of what adds to one."""
    name = str(path.relative_to(ROOT / "plugins"))
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Dict):
            keys = {key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
            yield from ((name, key) for key in keys if "changed" in keys)
        elif isinstance(node, ast.Call) and _last_name(node.func) in _LAST_NAMES:
            makes = ast.unparse(node.func)
            if _last_name(node.func) in _ENDS or (
                makes in _MAKERS and (makes != "dict" or (node.args and ast.unparse(node.args[0]) == "result"))
            ):
                yield from ((name, word.arg) for word in node.keywords if word.arg)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_documents_no_key_of_ansible(path: Path) -> None:
    found = documented(path)
    assert misread(found) == []
    # What Ansible reads as a text is one.
    assert {key: said["type"] for key, said in found.items() if key == "msg" and said["type"] != "str"} == {}


def test_no_code_returns_a_key_of_ansible() -> None:
    found = {(name, key) for path in SOURCES for name, key in returned(path)}
    assert {key for _name, key in found} >= {"moves", "changed", "reached", "unreached", "jars"}
    assert {(name, key) for name, key in found if misread([key])} == ON_PURPOSE


def test_the_words_of_ansible_are_known() -> None:
    expected = {"skipped", "unreachable", "invocation", "attempts", "results", "finished", "rc", "add_host"}
    assert expected <= RESERVED
    assert not RESERVED & MEANT
