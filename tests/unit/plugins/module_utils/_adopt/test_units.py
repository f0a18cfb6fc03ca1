"""Who manages a process, and what units and programs say, with texts of real installations and with hostile ones."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._adopt import units as subject
from ansible_collections.streamops.kafka.plugins.module_utils._adopt.environment import Layer
from ansible_collections.streamops.kafka.plugins.module_utils._adopt.units import Manager

#: As `systemctl cat confluent-kafka` prints it on Debian, with a drop-in.
CONFLUENT = """\
# /lib/systemd/system/confluent-kafka.service
[Unit]
Description=Apache Kafka - broker
Documentation=http://docs.confluent.io/
After=network.target confluent-zookeeper.target

[Service]
Type=simple
User=cp-kafka
Group=confluent
ExecStart=/usr/bin/kafka-server-start /etc/kafka/server.properties
LimitNOFILE=1000000
TimeoutStopSec=180
Restart=no

[Install]
WantedBy=multi-user.target

# /etc/systemd/system/confluent-kafka.service.d/override.conf
[Service]
Environment="KAFKA_HEAP_OPTS=-Xms6g -Xmx6g" LOG_DIR=/var/log/kafka
Environment='KAFKA_OPTS=-Dx="y z"' \\
# between continued lines
   JMX_PORT=9999
