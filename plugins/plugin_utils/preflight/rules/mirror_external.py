# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on sources of flows outside of the inventory. Messages never show a password."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....module_utils._core.addresses import split_host_port
from ....module_utils._mirror.flows import LEGACY, MIRROR_MAKER_2
from ....module_utils._mirror.reading import is_enabled
from ...inventory.model import Inventory, Node
from ...inventory.variables import UNDEFINED, as_bool
from ...mirrors.external import OPTIONS, PROTOCOLS, VARIABLE, external_clusters, protocol_of, servers_of, text_of
from ..by_value import by_value, kind_of
from ..mirror_flows import VARIABLE as FLOWS
from ..mirror_flows import entries, externals, flows, kafka_clusters, mirrors_of, said, where
from ..rule import Problem, rule
from .shape import faults

_CANARY = "mirror_maker_canary"


@rule(fix="correct the entry")
def bad_external_cluster(inventory: Inventory) -> Iterator[Problem]:
    """An entry of `mirror_external_clusters` lacks `bootstrap_servers`, or has a field or a value that it cannot
    have."""
    for value, mirrors in by_value(inventory.mirrors, VARIABLE):
        for alias, entry in value.items() if isinstance(value, Mapping) else ():
            place = _place(alias)
            if isinstance(entry, Mapping):
                for what, found, allowed, fix in faults(entry, OPTIONS):
                    yield Problem(mirrors, what, found, allowed, fix, place)
                yield from _bad_servers(mirrors, entry, f"{place}['bootstrap_servers']")
            elif entry is not UNDEFINED:
                yield Problem(mirrors, "the entry has the wrong type", kind_of(entry), "a dict", variable=place)


def _bad_servers(mirrors: list[Node], entry: Mapping[str, Any], place: str) -> Iterator[Problem]:
    given = entry.get("bootstrap_servers")
    if given is None or given is UNDEFINED or given == "" or isinstance(given, Mapping):
        return
    for server in servers_of(entry):
        try:
            split_host_port(server)
        except ValueError:
            yield Problem(mirrors, "the address has no port, or is none", server, "host:port", variable=place)
    if not servers_of(entry):
        yield Problem(mirrors, "the cluster has no address", "an empty list", "at least one host:port", variable=place)


@rule(
    allowed="a name that no cluster of the inventory has",
    fix="remove the entry, or give the cluster outside of the inventory another alias (copies get it as their prefix)",
)
def external_cluster_is_own(inventory: Inventory) -> Iterator[Problem]:
    """An alias of `mirror_external_clusters` is also the `kafka_cluster_name` of a cluster of the inventory."""
    own = kafka_clusters(inventory)
    for alias, _entry, mirrors in _described(inventory):
        if alias in own:
            what = "the alias is also a cluster of the inventory, so it is not clear which one is meant"
            yield Problem(mirrors, what, alias, variable=_place(alias))


@rule(
    variable=FLOWS,
    fix="mirror into a cluster of the inventory, or run the mirrors of that target from the inventory it belongs to",
)
def external_target(inventory: Inventory) -> Iterator[Problem]:
    """The target of a flow is a cluster of `mirror_external_clusters`; only a source may be outside of the
    inventory."""
    own = kafka_clusters(inventory)
    for number, item in entries(said(inventory)):
        target = str(item.get("target"))
        if is_enabled(item) and target not in own and target in _all(inventory):
            yield Problem(
                where(inventory, target, str(item.get("source"))),
                "the target of a flow must be a cluster of the inventory, whose name its mirrors have",
                found=f"{target}, of {VARIABLE}",
                allowed=", ".join(own) or "a cluster of the inventory",
                variable=f"{FLOWS}[{number}].target",
            )


@rule(variable=FLOWS, allowed=MIRROR_MAKER_2, fix=f"set engine of the flow to {MIRROR_MAKER_2}")
def legacy_engine_at_external_cluster(inventory: Inventory) -> Iterator[Problem]:
    """A flow with engine legacy has a source outside of the inventory, whose topics its run would have to read as an
    administrator."""
    for flow in flows(inventory):
        if flow.engine == LEGACY and flow.source in externals(inventory, flow.target):
            what = f"the legacy engine needs the settings of all topics of {flow.source}"
            yield Problem(where(inventory, flow.target), what, f"{flow.pair} with engine {LEGACY}")


