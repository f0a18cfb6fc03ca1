# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which values of the role spark_validation no job can run with: found before any host is asked. Pure.

Numbers and booleans by themselves are judged with those of all roles (run_values.py, the preflight rule unclear_value).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._core.addresses import split_host_port
from ...module_utils._core.names import capped
from ...module_utils._core.values import to_boolean, to_integer
from ...module_utils._spark.job import CLIENT, CLUSTER, RUN_ID, runs_drivers

ROLE = "spark_validation"
#: The topic that the role creates itself.
OWN_TOPIC = "_streamops_smoke"
_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
_MASTER = re.compile(r"local(\[([0-9]+|\*)(,[0-9]+)?\])?|spark://.+|yarn|k8s://.+")
_URI = re.compile(r"|[a-z][a-z0-9+.-]*:/.+")
_RUN_NAMES = "up to 32 letters, digits, dots, dashes or underscores, the first a letter or a digit"
_SHOWN = 5


@dataclass(frozen=True)
class Fault:
    """One value with which no job can run; alike on several hosts, which preflight and run_check name with it."""

    name: str
    what: str
    found: str
    allowed: str
    fix: str = "correct the value, or remove it to get the default"

    def __str__(self) -> str:
        return f"{self.name}: {self.what} (found: {self.found}, allowed: {self.allowed})"


def unfit(hosts: Mapping[str, Mapping[str, Any]], brokers: int) -> list[str]:
    """Return one sentence for each fault of the hosts' values, with the hosts that have it."""
    found: dict[Fault, list[str]] = {}
    for host, values in hosts.items():
        for fault in faults(values, brokers):
            found.setdefault(fault, []).append(host)
    return [f"{fault} on {capped(where, _SHOWN)}. fix: {fault.fix}." for fault, where in found.items()]


def faults(values: Mapping[str, Any], brokers: int) -> Iterator[Fault]:
    """Judge the values of one host; those that are not there have their defaults. `brokers`: of its cluster."""
    with contextlib.suppress(ValueError):
        if not to_boolean(values.get("spark_validation_enabled", True), ""):
            return
    for name, option in _FORMS.items():
        value = values.get(name)
        if value is not None and not option.fits(value):
            yield Fault(name, option.what, repr(value), option.allowed)
    yield from _consent(values)
    yield from _driver(values)
    yield from _sizes(values, brokers)
    user, password = values.get("spark_validation_user"), values.get("spark_validation_password")
    shown = password or values.get("spark_validation_keytab_file")
    if (user and not shown) or (password and not user):
        given = "spark_validation_user" if user else "spark_validation_password"
        both = "both, or none of them; by Kerberos spark_validation_keytab_file instead of the password"
        yield Fault(given, "user and password belong together", "one of them", both)


@dataclass(frozen=True)
class _Form:
    """What a value must look like."""

    fits: Callable[[Any], bool]
    what: str
    allowed: str


def _is_text(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and bool(pattern.fullmatch(value))


def _are_servers(value: Any) -> bool:
    servers = value.split(",") if isinstance(value, str) else value
    if not isinstance(servers, (list, tuple)) or not servers:
        return False
    try:
        return all(isinstance(server, str) and split_host_port(server) for server in servers)
    except ValueError:
        return False


def _is_path(value: Any) -> bool:
    return bool(str(value).strip())


_DICT = _Form(lambda value: isinstance(value, Mapping), "it is no dict", "names and values")
_PATH = _Form(_is_path, "the path is empty", "a path")
_RUN = _Form(lambda value: value == "" or _is_text(RUN_ID)(value), "it cannot be the name of a directory", _RUN_NAMES)
_FORMS = {
    "spark_validation_topic": _Form(
        _is_text(_TOPIC), "no topic can have this name", "1 to 249 letters, digits, dots, dashes or underscores"
    ),
    "spark_validation_run_id": _RUN,
    "spark_validation_audit_run_id": _RUN,
    "spark_validation_bootstrap_servers": _Form(_are_servers, "it is no list of brokers", "host:port, one or more"),
    "spark_validation_master": _Form(
        _is_text(_MASTER), "spark-submit takes no such master", "local[N], spark://host:port, yarn or k8s://..."
    ),
    "spark_validation_deploy_mode": _Form(
        lambda value: value in (CLIENT, CLUSTER), "Spark has no such deploy mode", f"{CLIENT} or {CLUSTER}"
    ),
    "spark_validation_shared_dir": _Form(_is_text(_URI), "it is no URI", "such as hdfs:///tmp/streamops"),
    "spark_validation_jars": _Form(lambda value: isinstance(value, (list, tuple)), "it is no list", "a list of paths"),
    "spark_validation_conf": _DICT,
    "spark_validation_client_properties": _DICT,
    "spark_validation_output_dir": _PATH,
    "spark_validation_fetched_dir": _PATH,
    "spark_validation_jars_dir": _PATH,
    "spark_validation_python": _PATH,
    "spark_validation_spark_submit": _PATH,
}


def _driver(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Refuse a driver on another machine where none can run, or where nothing would come back from it."""
    if values.get("spark_validation_deploy_mode") != CLUSTER:
        return
    master = str(values.get("spark_validation_master", "local[2]"))
    if not runs_drivers(master):
        yield Fault(
            "spark_validation_deploy_mode",
            f"master {master} runs no Python driver in cluster mode",
            CLUSTER,
            f"{CLIENT}, or another master",
        )
    elif not values.get("spark_validation_shared_dir"):
        yield Fault(
            "spark_validation_shared_dir",
            "a driver on another machine leaves its result there",
            "''",
            "the URI of a directory that it and the host that submits reach, such as hdfs:///tmp/streamops",
        )


def _consent(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Refuse to write into a topic that is not the job's own unless it is named twice."""
    topic, again = values.get("spark_validation_topic", OWN_TOPIC), values.get("spark_validation_consent_topic")
    if topic != OWN_TOPIC and again != topic and not values.get("spark_validation_audit_run_id"):
        yield Fault(
            "spark_validation_consent_topic",
            f"records would be written into topic {topic}, which is not the job's own",
            repr(again or ""),
            repr(topic),
            f"name the topic in both variables to allow that, or leave both out to use {OWN_TOPIC}",
        )


def _sizes(values: Mapping[str, Any], brokers: int) -> Iterator[Fault]:
    """Compare numbers with each other and with the cluster; what is no number is told by itself."""
    if values.get("spark_validation_topic", OWN_TOPIC) != OWN_TOPIC or values.get("spark_validation_audit_run_id"):
        return
    with contextlib.suppress(ValueError):
        partitions = to_integer(values.get("spark_validation_partitions", 0), "") or 2 * brokers
        records = to_integer(values.get("spark_validation_records", 100_000), "")
        if 0 < records < partitions:
            yield Fault(
                "spark_validation_records", "each partition needs a record", str(records), f"{partitions} or more"
            )
    with contextlib.suppress(ValueError):
        factor = to_integer(values.get("spark_validation_replication_factor", 0), "")
        if brokers and factor > brokers:
            yield Fault(
                "spark_validation_replication_factor",
                "there are fewer brokers than replicas",
                str(factor),
                f"{brokers} or fewer",
            )