EnvironmentFile=-/etc/default/kafka
EnvironmentFile=/etc/kafka/env.d/*.conf
Restart=on-failure
"""
HAND = """\
# /etc/systemd/system/kafka@.service
[Unit]
Description=Kafka %i
# /opt/kafka/README.conf
[Service]
User=kafka
WorkingDirectory=/opt/kafka
ExecStart=/bin/sh -c '/opt/kafka/bin/kafka-server-start.sh /etc/kafka/%i.properties --override broker.id=%i \\
    > /opt/kafka/logs/%n.log 2>&1'
ExecStop=/opt/kafka/bin/kafka-server-stop.sh
Environment=A=50%% HOST=%H
LimitNOFILE=100000
"""


def test_a_unit_of_a_package_with_its_drop_in() -> None:
    service = subject.read_unit(CONFLUENT, "confluent-kafka.service")
    override = "/etc/systemd/system/confluent-kafka.service.d/override.conf"
    assert service.files == ("/lib/systemd/system/confluent-kafka.service", override)
    assert (service.user, service.group, service.restart) == ("cp-kafka", "confluent", "on-failure")
    assert service.commands == ("/usr/bin/kafka-server-start /etc/kafka/server.properties",)
    assert service.layers == (
        Layer(override, {"KAFKA_HEAP_OPTS": "-Xms6g -Xmx6g", "LOG_DIR": "/var/log/kafka"}),
        Layer(override, {"KAFKA_OPTS": '-Dx="y z"', "JMX_PORT": "9999"}),
    )
    assert service.environment_files == (("/etc/default/kafka", True), ("/etc/kafka/env.d/*.conf", False))
    assert service.limits == {"nofile": "1000000"}
    assert service.unresolved == ()


def test_a_template_that_somebody_wrote() -> None:
    service = subject.read_unit(HAND, "kafka@3.service")
    # The comment stands behind no empty line, so it is none of systemctl.
    assert service.files == ("/etc/systemd/system/kafka@.service",)
    start = "/opt/kafka/bin/kafka-server-start.sh /etc/kafka/3.properties --override broker.id=3"
    assert service.commands == (f"/bin/sh -c '{start} > /opt/kafka/logs/kafka@3.service.log 2>&1'",)
    assert service.layers[0].variables == {"A": "50%", "HOST": "%H"}
    assert service.unresolved == ("%H",)
    assert service.restart == "no"


def test_an_empty_line_takes_away_what_stood_before() -> None:
    text = "[Service]\nExecStart=/a\nExecStart=\nExecStart=/b\nEnvironment=A=b\nEnvironment=\nEnvironmentFile=/x\n"
    text += "EnvironmentFile=\nUser=root\nUser=\nLimitNOFILE=\n"
    service = subject.read_unit(text, "a.service")
    assert (service.commands, service.layers, service.environment_files) == (("/b",), (), ())
    assert (service.user, service.limits) == ("", {})


@pytest.mark.parametrize(
    ("value", "variables"),
    [
        ('A="b', {"A": "b"}),
        ("A=b\\x20c", {"A": "b c"}),
        ("'A=b c' D=e", {"A": "b c", "D": "e"}),
        ('"A=\\"q\\""', {"A": '"q"'}),
        ("A=\u65e5\u672c", {"A": "\u65e5\u672c"}),
        ("A", {}),
        ("A=''", {"A": ""}),
    ],
)
def test_words_of_the_environment(value: str, variables: dict[str, str]) -> None:
    service = subject.read_unit(f"[Service]\nEnvironment={value}\n", "a.service")
    assert service.layers[0].variables == variables


@pytest.mark.parametrize("text", ["", "\n\n", "[Service", "ExecStart=/x", "[Install]\nUser=x", "\\", "[Service]\n\\"])
def test_what_is_no_unit_says_nothing(text: str) -> None:
    service = subject.read_unit(text, "a.service")
    assert (service.commands, service.user, service.layers) == ((), "", ())


ID = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("cgroup", "manager"),
    [
        ("0::/system.slice/kafka.service\n", Manager("systemd", "kafka.service")),
        ("0::/system.slice/system-kafka.slice/kafka@3.service\n", Manager("systemd", "kafka@3.service")),
        ("12:pids:/x\n1:name=systemd:/system.slice/kafka.service\n", Manager("systemd", "kafka.service")),
        ("0::/user.slice/user@1000.service/app.slice/kafka.service\n", Manager("systemd", "kafka.service", "user")),
        ("0::/user.slice/user-1000.slice/session-3.scope\n", Manager("none")),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope\n", Manager("none")),
        ("0::/system.slice/ssh.service\n", Manager("none")),
        ("0::/system.slice/cron.service\n", Manager("none")),
        ("0::/\n", Manager("none")),
        ("", Manager("none")),
        ("garbage", Manager("none")),
        (f"0::/system.slice/docker-{ID}.scope\n", Manager("container", f"docker {ID}")),
        (f"4:memory:/docker/{ID}\n", Manager("container", f"docker {ID}")),
        ("0::/system.slice/docker.service\n", Manager("systemd", "docker.service")),
        (f"0::/machine.slice/libpod-{ID}.scope/container\n", Manager("container", f"podman {ID}")),
        (f"0::/system.slice/kafka.service/libpod-payload-{ID}\n", Manager("container", f"podman {ID}")),
        ("0::/lxc.payload.web/system.slice/kafka.service\n", Manager("container", "lxc web")),
        ("0::/lxc/web\n", Manager("container", "lxc web")),
        (f"0::/kubepods.slice/pod1.slice/cri-containerd-{ID}.scope\n", Manager("container", f"containerd {ID}")),
        ("0::/kubepods/besteffort/pod1/abc\n", Manager("container", "kubernetes abc")),
        ("0::/machine.slice/systemd-nspawn@web.service\n", Manager("container", "nspawn web")),
    ],
)  # fmt: skip
def test_who_manages_a_process_by_its_cgroup(cgroup: str, manager: Manager) -> None:
    assert subject.manager(cgroup, "0::/system.slice/ssh.service\n", [], {}) == manager


def test_what_runs_in_the_same_container_runs_on_this_machine() -> None:
    own = f"1:name=systemd:/docker/{ID}\n"
    assert subject.manager(own, own, [], {}) == Manager("none")
    unit = f"1:name=systemd:/docker/{ID}/system.slice/kafka.service\n"
    assert subject.manager(unit, own, [], {}) == Manager("systemd", "kafka.service")
    other = f"1:name=systemd:/docker/{ID[::-1]}\n"
    assert subject.manager(other, own, [], {}).kind == "container"


def test_supervisord_and_other_keepers() -> None:
    cgroup = "0::/system.slice/supervisor.service\n"
    variables = {"SUPERVISOR_PROCESS_NAME": "kafka", "SUPERVISOR_GROUP_NAME": "kafka"}
    assert subject.manager(cgroup, "", ["supervisord"], variables) == Manager("supervisor", "kafka")
    variables["SUPERVISOR_GROUP_NAME"] = "streaming"
    assert subject.manager(cgroup, "", [], variables) == Manager("supervisor", "streaming:kafka")
    assert subject.manager(cgroup, "", ["bash", "supervisord"], None) == Manager("supervisor")
    assert subject.manager("0::/system.slice/runit.service\n", "", ["runsv"], None) == Manager("other", "runsv")


PROGRAM = """\
[program:kafka]
command=/opt/kafka/bin/kafka-server-start.sh /etc/kafka/%(program_name)s.properties ; a comment
user=kafka
directory=%(here)s
environment=KAFKA_HEAP_OPTS="-Xmx4g -Xms4g",LOG_DIR=/var/log/kafka,
    KAFKA_OPTS="-Djavax.net.ssl.keyStorePassword=a%%b,c",HOST=%(host_node_name)s
autostart=false
autorestart=true
"""


def test_a_program_of_supervisord() -> None:
    path = "/etc/supervisor/conf.d/kafka.conf"
    service = subject.read_program({"/etc/supervisor/supervisord.conf": "[supervisord]\n", path: PROGRAM}, "kafka")
    assert service is not None
    assert service.files == (path,)
    assert service.commands == ("/opt/kafka/bin/kafka-server-start.sh /etc/kafka/kafka.properties",)
    assert (service.user, service.directory) == ("kafka", "/etc/supervisor/conf.d")
    assert (service.restart, service.autostart) == ("true", "disabled")
    assert service.layers[0].variables == {
        "KAFKA_HEAP_OPTS": "-Xmx4g -Xms4g",
        "LOG_DIR": "/var/log/kafka",
        "KAFKA_OPTS": "-Djavax.net.ssl.keyStorePassword=a%b,c",
        "HOST": "%(host_node_name)s",
    }
    assert service.unresolved == ("%(host_node_name)s",)


def test_a_program_in_a_group_and_one_that_runs_several_times() -> None:
    texts = {"/a.conf": "[program:kafka]\ncommand=/k\n[program:zk]\ncommand=/z\n[group:all]\nprograms=kafka,zk\n"}
    for name, command in (("all:zk", "/z"), ("kafka:kafka_00", "/k"), ("zk", "/z")):
        service = subject.read_program(texts, name)
        assert service is not None
        assert service.commands == (command,)
        assert (service.restart, service.autostart) == ("unexpected", "enabled")
    assert subject.read_program(texts, "mirror") is None


@pytest.mark.parametrize("text", ["", "command=/x", "[program:kafka", '[program:kafka]\nenvironment=A="b\n'])
def test_files_of_supervisord_that_cannot_be_read(text: str) -> None:
    service = subject.read_program({"/a.conf": text}, "kafka")
    assert service is None or (service.commands, dict(service.layers[0].variables)) == ((), {})


def test_what_supervisord_includes() -> None:
    text = "[supervisord]\n[include]\nfiles = conf.d/*.conf %(here)s/more/*.ini\n /abs/*.conf\n"
    patterns = ["/etc/supervisor/conf.d/*.conf", "/etc/supervisor/more/*.ini", "/abs/*.conf"]
    assert subject.included(text, "/etc/supervisor") == patterns
    assert subject.included("", "/etc") == []
