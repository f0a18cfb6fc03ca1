"""Each machine: the unit and its sandbox, the user, the owners and modes, and what listens."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.support.machines import Machine

# Exposure of a unit as systemd-analyze counts it, 0 (safe) to 10.
MOST_EXPOSED = 2.5
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
    user = node.user
    home, shell = node.run("getent", "passwd", user).split(":")[5:7]
    assert shell == "/usr/sbin/nologin"
    assert home == "/nonexistent"
    assert node.run("getent", "shadow", user).split(":")[1].startswith(("!", "*"))
    assert node.run("id", "-Gn", user) == node.group
    assert "is not allowed to run sudo" in node.run("sudo", "-l", "-U", user)


def test_the_process_is_the_users_and_has_no_capability(node: Machine) -> None:
    status = node.run("cat", f"/proc/{node.pid()}/status")
    assert node.run("stat", "-c", "%U %G", f"/proc/{node.pid()}") == f"{node.user} {node.group}"
    assert re.findall(r"Cap(?:Inh|Prm|Eff|Bnd|Amb):\t(\w+)", status) == ["0000000000000000"] * 5
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


def owners_and_modes(node: Machine) -> dict[str, str]:
    """Owner, group and mode of what a node has: the service can read its configuration, root alone can write it."""
    user, group, (install, config, data, log, run) = node.user, node.group, node.directories
    # Who a node is: every disk of a broker tells it, of a server the first one.
    identities = {f"{node.disks[0]}/myid": 600} if node.is_server else {f"{d}/meta.properties": 640 for d in node.disks}
    return {
        install: "root root 755",
        f"{install}/releases": "root root 755",
        config: "root root 755",
        f"{config}/{node.name}": f"root {group} 750",
        node.config_file: f"root {group} 640",
        f"{config}/{node.name}/jvm.options": f"root {group} 640",
        f"{config}/{node.name}/start": f"root {group} 750",
        f"/etc/systemd/system/{node.service}": "root root 644",
        data: f"root {group} 750",
        **dict.fromkeys(node.disks, f"{user} {group} 700"),
        **{path: f"{user} {group} {mode}" for path, mode in identities.items()},
        log: f"root {group} 750",
        f"{log}/{node.name}": f"{user} {group} 750",
        f"{run}/{node.name}": f"{user} {group} 750",
    }


def test_owners_and_modes(node: Machine) -> None:
    wanted = owners_and_modes(node)
    lines = node.run("stat", "-c", "%n=%U %G %a", *wanted).splitlines()
    assert dict(line.split("=", 1) for line in lines) == wanted


def test_nobody_but_root_can_write_the_release_or_the_configuration(node: Machine) -> None:
    writable = ["(", "!", "-user", "root", "-o", "-perm", "/022", ")"]
    install, config = node.directories[:2]
    assert node.run("find", install, config, *writable, "!", "-type", "l") == ""


def test_the_running_service_can_write_only_in_its_own_directories(node: Machine) -> None:
    # As root in the mount namespace of the service, so that the sandbox itself refuses and not an owner.
    inside = ["nsenter", "--target", str(node.pid()), "--mount"]
    install, config, data, log, _ = node.directories
    for place in (install, config, f"{config}/{node.name}", "/etc", "/usr", "/var/lib", data, log):
        assert "Read-only file system" in node.fails(*inside, "touch", f"{place}/x")
    node.run(*inside, "touch", f"{log}/{node.name}/x")
    node.run("rm", f"{log}/{node.name}/x")


def test_only_the_declared_ports_listen(node: Machine, nodes: list[Machine]) -> None:
    here = [one for one in nodes if one.machine == node.machine]
    # Of an ensemble only the leader waits for followers.
    waits = {one.ports["zookeeper_quorum"] for one in here if one.is_server}
    assert node.listening() - waits == {port for one in here for port in one.ports.values()} - waits


def test_the_limit_of_open_files_is_the_highest_that_the_machine_allows(node: Machine) -> None:
    limits = node.run("cat", f"/proc/{node.pid()}/limits")
    allowed = node.run("cat", "/proc/1/limits")
    pattern = r"Max open files\s+\d+\s+(\d+)"
    hard, most = (int(re.findall(pattern, text)[0]) for text in (limits, allowed))
    # Where PID 1 may raise its own limit (a real machine) the node gets all that its unit asks for.
    wanted = node.get("kafka_limit_nofile", 100_000)
    assert hard in (wanted, min(wanted, most))


def test_log_and_journal_hold_what_the_node_says(node: Machine) -> None:
    node.run("test", "-s", f"{node.directories[3]}/{node.name}/server.log")
    assert f"{node.name} starts" in node.run("journalctl", "--no-pager", "-o", "cat", "-u", node.service)
