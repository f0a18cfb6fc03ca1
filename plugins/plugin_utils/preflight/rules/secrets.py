# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on secrets and on values that cannot be templated. Messages name a secret, never its value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ....module_utils._core.names import STRAY_FIX, stray
from ....module_utils._core.properties import is_secret
from ...inventory.model import PLACEHOLDER, Inventory
from ...inventory.variables import UNDEFINED
from ...sealed import FIX as SEALED_FIX
from ...sealed import is_sealed
from ..rule import Problem, rule

#: Passwords that the administrators of another cluster choose. A missing one has a rule of its own.
NOT_OURS = "mirror_external_clusters["
# Whose value somebody has to make up, so that an empty or a well-known one is none. What must not be shown is more.
CHOSEN_SECRET = re.compile(r"(password|passphrase|secret|secret\.key)$")
JAAS_PASSWORD = re.compile(r"password\s*=\s*[\"']?([^\"';\s]*)")
# What examples, tutorials and images ship with.
WEAK = frozenset(
    """changeme change-me change_me password passw0rd secret admin kafka confluent admin-secret test test1234
    123456 todo xxx""".split()  # noqa: SIM905  (words read better than a list of quotes)
)
# Variables of hosts that are nodes of Kafka or ZooKeeper.
NODES_OWN = re.compile(r"'(kafka_node_id|kafka_rack|zookeeper_id)' is undefined")

#: How variables of the roles begin; the names of users and the users that refused_entry and bad_super_user judge.
PREFIXES = ("kafka_", "kraft_", "mirror_", "spark_validation_", "zookeeper_")
JUDGED = ("kafka_users[", "kafka_admin_user")

# Passwords that only some clusters need; empty is their default.
OPTIONAL = frozenset(
    """kafka_admin_password kafka_metrics_password kafka_monitoring_alertmanager_password
    kafka_page_alertmanager_password kafka_page_password mirror_canary_password mirror_password
    spark_validation_password zookeeper_password""".split()  # noqa: SIM905  (words read better than a list of quotes)
)


@rule(fix="define the variable that it names (a secret: in the vault)")
def undefined_value(inventory: Inventory) -> Iterator[Problem]:
    """A value cannot be templated: an undefined variable, or a vault without its password. Facts are not known yet."""
    for node in inventory.processes:
        for path, reason in node.undefined.items():
            # A mirror has no id: what clusters make of theirs (ports of listeners) is not for it.
            if not (node.only_mirrors and NODES_OWN.search(reason) and not path.startswith("mirror_")):
                fix = SEALED_FIX if is_sealed(reason) else None
                yield Problem(node, "the value cannot be templated", reason, variable=path, fix=fix)


@rule(fix="replace it")
def placeholder(inventory: Inventory) -> Iterator[Problem]:
    """`CHANGE-ME` is left, which `inventories/prod` holds wherever you must decide."""
    for node in inventory.processes:
        for path, value in _leaves("", node.variables):
            if PLACEHOLDER in str(value):
                found = PLACEHOLDER if is_secret(path.rstrip("']")) else value
                yield Problem(node, "a placeholder of the example is left", found, variable=path)


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """All single values in a variable, with their paths."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(_join(path, str(key)), part)
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from _leaves(f"{path}[{index}]", part)
    else:
        yield path, value


@rule(fix="put a long random value into the vault and refer to it")
def weak_secret(inventory: Inventory) -> Iterator[Problem]:
    """A secret is empty, or one of the passwords that examples and images ship with."""
    for node in inventory.processes:
        for path, value in _secrets(node.variables):
            text = str("" if value is None else value).strip()
            if path.startswith(NOT_OURS):
                continue
            if (text and text.lower() not in WEAK) or (not text and path in OPTIONAL) or text == PLACEHOLDER:
                continue
            found = "a well-known value" if text else "an empty value"
            yield Problem(node, "the secret is not secret", found, variable=path)


@rule(fix=STRAY_FIX)
def stray_white_space(inventory: Inventory) -> Iterator[Problem]:
    """A password or the name of a user begins or ends with white space, mostly the line end of a file in a vault, or
    holds a control character. Whoever types it logs in without that, and is refused."""
    for node in inventory.processes:
        named = ((name, value) for name, value in node.variables.items() if name.endswith("_user"))
        for path, value in (*_secrets(node.variables), *named):
            # What comes from a variable of the user's own is seen where a role reads it.
            if isinstance(value, str) and path.startswith(PREFIXES) and not path.startswith(JUDGED) and stray(value):
                yield Problem(node, f"the {_kind(path)} {stray(value)}", "a stray character", variable=path)


def _kind(path: str) -> str:
    return "name" if path.endswith("_user") else "secret"


def _secrets(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All values whose name is that of a secret, with their paths; for JAAS texts the passwords in them."""
    for path, value in _leaves("", variables):
        if value is UNDEFINED:
            continue
        name = path.rstrip("']")
        if name.endswith("sasl.jaas.config"):
            yield from ((path, match[1]) for match in JAAS_PASSWORD.finditer(str(value)))
        elif CHOSEN_SECRET.search(name):
            yield path, value


def _join(path: str, key: str) -> str:
    return f"{path}['{key}']" if path else key
