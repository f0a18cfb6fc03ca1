"""What a module says of itself is what it does: documentation, examples, options, tests and headers agree."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils import basic

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import is_secret

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "ansible_collections.streamops.kafka.plugins"
NAMESPACE = "streamops.kafka."
MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("*.py"))
#: What an option may say, beside description and version_added, and what it means when it does not.
DEFAULTS = {"type": "str", "required": False, "default": None, "choices": None, "elements": None, "aliases": []}
#: Options that hold secrets under a name that does not say so: of a module, by the way to each.
SECRETS_BESIDE = {
    "storage_format": ["scram"],
}
ATTRIBUTES = {"check_mode", "diff_mode", "idempotent"}


class SpecSeenError(Exception):
    """Raised in place of running a module, as soon as it has told its arguments."""

    def __init__(self, spec: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__("argument spec")
        self.spec = spec
        self.options = options


def constants(path: Path) -> dict[str, str]:
    """The string constants at the top of a file, read without running it."""
    return {
        node.targets[0].id: node.value.value
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def source(module: str) -> Path:
    """The file of a module."""
    return ROOT / "plugins" / "modules" / f"{module}.py"


@cache
def documentation(module: str) -> dict[str, Any]:
    """DOCUMENTATION of a module with its fragments put in, read once for all tests, which change nothing in it."""
    text: dict[str, Any] = yaml.safe_load(constants(source(module))["DOCUMENTATION"])
    options = dict(text.get("options") or {})
    attributes = dict(text.get("attributes") or {})
    for fragment in text.get("extends_documentation_fragment", []):
        name, _dot, variant = fragment.removeprefix(NAMESPACE).partition(".")
        assert fragment.startswith(NAMESPACE), f"{module}: fragment {fragment} is not ours"
        doc = importlib.import_module(f"{PACKAGE}.doc_fragments.{name}").ModuleDocFragment
        part = yaml.safe_load(getattr(doc, variant.upper() or "DOCUMENTATION"))
        options = {**part.get("options", {}), **options}
        for attribute, said in part.get("attributes", {}).items():
            attributes[attribute] = {**said, **attributes.get(attribute, {})}
    return {**text, "options": options, "attributes": attributes}


def argument_spec(module: str, monkeypatch: pytest.MonkeyPatch) -> SpecSeenError:
    """The arguments that a module gives to AnsibleModule."""

    def seen(_self: Any, argument_spec: dict[str, Any], **options: Any) -> None:
        raise SpecSeenError(argument_spec, options)

    monkeypatch.setattr(basic.AnsibleModule, "__init__", seen)
    with pytest.raises(SpecSeenError) as caught:
        importlib.import_module(f"{PACKAGE}.modules.{module}").main()
    return caught.value


def differences(documented: dict[str, Any], spec: dict[str, Any], where: str) -> Iterator[str]:
    """In what two descriptions of options differ, suboptions included."""
    if set(documented) != set(spec):
        yield f"{where}: documented {sorted(documented)}, in the spec {sorted(spec)}"
    for name in set(documented) & set(spec):
        doc, arg = documented[name], spec[name]
        for what, meaning in DEFAULTS.items():
            said, done = doc.get(what, meaning), arg.get(what, meaning)
            if said != done:
                yield f"{where}.{name}: {what} is documented {said!r}, in the spec {done!r}"
        if not doc.get("description"):
            yield f"{where}.{name}: no description"
        yield from differences(doc.get("suboptions") or {}, arg.get("options") or {}, f"{where}.{name}")


@pytest.mark.parametrize("module", MODULES)
def test_documented_options_are_the_options_of_the_module(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = argument_spec(module, monkeypatch).spec
    assert list(differences(documentation(module)["options"], spec, module)) == []


@pytest.mark.parametrize("module", MODULES)
def test_a_module_says_how_it_behaves_in_check_and_diff_mode(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    doc = documentation(module)
    assert doc["module"] == module
    assert set(doc["attributes"]) >= ATTRIBUTES
    for attribute in sorted(ATTRIBUTES):
        said = doc["attributes"][attribute]
        assert said.get("support") in {"full", "partial", "none", "N/A"}, attribute
        assert said["support"] != "partial" or said.get("details"), f"{attribute}: partial needs details"
    supports = argument_spec(module, monkeypatch).options.get("supports_check_mode", False)
    assert supports == (doc["attributes"]["check_mode"]["support"] in {"full", "partial"})


def hidden(option: dict[str, Any]) -> bool:
    """Whether the option, or the part of it that is secret, is kept out of everything that is shown."""
    return bool(option.get("no_log")) or any(part.get("no_log") for part in (option.get("options") or {}).values())


def with_suboptions(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The options and suboptions of a spec that hold a free value; one of fixed choices is no secret."""
    for name, option in spec.items():
        if "choices" not in option:
            yield name, option
        yield from with_suboptions(option.get("options") or {})


