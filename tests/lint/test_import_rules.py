"""Who may import what: the rooms of this repository and the doors between them, checked in every file.

A file of module_utils is pure (no Ansible, no client, no clock, no environment, no files) unless IMPURE names it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = "ansible_collections.streamops.kafka.plugins."
UTILS = ROOT / "plugins" / "module_utils"

#: The only files that import a client library, and what each may import.
CLIENTS = {
    "_client.py": {"kafka"},
    "_client_access.py": {"kafka"},
    "_client_brokers.py": {"kafka"},
    "_client_configs.py": {"kafka"},
    "_client_libraries.py": {"confluent_kafka", "kafka"},
    "_client_messages.py": {"kafka"},
    "_client_mirrors.py": {"kafka"},
    "_client_moves.py": {"confluent_kafka", "kafka"},
    "_client_state.py": {"confluent_kafka", "kafka"},
    "_client_topics.py": {"confluent_kafka", "kafka"},
    "_java_stores.py": {"cryptography"},
    "_zookeeper_client.py": {"kazoo"},
}
#: What _client.py is made of: others import _client.py only.
PARTS_OF_THE_CLIENT = (
    "_client_access",
    "_client_brokers",
    "_client_configs",
    "_client_libraries",
    "_client_messages",
    "_client_mirrors",
    "_client_moves",
    "_client_state",
    "_client_topics",
)

#: What of Ansible a file of module_utils may import: what modules are made with, and what turns errors into fail_json
#: with Ansible's words for a missing library; what Ansible takes for a boolean or a number.
OF_ANSIBLE = {
    "_errors.py": ("ansible.module_utils.basic",),
    "_secret_module.py": ("ansible.module_utils.basic",),
    "_values.py": ("ansible.module_utils.common.validation",),
}

#: Standard library that reaches out of the process, or reads a clock or chance: not for pure files.
REACHES_OUT = {
    "concurrent",
    "datetime",
    "fcntl",
    "http",
    "logging",
    "multiprocessing",
    "os",
    "pathlib",
    "platform",
    "pwd",
    "random",
    "secrets",
    "select",
    "selectors",
    "shutil",
    "signal",
    "socket",
    "ssl",
    "subprocess",
    "tarfile",
    "tempfile",
    "threading",
    "time",
    "urllib",
}

#: Files of module_utils that act on the world, and on what.
IMPURE = {
    "_acls_apply.py": "the cluster",
    "_archive.py": "files",
    "_archive_cache.py": "files, locks",
    "_archive_run.py": "files",
    "_archive_source.py": "files, downloads",
    "_archive_tar.py": "files",
    "_broker_configs_apply.py": "the cluster",
    "_broker_registration_apply.py": "the cluster",
    "_client.py": "the cluster",
    "_client_access.py": "the cluster",
    "_client_brokers.py": "the cluster",
    "_client_configs.py": "the cluster",
    "_client_libraries.py": "the cluster",
    "_client_messages.py": "a client library",
    "_client_mirrors.py": "the cluster",
    "_client_moves.py": "the cluster",
    "_client_state.py": "the cluster",
    "_client_topics.py": "the cluster",
    "_clock_sync.py": "the clock of the kernel",
    "_firewall_apply.py": "nftables",
    "_java_stores.py": "files",
    "_leader_election_apply.py": "the cluster",
    "_log_lines.py": "files",
    "_maven.py": "files, Maven",
    "_host_tuning.py": "files of the kernel",
    "_host_tuning_apply.py": "files of the kernel",
    "_mirror_look.py": "both clusters of a mirror, the clock",
    "_move_end.py": "the cluster",
    "_move_look.py": "the cluster",
    "_move_plan.py": "the cluster",
    "_move_room.py": "the cluster",
    "_move_run.py": "the cluster",
    "_move_states.py": "the cluster",
    "_move_throttle_apply.py": "the cluster",
    "_node_files.py": "files",
    "_node_info.py": "a node's files",
    "_node_info_certificates.py": "a node's stores",
    "_node_info_disks.py": "a node's disks",
    "_node_info_java.py": "a node's Java",
    "_node_info_names.py": "a node's view of names",
    "_node_info_network.py": "the network interfaces",
    "_node_info_ports.py": "a node's ports",
    "_node_info_process.py": "a node's process",
    "_node_info_quorum.py": "a node's metadata log",
    "_node_wait_look.py": "a node's process and log",
    "_partitions.py": "the cluster",
    "_quorum_voter_apply.py": "the cluster",
    "_quotas_apply.py": "the cluster",
    "_reach.py": "the network",
    "_reassign_look.py": "the cluster, files",
    "_scram_login.py": "the cluster",
    "_seen.py": "the cluster, the clock",
    "_spark_job_run.py": "a Spark process",
    "_storage_format.py": "a node's disks",
    "_topics_apply.py": "the cluster",
    "_run_lock.py": "a file",
    "_users_apply.py": "the cluster",
    "_wire.py": "a connection to a broker",
    "_zookeeper_client.py": "the ensemble",
    "_zookeeper_words.py": "the ensemble",
}


def imports(path: Path) -> Iterator[str]:
    """The full names of what a file imports at run time; what only a type checker imports is left out."""
    tree = ast.parse(path.read_text())
    unseen = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)}: relative import; use the long path"
            yield f"{node.module}.{node.names[0].name}" if node.module == OURS + "module_utils" else str(node.module)


def files(folder: str) -> list[Path]:
    """The Python files of a folder."""
    return sorted((ROOT / folder).glob("*.py"))


def top(name: str) -> str:
    """The first part of a dotted name."""
    return name.split(".")[0]


def util(name: str) -> str | None:
    """The file of module_utils that a name stands for, None when it is something else."""
    prefix = OURS + "module_utils."
    return name[len(prefix) :].split(".")[0] + ".py" if name.startswith(prefix) else None


def breaches(path: Path, allowed: tuple[str, ...], pure_utils: bool = False) -> list[str]:
    """Imports of a file that are neither standard library, nor start with an allowed name, nor a (pure) util."""
    found = []
    for name in imports(path):
        own = util(name)
        if own is not None and not (pure_utils and own in IMPURE):
            continue
        if own is None and (top(name) in sys.stdlib_module_names or name.startswith(allowed)):
            continue
        found.append(name)
    return found


@pytest.mark.parametrize("path", files("plugins/modules"), ids=lambda path: path.name)
def test_a_module_imports_ansible_and_our_utils_only(path: Path) -> None:
    assert breaches(path, ("ansible.module_utils.",)) == []


@pytest.mark.parametrize(
    "path", [path for path in files("plugins/module_utils") if path.name not in IMPURE], ids=lambda path: path.name
)
def test_a_util_is_pure_unless_it_is_listed_as_acting_on_the_world(path: Path) -> None:
    found = breaches(path, OF_ANSIBLE.get(path.name, ()), pure_utils=True)
    found += [name for name in imports(path) if top(name) in REACHES_OUT]
    assert found == [], "keep it pure, or name the file in IMPURE of this test with what it acts on"


@pytest.mark.parametrize("path", files("plugins/module_utils"), ids=lambda path: path.name)
def test_a_util_imports_no_library_and_no_ansible(path: Path) -> None:
    assert breaches(path, OF_ANSIBLE.get(path.name, tuple(CLIENTS.get(path.name, ())))) == []


def test_the_client_has_one_door() -> None:
    everywhere = [path for folder in ("plugins", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    own_tests = ROOT / "tests" / "unit" / "plugins" / "module_utils"
    outside = [
        path
        for path in everywhere
        if path.name not in CLIENTS and not (path.parent == own_tests and "_client" in path.name)
    ]
    parts = tuple(f"{OURS}module_utils.{part}" for part in PARTS_OF_THE_CLIENT)
    assert {path.name: name for path in outside for name in imports(path) if name.startswith(parts)} == {}


@pytest.mark.parametrize("path", [*files("plugins/action"), *files("plugins/plugin_utils")], ids=lambda path: path.name)
def test_action_plugins_import_ansible_and_pure_utils_only(path: Path) -> None:
    # ansible-core itself needs cryptography, so it is on every control node.
    library = ("cryptography",) if path.name == "certificate_reader.py" else ()
    assert breaches(path, ("ansible.", OURS + "plugin_utils.", *library), pure_utils=True) == []


@pytest.mark.parametrize("path", files("plugins/lookup"), ids=lambda path: path.name)
def test_lookups_import_ansible_and_pure_utils_only(path: Path) -> None:
    assert breaches(path, ("ansible.", OURS + "plugin_utils."), pure_utils=True) == []


@pytest.mark.parametrize("path", files("plugins/filter"), ids=lambda path: path.name)
def test_filters_import_pure_utils_only(path: Path) -> None:
    assert breaches(path, ("ansible.errors", OURS + "plugin_utils."), pure_utils=True) == []


@pytest.mark.parametrize("path", files("plugins/filter"), ids=lambda path: path.name)
def test_filters_import_what_they_call_when_it_is_called(path: Path) -> None:
    tree = ast.parse(path.read_text())
    at_once = [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    assert [name for name in at_once if name.startswith(OURS + "module_utils")] == [], "see plugin_utils/explained.py"


@pytest.mark.parametrize("path", files("plugins/filter"), ids=lambda path: path.name)
def test_filters_name_functions_of_pure_utils(path: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    named = [call.args[0].value for call in calls if call.args and isinstance(call.args[0], ast.Constant)
             and isinstance(call.func, ast.Name) and call.func.id == "explained"]  # fmt: skip
    for file, _, function in (str(name).partition(".") for name in named):
        folder = "module_utils" if file.startswith("_") else "plugin_utils"
        assert callable(getattr(import_module(f"{OURS}{folder}.{file}"), function, None)), f"{file}.{function}"
        assert f"{file}.py" not in IMPURE


@pytest.mark.parametrize("path", files("spark_validation"), ids=lambda path: path.name)
def test_spark_jobs_import_pyspark_and_themselves_only(path: Path) -> None:
    assert breaches(path, ("pyspark", "spark_validation")) == []
    assert not [name for name in imports(path) if util(name)]


def test_the_list_of_impure_files_has_no_dead_entry() -> None:
    assert [name for name in IMPURE if not (UTILS / name).exists()] == []
