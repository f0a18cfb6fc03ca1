# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The variables of this collection that say who a node of others is, where it listens and how its JVM starts.

What they cannot say stays in native properties (inventory.py), or is told as a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...module_utils._adopt.masks import MASK
from ...module_utils._adopt.settings import data_dirs
from ...module_utils._client.login import TOKEN_ADDRESSES
from ...module_utils._node.installed import KAFKA, ZOOKEEPER
from ..findings import NOTE, REFUSE, Finding
from ..guards.foreign import SERVER, ForeignNode, chroot, member_ports
from ..inventory.kerberos import MECHANISM as KERBEROS
from ..inventory.nodes import ZOOKEEPER_MODE
from ..inventory.oauth import MECHANISM
from ..render.paths import SYSTEMD
from ..render.security import AUTHORIZER, SASL_PROTOCOLS, TLS_PROTOCOLS, ZOOKEEPER_AUTHORIZER
from ..specs import role_options
from .listeners import Entry, Listeners, listeners_of, words
from .written import Secret, Text, Value

#: Properties of Kafka that variables and groups say.
_SAID_OF_KAFKA = (
    "node.id",
    "broker.id",
    "process.roles",
    "broker.rack",
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
    "security.inter.broker.protocol",
    "controller.listener.names",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
    "log.dirs",
    "log.dir",
    "metadata.log.dir",
    "zookeeper.connect",
)
_SAID_OF_ZOOKEEPER = ("clientPort", "clientPortAddress", "dataDir", "dataLogDir")
_HEAP = re.compile(r"-Xm(?P<end>[xs])(?P<size>[1-9][0-9]*[kKmMgG]?)")
#: One collector at a time: Java ends with two of them (GCConfig::select_gc), and G1 is of our own arguments.
_OTHER_COLLECTOR = re.compile(r"-XX:\+Use(?!G1)\w*GC")
_NO_G1 = "-XX:-UseG1GC"
#: Properties that name where Kafka asks for keys and tokens.
_ASKED = ("sasl.oauthbearer.jwks.endpoint.url", "sasl.oauthbearer.token.endpoint.url")
#: What ssl.principal.mapping.rules is where nothing is set (BrokerSecurityConfigs).
_PRINCIPAL_RULES = "DEFAULT"
#: Ids that Kafka draws itself begin behind this one (reserved.broker.max.id), and none above it may be written down
#: while it draws (KafkaConfig.validateValues).
_RESERVED_ID = 1000


@dataclass(frozen=True)
class Said:
    """What variables say of a node: variables by name, native -- by key the properties that they need beside them.

    keys -- the native properties that they say, which kafka_config must leave out.
    """

    variables: Mapping[str, Value]
    keys: frozenset[str]
    native: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[Finding] = ()


def kafka_mode(nodes: Sequence[ForeignNode]) -> str:
    """Return the kafka_mode of the nodes of a cluster."""
    kafka = [node for node in nodes if node.product == KAFKA]
    if any("process.roles" not in node.told["properties"] for node in kafka):
        return ZOOKEEPER_MODE
    return "kraft_combined" if any(len(node.roles) > 1 for node in kafka) else "kraft_isolated"


def variables_of(node: ForeignNode, address: str, canonical: str) -> Said:
    """Return what variables say of a node.

    address -- by which others reach it unless a listener says something else; canonical -- what its machine calls
    itself. Raises PropertiesError for listeners that Kafka would not take either.
    """
    if node.product == KAFKA:
        return _of_kafka(node, address, canonical)
    return _of_zookeeper(node) if node.product == ZOOKEEPER else _of_mirror(node)


def _of_kafka(node: ForeignNode, address: str, canonical: str) -> Said:
    properties: Mapping[str, str] = node.told["properties"]
    listeners = listeners_of(properties, node.roles, canonical)
    findings = [*_machine_findings(node), *_listener_findings(node, listeners)]
    directories, metadata = data_dirs(KAFKA, properties, node.told["cwd"] or "")
    is_kraft = "process.roles" in properties
    native = dict(listeners.native)
    if not is_kraft and node.node_id is not None and node.node_id > _reserved(properties):
        native["broker.id.generation.enable"] = "false"
    return Said(
        {
            "kafka_node_id": node.node_id,
            "kafka_rack": properties.get("broker.rack", ""),
            "kafka_version": node.version,
            "kafka_listeners": [_entry(entry, address) for entry in listeners.entries],
            "kafka_log_dirs": list(directories),
            "kafka_metadata_log_dir": metadata,
            **_process(node),
            **_security(properties, listeners, is_kraft),
            **({} if is_kraft else {"zookeeper_chroot": chroot(properties)}),
        },
        frozenset(_SAID_OF_KAFKA) - listeners.native.keys(),
        native,
        findings,
    )