@pytest.mark.parametrize("module", MODULES)
def test_secrets_are_never_logged(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = argument_spec(module, monkeypatch).spec
    secrets = {name: option for name, option in with_suboptions(spec) if is_secret(name)}
    assert [name for name, option in secrets.items() if not hidden(option)] == []


@pytest.mark.parametrize(("module", "ways"), SECRETS_BESIDE.items())
def test_secrets_under_another_name_are_never_logged(
    module: str, ways: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for way in ways:
        option: dict[str, Any] = {"options": argument_spec(module, monkeypatch).spec}
        for name in way.split("."):
            option = option["options"][name]
        assert option.get("no_log") is True, way


@pytest.mark.parametrize("module", MODULES)
def test_examples_are_tasks_with_known_options(module: str) -> None:
    tasks = yaml.safe_load(constants(source(module))["EXAMPLES"])
    known = documentation(module)["options"]
    used = [task[NAMESPACE + module] for task in tasks if NAMESPACE + module in task]
    assert used, "no example calls the module by its full name"
    for task in tasks:
        assert task.get("name"), "each example has a name"
        called = [key for key in task if key.startswith(NAMESPACE)]
        assert all(key.removeprefix(NAMESPACE) in MODULES for key in called)
    for arguments in used:
        assert set(arguments or {}) <= set(known)
        for name, value in (arguments or {}).items():
            inner = known[name].get("suboptions")
            for item in value if inner and isinstance(value, list) else []:
                assert set(item) <= set(inner), f"{name}: {set(item) - set(inner)}"


@pytest.mark.parametrize("module", MODULES)
def test_an_option_that_is_spoken_of_is_one_of_the_module(module: str) -> None:
    # Galaxy refuses others, also those that stand in a fragment or in RETURN.
    doc = documentation(module)
    returned = yaml.safe_load(constants(source(module))["RETURN"])
    spoken = set(re.findall(r"\bO\(([^)=#]+)", yaml.safe_dump([doc, returned], width=10**6)))
    assert sorted(name for name in spoken if not is_option(name.replace("[]", "").split("."), doc["options"])) == []


def is_option(path: list[str], options: dict[str, Any]) -> bool:
    """Tell whether there is an option at this path of names."""
    return path[0] in options and (not path[1:] or is_option(path[1:], options[path[0]].get("suboptions", {})))


@pytest.mark.parametrize("module", MODULES)
def test_what_a_module_returns_is_described(module: str) -> None:
    returned = yaml.safe_load(constants(source(module))["RETURN"])
    for name, said in returned.items():
        assert {"description", "returned", "type"} <= set(said), name


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_tested(module: str) -> None:
    utils = re.findall(r"\.module_utils\.(_\w+)(?:\.| import )(\w+)", source(module).read_text())
    tests = [
        ROOT / "tests/unit/plugins/module_utils" / room / f"test_{file}.py" for room, file in utils if room != "_core"
    ]
    tests = [path for path in tests if path.exists()]
    tests += (ROOT / "tests" / "integration").rglob(f"test_*{module}*.py")
    tests += [path for path in (ROOT / "tests").rglob("test_*.py") if NAMESPACE + module in path.read_text()]
    assert tests, f"no test of {module}"


def test_the_action_group_holds_exactly_the_modules_that_connect_to_a_cluster() -> None:
    groups = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["action_groups"]
    connected = [module for module in MODULES if "bootstrap_servers" in documentation(module)["options"]]
    assert sorted(groups["cluster"]) == connected


@pytest.mark.parametrize(
    "path", sorted((ROOT / "plugins").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT / "plugins"))
)
def test_a_plugin_file_says_its_licence_and_whether_it_is_private(path: Path) -> None:
    head = path.read_text().split('"""', 1)[0]
    assert "SPDX-License-Identifier: GPL-3.0-or-later" in head
    assert "from __future__ import annotations" in path.read_text()
    room = path.relative_to(ROOT / "plugins").parts
    if room[0] in {"module_utils", "doc_fragments"}:
        assert room[1].startswith("_")
    if room[0] in {"module_utils", "plugin_utils", "doc_fragments"}:
        assert "# Private to this collection." in head


def test_each_filter_is_documented_or_said_to_be_private() -> None:
    # ansible-doc, and with it Galaxy, describes a filter by the file of its name or else by the file that holds it.
    for path in (ROOT / "plugins" / "filter").glob("*.py"):
        names = importlib.import_module(f"{PACKAGE}.filter.{path.stem}").FilterModule().filters()
        private = "PRIVATE" in constants(path).get("DOCUMENTATION", "")
        documented = {name for name in names if (path.parent / f"{name}.yml").exists()}
        assert documented == (set() if private else set(names)), path.name
