"""What of ./test proves the change since a revision: lint, unit, and what else the changed files ask for.

    python -m tests.support.since REV [--full] [--list]      a line for each stage, with what it runs

A public playbook is proven by the tests that run it, one that begins with an underscore by what proves its importers. A
room is proven by the tests that are named after it (_groups: test_groups_playbook, zookeeper/), and by those that run a
module which imports it. PROVEN says what proves the rest, and where that would be too much or too little. For a file of
the plugins what proves its importers is added, as far as imports of plugins/module_utils and plugins/plugin_utils lead;
for one of tests/support the tests that import it. A file of which nothing is known asks for everything.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from tests.support import parts
from tests.support.imports import PLUGINS, ROOT, files, importers, imports, name, own_file, parsed
from tests.support.schedule import minutes_table, together

INTEGRATION = ROOT / "tests" / "integration"
#: What every change runs, so what a change to pages and to pure tests needs.
ALWAYS = ("lint", "unit")
EVERYTHING = "everything"
#: Rooms that nearly every module imports: they say nothing about its subject.
_SHARED = ("_client", "_core", "progress")
#: By folder (the innermost one counts) or file, what proves it: a folder (`restart/`) or a file
#: (`restart/test_rolling`) of tests/integration, a stage (`publish`, `spark`), a scenario (`molecule:secure`).
#: A module, action, lookup or filter without an entry is proven by what proves the rooms that it imports.
PROVEN: Mapping[str, str] = {
    "plugins/module_utils/_brokers/": "resources/ reassign/test_moving_playbooks",
    "plugins/module_utils/_client/": "resources/ restart/test_unreachable security/test_secured_guards",
    "plugins/module_utils/_cluster/": "resources/test_cluster_info install/test_isolated",
    "plugins/module_utils/_configs/": "resources/test_topics resources/test_broker_configs",
    "plugins/module_utils/_core/": "resources/test_topics install/test_run_check",
    "plugins/module_utils/_features/": "resources/test_features restart/test_finalize",
    "plugins/module_utils/_firewall/": "security/test_firewall security/test_firewall_inventory "
    "security/test_firewall_trial molecule:secure",
    "plugins/module_utils/_gate/": "restart/",
    "plugins/module_utils/_health/": "resources/test_cluster_health install/test_status install/test_stretch",
    "plugins/plugin_utils/migration/": "migration/",
    "plugins/plugin_utils/mirrors/external.py": "mirror/test_mirror_external",
    "plugins/plugin_utils/mirrors/external_cas.py": "mirror/test_mirror_external",
    "plugins/plugin_utils/mirrors/health.py": "mirror/test_mirror install/test_status",
    "plugins/module_utils/_logs/": "resources/test_groups",
    "plugins/module_utils/_metadata/": "resources/test_metadata_compare install/test_status",
    "plugins/module_utils/_migration/": "migration/",
    "plugins/module_utils/_node/attach.py": "restart/test_upgrade_clients",
    "plugins/module_utils/_node/deprecated_requests.py": "restart/test_upgrade_clients",
    "plugins/module_utils/_node/": "install/ restart/ security/test_certificates molecule:secure",
    "plugins/module_utils/_reassign/": "reassign/ zookeeper/test_zookeeper_moves",
    "plugins/module_utils/_release/": "install/test_archive install/test_releases install/test_storage_format",
    "plugins/module_utils/_topics/": "resources/test_topics",
    "plugins/plugin_utils/": "install/test_installation install/test_text_values",
    "plugins/plugin_utils/guards/": "install/test_installation install/test_run_check restart/test_quorum_certificates "
    "zookeeper/",
    "plugins/plugin_utils/awx/": "awx/test_awx_objects",
    "plugins/plugin_utils/inventory/": "install/ security/test_firewall_inventory zookeeper/test_zookeeper",
    "plugins/plugin_utils/mirrors/": "mirror/test_mirror mirror/test_mirror_shapes mirror/test_mirror_data "
    "mirror/test_mirror_legacy",
    "plugins/plugin_utils/monitoring/": "install/test_monitoring_files security/test_metrics zookeeper/test_zookeeper "
    "mirror/test_mirror monitoring/ page/",
    "plugins/plugin_utils/node/": "install/test_installation install/test_isolated security/ mirror/test_mirror "
    "mirror/test_mirror_legacy zookeeper/test_zookeeper",
    "plugins/plugin_utils/preflight/": "install/test_preflight_playbook install/test_preflight_connections "
    "install/test_preflight_mirrors security/test_firewall_inventory",
    "plugins/plugin_utils/progress/": "restart/test_isr_wait restart/test_restart_gate install/test_operator_output "
    "reassign/test_reassignment_applied",
    "plugins/plugin_utils/render/": "install/test_installation install/test_isolated security/ mirror/test_mirror "
    "zookeeper/test_zookeeper",
    "plugins/plugin_utils/reports/": "install/test_operator_output reassign/test_reassignment install/test_status",
    "plugins/plugin_utils/upgrade/": "restart/test_upgrade restart/test_upgrade_ways restart/test_finalize "
    "zookeeper/test_zookeeper_upgrade install/test_run_check",
    "plugins/plugin_utils/upgrade/clients.py": "restart/test_upgrade restart/test_upgrade_clients",
    "plugins/plugin_utils/voters/": "restart/test_voters restart/test_voters_in_steps restart/test_modes "
    "restart/test_dynamic_quorum",
    "plugins/plugin_utils/adopt/": "install/test_adopt",
    "plugins/action/adoption_info.py": "install/test_adopt install/test_adoption_info",
    "plugins/action/adoption_plan.py": "install/test_adopt",
    "plugins/modules/adoption_plan.py": "install/test_adopt",
    "plugins/action/migration_plan.py": "migration/",
    "plugins/modules/migration_plan.py": "migration/",
    "plugins/modules/migration_wait.py": "migration/",
    "plugins/action/upgrade_plan.py": "restart/test_upgrade restart/test_upgrade_ways restart/test_finalize "
    "install/test_run_check",
    "plugins/modules/deprecated_requests.py": "restart/test_upgrade_clients",
    "plugins/modules/upgrade_plan.py": "restart/test_upgrade restart/test_upgrade_ways restart/test_finalize "
    "install/test_run_check",
    "plugins/plugin_utils/clock_offset.py": "install/test_preflight_connections",
    "plugins/action/node_info.py": "install/test_preflight_connections",
    "plugins/plugin_utils/run_names.py": "restart/test_run_lock restart/test_rolling awx/",
    "plugins/action/run_lock.py": "restart/test_run_lock restart/test_rolling awx/",
    "plugins/callback/": "install/test_operator_output",
    "plugins/filter/": "install/test_installation security/test_secured",
    "plugins/plugin_utils/addresses.py": "security/test_firewall_inventory",
    "plugins/lookup/model.py": "install/test_installation install/test_text_values install/test_run_check",
    "plugins/modules/preflight.py": "install/test_preflight_playbook",
    "plugins/modules/run_check.py": "install/test_run_check",
    "plugins/doc_fragments/": "",
    "playbooks/_endpoints.yml": "mirror/test_mirror",
    "playbooks/_canaries_step.yml": "mirror/test_canary mirror/test_mirror",
    "playbooks/_mirrors_roll.yml": "mirror/",
    "playbooks/_mirrors_step.yml": "mirror/",
    "playbooks/_roll.yml": "restart/ install/test_isolated zookeeper/test_zookeeper",
    "playbooks/_lock.yml": "restart/test_run_lock",
    "playbooks/_unlock.yml": "restart/test_run_lock",
    "playbooks/tasks/release_after_failure.yml": "restart/test_run_lock restart/test_rolling",
    "playbooks/_start.yml": "install/test_installation restart/test_rolling zookeeper/test_zookeeper",
    "playbooks/_zookeeper_step.yml": "zookeeper/",
    "playbooks/tasks/awx/": "awx/test_awx_objects",
    "playbooks/vars/": "awx/test_awx_objects",
    "playbooks/site.yml": "install/ awx/ restart/test_rolling zookeeper/test_zookeeper mirror/test_mirror",
    "playbooks/status.yml": "install/test_status resources/test_cluster_health mirror/test_mirror",
    "playbooks/stop.yml": "restart/test_stop restart/test_rolling zookeeper/test_zookeeper mirror/test_mirror",
    "playbooks/validate.yml": "spark/ reassign/test_growing_proof",
    "roles/_common/": "install/ restart/ security/ zookeeper/test_zookeeper molecule:secure",
    "roles/_common/files/zookeeper-launcher": "zookeeper/",
    "roles/_common/tasks/adopt.yml": "install/test_adopt",
    "roles/_common/tasks/disks/": "install/test_installation install/test_storage_format zookeeper/ "
    "reassign/test_moving_playbooks",
    "roles/_common/tasks/migration.yml": "migration/",
    "roles/_common/tasks/roll/": "restart/ install/test_isolated zookeeper/test_zookeeper",
    "roles/_common/tasks/service/systemd/": "molecule:default molecule:secure molecule:adopt molecule:zookeeper",
    "roles/_common/tasks/tls/": "security/ restart/test_quorum_certificates molecule:secure",
    "roles/_common/tasks/zookeeper_administrator.yml": "zookeeper/",
    "roles/kafka_broker/": "install/test_installation install/test_isolated install/test_roles_alone",
    "roles/kafka_monitoring/": "page/test_prometheus",
    "roles/kafka_page/": "page/test_page_playbook",
    "roles/kafka_resources/": "resources/ reassign/ install/test_roles_alone security/test_secured",
    "roles/kraft_controller/": "install/test_isolated install/test_roles_alone restart/test_quorum_certificates",
    "roles/mirror_maker/": "mirror/ molecule:mirror",
    "roles/preflight/": "install/test_preflight_playbook install/test_preflight_connections "
    "install/test_preflight_mirrors",
    "roles/spark_validation/": "spark/ mirror/test_mirror_audit reassign/test_growing_proof",
    "roles/zookeeper_ensemble/": "zookeeper/ molecule:zookeeper",
    "spark_validation/": "spark spark/ mirror/test_mirror_audit",
    "spark_validation/smoke/": "spark spark/",
    "page/": "page/",
    "canary/": "mirror/test_canary",
    "inventories/": "install/test_installation install/test_preflight_playbook",
    "inventories/adopted/": "install/test_quickstart_adopt",
    "inventories/local_isolated/": "install/test_isolated",
    "inventories/local_mirror/": "mirror/test_mirror",
    "inventories/local_zookeeper/": "zookeeper/test_zookeeper",
    "inventories/stretch/": "install/test_stretch",
    "inventories/watching/": "install/test_text_values install/test_check_mode",
    "molecule/": "molecule:default molecule:secure molecule:adopt molecule:zookeeper molecule:mirror",
    ".config/molecule/": "molecule:default molecule:secure molecule:adopt molecule:zookeeper molecule:mirror",
    "galaxy.yml": "publish install/test_installed",
    "meta/": "publish install/test_installed install/test_oldest_ansible",
    "meta/execution-environment.yml": "awx/",
    "meta/ee-bindep.txt": "awx/",
    "awx/": "awx/",
    "extensions/": "awx/test_rulebooks",
    "tools/adoption_tour": "install/test_quickstart_adopt",
    "tools/ee_image": "awx/",
    "tools/publish_check.sh": "publish",
    **dict.fromkeys(
        """docs/ changelogs/ benchmarks/ tools/ tests/lint/ tests/unit/ tests/minutes.yml tests/minutes_plain.yml
        tests/support/imports.py tests/support/parts.py tests/support/schedule.py tests/support/since.py
        tests/support/other_order.py test .ci/ .config/ansible-lint.yml .yamllint .gitignore CHANGELOG.rst
        CONTRIBUTING.md LICENSE README.md""".split(),  # noqa: SIM905
        "",
    ),
}


def changed(revision: str) -> list[str]:
    """The files that differ from where this branch left a revision, those that no commit has yet among them."""
    left = _git("merge-base", revision, "HEAD")[0]
    return sorted({*_git("diff", "--name-only", "--no-renames", left), *_git("ls-files", "-o", "--exclude-standard")})


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.split("\n")[:-1]


def work(paths: Iterable[str]) -> set[str]:
    """The units of work that prove these files: stages, `molecule:<scenario>`, files of tests/integration."""
    return {*ALWAYS, *(unit for path in paths for unit in _of(path))}


@cache
def _of(path: str) -> frozenset[str]:
    file = ROOT / path
    if path.startswith("tests/") and path not in PROVEN and (tests := _tests(path)) is not None:
        return tests
    if PLUGINS in file.parents and file.suffix == ".py":
        rooms = (one for one in _with_importers(file) if one == file or one.parents[1] != PLUGINS)
        return frozenset().union(*map(_plugin, rooms))
    if (scenario := re.match(r"molecule/(\w+)/", path)) and (ROOT / scenario[0] / "molecule.yml").exists():
        return frozenset({f"molecule:{scenario[1]}"})
    return _proof(path)


def _entry(path: str) -> str:
    """What PROVEN says of a path."""
    begins = [one for one in PROVEN if path == one or (one.endswith("/") and path.startswith(one))]
    return PROVEN[max(begins, key=len)] if begins else EVERYTHING


def _proof(path: str) -> frozenset[str]:
    """What PROVEN says of a path, or what the tests show where it says nothing."""
    named, stem = _entry(path), Path(path).stem
    found: Iterable[str] = ()
    if named == EVERYTHING and path.startswith("playbooks/_"):
        users = [
            f"playbooks/{one.name}" for one in (ROOT / "playbooks").glob("*.yml") if f"{stem}.yml" in one.read_text()
        ]
        found = frozenset().union(*map(_proof, users))
    elif named == EVERYTHING and path.startswith("playbooks/"):
        found = (test for test in _integration() if _runs(test, stem))
    elif named == EVERYTHING and (room := re.match(r"plugins/module_utils/\w+/", path)):
        found = _of_room(room[0])
    return frozenset(found) or _targets(named)


def _runs(test: str, playbook: str) -> bool:
    """Whether a test with its helpers names a playbook; a bare name counts where one is made to playbooks/{name}."""
    text = _text(test)
    bare = rf'|"{playbook}"' if "playbooks/{" in text else ""
    named = rf'"(playbooks/)?{playbook}\.yml"|"streamops\.kafka\.{playbook}"{bare}'
    return "tests.support.playbooks import PUBLIC" in text or re.search(named, text) is not None


@cache
def _text(test: str) -> str:
    helpers = [
        ROOT / f"{one.replace('.', '/')}.py" for one in _test_imports()[test] if one.startswith("tests.support.")
    ]
    return "".join(path.read_text() for path in (ROOT / test, *helpers) if path.exists())


@cache
def _of_room(room: str) -> frozenset[str]:
    """The tests that are named after a room, or run a module that imports it."""
    noun = Path(room).name.strip("_").removesuffix("s")
    users = {user for file in files(room) for user in importers().get(file, ()) if user.parent == PLUGINS / "modules"}
    run = [f'"streamops.kafka.{user.stem}"' for user in users]
    after = re.compile(rf"[/_]{noun}s?[/_.]")
    texts = {test: (ROOT / test).read_text() for test in _integration()}
    return frozenset(test for test, text in texts.items() if after.search(test) or any(one in text for one in run))


def _targets(entry: str) -> frozenset[str]:
    """The units that words of PROVEN stand for."""
    if entry == EVERYTHING:
        return frozenset(everything())
    found: set[str] = set()
    for word in entry.split():
        if "/" not in word:
            found.add(word)
        elif word.endswith("/"):
            found |= {unit for unit in _integration() if unit.startswith(f"tests/integration/{word}")}
        else:
            found.add(f"tests/integration/{word}.py")
    return frozenset(found)


def everything() -> set[str]:
    """All units of work of this repository."""
    return {*(unit for unit in parts.units() if not unit.startswith("integration:")), *_integration()}


@cache
def _integration() -> tuple[str, ...]:
    return tuple(sorted(str(path.relative_to(ROOT)) for path in INTEGRATION.rglob("test_*.py")))


def _with_importers(file: Path) -> set[Path]:
    """A file, and all that import it, on whatever way."""
    found, left = {file}, [file]
    while left:
        new = importers().get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _plugin(file: Path) -> frozenset[str]:
    path = str(file.relative_to(ROOT))
    if _entry(path) != EVERYTHING or "/module_utils/" in path:
        return _proof(path)
    # A plugin that was deleted is asked for by its roles, which have changed too.
    rooms = {own.parent for one in (imports(file) if file.exists() else ()) if (own := own_file(one))}
    telling = [room for room in rooms if name(room) not in _SHARED] or list(rooms)
    proofs = [_proof(f"{room.relative_to(ROOT)}/") for room in telling]
    return frozenset().union(*proofs) if proofs else _targets(EVERYTHING)


def _tests(path: str) -> frozenset[str] | None:
    """What a file of tests asks for: itself, or the tests that import it; None when PROVEN says it."""
    if path.startswith("tests/spark/"):
        return frozenset({"spark"})
    if path.startswith("tests/integration/"):
        folder = str(Path(path).parent)
        return frozenset({path} & {*_integration()} or {one for one in _integration() if one.startswith(folder)})
    if path.startswith("tests/support/"):
        module = path.removesuffix(".py").replace("/", ".")
        users = {user for user in _support_users(module) if user in _integration()}
        conftest = "tests/integration/conftest.py" in _support_users(module)
        return frozenset(_integration() if conftest else users)
    return None


@cache
def _support_users(module: str) -> frozenset[str]:
    """The files of tests that import a module of tests/support, on whatever way."""
    found: set[str] = set()
    left = [module]
    while left:
        wanted = left.pop()
        for path, imported in _test_imports().items():
            if wanted in imported and path not in found:
                found.add(path)
                left.append(path.removesuffix(".py").replace("/", "."))
    return frozenset(found)


@cache
def _test_imports() -> dict[str, frozenset[str]]:
    found = {}
    for path in files("tests"):
        nodes = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom)]
        names = {str(node.module) for node in nodes} | {
            f"{node.module}.{one.name}" for node in nodes for one in node.names
        }
        found[str(path.relative_to(ROOT))] = frozenset(names)
    return found


def plain(chosen: Iterable[str]) -> set[str]:
    """Without the files whose tests are all long forms, and without the stage that only ./test --full runs."""
    return {unit for unit in chosen if unit != "publish" and not _only_long(unit)}


def _only_long(unit: str) -> bool:
    return unit.endswith(".py") and "\npytestmark = pytest.mark.full\n" in (ROOT / unit).read_text()


def lines(chosen: Iterable[str]) -> list[str]:
    """The stages in their order, a line each: the stage, then what of it."""
    return parts.lines(f"integration:{unit}" if unit.endswith(".py") else unit for unit in chosen)


def minutes(unit: str, measured: Mapping[str, float]) -> float:
    """About how long a unit holds the machine in its long form; of a shared cluster's time each file has its share."""
    if not unit.endswith(".py"):
        return parts.minutes(unit, measured)
    shared = together(unit)
    return parts.minutes(f"integration:{shared}", measured) / len(parts.files(shared))


def main() -> None:
    """Prints the stages, or with --list what they run and the minutes of each."""
    parser = argparse.ArgumentParser(description="What of ./test proves the change since a revision.")
    parser.add_argument("revision")
    parser.add_argument("--full", action="store_true", help="the long forms too")
    parser.add_argument("--list", action="store_true", help="what it would run, with minutes")
    asked = parser.parse_args()
    paths = changed(asked.revision)
    chosen = work(paths)
    if not asked.full:
        chosen = plain(chosen)
    if not asked.list:
        print("\n".join(lines(chosen)))
        return
    took = {unit: minutes(unit, minutes_table()) for unit in chosen}
    print(f"{len(paths)} changed files since {asked.revision}. Minutes of the long forms on this machine's two cores:")
    for unit in sorted(took, key=lambda one: (-took[one], one)):
        print(f"{took[unit]:6.1f}  {unit}")
    print(f"{sum(took.values()):6.1f}  together{'' if asked.full else ' at most: the long forms are left out'}")


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"test: {error}")
