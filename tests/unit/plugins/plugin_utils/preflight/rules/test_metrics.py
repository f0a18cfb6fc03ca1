# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on metrics: who may read them, which port they have, and which jar serves them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import Violation
from tests.support.preflight_inventories import combined

ON = {
    "kafka_metrics_enabled": True,
    "kafka_metrics_password": "long-and-random",
    "kafka_tls_source": "files",
    "kafka_metrics_user": "u",
    "kafka_metrics_port": 9404,
}


def found(inventory: Inventory) -> list[Violation]:
    """What the rules on metrics and on ports say; certificates and the like are for other tests."""
    said = check_inventory(inventory)
    return [violation for violation in said if violation.name.startswith(("metrics_", "port_twice"))]


@pytest.mark.parametrize(
    "variables",
    [
        {"kafka_metrics_enabled": False, "kafka_metrics_user": ""},
        ON,
        {"kafka_metrics_enabled": True, "kafka_metrics_host": "127.0.0.1"},
        {**ON, "kafka_metrics_agent_src": "/srv/agent.jar", "kafka_metrics_agent_sha256": "0F" * 32},
    ],
)
def test_what_is_right_is_let_through(variables: dict[str, Any]) -> None:
    assert found(combined(**variables)) == []


def test_an_open_port_is_refused_unless_it_is_accepted_by_name() -> None:
    (refused,) = found(combined(kafka_metrics_enabled=True))
    assert (refused.name, refused.level, refused.acceptable) == ("metrics_without_login", "error", True)
    (accepted,) = found(combined(kafka_metrics_enabled=True, preflight_accept=["metrics_without_login"]))
    assert accepted.accepted


@pytest.mark.parametrize(
    ("variables", "rule", "level"),
    [
        ({"kafka_tls_source": ""}, "metrics_login_readable", "warning"),
        ({"kafka_metrics_user": "a:b"}, "metrics_user", "error"),
        ({"kafka_metrics_user": " "}, "metrics_user", "error"),
        ({"kafka_metrics_agent_src": "/srv/agent.jar"}, "metrics_agent_unpinned", "error"),
        (
            {"kafka_metrics_agent_src": "/srv/agent.jar", "kafka_metrics_agent_sha256": "abc"},
            "metrics_agent_unpinned",
            "error",
        ),
        ({"kafka_install_source": "archive"}, "metrics_agent_without_maven", "error"),
        ({"kafka_jvm_options": ["-javaagent:/x/jmx_prometheus_javaagent-1.6.0.jar=1:f"]}, "metrics_twice", "error"),
        (
            {"kafka_config": {"metric.reporters": "io.strimzi.kafka.metrics.KafkaPrometheusMetricsReporter"}},
            "metrics_twice",
            "error",
        ),
        ({"kafka_metrics_port": 9092}, "port_twice_on_node", "error"),
    ],
)
def test_what_cannot_work_or_tells_a_password_is_named(variables: dict[str, Any], rule: str, level: str) -> None:
    (violation,) = found(combined(**{**ON, **variables}))
    assert (violation.name, violation.level) == (rule, level)
    assert "long-and-random" not in violation.sentence()


def test_two_nodes_of_a_machine_need_two_ports() -> None:
    hosts = {
        name: {
            "ansible_host": "10.0.0.1",
            "kafka_listeners": [
                {"name": "CLIENT", "port": base, "purpose": "clients", "protocol": "SSL"},
                {"name": "CONTROLLER", "port": base + 1, "purpose": "controllers", "protocol": "SSL"},
            ],
        }
        for name, base in (("kafka1", 9000), ("kafka2", 9010), ("kafka3", 9020))
    }
    (violation,) = found(combined(hosts=hosts, **ON))
    assert violation.name == "port_twice_on_machine"
    assert "9404" in violation.sentence()
