# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The node of the host that asks: what it is started with, where it is on its machine, and when it counts as whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os.path import expanduser
from typing import Any

from ...module_utils._migration.modes import KRAFT
from ...module_utils._node.keytab import newest
from ..inventory.kerberos import Kerberos, read_keytab
from ..inventory.mirror_nodes import rest_url
from ..inventory.model import GROUP_FIX, GROUP_NAMES, GROUPS, PAGE_GROUP, PROMETHEUS_GROUP, Node
from ..inventory.nodes import awaited_ports, stage_of, voter_listeners
from ..inventory.oauth import TokenIssuer
from . import kafka, metrics
from .certificates import certificates, keystore, stores, truststore
from .cluster_view import ClusterView
from .parts import key
from .paths import owners, paths, shared
from .process import jvm_arguments, process
from .readers import Reader
from .release import release
from .security import certificate_names, hosts_with_login, takes_tickets, takes_tokens
from .static_quorum import for_static
from .zookeeper_security import client_jaas, server_jaas

#: What Kafka has where nothing is set: the session of a broker and its heartbeats, in milliseconds (KIP-631, KIP-537).
DEFAULTS = {"broker.session.timeout.ms": 9000, "broker.heartbeat.interval.ms": 2000}
DEFAULTS_OF_ZOOKEEPER = {"zookeeper.session.timeout.ms": 18000}
#: A second more than the session, for the looks are not at its very end.
MARGIN = 1.0
#: Seconds after which what an earlier wait has seen of the cluster says nothing about now.
FRESH = 30.0


def steady_seconds(properties: Mapping[str, Any], on_zookeeper: bool) -> float:
    """Return the seconds without a bad look after which a node is whole: more than its session, and its heartbeat.

    A broker whose heartbeats come too late is alive until its session ends, and again from its next heartbeat on.
    """
    defaults = DEFAULTS_OF_ZOOKEEPER if on_zookeeper else DEFAULTS
    longest = max(_number(properties.get(key), default) for key, default in defaults.items())
    return longest / 1000 + MARGIN


def settled_since(waits: Iterable[Mapping[str, Any]], now: float) -> float:
    """Return since when the cluster is whole, as the last wait for one of its nodes saw it; 0 where that is unknown.

    Each wait is a result of isr_wait with serves: settled_since and settled_until, in seconds since 1970.
    """
    known = [one for one in waits if one.get("settled_since")]
    last = max(known, key=lambda one: float(one["settled_until"]), default=None)
    return float(last["settled_since"]) if last and now - float(last["settled_until"]) <= FRESH else 0.0