def _reserved(properties: Mapping[str, str]) -> int:
    """Return the highest id that may be written down while Kafka draws ids."""
    if properties.get("broker.id.generation.enable", "true").strip().lower() != "true":
        return 2**31
    number = properties.get("reserved.broker.max.id", "").strip()
    return int(number) if number.isdecimal() else _RESERVED_ID


def _entry(entry: Entry, address: str) -> dict[str, Value]:
    """Return an entry of kafka_listeners without what holds anyway."""
    said: dict[str, Value] = {
        "name": entry.name,
        "port": entry.port,
        "protocol": entry.protocol,
        "purpose": entry.purpose,
    }
    if entry.host:
        said["host"] = entry.host
    if entry.advertised_host not in (None, address):
        said["advertised_host"] = entry.advertised_host
    if entry.advertised_port is not None:
        said["advertised_port"] = entry.advertised_port
    return said


def _listener_findings(node: ForeignNode, listeners: Listeners) -> Iterator[Finding]:
    for key, value in sorted(listeners.native.items()):
        what = f"{node.title}: kafka_listeners cannot say {key}={value}, and no other variable may"
        yield Finding(REFUSE, what, "let each opened listener be advertised first, by its old service")


def _security(properties: Mapping[str, str], listeners: Listeners, is_kraft: bool) -> dict[str, Value]:
    """Return what variables say of logins, TLS and ACLs; stores and logins themselves stay native properties."""
    protocols = {entry.protocol for entry in listeners.entries}
    ours = AUTHORIZER if is_kraft else ZOOKEEPER_AUTHORIZER
    users = [word.strip() for word in properties.get("super.users", "").split(";")]
    said: dict[str, Value] = {
        "kafka_authorizer": properties.get("authorizer.class.name", "").strip() == ours,
        "kafka_super_users": [user.removeprefix("User:") for user in users if user.startswith("User:")],
    }
    if mechanisms := _mechanisms(properties) if protocols.intersection(SASL_PROTOCOLS) else []:
        said["kafka_sasl_mechanisms"] = list(mechanisms)
    if protocols.intersection(TLS_PROTOCOLS):
        said["kafka_tls_principal_rules"] = properties.get("ssl.principal.mapping.rules") or _PRINCIPAL_RULES
        versions = words(properties, "ssl.enabled.protocols")
        if versions and set(versions) <= _choices("kafka_tls_protocols"):
            said["kafka_tls_protocols"] = list(versions)
    return said


def _mechanisms(properties: Mapping[str, str]) -> list[str]:
    """Return the mechanisms of all listeners that our variable knows, each once; tokens and Kerberos stay native."""
    key = "sasl.enabled.mechanisms"
    keys = [key, *(name for name in properties if name.startswith("listener.name.") and name.endswith(f".{key}"))]
    listed = dict.fromkeys(word for name in keys for word in words(properties, name))
    return [word for word in listed if word in _choices("kafka_sasl_mechanisms") - {MECHANISM, KERBEROS}]


def _choices(variable: str) -> set[str]:
    return set(role_options()[variable]["choices"])


def _default(variable: str) -> Value:
    """Return what a variable is where nothing is said; a group that said nothing would take that of another one."""
    value: Value = role_options()[variable]["default"]
    return value


def _of_zookeeper(node: ForeignNode) -> Said:
    properties: Mapping[str, str] = node.told["properties"]
    directories, _metadata = data_dirs(ZOOKEEPER, properties, node.told["cwd"] or "")
    servers = [key for key in properties if SERVER.fullmatch(key)]
    quorum, _colon, election = member_ports(properties).get(f"server.{node.node_id}", "").partition(":")
    client = properties.get("clientPort", "").strip()
    findings = list(_machine_findings(node))
    if not directories:
        findings.append(Finding(REFUSE, f"{node.title} keeps its data in an unknown directory", "run as root"))
    elif not client.isdecimal():
        what = f"{node.title} has no clientPort"
        findings.append(Finding(REFUSE, what, "let it listen at one by its old service first"))
    return Said(
        {
            "zookeeper_id": node.node_id,
            "zookeeper_version": node.version,
            "zookeeper_client_port": int(client) if client.isdecimal() else 2181,
            "zookeeper_host": properties.get("clientPortAddress", "").strip(),
            **({"zookeeper_quorum_port": int(quorum)} if quorum else {}),
            **({"zookeeper_election_port": int(election.partition(":")[0])} if election else {}),
            "zookeeper_data_dir": directories[0] if directories else "",
            "zookeeper_data_log_dir": directories[-1] if directories else "",
            **_process(node),
        },
        frozenset([*_SAID_OF_ZOOKEEPER, *servers]),
        {},
        findings,
    )


