"""Each machine: the unit and its sandbox, the user, the owners and modes, and what listens."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.support.machines import Machine

# Exposure of a unit as systemd-analyze counts it, 0 (safe) to 10.
MOST_EXPOSED = 1.4
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
    "RemoveIPC": "yes",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "RestrictNamespaces": "yes",
    "RestrictRealtime": "yes",
    "RestrictSUIDSGID": "yes",
    "SystemCallArchitectures": "native",
    "SystemCallErrorNumber": "1",
    "UMask": "0027",
}
# Calls that a process with these rights over the machine would make, and some that Java cannot run without.
FORBIDDEN_CALLS = {
    *("bpf", "chroot", "init_module", "kexec_load", "mount", "pivot_root", "ptrace", "reboot", "setuid"),
    *("settimeofday", "swapon", "umount2"),
}
NEEDED_CALLS = {"accept4", "futex", "mmap", "pwrite64", "read", "sendfile"}


def test_the_service_runs_and_starts_at_boot(process: Machine) -> None:
    assert process.run("systemctl", "is-active", process.service) == "active"
    assert process.run("systemctl", "is-enabled", process.service) == "enabled"
    assert process.property("NRestarts") == "0"


def test_it_comes_back_after_any_end_and_not_before_its_disks_are_mounted(process: Machine) -> None:
    assert (process.property("Restart"), process.property("RestartUSec")) == ("always", "5s")
    assert process.property("StartLimitIntervalUSec") == "0"
    assert set(process.disks) <= set(process.property("RequiresMountsFor").split())


def test_systemd_has_read_the_unit_that_belongs_to_the_start_files_in_use(node: Machine) -> None:
    in_use = f"{node.directories[1]}/{node.name}/current/{node.service}"
    assert node.run("cat", f"/etc/systemd/system/{node.service}") == node.run("cat", in_use)
    assert node.property("NeedDaemonReload") == "no"
    assert node.run("systemd-analyze", "verify", f"/etc/systemd/system/{node.service}") == ""


def test_nothing_failed_on_the_machine(process: Machine) -> None:
    assert process.run("systemctl", "--failed", "--no-legend", "--plain") == ""


def test_the_sandbox_is_as_tight_as_java_allows(process: Machine, note: Callable[[str], None]) -> None:
    report = process.run("systemd-analyze", "security", "--no-pager", process.service)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", report)
    assert found, report
    note(f"{process.name}: exposure {found.group(1)} of 10 (systemd-analyze security)")
    assert float(found.group(1)) <= MOST_EXPOSED, report


def test_every_line_of_the_sandbox_took_effect(process: Machine) -> None:
    names = ",".join(SANDBOX)
    lines = process.run("systemctl", "show", process.service, "--property", names).splitlines()
    assert dict(line.split("=", 1) for line in lines) == SANDBOX


def test_the_service_may_make_the_calls_of_a_server_and_none_that_rule_the_machine(process: Machine) -> None:
    allowed = set(process.property("SystemCallFilter").split())
    assert allowed & FORBIDDEN_CALLS == set()
    assert allowed >= NEEDED_CALLS, "the list is of what is allowed"


def test_stopping_may_take_longer_than_a_controlled_shutdown(node: Machine) -> None:
    assert node.property("TimeoutStopUSec") == "5min 30s"


def test_the_user_has_no_shell_no_home_no_password_and_no_other_group(process: Machine) -> None:
    user = process.user
    home, shell = process.run("getent", "passwd", user).split(":")[5:7]
    assert shell == "/usr/sbin/nologin"
    assert home == "/nonexistent"
    assert process.run("getent", "shadow", user).split(":")[1].startswith(("!", "*"))
    assert process.run("id", "-Gn", user) == process.group
    assert "is not allowed to run sudo" in process.run("sudo", "-l", "-U", user)


def test_the_process_is_the_users_and_has_no_capability(process: Machine) -> None:
    status = process.run("cat", f"/proc/{process.pid()}/status")
    assert process.run("stat", "-c", "%U %G", f"/proc/{process.pid()}") == f"{process.user} {process.group}"
    assert re.findall(r"Cap(?:Inh|Prm|Eff|Bnd|Amb):\t(\w+)", status) == ["0000000000000000"] * 5
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


def owners_and_modes(process: Machine) -> dict[str, str]:
    """Owner, group and mode of what a process has: the service can read its configuration, root alone can write it."""
    user, group, (install, config, data, log, run) = process.user, process.group, process.directories
    homes = {data: f"root {group} 750"} if process.disks else {}
    # Who a process is: every disk of a broker tells it, of a server the first one.
    identities = {f"{disk}/meta.properties": 640 for disk in process.disks}
    if process.is_server:
        identities = {f"{process.disks[0]}/myid": 600}
    return {
        install: "root root 755",
        f"{install}/releases": "root root 755",
        config: "root root 755",
        f"{config}/{process.name}": f"root {group} 750",
        process.config_file: f"root {group} 640",
        f"{config}/{process.name}/jvm.options": f"root {group} 640",
        f"{config}/{process.name}/start": f"root {group} 750",
        f"/etc/systemd/system/{process.service}": "root root 644",
        **homes,
        **dict.fromkeys(process.disks, f"{user} {group} 700"),
        **{path: f"{user} {group} {mode}" for path, mode in identities.items()},
        log: f"root {group} 750",
        f"{log}/{process.name}": f"{user} {group} 750",
        f"{run}/{process.name}": f"{user} {group} 750",
    }


def test_owners_and_modes(process: Machine) -> None:
    wanted = owners_and_modes(process)
    lines = process.run("stat", "-L", "-c", "%n=%U %G %a", *wanted).splitlines()
    assert dict(line.split("=", 1) for line in lines) == wanted


def test_nobody_but_root_can_write_the_release_or_the_configuration(process: Machine) -> None:
    writable = ["(", "!", "-user", "root", "-o", "-perm", "/022", ")"]
    install, config = process.directories[:2]
    # Services beside the nodes have users of their own, who own their secrets: molecule/mirror/tests/test_canary.py.
    others = ["-path", f"{config}/streamops-*", "-prune", "-o"]
    assert process.run("find", install, config, *others, *writable, "!", "-type", "l", "-print") == ""


def test_the_running_service_can_write_only_in_its_own_directories(process: Machine) -> None:
    # As root in the mount namespace of the service, so that the sandbox itself refuses and not an owner.
    inside = ["nsenter", "--target", str(process.pid()), "--mount"]
    install, config, data, log, _ = process.directories
    homes = [data] if process.disks else []
    for place in (install, config, f"{config}/{process.name}", "/etc", "/usr", "/var/lib", log, *homes):
        assert "Read-only file system" in process.fails(*inside, "touch", f"{place}/x")
    process.run(*inside, "touch", f"{log}/{process.name}/x")
    process.run("rm", f"{log}/{process.name}/x")


def test_only_the_declared_ports_listen(process: Machine, machines: dict[str, Machine]) -> None:
    here = [one for one in machines.values() if one.is_process and one.machine == process.machine]
    # Of an ensemble only the leader waits for followers.
    waits = {one.ports["zookeeper_quorum"] for one in here if one.is_server}
    assert process.listening() - waits == {port for one in here for port in one.ports.values()} - waits


def test_the_limit_of_open_files_is_the_highest_that_the_machine_allows(process: Machine) -> None:
    limits = process.run("cat", f"/proc/{process.pid()}/limits")
    allowed = process.run("cat", "/proc/1/limits")
    pattern = r"Max open files\s+\d+\s+(\d+)"
    hard, most = (int(re.findall(pattern, text)[0]) for text in (limits, allowed))
    # Where PID 1 may raise its own limit (a real machine) the process gets all that its unit asks for.
    wanted = process.get("kafka_limit_nofile", 100_000)
    assert hard in (wanted, min(wanted, most))


def test_log_and_journal_hold_what_the_node_says(process: Machine) -> None:
    process.run("test", "-s", f"{process.directories[3]}/{process.name}/server.log")
    assert f"{process.name} starts" in process.run("journalctl", "--no-pager", "-o", "cat", "-u", process.service)
