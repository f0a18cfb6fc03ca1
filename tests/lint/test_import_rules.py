"""Who may import what, by folder: the rooms of this repository and the doors between them (docs/development/house.md).

module_utils  what a module imports. A file is pure (no Ansible, no library, no clock, no files, no network) unless
              its room acts on the world (WORLDLY_ROOMS) or its name says that it does (WORLDLY_FILES).
plugin_utils  what runs on the control node only. It may use the pure files of module_utils.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from tests.support.imports import (
    OURS,
    PLUGINS,
    ROOT,
    UTILS,
    files,
    imports,
    imports_from,
    module_of,
    name,
    own_file,
    parsed,
    rooms,
)

#: Rooms of module_utils that act on the world: a connection, the node that a module runs on, files of a release, a
#: reassignment under way.
WORLDLY_ROOMS = ("_client", "_node", "_release", "_reassign/run")
#: Names of files that act on the world in every other room: calls, changes, questions, processes.
WORLDLY_FILES = ("api", "apply", "look", "run", "session", "login")
#: What is bounded in time there, so that no other file waits without a bound (test_bounded_waits.py): programs, and
#: names and connections, which the control node resolves too.
BOUNDED_FILES = ("_core/commands.py", "_core/network.py")
#: The libraries of Kafka, which only _client and files named api.py import.
KAFKA = ("kafka", "confluent_kafka")
#: The other places that import a library, and which.
LIBRARIES = {
    "_client": KAFKA,
    "_client/tickets.py": ("gssapi",),
    "_node/stores.py": ("cryptography",),
    "_zookeeper/session.py": ("kazoo",),
}
#: What of Ansible a file of module_utils may import: what modules are made with, and how Ansible reads values.
OF_ANSIBLE = {
    "_release/source.py": ("ansible.module_utils.urls",),
    "_core/errors.py": ("ansible.module_utils.basic",),
    "_core/module.py": ("ansible.module_utils.basic", "ansible.module_utils.common.arg_spec"),
    "_core/values.py": ("ansible.module_utils.common.validation",),
}
#: Standard library that reaches out of the process, or reads a clock or chance: not for pure files.
REACHES_OUT = set(
    """concurrent datetime fcntl http logging multiprocessing os pathlib platform pwd random secrets select selectors
    shutil signal socket ssl subprocess tarfile tempfile threading time urllib""".split()  # noqa: SIM905
)


def may_act(path: Path) -> bool:
    """Whether a file of module_utils stands where acting on the world is allowed."""
    own = name(path)
    return (
        own in BOUNDED_FILES
        or own.startswith(tuple(f"{room}/" for room in WORLDLY_ROOMS))
        or path.stem.endswith(WORLDLY_FILES)
    )


@cache
def acts(path: Path) -> bool:
    """Whether a file of module_utils reaches out of the process, by itself or by what it imports."""
    libraries = {library for some in LIBRARIES.values() for library in some}
    ours = [own_file(one) for one in imports(path)]
    others = [one for one in imports(path) if one != "urllib.parse"]  # Takes addresses apart.
    return any(one.split(".")[0] in REACHES_OUT | libraries for one in others) or any(acts(own) for own in ours if own)


def must_be_pure(own: Path) -> bool:
    """Whether a file acts on the world, so that the control node must not use it: it resolves names itself."""
    return UTILS in own.parents and acts(own) and name(own) != "_core/network.py"


def breaches(path: Path, allowed: tuple[str, ...], rooms: tuple[str, ...] = (), pure: bool = False) -> list[str]:
    """Imports that are neither standard library, nor begin with an allowed name, nor lie in one of our rooms.

    pure -- of module_utils only what does not act on the world
    """
    found = []
    for imported in imports(path):
        own = own_file(imported)
        if own is None:
            if imported.split(".")[0] in sys.stdlib_module_names or imported.startswith(allowed):
                continue
        elif any(PLUGINS / room in own.parents for room in rooms) and not (pure and must_be_pure(own)):
            continue
        found.append(imported)
    return found


@pytest.mark.parametrize("path", files("plugins/modules"), ids=name)
def test_a_module_imports_ansible_and_module_utils_only(path: Path) -> None:
    assert breaches(path, ("ansible.module_utils.",), ("module_utils",)) == []


@pytest.mark.parametrize("path", files("plugins/module_utils"), ids=name)
def test_a_util_imports_its_library_and_module_utils_only(path: Path) -> None:
    own = name(path)
    libraries = KAFKA if path.name == "api.py" else LIBRARIES.get(own, LIBRARIES.get(own.split("/")[0], ()))
    assert breaches(path, (*OF_ANSIBLE.get(own, ()), *libraries), ("module_utils",)) == []


@pytest.mark.parametrize("path", [path for path in files("plugins/module_utils") if not may_act(path)], ids=name)
def test_a_util_is_pure_unless_its_room_or_its_name_says_otherwise(path: Path) -> None:
    found = [one for one in imports(path) if one.split(".")[0] in REACHES_OUT]
    found += [one for one in imports(path) if (own := own_file(one)) and acts(own)]
    assert found == [], "keep it pure, or put what acts on the world into api.py or apply.py"


def circle(graph: dict[str, set[str]]) -> set[str]:
    """The rooms that are left when every room is taken away that imports from none of the rooms left."""
    left = {room: set(used) for room, used in graph.items()}
    while ends := {room for room, used in left.items() if not used & left.keys()}:
        left = {room: used for room, used in left.items() if room not in ends}
    return set(left)


def test_rooms_import_each_other_in_one_direction_only() -> None:
    graph = rooms()
    assert graph["_topics"] >= {"_client", "_core"}, "the graph is that of the rooms"
    assert circle({"a": {"b"}, "b": {"a"}, "c": set()}) == {"a", "b"}
    assert sorted(circle(graph)) == []


def shipped(path: Path) -> set[Path]:
    """The files of module_utils that Ansible sends with a task of this module.

    Its ModuleDepFinder takes every import, also one within a function or for a type checker only.
    """
    found: set[Path] = set()
    left = [path]
    while left:
        file = left.pop()
        for node in imports_from(file):
            if (module := module_of(node, file)).startswith(OURS + "module_utils"):
                own = {util for alias in node.names if (util := own_file(f"{module}.{alias.name}"))} - found
                found |= own
                left += own
    return found


@pytest.mark.parametrize("path", files("plugins/modules"), ids=name)
def test_a_task_is_sent_with_the_rooms_of_its_own_subject(path: Path) -> None:
    # The planner of reassignments alone is 25 files. Health is judged by what all subjects know: brokers, quorum,
    # partitions, racks, moves, nodes and groups, a file each; who answers for a broker is two more. A comparison of the
    # metadata reads ACLs, configurations, features, quotas and users as their rooms do. Before the subjects were parted
    # every module had 50.
    # Who is at fault for a replica that is not in sync is two files: what decides, and its two looks.
    # The looks at mirrors ask for the ends of logs as groups do. One for gaps keeps what it saw in a topic (_state);
    # a gap is a file of its own.
    # A gate times what a roll is compared with (_cluster/pace.py, and who times it).
    # A tuning finds the flow's topics as mirror_status does, looks at the disks, and makes topics.
    # Health keeps who has looked at an unclean election; what waits for lag shares what it says (_core/looks.py).
    # What writes the files of a node looks at it in the same process: 35 files once, where it were 44 in two. Who ran
    # a node before it was taken over is three of them, by which mechanisms its clients log in is one.
    # How a client logs in, with the words of JAAS, how it gets a token or a ticket, and how an issuer is asked are five
    # files of every session.
    # A step of a failover plans it, also of a source that is lost, changes ACLs and moves offsets as their own modules
    # do, and begins the flow back. One of a failback begins it too, and copies what the source has alone. A drill takes
    # these steps with topics of its own.
    # A list of ACLs leaves the denials that failovers keep with the cluster (_state), and whoever reads a record
    # there passes over what only a newer release knows (_state/form.py).
    # A status asks for health, features and metadata in one process: 76 files once, where it were 114 in three.
    most = {"reassignment": 64, "cluster_health": 59, "metadata_compare": 39, "mirror_gaps": 42, "mirror_tune": 38,
            "mirror_failover_info": 58, "mirror_failover": 75, "mirror_failback": 81, "mirror_drill": 74,
            "restart_gate": 38, "mirror_status": 36, "cluster_status": 78, "node_generation": 37,
            "acls": 37}  # fmt: skip
    assert len(shipped(path)) <= most.get(path.stem, 35), sorted(map(name, shipped(path)))


@pytest.mark.parametrize("path", files("plugins"), ids=name)
def test_a_plugin_imports_this_collection_by_relative_names(path: Path) -> None:
    # The long prefix is 50 characters of each line; AnsiballZ and the packages of services resolve relative names too.
    assert [node.lineno for node in imports_from(path) if str(node.module).startswith(OURS) and not node.level] == []


def test_confluent_kafka_writes_records_and_does_nothing_else() -> None:
    # What is asked and changed goes through kafka-python: one reading of errors, of TLS and of brokers that hang.
    names = {
        alias.name
        for path in files("plugins/module_utils")
        for node in imports_from(path)
        if str(node.module).partition(".")[0] == "confluent_kafka"
        for alias in node.names
    }
    assert names == {"KafkaException", "Producer"}


@pytest.mark.parametrize("path", [*files("plugins/action"), *files("plugins/plugin_utils")], ids=name)
def test_what_runs_on_the_control_node_imports_ansible_and_pure_utils_only(path: Path) -> None:
    # ansible-core itself needs these, so they are on every control node.
    libraries = {
        **{f"inventory/{one}.py": ("cryptography",) for one in ("certificates", "chain", "pem")},
        "adopt/written.py": ("yaml",),
        "node/texts.py": ("jinja2",),
        "reports/markup.py": ("jinja2",),
    }
    allowed = ("ansible.", *libraries.get(name(path), ()))
    assert breaches(path, allowed, ("module_utils", "plugin_utils"), pure=True) == []


@pytest.mark.parametrize("path", [*files("plugins/filter"), *files("plugins/lookup")], ids=name)
def test_filters_and_lookups_import_pure_utils_only(path: Path) -> None:
    allowed = ("ansible.errors",) if path.parent.name == "filter" else ("ansible.",)
    assert breaches(path, allowed, ("module_utils", "plugin_utils"), pure=True) == []


@pytest.mark.parametrize("path", files("plugins/filter"), ids=name)
def test_filters_import_what_they_call_when_it_is_called(path: Path) -> None:
    at_once = [module_of(node, path) for node in parsed(path).body if isinstance(node, ast.ImportFrom)]
    assert [one for one in at_once if one.startswith(OURS + "module_utils")] == [], "see plugin_utils/explained.py"


@pytest.mark.parametrize("path", files("plugins/filter"), ids=name)
def test_filters_name_functions_that_are_there(path: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    named = [call.args[0].value for call in calls if call.args and isinstance(call.args[0], ast.Constant)
             and isinstance(call.func, ast.Name) and call.func.id == "explained"]  # fmt: skip
    for file, _, function in (str(one).rpartition(".") for one in named):
        folder = "module_utils" if file.startswith("_") else "plugin_utils"
        assert callable(getattr(import_module(f"{OURS}{folder}.{file}"), function, None)), f"{file}.{function}"
        assert folder == "plugin_utils" or not acts(UTILS.joinpath(*file.split(".")).with_suffix(".py"))


@pytest.mark.parametrize("path", files("spark_validation"), ids=name)
def test_spark_jobs_import_pyspark_what_all_share_and_their_own_room_only(path: Path) -> None:
    assert breaches(path, ("pyspark", "spark_validation")) == []
    room = path.relative_to(ROOT / "spark_validation").parts[0]
    # The command line is what brings the rooms together.
    others = [] if room == "cli.py" else [one for one in ("smoke", "mirror", "report") if one != room]
    closed = tuple(f"spark_validation.{one}" for one in others)
    assert [one for one in imports(path) if one.startswith(closed)] == []


def test_a_host_that_submits_gets_every_room_of_the_jobs() -> None:
    rooms_of_jobs = {str(path.parent.relative_to(ROOT / "spark_validation")) for path in files("spark_validation")}
    copied = yaml.safe_load((ROOT / "roles/spark_validation/vars/main.yml").read_text())
    assert {one or "." for one in copied["_spark_validation_package_rooms"]} == rooms_of_jobs


#: What the service imports of the collection: calls to Kafka, and what is pure, the reports of a status among it. Its
#: libraries are those of the web.
PAGE_ROOMS = (
    *(f"module_utils/{one}" for one in ("_client", "_cluster", "_configs", "_core", "_groups", "_health", "_logs")),
    *(f"module_utils/{one}" for one in ("_acls", "_features", "_metadata", "_mirror", "_quotas", "_users")),
    "module_utils/_mirror_drill",
    "plugin_utils/reports",
)


@pytest.mark.parametrize("path", files("page"), ids=name)
def test_the_page_imports_no_ansible_and_no_pyspark(path: Path) -> None:
    assert breaches(path, ("page", "starlette", "uvicorn", "jinja2"), PAGE_ROOMS) == []


#: The canary keeps clients of Kafka open, serves with what Python has, and writes its metrics as the page does.
CANARY_ROOMS = tuple(
    f"module_utils/{one}" for one in ("_client", "_cluster", "_core", "_health", "_logs", "_mirror", "_topics")
)


@pytest.mark.parametrize("path", files("canary"), ids=name)
def test_the_canary_imports_no_ansible_and_no_web_library(path: Path) -> None:
    assert breaches(path, ("canary", "kafka", "page.clusters", "page.core", "page.flows"), CANARY_ROOMS) == []


def test_only_action_plugins_import_the_preflight() -> None:
    room = f"{OURS}plugin_utils.preflight."
    others = [path for path in files("plugins") if not {"action", "preflight"} & set(path.parts)]
    assert [name(path) for path in others if any(one.startswith(room) for one in imports(path))] == []


def test_the_tables_of_this_page_have_no_dead_entry() -> None:
    named = (*LIBRARIES, *OF_ANSIBLE, *WORLDLY_ROOMS)
    assert [one for one in named if not (UTILS / one).exists()] == []
