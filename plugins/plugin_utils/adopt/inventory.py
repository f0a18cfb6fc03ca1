# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The inventory of a cluster that others installed: files that say what its nodes run with, and nothing else.

No value of a secret is in them: each is a name of the vault, and vault.yml.example lists the names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...module_utils._adopt.masks import MASK, is_reference
from ...module_utils._core.properties import is_secret
from ...module_utils._node.installed import KAFKA, MIRROR, ZOOKEEPER
from ..findings import NOTE, Finding
from ..guards.foreign import ForeignNode
from ..inventory.model import (
    BROKER_GROUP,
    CONTROLLER_GROUP,
    GROUPS,
    MIRROR_GROUP,
    PLACEHOLDER,
    ZOOKEEPER_GROUP,
    Inventory,
)
from ..inventory.nodes import VOTERS
from ..inventory.properties import LAYERS
from ..render.security import JAAS_FILE, SASL_PROTOCOLS, TLS_PROTOCOLS
from .accepted import ACCEPT, Check, accepted, model
from .difference import KAFKAS, Difference, Kept, difference
from .levels import ALL, Entry, Host, levels
from .ours import rendered
from .variables import Said, kafka_mode, variables_of
from .written import Secret, Value, document, secrets

_JAAS_KEY = ".sasl.jaas.config"
_ADMIN = Secret("admin.password")
#: What a server of ZooKeeper has where its file says nothing (QuorumPeerConfig, ServerConfig, DatadirCleanupManager and
#: the administrator's guide of 3.8): alone it needs no initLimit and no syncLimit, and with others it starts with none.
_ZOOKEEPERS: Mapping[str, str | None] = {
    "tickTime": "3000",
    "initLimit": "0",
    "syncLimit": "0",
    "autopurge.snapRetainCount": "3",
    "autopurge.purgeInterval": "0",
    "reconfigEnabled": "false",
    "standaloneEnabled": "true",
    "admin.enableServer": "true",
    "4lw.commands.whitelist": "srvr",
    "maxClientCnxns": "60",
}
#: A property of ZooKeeper may be one of its JVM.
_OF_ZOOKEEPER = "-Dzookeeper."
#: What hosts.yml says of each host.
_IN_HOSTS = ("kafka_node_id", "zookeeper_id", "kafka_rack")
_VAULT_HEAD = (
    "Copy to vault.yml, and seal each value by itself, with the same password of the vault each time: put what this",
    "prints in place of the line of this name. A host whose value differs has its own in host_vars/HOST.yml.",
    "  ansible-vault encrypt_string --prompt",
)