def _number(value: Any, default: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float(default)


class NodeView:
    """What one node is; a part that cannot be made raises ValueError."""

    def __init__(
        self,
        reader: Reader,
        cluster: ClusterView,
        of_mirror: Callable[[], Mapping[str, object]] = dict,
        tokens_of_mirror: Callable[[], Sequence[str]] = tuple,
        kerberos_of_mirror: Callable[[], Kerberos] = Kerberos,
    ) -> None:
        """of_mirror -- returns the properties of a mirror, for which the clusters of its flows must be known.

        tokens_of_mirror -- returns where a mirror gets tokens, by the same clusters; kerberos_of_mirror which krb5.conf
        its Java reads.
        """
        self._reader, self._cluster, self._of_mirror = reader, cluster, of_mirror
        self._tokens_of_mirror, self._kerberos_of_mirror = tokens_of_mirror, kerberos_of_mirror

    @property
    def _settings(self) -> Mapping[str, Any]:
        return self._cluster.settings

    @key
    def node(self) -> dict[str, Any]:
        """The node as tasks read it."""
        # Not by way of all nodes: most tasks ask for nothing of the others, whose listeners are templates.
        own = (node for node in self._cluster.inventory.processes if node.name == self._reader.host)
        found = [node for node in own if node.cluster == self._cluster.name]
        if not found:
            raise ValueError(f"{self._reader.host} is in none of the groups {GROUP_NAMES}; fix: {GROUP_FIX}")
        return found[0].with_metrics()

    @key
    def properties(self) -> dict[str, Any]:
        """The native properties of the node; a mirror has none of these."""
        node, settings, cluster = self.node, self._settings, self._cluster
        if node["node_id"] is None and "mirror" not in node["roles"]:
            name = "zookeeper_id" if "zookeeper" in node["roles"] else "kafka_node_id"
            raise ValueError(f"{node['host']} has no {name}; fix: set it as a host variable and never change it")
        if "zookeeper" in node["roles"]:
            return kafka.zookeeper_properties(node, cluster.members, settings)
        if "broker" in node["roles"]:
            addresses, copies = cluster.node_addresses, cluster.copies["defaults"]
            nodes, members = cluster.known_nodes, cluster.members
            broker = kafka.broker_properties(node, nodes, members, settings, addresses, copies)
            return for_static(broker, cluster.static_voters)
        if "controller" in node["roles"]:
            controller = kafka.controller_properties(node, cluster.nodes, cluster.members, settings)
            return for_static(controller, cluster.static_voters)
        return {}

    @key
    def steady_seconds(self) -> float:
        """For how long the node must be looked at without a bad look before it is whole."""
        return steady_seconds(self.properties, on_zookeeper=stage_of(self._settings) != KRAFT)

    @key
    def paths(self) -> dict[str, Any]:
        """Return where everything of the node is on its machine."""
        host, groups = self._reader.host, self._reader.groups
        is_process = any(host in groups.get(group, ()) for group in GROUPS.values())
        is_beside = any(host in groups.get(group, ()) for group in (PAGE_GROUP, PROMETHEUS_GROUP))
        if is_beside and not is_process:
            return dict(shared(self._settings))
        return paths(self.node, self._own.log_dirs(), self._settings)

    @property
    def _own(self) -> Node:
        """Return the node as the inventory has it."""
        return next(node for node in self._cluster.inventory.processes if node.name == self.node["host"])

    @key
    def owners(self) -> dict[str, str | None]:
        """Return who owns its files."""
        return owners(self._settings)

    @key
    def release(self) -> dict[str, Any]:
        """Return what its release is made of, and where it is."""
        return release(self.node, self._settings)

    @key
    def process(self) -> dict[str, Any]:
        """Return what is started."""
        return process(self.node, self._settings, self.paths)

    @key
    def look(self) -> dict[str, Any]:
        """Return where node_info looks for what is on the machine of the node, as its option C(node) takes it."""
        node, paths = self.node, self.paths
        ports = [listener["port"] for listener in node["listeners"] if listener["opens"]]
        return {
            "log_dirs": paths["log_dirs"],
            "metadata_dir": paths["metadata"],
            "trace_files": paths["traces"],
            # What the node had left under another name, and what nodes of other inventories have.
            "beside": {"note_file": paths["has_data"], "service_file": self.process["service_file"]},
            "login_log": paths["logins"],
            "state_dir": paths["state"],
            "config_dir": paths["config"] if self._own.controller else "",
            "adopted_file": paths["adopted"],
            **self._token_issuer(),
            **self._keytab_look(),
            # In check mode, and before the checks have passed, nothing was written that says who runs the node.
            **({"claim": self.take_over["claim"]} if self._foresees_take_over() else {}),
            "jvm_file": f"{paths['config']}/jvm.options",
            "release_dir": self.release["dir"],
            "java": paths["java"],
            "ports": [*ports, *([node["metrics"]["port"]] if node["metrics"] else [])],
            "certificate_files": (
                [paths["truststore"], paths["keystore"]] if self._settings["kafka_tls_source"] else []
            ),
        }

    def _token_issuer(self) -> dict[str, Any]:
        """Return whose keys the broker fetches when it starts; nothing where it takes no tokens."""
        if not takes_tokens(self.node["listeners"], self._settings["kafka_sasl_mechanisms"]):
            return {}
        said = TokenIssuer.of(self._settings["kafka_oauth"])
        return {"issuer": {"jwks_url": said.jwks_url, "ca": said.authorities(), "clock_skew": said.clock_skew}}

    def _keytab_look(self) -> dict[str, Any]:
        """Return whose keys the node needs in which keytab; nothing where nobody logs in by Kerberos."""
        said, listeners = self._kerberos, self.node["listeners"]
        if not said.realm:
            return {}
        principals = list(dict.fromkeys(said.principal_at(host) for host in hosts_with_login(listeners)))
        copied = {"copied": newest(read_keytab(said.keytab_file), principals[0])} if said.keytab_file else {}
        path, user = kafka.keytab(self._reader.host, self._settings), self.owners["node"] or ""
        return {"keytab": {"path": path, "user": user, "principals": principals, **copied}}

    def _foresees_take_over(self) -> bool:
        """Tell whether the run is about to write who runs the node, or would in check mode."""
        results, settings = self._cluster.results, self._settings
        is_unwritten = bool(settings.get("ansible_check_mode", False) or settings.get("_common_foresees_claim", False))
        return is_unwritten and bool(results.of(results.host).adoption) and bool(self.take_over["claim"])

    @key
    def take_over(self) -> dict[str, Any]:
        """Return the C(claim) of the node, which something else runs, as adopted_node takes it, and its C(refusals).

        The claim is empty where nothing has to be written.
        """
        from ..guards.take_over import LEGACY_MAIN, Wanted, take_over

        node, settings = self.node, self._settings
        run, product = self._cluster.results.of(node["host"]), self.process["product"]
        main_class, is_mirror = self.process["main_class"], "mirror" in node["roles"]
        wanted = Wanted(
            host=node["host"],
            product="mirror" if is_mirror else product,
            node_id=node["node_id"],
            roles=node["roles"],
            mode=stage_of(settings) if product == "kafka" and not is_mirror else "",
            version=settings[f"{product}_version"],
            cluster_id=settings["kafka_cluster_id"],
            user=self.owners["node"] or "",
            data=self.paths["data"],
            own=[self.paths["config"], self.process["service_file"]],
            main_class=main_class,
            properties=self._of_mirror() if is_mirror and main_class != LEGACY_MAIN else self.properties,
        )
        result = take_over(run.adoption, wanted, is_known=bool(run.look.get("adopted")))
        return {"claim": result.claim, "refusals": [str(finding) for finding in result.findings]}

    @key
    def jvm_arguments(self) -> list[str]:
        """The Java arguments of its process."""
        has_jaas, has_krb5, agent = bool(self.jaas), bool(self.krb5), self._metrics_argument()
        tokens = self._tokens_of_mirror() if "mirror" in self._own.roles else ()
        release, krb5 = self.release["dir"], self._java_kerberos.krb5_file or (self.paths["krb5"] if has_krb5 else "")
        return jvm_arguments(self.node, self._settings, self.paths, release, has_jaas, agent, tokens, krb5)

    def _metrics_argument(self) -> str:
        """Return the argument of Java that loads the Prometheus agent; empty without it. Its login is not asked for."""
        listener = self.node["metrics"]
        if not listener:
            return ""
        return metrics.argument(metrics.agent(self._settings)["path"], listener, self.paths["metrics"])

    @key
    def metrics(self) -> dict[str, Any]:
        """The Prometheus agent of the node: its jar, its configuration, and the part of it that needs a restart."""
        node, settings = self.node, self._settings
        if not node["metrics"]:
            return {}
        store = {}
        if self.certificate != {}:
            path = f"{self.paths['config']}/metrics-{self.stores['digest']}-keystore.p12"
            store = {"path": path, "password": self.stores["password"]}
        access = metrics.access(node["host"], settings, store)
        return {
            "agent": metrics.agent(settings),
            "access": access,
            "configuration": metrics.configuration(node["roles"], access),
        }

    @key
    def certificate(self) -> dict[str, str]:
        """Return what is in its certificate, its key and its CAs on the control node; empty without all of them."""
        return certificates(self._settings)

    @key
    def keystore(self) -> str:
        """Its key and its certificates as a PEM store."""
        return keystore(self.certificate)

    @key
    def truststore(self) -> str:
        """Its CAs as a PEM store."""
        return truststore(self.certificate)

    @key
    def stores(self) -> dict[str, str]:
        """The stores that Java's own TLS reads; here -- where the control node keeps them, without their endings."""
        found = stores(self.certificate)
        here = f"{self._settings['kafka_cache_dir']}/stores/{self._reader.host}-{found['digest']}"
        return {**found, "here": expanduser(here)}

    @key
    def jaas(self) -> str:
        """Return how the node logs in at ZooKeeper, or a server knows who may; empty where nobody logs in there."""
        settings, roles = self._settings, self.node["roles"]
        if not settings["zookeeper_password"]:
            return ""
        if "zookeeper" in roles:
            return server_jaas(settings["zookeeper_user"], settings["zookeeper_password"])
        if stage_of(settings) == KRAFT or "mirror" in roles:
            return ""
        return client_jaas(settings["zookeeper_user"], settings["zookeeper_password"])

    @property
    def _kerberos(self) -> Kerberos:
        """Return how its clients log in by Kerberos; empty where none does."""
        is_taken = takes_tickets(self.node["listeners"], self._settings["kafka_sasl_mechanisms"])
        return Kerberos.of(self._settings["kafka_kerberos"] if is_taken else {})

    @key
    def krb5(self) -> str:
        """Return the krb5.conf of the node; empty where it reads another one."""
        return self._java_kerberos.krb5()

    @property
    def _java_kerberos(self) -> Kerberos:
        """Return by which krb5.conf its Java lets clients in, or a mirror logs in."""
        return self._kerberos_of_mirror() if "mirror" in self._own.roles else self._kerberos

    @key
    def keytab(self) -> dict[str, str]:
        """Return where its keytab is on the control node and on the node; empty where nothing is copied."""
        file = self._kerberos.keytab_file
        return {"file": file, "path": kafka.keytab(self._reader.host, self._settings)} if file else {}

    @key
    def old_keytab(self) -> str:
        """Return where an earlier inventory may have had a keytab copied to; empty where the node reads that file."""
        host = self._reader.host
        copied = kafka.copied_keytab(host, self._settings)
        is_read = bool(self._kerberos.realm) and kafka.keytab(host, self._settings) == copied
        return "" if is_read else copied

    @key
    def certificate_names(self) -> list[str]:
        """The names for which its certificate is issued."""
        return certificate_names(self.node)

    @key
    def voter_listeners(self) -> list[dict[str, Any]]:
        """The listeners by which a controller becomes a voter."""
        return voter_listeners(self.node)

    @key
    def awaited_ports(self) -> list[int]:
        """The ports on which its process listens once it has started."""
        return awaited_ports(self.node, len(self._cluster.members))

    @key
    def rest_url(self) -> str:
        """Return where a mirror answers."""
        return rest_url(self.node)