def _of_mirror(node: ForeignNode) -> Said:
    what = f"{node.title}: what it mirrors is not written down"
    fix = "write mirror_flows by hand (docs/mirroring.md)"
    findings = [*_machine_findings(node), Finding(REFUSE, what, fix)]
    return Said({"kafka_version": node.version, **_process(node)}, frozenset(), {}, findings)


def _process(node: ForeignNode) -> dict[str, Value]:
    """Return who runs a node, by what, and how its JVM starts."""
    told = node.told
    manager, nofile = told["service"]["manager"], (told["limits"].get("nofile") or {}).get("hard")
    java = told["java"].get("path") or ""
    heap = _heap_words(node).get("x")
    return {
        "kafka_service_manager": "supervisor" if manager == "supervisor" else SYSTEMD,
        "kafka_user": told["user"],
        "kafka_group": told["group"],
        "kafka_limit_nofile": nofile or _default("kafka_limit_nofile"),
        # The Java that is there: no package of another one comes.
        "kafka_java_home": java.removesuffix("/bin/java") if java.endswith("/bin/java") else "",
        "kafka_java_package": "",
        "kafka_heap_size": heap or _default("kafka_heap_size"),
        "kafka_jvm_options": _jvm_options(node),
    }


def _heap_words(node: ForeignNode) -> dict[str, str]:
    """Return the sizes of the heap by the end of -Xmx and -Xms; of several the last one counts in Java."""
    jvm = node.told["jvm"]
    matches = [_HEAP.fullmatch(word) for word in [*jvm.get("heap", ()), *jvm.get("given", ())]]
    return {match["end"]: match["size"] for match in matches if match}


def _jvm_options(node: ForeignNode) -> list[Value]:
    """Return what somebody chose, in its order; a port of JMX (JMX_PORT) was chosen too."""
    jvm, sizes = node.told["jvm"], _heap_words(node)
    given = [word for word in jvm.get("given", ()) if not _HEAP.fullmatch(word)]
    least = sizes.get("s") if "x" in sizes else None
    no_g1 = any(_OTHER_COLLECTOR.fullmatch(word) for word in given) and _NO_G1 not in given
    options = [
        *(jvm.get("jmx", ()) if node.told["jmx_port"] else ()),
        *([f"-Xms{least}"] if least not in (None, sizes.get("x")) else ()),
        *([_NO_G1] if no_g1 else ()),
        *_token_addresses(node, given),
        *given,
    ]
    return [_option(word) for word in options]


def _token_addresses(node: ForeignNode, given: Sequence[str]) -> list[str]:
    """Return the argument without which our own ones would let Kafka ask no issuer; before 4.0 none is needed."""
    urls = {value.strip() for key, value in node.told["properties"].items() if key.endswith(_ASKED)}
    is_said = not urls or any(word.startswith(TOKEN_ADDRESSES) for word in given)
    return [] if is_said else [f"{TOKEN_ADDRESSES}{','.join(sorted(urls))}"]


def _option(word: str) -> Value:
    """Return an argument of the JVM; the secret in it comes from the vault."""
    before, mask, after = word.partition(MASK)
    if not mask:
        return word
    return Text((before, Secret(before.rpartition("-D")[2].strip("-=:")), after))


def _machine_findings(node: ForeignNode) -> Iterator[Finding]:
    told = node.told
    if "x" not in _heap_words(node):
        what = f"{node.title} has no -Xmx, so Java takes a share of the memory; the default of kafka_heap_size is"
        yield Finding(NOTE, f"{what} {_default('kafka_heap_size')}", "set kafka_heap_size")
    for name in told["argument_files"]:
        yield Finding(REFUSE, f"{node.title}: the arguments of Java in {name} are not known", "run as root")