@dataclass(frozen=True)
class Source:
    """A node, and what is known of it besides its machine.

    connection -- the variables by which Ansible reaches its host (ansible_host and such), as the inventory of the look
    has them; canonical -- what the machine calls itself, which Kafka advertises where nothing is set, empty where that
    is unknown; effective -- what DescribeConfigs tells of it, None for what is empty or a secret; live -- what was set
    in the cluster itself, and holds in place of what the node was started with.
    """

    node: ForeignNode
    connection: Mapping[str, Value] = field(default_factory=dict)
    canonical: str = ""
    effective: Mapping[str, str | None] = field(default_factory=dict)
    live: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Return what others reach it by."""
        return str(self.connection.get("ansible_host") or self.node.host)


@dataclass(frozen=True)
class Written:
    """files -- by path within the directory of the inventory its text; findings -- what it cannot say."""

    files: Mapping[str, str]
    findings: Sequence[Finding]


def inventory(
    cluster: str,
    sources: Sequence[Source],
    more: Mapping[str, Value] | None = None,
    known: Mapping[str, Collection[str]] | None = None,
    check: Check | None = None,
    kept: Sequence[str] = (),
) -> Written:
    """Return the files of the inventory of a cluster, its ensemble of ZooKeeper and its mirrors.

    cluster -- its kafka_cluster_name; more -- variables of the whole cluster that others make, such as kafka_topics;
    they get a file of their own; known -- by release the properties that Kafka knows (BROKER_KEYS of preflight), so
    that those of plugins are told apart; check -- gives what the rules of preflight say of a model; kept -- lines above
    the variables of C(more), about what these do not name. Raises PropertiesError for listeners that Kafka would not
    take either.
    """
    named = {name: _reached(name, source) for name, source in zip(_names(sources), sources, strict=True)}
    said = {
        name: variables_of(source.node, source.address, source.canonical or source.address)
        for name, source in named.items()
    }
    common = _common(cluster, [source.node for source in sources], said.values())
    variables = {name: {**told.variables, **common} for name, told in said.items()}
    groups = _groups(named)
    own = _own(named, variables, groups)
    findings = [finding for told in said.values() for finding in told.findings]
    hosts: dict[str, Host] = {}
    for name, source in named.items():
        left = difference(own[name], _theirs(source), _effective(source), said[name].keys)
        entries, unknown = _properties(source, said[name], left, own[name])
        findings += [Finding(NOTE, f"{source.node.title}: {remark}") for remark in unknown]
        kind, layer = _kind(source.node)
        shared = {key: value for key, value in variables[name].items() if key not in _IN_HOSTS}
        if plugins := _of_plugins(source.node, entries, {*own[name], *(known or {}).get(source.node.version, entries)}):
            shared["kafka_allow_unknown_config"] = plugins
        hosts[name] = Host(source.node.product == KAFKA, kind, layer, shared, entries, unknown)
    files = {"hosts.yml": _hosts_file(named, variables, groups)}
    at_levels = levels(hosts, groups)
    accept, refused = accepted(check(_model(named, variables, hosts, groups, more or {}))) if check else ({}, [])
    if accept:
        at_levels[ALL][ACCEPT] = list(accept)
    remarks = {ACCEPT: [line for lines in accept.values() for line in lines]}
    files |= {_path(level, groups): document(values, remarks=remarks) for level, values in at_levels.items()}
    files["group_vars/all/resources.yml"] = document(more or {}, kept)
    files["group_vars/all/vault.yml.example"] = _vault_file(hosts, more or {})
    return Written({path: text for path, text in files.items() if text}, tuple(dict.fromkeys([*findings, *refused])))


def _model(
    named: Mapping[str, Source],
    variables: Mapping[str, Mapping[str, Value]],
    hosts: Mapping[str, Host],
    groups: Mapping[str, Sequence[str]],
    more: Mapping[str, Value],
) -> Inventory:
    """Return the model of what is written; of mirrors nothing, whose flows are not known."""
    told = {
        name: {
            **named[name].connection,
            **more,
            **variables[name],
            **host.variables,
            host.layer: {key: entry.value for key, entry in host.entries.items()},
        }
        for name, host in hosts.items()
        if named[name].node.product != MIRROR
    }
    return model(told, {group: members for group, members in groups.items() if group != MIRROR_GROUP})


def _names(sources: Sequence[Source]) -> list[str]:
    """Return the names of the hosts: one host of an inventory is one node, so nodes of one machine get their own."""
    machines = [source.node.host for source in sources]
    return [
        host if machines.count(host) == 1 else f"{host}-{'-'.join(source.node.roles)}{_number(source.node)}"
        for host, source in zip(machines, sources, strict=True)
    ]


def _reached(name: str, source: Source) -> Source:
    """Return a node whose host is found by its name too where that is not the name of its machine."""
    if name == source.node.host:
        return source
    return replace(source, connection={**source.connection, "ansible_host": source.address})


def _number(node: ForeignNode) -> str:
    return str(node.told["pid"] if node.node_id is None else node.node_id)


def _common(cluster: str, nodes: Sequence[ForeignNode], said: Iterable[Said]) -> dict[str, Value]:
    """Return what is of the whole cluster; what only people know is a placeholder, which preflight refuses."""
    ids = [node.cluster_id for node in nodes if node.product == KAFKA and node.cluster_id]
    listed = [entry for told in said for entry in _listeners(told)]
    protocols = {entry["protocol"] for entry in listed if entry["purpose"] == "clients"}
    common: dict[str, Value] = {
        "kafka_cluster_name": cluster,
        "kafka_cluster_id": next(iter(ids), ""),
        "kafka_mode": kafka_mode(nodes),
        # A take-over changes nothing of the kernel.
        "kafka_sysctl": {},
    }
    if protocols.difference({"PLAINTEXT"}):
        common["kafka_admin_user"] = PLACEHOLDER
    if protocols.intersection(SASL_PROTOCOLS):
        common["kafka_admin_password"] = _ADMIN
    if protocols.intersection(TLS_PROTOCOLS):
        common["kafka_tls_ca_file"] = f"/{PLACEHOLDER}/ca.pem"
    if "SSL" in protocols:
        common["kafka_admin_certificate_file"] = f"/{PLACEHOLDER}/admin.pem"
        common["kafka_admin_key_file"] = f"/{PLACEHOLDER}/admin.key"
    return common


def _listeners(said: Said) -> Iterator[Mapping[str, Value]]:
    listed = said.variables.get("kafka_listeners", ())
    if isinstance(listed, Sequence):
        yield from (entry for entry in listed if isinstance(entry, Mapping))


def _groups(named: Mapping[str, Source]) -> dict[str, list[str]]:
    """Return the hosts of each group that has some."""
    groups = {
        group: [name for name, source in named.items() if role in source.node.roles] for role, group in GROUPS.items()
    }
    return {group: members for group, members in groups.items() if members}


def _kind(node: ForeignNode) -> tuple[str, str]:
    """Return the group whose variables a node reads, and the variable of the properties of its kind."""
    if node.product == KAFKA:
        role, group = ("broker", BROKER_GROUP) if "broker" in node.roles else ("controller", CONTROLLER_GROUP)
    else:
        role, group = ("mirror", MIRROR_GROUP) if node.product == MIRROR else ("zookeeper", ZOOKEEPER_GROUP)
    return group, LAYERS[role][-1]


def _own(
    named: Mapping[str, Source], variables: Mapping[str, Mapping[str, Value]], groups: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, str]]:
    """Return by host what this collection would write by itself; of a mirror nothing, whose flows are not known."""
    kept = [name for name, source in named.items() if source.node.product != MIRROR]
    # Secrets are options of Java and passwords of logins, of which no property is compared.
    plain = {
        name: {
            **named[name].connection,
            **{key: value for key, value in variables[name].items() if not any(secrets(value))},
        }
        for name in kept
    }
    static = [name for name in kept if VOTERS in named[name].node.told["properties"]]
    own = rendered(plain, {group: groups[group] for group in groups if group != MIRROR_GROUP}, static)
    return {name: own.get(name, {}) for name in named}


def _theirs(source: Source) -> Mapping[str, str]:
    """Return the properties that a node has: those that were set live win over those of its file."""
    return {} if source.node.product == MIRROR else {**source.node.told["properties"], **source.live}


def _effective(source: Source) -> dict[str, str | None]:
    """Return what holds of what the node does not set; ZooKeeper itself tells nothing of that."""
    if source.node.product != ZOOKEEPER:
        return dict(source.effective)
    words = (word.partition("=") for word in source.node.told["jvm"].get("given", ()) if word.startswith(_OF_ZOOKEEPER))
    return {
        **_ZOOKEEPERS,
        **{name.removeprefix(_OF_ZOOKEEPER): value for name, _separator, value in words},
        **source.effective,
    }


def _properties(
    source: Source, said: Said, left: Difference, ours: Mapping[str, str]
) -> tuple[dict[str, Entry], tuple[str, ...]]:
    """Return what the inventory must say, by key, and remarks on what is not known."""
    entries = {key: Entry(plain_value(value), _origin(source, key)) for key, value in said.native.items()}
    entries |= {kept.key: _kept(source, kept) for kept in left.kept}
    logins = _jaas_files(source.node)
    unknown = []
    for key in left.unknown:
        if key.endswith(_JAAS_KEY) and logins:
            # Our login module would win over that of the file (JaasContext.loadServerContext).
            entries[key] = Entry(Secret(key), f"the login of KafkaServer in {', '.join(logins)}")
        else:
            shown = "a login module" if is_secret(key) else ours[key]
            unknown.append(f"{key} becomes {shown}, and nothing tells what holds now")
    return dict(sorted(entries.items())), tuple(unknown)


def _of_plugins(node: ForeignNode, entries: Mapping[str, Entry], known: Collection[str]) -> list[str]:
    """Return the properties that Kafka does not know: what runs with them means them (a plugin, a reporter)."""
    unknown = [key for key in entries if key not in known and not key.startswith("listener.name.")]
    return unknown if node.product == KAFKA else []


def _jaas_files(node: ForeignNode) -> list[str]:
    given = node.told["jvm"].get("given", ())
    return [word.removeprefix(JAAS_FILE) for word in given if word.startswith(JAAS_FILE)]


def _origin(source: Source, key: str) -> str:
    """Return where a property of a node stands."""
    where = source.node.told["origins"].get(key)
    if key in source.live:
        return f"set live in the cluster, which wins over {where}" if where else "set live in the cluster"
    return str(where or "what kafka_node_id and kafka_listeners need")


def _kept(source: Source, kept: Kept) -> Entry:
    """Return a property as it is, with its origin, and with our value where that would change what holds."""
    theirs = _theirs(source).get(kept.key, "")
    # What is empty, or only says where the secret is, is none.
    secret = theirs != "" and not is_reference(theirs) and (is_secret(kept.key) or MASK in theirs)
    value: Value = Secret(kept.key) if secret else plain_value(theirs if kept.value is None else kept.value)
    origin = "not set by it, and this holds" if kept.why == KAFKAS else _origin(source, kept.key)
    advised = kept.ours not in (None, "") and not is_secret(kept.key)
    return Entry(value, f"{origin}; ours is {kept.ours}" if advised else origin)


def plain_value(text: str) -> Value:
    """Return a value as people write it in YAML; it is the same text for Kafka (value_text)."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch("0|-?[1-9][0-9]{0,17}", text) else text


