"""Each machine: the unit and its sandbox, the user, the owners and modes, and what listens."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.support.machines import Machine

# Exposure of a unit as systemd-analyze counts it, 0 (safe) to 10.
MOST_EXPOSED = 2.5
# Owner, group and mode of what a node has; the configuration can be read by the service and written by root alone.
OWNED = {
    "/opt/kafka": "root root 755",
    "/opt/kafka/releases": "root root 755",
    "/etc/kafka": "root root 755",
    "/etc/kafka/{name}": "root kafka 750",
    "/etc/kafka/{name}/server.properties": "root kafka 640",
    "/etc/kafka/{name}/jvm.options": "root kafka 640",
    "/etc/kafka/{name}/start": "root kafka 750",
    "/etc/systemd/system/{service}": "root root 644",
    "/var/lib/kafka": "root kafka 750",
    "/var/lib/kafka/{name}": "kafka kafka 700",
    "/var/lib/kafka/{name}/meta.properties": "kafka kafka 640",
    "/var/log/kafka": "root kafka 750",
    "/var/log/kafka/{name}": "kafka kafka 750",
    "/run/kafka/{name}": "kafka kafka 750",
}
SANDBOX = {
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "ProtectClock": "yes",
    "ProtectControlGroups": "yes",
    "ProtectHostname": "yes",
    "ProtectKernelLogs": "yes",
    "ProtectKernelModules": "yes",
    "ProtectKernelTunables": "yes",
    "ProtectProc": "invisible",
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "AmbientCapabilities": "",
    "LockPersonality": "yes",
    "RestrictNamespaces": "yes",
    "RestrictRealtime": "yes",
    "RestrictSUIDSGID": "yes",
    "SystemCallArchitectures": "native",
    "UMask": "0027",
}


def test_the_service_runs_and_starts_at_boot(node: Machine) -> None:
    assert node.run("systemctl", "is-active", node.service) == "active"
    assert node.run("systemctl", "is-enabled", node.service) == "enabled"
    assert node.property("NRestarts") == "0"


def test_nothing_failed_on_the_machine(node: Machine) -> None:
    assert node.run("systemctl", "--failed", "--no-legend", "--plain") == ""


def test_the_sandbox_is_as_tight_as_java_allows(node: Machine, note: Callable[[str], None]) -> None:
    report = node.run("systemd-analyze", "security", "--no-pager", node.service)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", report)
    assert found, report
    note(f"{node.name}: exposure {found.group(1)} of 10 (systemd-analyze security)")
    assert float(found.group(1)) <= MOST_EXPOSED, report


def test_every_line_of_the_sandbox_took_effect(node: Machine) -> None:
    names = ",".join(SANDBOX)
    lines = node.run("systemctl", "show", node.service, "--property", names).splitlines()
    assert dict(line.split("=", 1) for line in lines) == SANDBOX


def test_stopping_may_take_longer_than_a_controlled_shutdown(node: Machine) -> None:
    assert node.property("TimeoutStopUSec") == "5min 30s"


def test_the_user_has_no_shell_no_home_no_password_and_no_other_group(node: Machine) -> None:
    home, shell = node.run("getent", "passwd", "kafka").split(":")[5:7]
    assert shell == "/usr/sbin/nologin"
    assert home == "/nonexistent"
    assert node.run("getent", "shadow", "kafka").split(":")[1].startswith(("!", "*"))
    assert node.run("id", "-Gn", "kafka") == "kafka"
    assert "is not allowed to run sudo" in node.run("sudo", "-l", "-U", "kafka")


def test_the_process_is_the_users_and_has_no_capability(node: Machine) -> None:
    status = node.run("cat", f"/proc/{node.pid()}/status")
    assert node.run("stat", "-c", "%U %G", f"/proc/{node.pid()}") == "kafka kafka"
    assert re.findall(r"Cap(?:Inh|Prm|Eff|Bnd|Amb):\t(\w+)", status) == ["0000000000000000"] * 5
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


def test_owners_and_modes(node: Machine) -> None:
    wanted = {path.format(name=node.name, service=node.service): what for path, what in OWNED.items()}
    lines = node.run("stat", "-c", "%n=%U %G %a", *wanted).splitlines()
    assert dict(line.split("=", 1) for line in lines) == wanted


def test_nobody_but_root_can_write_the_release_or_the_configuration(node: Machine) -> None:
    writable = ["(", "!", "-user", "root", "-o", "-perm", "/022", ")"]
    assert node.run("find", "/opt/kafka", "/etc/kafka", *writable, "!", "-type", "l") == ""


def test_the_running_service_can_write_only_in_its_own_directories(node: Machine) -> None:
    # As root in the mount namespace of the service, so that the sandbox itself refuses and not an owner.
    inside = ["nsenter", "--target", str(node.pid()), "--mount"]
    for place in ("/opt/kafka", "/etc/kafka", f"/etc/kafka/{node.name}", "/etc", "/usr", "/var/lib", "/var/log/kafka"):
        assert "Read-only file system" in node.fails(*inside, "touch", f"{place}/x")
    node.run(*inside, "touch", f"/var/log/kafka/{node.name}/x")
    node.run("rm", f"/var/log/kafka/{node.name}/x")


def test_only_the_declared_ports_listen(node: Machine) -> None:
    assert node.listening() == ({9092, 9094} if node.is_broker else {9093})


def test_the_limit_of_open_files_is_the_highest_that_the_machine_allows(node: Machine) -> None:
    limits = node.run("cat", f"/proc/{node.pid()}/limits")
    allowed = node.run("cat", "/proc/1/limits")
    pattern = r"Max open files\s+\d+\s+(\d+)"
    hard, most = (int(re.findall(pattern, text)[0]) for text in (limits, allowed))
    # Where PID 1 may raise its own limit (a real machine) the node gets all that its unit asks for.
    assert hard in (100_000, min(100_000, most))


def test_log_and_journal_hold_what_the_node_says(node: Machine) -> None:
    node.run("test", "-s", f"/var/log/kafka/{node.name}/server.log")
    assert f"{node.name} starts" in node.run("journalctl", "--no-pager", "-o", "cat", "-u", node.service)
