# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What mirror_flows mean for one cluster: the files of the mirrors next to it, and what mirrors need within it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._health.model import fail_on, fails
from ...module_utils._mirror.canary import with_events
from ...module_utils._mirror.flows import LEGACY, Flow, flows_into
from ...module_utils._mirror.reading import read_flows
from ...module_utils._mirror_drill.model import last_line
from ..inventory.model import BROKER_GROUP, MIRROR_GROUP
from ..mirrors import external, legacy, opposed, rights, views
from ..mirrors.drill import drill_refusals
from ..mirrors.failover import LOST, RETURNED, failover_refusals, under_way
from ..mirrors.health import mirror_verdict
from ..mirrors.legacy_topics import legacy_topics
from ..mirrors.lines import audited_gaps, gap_lines, mirror_lines, mirror_pairs
from ..mirrors.opposed import same_cluster
from ..mirrors.properties import mirror_properties
from ..reports.status import adopted_lines, start_file_lines
from ..reports.status_data import drill_of, mirror_part
from ..run.results import Results
from . import mirror_clients
from .canary import watched
from .kafka import own_properties
from .mirror_tune import MirrorTune
from .parts import Parts
from .security import SASL_PROTOCOLS


class Mirroring(Parts):
    """The key C(mirroring) of the model; docs/development/house.md lists its own keys.

    read -- the variables of a host. groups -- those of the inventory. play_hosts -- the hosts of the play.
    """

    def __init__(
        self,
        model: Mapping[str, Any],
        read: Callable[[str], Mapping[str, Any]],
        groups: Mapping[str, Sequence[str]],
        results: Results,
        play_hosts: Sequence[str],
    ) -> None:
        self._model, self._read, self._groups, self._results = model, read, groups, results
        self._play_hosts = play_hosts
        super().__init__(
            {
                "flows": lambda: [views.plain(flow) for flow in flows_into(self._flows, self._cluster)],
                "positions": lambda: {
                    flow.pair: views.position(flow) for flow in flows_into(self._flows, self._cluster)
                },
                "endpoints": self._endpoints,
                "shared_dir": lambda: f"{self._settings['kafka_config_dir']}/mirror-{self._cluster}",
                "secrets_file": lambda: f"{self['shared_dir']}/secrets.properties",
                "keystore_file": lambda: f"{self['shared_dir']}/keystore.pem",
                # The workers of one target tell each other of their tasks; with certificates where there are any.
                "has_rest_tls": lambda: bool(self._model["certificate"]) and not self["is_legacy"],
                "rest_secrets_file": self._rest_secrets_file,
                "rest_tls": self._rest_tls,
                "properties": self._properties,
                "secrets": lambda: mirror_clients.mirror_secrets(self["endpoints"], self._cluster, self["shared_dir"]),
                "keytabs": lambda: mirror_clients.mirror_keytabs(self["endpoints"], self._cluster, self["shared_dir"]),
                "outside": self._outside,
                "trusts": lambda: mirror_clients.mirror_trusts(self["endpoints"], self._cluster),
                "shows_certificate": self._shows_certificate,
                "is_legacy": lambda: any(flow.engine == LEGACY for flow in flows_into(self._flows, self._cluster)),
                "legacy": lambda: legacy.legacy_process(self._first, self._clients, self._options),
                "legacy_topics": self._legacy_topics,
                "external": lambda: list(self._external),
                "external_rights": self._external_rights,
                "external_failures": lambda: external.failures(
                    [one for one in results.own.clusters["results"] if one["item"] in self._external]
                ),
                "same_clusters": self._same_clusters,
                "opposed": self._opposed,
                "opposition": lambda: opposed.still_running(self._flows, opposed.asked(results.own.opposed["results"])),
                "verdict": self._verdict,
                "status_failures": lambda: [
                    one["line"]
                    for one in results.of(results.host).mirror_verdicts or ()
                    if fails(one["status"], fail_on(self._settings))
                ],
                "start_file_lines": self._start_file_lines,
                "lines": self._lines,
                "drill_lines": self._drill_lines,
                "gaps": lambda: audited_gaps(results.own.gaps),
                "gap_lines": self._gap_lines,
                "failover": self._failover,
                "drill": self._drill,
                "forget_refusals": self._forget_refusals,
                "forget_mirrors": self._forget_mirrors,
                "pairs": lambda: mirror_pairs(results.own.lag, audited_gaps(results.of(results.host).gaps)),
                "users": self._users,
                "acls": self._acls,
                "acl_owners": self._acl_owners,
                "tune": self._tune,
            }
        )

    def _verdict(self) -> dict[str, Any]:
        """The verdict on the flow that was just looked at, and the figures that a report shows of it."""
        flow = self._results.own.read("_mirror_maker_flow")
        pair, most = f"{flow['source']}->{flow['target']}", self._settings["mirror_maker_status_max_lag"]
        look = self._results.own.lag
        drill = self._results.own.drill
        verdict = mirror_verdict(pair, look, most, self._results.of(self._results.host).gaps, drill.get("days"))
        return {**verdict, "seen": {"flow": pair, **mirror_part(verdict, look, drill)}}

    def _lines(self) -> list[str]:
        """The flow that was just looked at in lines for people, with its gaps where these were looked for."""
        look = self._results.own.lag
        gaps = self._results.of(self._results.host).gaps
        return [*mirror_lines(look), *(gap_lines(gaps) if gaps.get("flow") == look["flow"] else [])]

    def _drill_lines(self) -> list[str]:
        """Return how the last drill of the flow that was just looked at ended, where its target was asked."""
        drill = drill_of(self._results.own.drill)
        return [last_line(drill)] if drill else []

    def _gap_lines(self) -> list[str]:
        """The gaps of the flow that was just looked at, or why they are not known."""
        found = self._results.own.gaps
        if "gaps" not in found:
            return [f"Unknown      {found.get('msg') or 'no answer'}"]
        return gap_lines(found) or ["Gap          none is known"]

    def _failover(self) -> Parts:
        """Return why no failover by this flow can be planned, or its step be taken; the mirrors that can, the flow
        where it ends here, the step, and the file with the offsets of its groups, as the module node_files takes it."""
        wanted, step = self._given("kafka_failover"), self._given("kafka_failover_step")
        source = self._given("kafka_failover_source")
        here = [flow for flow in flows_into(self._carried, self._cluster) if flow.pair == wanted]
        return Parts(
            {
                "refusals": lambda: failover_refusals(
                    self._carried, wanted, step, self._given("kafka_failover_operator"), source
                ),
                "mirrors": lambda: self._mirrors_of(wanted),
                "flow": lambda: views.plain(here[0]) if here else {},
                "is_enabled": lambda: any(flow.pair == wanted and flow.enabled for flow in self._flows),
                "is_lost": lambda: source == LOST,
                "is_returned": lambda: source == RETURNED,
                "step": lambda: step,
                "offsets_file": self._offsets_file,
            }
        )

    def _drill(self) -> dict[str, list[str]]:
        """Return why no failover by this flow can be rehearsed; its flow and mirrors are those of the failover."""
        return {"refusals": drill_refusals(self._flows, self._running, self._given("kafka_failover"))}

    def _given(self, name: str) -> str:
        """Return what the command line gives as this variable; empty for nothing."""
        return str(self._settings.get(name) or "").strip()

    @property
    def _carried(self) -> Sequence[Flow]:
        """The flows, with that of a failover whose step is taken, or whose source is lost, as an enabled one."""
        names = ("kafka_failover", "kafka_failover_step", "kafka_failover_source")
        return under_way(self._flows, *map(self._given, names))

    def _offsets_file(self) -> list[dict[str, str]]:
        path = os.path.abspath(os.path.expanduser(str(self._settings["kafka_failover_offsets"]).strip()))
        groups = {"groups": self._results.own.failover["offsets_there"]}
        return [{"path": path, "content": json.dumps(groups, indent=2) + "\n", "mode": "0640"}]

    @property
    def _forgotten(self) -> str:
        """The flow whose gaps are to be forgotten; empty for none."""
        return self._given("mirror_gaps_forget")

    def _forget_refusals(self) -> list[str]:
        """Return why gaps of the flow that is asked for cannot be forgotten: a sentence, or none."""
        known = sorted(flow.pair for flow in self._flows if flow.enabled)
        if not self._forgotten or self._forgotten in known:
            return []
        return [
            f"mirror_gaps_forget is {self._forgotten!r}, which is no enabled flow of mirror_flows; these are "
            f"{', '.join(known) or 'none'}."
        ]

    def _forget_mirrors(self) -> list[str]:
        """The mirrors next to the target of that flow."""
        return self._mirrors_of(self._forgotten)

    def _mirrors_of(self, pair: str) -> list[str]:
        """Return the mirrors next to the target of a flow, source->target."""
        targets = [flow.target for flow in self._flows if flow.pair == pair]
        hosts = self._groups.get(MIRROR_GROUP, ())
        return [host for host in hosts if str(self._read(host)["kafka_cluster_name"]).strip() in targets]

    def _start_file_lines(self) -> list[str]:
        """Return what is to be said of the start files of the mirrors next to the cluster, and who had them before."""
        looks = {node["host"]: self._results.of(node["host"]).mirror_look for node in self._model["mirrors"]}
        return [
            *start_file_lines({host: look["start_files"] for host, look in looks.items() if look.get("start_files")}),
            *adopted_lines({host: look["adopted"] for host, look in looks.items() if look.get("adopted")}),
        ]

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self._model["settings"]
        return settings

    @property
    def _cluster(self) -> str:
        return str(self._settings["kafka_cluster_name"])

    @property
    def _flows(self) -> Sequence[Flow]:
        flows: Sequence[Flow] = self._once("read flows", lambda: read_flows(self._settings["mirror_flows"]))
        return flows

    @property
    def _running(self) -> Sequence[Flow]:
        """The flows as mirrors run them: with the events of canaries, which are nothing to compare or to wait for."""
        found: Sequence[Flow] = self._once(
            "flows with events", lambda: with_events(self._flows, watched(self._read, self._groups))
        )
        return found

    @property
    def _first(self) -> Flow:
        """The one flow of a legacy mirror."""
        return flows_into(self._flows, self._cluster)[0]

    def _endpoints(self) -> dict[str, dict[str, Any]]:
        said = (self._results.of(host).endpoint for host in self._groups["all"])
        foreign = (external.external_endpoint(alias, entry) for alias, entry in self._external.items())
        return mirror_clients.cluster_endpoints(said, views.clusters_needed(self._carried, self._cluster), foreign)

    @property
    def _external(self) -> dict[str, dict[str, Any]]:
        """The sources of this mirror's flows that are no clusters of the inventory."""
        sources = [flow.source for flow in flows_into(self._carried, self._cluster)]
        return external.used(self._settings[external.VARIABLE], sources)

    def _external_rights(self) -> list[str]:
        """The rights that the flows need in clusters outside of the inventory, in lines for people."""
        return [
            line
            for alias, entry in self._external.items()
            for line in external.rights_lines(alias, entry, rights.mirror_acls(self._running, alias, [""]))
        ]

    def _same_clusters(self) -> list[str]:
        """Return what is wrong with the ids of the clusters that this mirror stands between: a sentence each."""
        ids = {one["item"]: one["cluster_id"] for one in self._results.own.clusters["results"]}
        foreign = {alias: ids[alias] for alias in self._external if alias in ids}
        brokers = self._groups.get(BROKER_GROUP, ()) if foreign else ()
        own = {str(one["kafka_cluster_name"]): str(one["kafka_cluster_id"]) for one in map(self._read, brokers)}
        # The clusters of the flows are compared with each other.
        others = {name: cluster_id for name, cluster_id in own.items() if name not in ids}
        return [*same_cluster(ids), *external.led_home(foreign, others)]

    @property
    def _clients(self) -> dict[str, dict[str, Any]]:
        files = {
            "secrets": self["secrets_file"],
            "truststores": self["shared_dir"],
            "keystore": self["keystore_file"],
        }
        return mirror_clients.mirror_clients(self["endpoints"], self._cluster, files)

    @property
    def _options(self) -> dict[str, Any]:
        settings, host = self._settings, self._model["node"]["host"]
        return {
            "tasks_max": settings["mirror_maker_tasks_max"],
            "refresh_seconds": settings["mirror_maker_refresh_seconds"],
            "offset_flush_seconds": settings["mirror_maker_offset_flush_seconds"],
            "rebalance_delay_seconds": settings["mirror_maker_rebalance_delay_seconds"],
            "nodes": len(self._model["mirrors"]),
            "secrets_dir": self["shared_dir"],
            "config_dir": f"{settings['kafka_config_dir']}/{host}",
            "config": own_properties(("mirror",), settings),
        }

    def _properties(self) -> dict[str, Any]:
        options = {**self._options, "rest_url": self._model["rest_url"]}
        version = self._settings["kafka_version"]
        return mirror_properties(self._running, self._cluster, self._clients, options, version)

    def _rest_secrets_file(self) -> str:
        """Return the file of the password of the REST stores. Another key is another password, and what the mirror
        goes back to, or starts with before its turn, names the old one."""
        host = self._model["node"]["host"]
        return f"{self['shared_dir']}/rest-{self._model['stores']['digest']}-{host}.properties"

    def _rest_tls(self) -> dict[str, Any]:
        """The properties by which the workers of the target show each other certificates; empty without any."""
        if not self["has_rest_tls"]:
            return {}
        stores = f"{self._model['paths']['config']}/rest-{self._model['stores']['digest']}"
        password = f"${{file:{self['rest_secrets_file']}:password}}"
        return {
            "listeners.https.ssl.client.auth": "required",
            "listeners.https.ssl.keystore.type": "PKCS12",
            "listeners.https.ssl.keystore.location": f"{stores}-keystore.p12",
            "listeners.https.ssl.keystore.password": password,
            "listeners.https.ssl.key.password": password,
            "listeners.https.ssl.truststore.type": "PKCS12",
            "listeners.https.ssl.truststore.location": f"{stores}-truststore.p12",
            "listeners.https.ssl.truststore.password": password,
            "listeners.https.ssl.enabled.protocols": self._settings["kafka_tls_protocols"],
            "listeners.https.ssl.endpoint.identification.algorithm": "https",
        }

    def _tune(self) -> MirrorTune:
        """Return what the tuning of a flow needs."""
        everywhere = self._groups.get(MIRROR_GROUP, ())
        return MirrorTune(
            self._settings,
            self._model["node"]["host"],
            self._flows,
            lambda target: [host for host in everywhere if self._read(host)["kafka_cluster_name"] == target],
            lambda: self._clients,
            lambda: self._options,
            lambda: self["endpoints"],
            self._results,
        )

    def _opposed(self) -> list[dict[str, str]]:
        """The mirrors of disabled flows that would close a loop: host, cluster and state_dir, where its record is."""
        clusters = {flow.target for flow in opposed.opposed_flows(self._flows)}
        found = []
        for host in self._groups.get(MIRROR_GROUP, ()) if clusters else ():
            settings = self._read(host)
            if settings["kafka_cluster_name"] in clusters:
                state_dir = f"{settings['kafka_run_dir']}/{host}"
                found.append({"host": host, "cluster": settings["kafka_cluster_name"], "state_dir": state_dir})
        return found

    def _outside(self) -> list[str]:
        """Return the mirrors of the cluster on this machine that are not in the play: they read files of earlier runs
        in the directory that mirrors of one target share."""
        machine = self._model["node"]["machine"]
        own = (node["host"] for node in self._model["mirrors"] if node["machine"] == machine)
        return [host for host in own if host not in self._play_hosts]

    def _shows_certificate(self) -> bool:
        """Return whether a mirror has no other login than its certificate at one of its clusters."""
        return any("ssl.keystore.location" in one["properties"] for one in self._clients.values())

    def _legacy_topics(self) -> list[dict[str, Any]]:
        """The topics of the target as the module topics takes them."""
        seen = {one["item"]: one["topics"] for one in self._results.own.legacy_topics["results"]}
        flow, declared = self._first, self._declared_topics()
        brokers = self["endpoints"][self._cluster]["brokers"]
        return legacy_topics(flow, seen[flow.source], seen[flow.target], declared, brokers)

    def _declared_topics(self) -> list[dict[str, Any]]:
        """The kafka_topics of the cluster, which a mirror may not have among its own variables."""
        broker = next(node["host"] for node in self._model["nodes"] if "broker" in node["roles"])
        return list(self._read(broker)["kafka_topics"])

    def _users(self) -> list[dict[str, Any]]:
        """The users of mirrors that the inventory does not list itself, as kafka_users has them."""
        settings = self._settings
        if not self._has_listener(SASL_PROTOCOLS):
            return []
        user, password = settings["mirror_user"], settings["mirror_password"]
        wanted = rights.mirror_users(self._flows, self._cluster, user, password, settings["kafka_sasl_mechanisms"])
        known = [*(one["name"] for one in settings["kafka_users"]), settings["kafka_admin_user"]]
        return [one for one in wanted if one["name"] not in known]

    def _acls(self) -> list[dict[str, Any]]:
        """The ACLs of mirrors, as kafka_acls has them; super users need none."""
        settings = self._settings
        if not settings["kafka_authorizer"]:
            return []
        mirrors = self._groups.get(MIRROR_GROUP, ())
        homes = {host: self._read(host)["kafka_cluster_name"] for host in mirrors}
        certificates = homes if self._has_listener(("SSL",), "clients") else {}
        principals = rights.mirror_principals(self._flows, self._cluster, settings["mirror_user"], certificates)
        free = {f"User:{name}" for name in self._model["super_users"]}
        return rights.mirror_acls(self._running, self._cluster, [one for one in principals if one not in free])

    def _acl_owners(self) -> list[str]:
        """The principals whose ACLs follow from the flows alone, also those that have no flow any more."""
        settings = self._settings
        if not settings["kafka_authorizer"]:
            return []
        mirrors = self._groups.get(MIRROR_GROUP, ()) if self._has_listener(("SSL",), "clients") else ()
        names = dict.fromkeys([settings["mirror_user"], *mirrors])
        return [f"User:{name}" for name in names if name and name not in self._model["super_users"]]

    def _has_listener(self, protocols: Iterable[str], purpose: str = "") -> bool:
        return any(
            one["protocol"] in protocols and purpose in ("", one["purpose"]) for one in self._model["node"]["listeners"]
        )