@rule(fix="set username and password, the password from a vault")
def no_external_login(inventory: Inventory) -> Iterator[Problem]:
    """A cluster of `mirror_external_clusters` has a `username` without a `password`, or the other way round, or a
    `security_protocol` that needs both."""
    for alias, entry, mirrors in _described(inventory):
        missing = [key for key in ("username", "password") if not _has(entry, key)]
        asks = protocol_of(entry).startswith("SASL_")
        for key in missing if asks or len(missing) == 1 else ():
            # What the protocol does not use is told by unused_external_login.
            if asks or not text_of(entry, "security_protocol"):
                what = f"mirrors cannot log in at {alias} without a {key}"
                yield Problem(mirrors, what, "an empty value", variable=f"{_place(alias)}['{key}']")


@rule(
    fix="correct security_protocol, or remove what it does not use; without security_protocol it follows from the rest"
)
def unused_external_login(inventory: Inventory) -> Iterator[Problem]:
    """The `security_protocol` of a cluster of `mirror_external_clusters` does not use its password, its `username` or
    its `ca_file`."""
    for alias, entry, mirrors in _described(inventory):
        protocol = protocol_of(entry)
        if not text_of(entry, "security_protocol") or protocol not in PROTOCOLS:
            continue
        login = () if protocol.startswith("SASL_") else ("username", "password")
        for key in (*login, *(() if protocol.endswith("SSL") else ("ca_file",))):
            if _has(entry, key):
                fitting = [one for one in PROTOCOLS if ("SSL" if key == "ca_file" else "SASL") in one]
                what = f"security_protocol {protocol} does not use the {key}"
                yield Problem(mirrors, what, "a value", f"{' or '.join(fitting)} with it", variable=_place(alias))


@rule(
    allowed="a file with the CA of that cluster in PEM form",
    fix="name the file on the control node, as the administrators of that cluster give it",
)
def external_ca_file(inventory: Inventory) -> Iterator[Problem]:
    """A cluster of `mirror_external_clusters` with TLS has no `ca_file`, or the control node cannot read it."""
    for alias, entry, mirrors in _described(inventory):
        file, place = text_of(entry, "ca_file"), f"{_place(alias)}['ca_file']"
        if protocol_of(entry).endswith("SSL") and not _has(entry, "ca_file"):
            yield Problem(mirrors, f"mirrors cannot tell whether a server is of {alias}", "no file", variable=place)
        elif file in inventory.unread_cas:
            yield Problem(mirrors, "the CA cannot be read", inventory.unread_cas[file], variable=place)


@rule(
    variable=_CANARY,
    allowed="false for mirrors with a source outside of the inventory",
    fix="set mirror_maker_canary to false for the mirrors next to this target; status.yml measures the lag of the flow",
)
def canary_at_external_cluster(inventory: Inventory) -> Iterator[Problem]:
    """A canary is wanted next to the target of a flow whose source is outside of the inventory, where it would need a
    topic, a login and rights."""
    own = kafka_clusters(inventory)
    for flow in flows(inventory):
        wanting = [mirror for mirror in mirrors_of(inventory, flow.target) if as_bool(mirror.get(_CANARY))]
        if wanting and flow.source not in own and flow.source in externals(inventory, flow.target):
            yield Problem(wanting, f"the canary cannot write its events into {flow.source}", f"a canary at {flow.pair}")


def _described(inventory: Inventory) -> Iterator[tuple[str, dict[str, Any], list[Node]]]:
    """Yield each entry that is a dict with its alias and the mirrors that have it, without what is undefined in it."""
    for value, mirrors in by_value(inventory.mirrors, VARIABLE):
        for alias, entry in external_clusters(value).items():
            undefined = {key for key, one in value.get(alias, {}).items() if one is UNDEFINED}
            yield alias, {**entry, **dict.fromkeys(undefined, UNDEFINED)}, mirrors


def _has(entry: Mapping[str, Any], key: str) -> bool:
    """Return whether a value is set, or is one that could not be templated."""
    return entry.get(key) is UNDEFINED or bool(text_of(entry, key).strip())


def _all(inventory: Inventory) -> set[str]:
    return {alias for mirror in inventory.mirrors for alias in external_clusters(mirror.get(VARIABLE))}


def _place(alias: Any) -> str:
    return f"{VARIABLE}['{alias}']"