def _path(level: str, groups: Mapping[str, Sequence[str]]) -> str:
    if level == ALL:
        return "group_vars/all/kafka.yml"
    return f"group_vars/{level}.yml" if level in groups else f"host_vars/{level}.yml"


def _hosts_file(
    named: Mapping[str, Source], variables: Mapping[str, Mapping[str, Value]], groups: Mapping[str, Sequence[str]]
) -> str:
    """Return hosts.yml: each host with its connection, id and rack where it comes first."""
    told: set[str] = set()
    listed: dict[str, Value] = {}
    for group, members in sorted(groups.items()):
        hosts: dict[str, Value] = {}
        for name in members:
            own = {key: variables[name][key] for key in _IN_HOSTS if variables[name].get(key) not in (None, "")}
            hosts[name] = {} if name in told else {**_connection(named[name].connection), **own}
        told.update(members)
        listed[group] = {"hosts": hosts}
    return document(listed)


def _connection(variables: Mapping[str, Value]) -> dict[str, Value]:
    """Return how a host is reached, without passwords; a file of a key is none."""
    return {name: value for name, value in variables.items() if name.endswith("_file") or not is_secret(name)}


def _vault_file(hosts: Mapping[str, Host], more: Mapping[str, Value]) -> str:
    """Return the names of the secrets, each with where its value stands on which host."""
    places: dict[str, list[str]] = {}
    for name, host in hosts.items():
        for entry in host.entries.values():
            for secret in secrets(entry.value):
                places.setdefault(secret.variable, []).append(f"{name}: {entry.remark}")
        for variable, value in host.variables.items():
            for secret in secrets(value):
                where = "as you choose" if secret == _ADMIN else f"{name}: what {variable} has of its command line"
                places.setdefault(secret.variable, []).append(where)
    for variable, value in more.items():
        for secret in secrets(value):
            places.setdefault(secret.variable, []).append(variable)
    values = dict.fromkeys(sorted(places), PLACEHOLDER)
    remarks = {variable: list(dict.fromkeys(listed)) for variable, listed in places.items()}
    return document(values, _VAULT_HEAD, remarks)
