"""Our own clients that run for months, at two clusters that ask for tickets, beyond the end of the first ticket."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.login import KRB5_OPTION
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import to_text, value_text
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.canary import with_events
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import read_flows
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.kerberos import Kerberos
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.properties import mirror_properties
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.rights import mirror_acls
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import mirror_clients
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import client_properties
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.canary import Canary
from tests.support.cluster import BIN, ROOT, free_port_base, until
from tests.support.inventory_data import DataReader
from tests.support.kdc import MISSING, NO_LIBRARY, REALM, Kdc
from tests.support.lone_broker import LoneBroker
from tests.support.mirror import MirrorProcess
from tests.support.modules import run_module
from tests.support.page import Page
from tests.support.spark import connector_jars
from tests.support.ticket_broker import HOST, ticket_broker
from tests.support.traffic import producing, read_all

pytestmark = [pytest.mark.full, pytest.mark.skipif(bool(MISSING), reason=f"no KDC: {MISSING}")]
#: How long a ticket holds. Java renews none within a minute of its login (sasl.kerberos.min.time.before.relogin).
LIFE_SECONDS = 120
FLOW = {"source": "a", "target": "b", "topics": ["orders"]}
#: As mirrors carry it where a canary follows it.
FLOWS = with_events(read_flows([FLOW]), ["b"])
#: Cluster b wants a new login on each open connection; at a one outlives its ticket.
MORE = {"a": {}, "b": {"listener.name.client.gssapi.connections.max.reauth.ms": "20000"}}
IDS = {"a": "AAAAAAAAAAAAAAAAAAAAAQ", "b": "AAAAAAAAAAAAAAAAAAAAAg"}


@dataclass
class Pair:
    """Clusters a and b, which let clients in by tickets alone, and the keytabs of these."""

    kdc: Kdc
    brokers: dict[str, LoneBroker]
    keytabs: dict[str, Path]
    directory: Path

    def without_login(self, name: str) -> list[str]:
        """Return where a test itself does in a cluster what it likes."""
        return [f"127.0.0.1:{self.brokers[name].port + 2}"]

    def servers(self, name: str) -> list[str]:
        """Return the address for clients with tickets."""
        return [f"{HOST}:{self.brokers[name].port}"]

    def make(self, name: str, module: str, **options: Any) -> None:
        """Have a module change a cluster."""
        made = run_module(f"streamops.kafka.{module}", {"bootstrap_servers": self.without_login(name), **options})
        assert not made["failed"], made

    def restart_both(self) -> None:
        """Restart the brokers, so that every client has to log in anew."""
        for broker in self.brokers.values():
            broker.terminate()
            broker.start()

    def endpoint(self, name: str) -> dict[str, Any]:
        """Return what a cluster says of itself to its mirrors and canaries."""
        servers, keytab = self.servers(name), self.keytabs["mirror"]
        return {
            "cluster": name,
            "bootstrap_servers": servers,
            "mirror_bootstrap_servers": servers,
            "protocol": "SASL_PLAINTEXT",
            "mirror_protocol": "SASL_PLAINTEXT",
            "mechanism": "GSSAPI",
            "kerberos": {"realm": REALM, "kdcs": [self.kdc.address]},
            "user": "mirror",
            "password": "",
            "keytab_file": str(keytab),
            "canary_user": "canary",
            "canary_password": "",
            "canary_keytab_file": str(self.keytabs["canary"]),
            "ca_file": "",
            "brokers": 1,
        }


@pytest.fixture(scope="module", params=["4.3.1", "3.9.2"])
def pair(
    request: pytest.FixtureRequest, kafka_release: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    directory, port, release = tmp_path_factory.mktemp("tickets"), free_port_base(), kafka_release(request.param)
    with Kdc(directory, port + 8, f"{LIFE_SECONDS}s") as kdc, contextlib.ExitStack() as stack:
        keytab = kdc.keytab("kafka", f"kafka/{HOST}")
        people = {name: kdc.keytab(name, name) for name in ("alice", "mirror", "canary", "page")}
        brokers = {
            name: stack.enter_context(
                ticket_broker(release, directory / name, port + 10 * place, kdc, keytab, cluster, MORE[name])
            )
            for place, (name, cluster) in enumerate(IDS.items())
        }
        pair = Pair(kdc, brokers, people, directory)
        pair.make("a", "topics", topics=[{"name": "orders", "partitions": 2, "replication_factor": 1}])
        for name in brokers:
            pair.make(name, "acls", acls=mirror_acls(FLOWS, name, ["User:mirror"]))
        yield pair


@pytest.fixture(scope="module")
def mirror(pair: Pair) -> Iterator[MirrorProcess]:
    """A mirror with the files that the roles write; its keytab is where they copy it."""
    place = pair.directory / "mirror"
    place.mkdir()
    endpoints = {name: pair.endpoint(name) for name in IDS}
    for copied in mirror_clients.mirror_keytabs(endpoints, "b", str(place)):
        Path(copied["path"]).write_bytes(Path(copied["file"]).read_bytes())
    secrets = place / "secrets.properties"
    secrets.write_text(to_text(mirror_clients.mirror_secrets(endpoints, "b", str(place))))
    krb5 = place / "krb5.conf"
    krb5.write_text(mirror_clients.mirror_kerberos(endpoints, "b", Kerberos()).krb5())
    files = {"secrets": str(secrets), "truststores": str(place), "keystore": ""}
    clients = mirror_clients.mirror_clients(endpoints, "b", files)
    # As the roles make them, without their long pauses.
    options = {"nodes": 1, "refresh_seconds": 2, "offset_flush_seconds": 1, "rebalance_delay_seconds": 0}
    version = pair.brokers["b"].release.name.split("-")[1]
    properties = {
        name: value_text(name, value)
        for name, value in mirror_properties(
            FLOWS, "b", clients, {**options, "secrets_dir": str(place)}, version
        ).items()
    }
    process = MirrorProcess(pair.brokers["b"].release, properties, place, options=f"{KRB5_OPTION}{krb5}")
    process.start()
    try:
        yield process
    finally:
        process.kill()


def write_and_await(pair: Pair, mirror: MirrorProcess) -> None:
    """Write records into cluster a, and wait until cluster b has as many as cluster a."""
    with producing(pair.without_login("a"), "orders", rate=200) as ledger:
        until(lambda: len(ledger.acknowledged) > 500, "records")
    assert not ledger.failed
    wanted = read_all(pair.without_login("a"), "orders").total()
    try:
        until(lambda: read_all(pair.without_login("b"), "a.orders").total() >= wanted, "all records", timeout=180)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{mirror.log()[-3000:]}") from None


def test_a_mirror_copies_by_tickets_and_goes_on_after_their_end(pair: Pair, mirror: MirrorProcess) -> None:
    write_and_await(pair, mirror)
    time.sleep(LIFE_SECONDS + 10)
    pair.restart_both()
    write_and_await(pair, mirror)
    assert mirror.alive


def model(pair: Pair, host: str, place: Path) -> View:
    """Return the model of an inventory with both clusters, a mirror with a canary and a page, as a host sees it."""
    listener = {"name": "CLIENT", "protocol": "SASL_PLAINTEXT", "purpose": "clients", "advertised_host": HOST}
    hosts: dict[str, dict[str, Any]] = {
        name: {
            "kafka_cluster_name": name,
            "kafka_node_id": 1,
            "kafka_listeners": [{**listener, "port": broker.port}],
            "kafka_kerberos": {"realm": REALM, "kdcs": [pair.kdc.address]},
            "__kafka_endpoint": pair.endpoint(name),
        }
        for name, broker in pair.brokers.items()
    }
    hosts["mirror1"] = {"kafka_cluster_name": "b", "mirror_maker_canary_config_dir": str(place)}
    unset = ("url", "user", "password", "ca_file")
    hosts["page1"] = {
        "kafka_page_config_dir": str(place),
        **{f"kafka_page_alertmanager_{name}": "" for name in unset},
    }
    common = {
        "kafka_sasl_mechanisms": ["GSSAPI"],
        "kafka_authorizer": True,
        "mirror_flows": [FLOW],
        "mirror_maker_canary": True,
        "mirror_maker_canary_gaps": False,
        "mirror_maker_canary_port": free_port_base(),
        "mirror_canary_user": "canary",
        "kafka_page_user": "page",
        "kafka_page_keytab_file": str(pair.keytabs["page"]),
    }
    groups = {"kafka_brokers": [*IDS], "kraft_controllers": [], "zookeeper": [], "mirror_makers": ["mirror1"]}
    return View(DataReader(hosts, {**groups, "kafka_page": ["page1"]}, host, **common))


def brought(pair: Pair, host: str, service: str, place: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Write the files of a service as the roles do, and give its user the rights that it gets; return its settings and
    its environment."""
    for name in IDS:
        pair.make(name, "acls", acls=model(pair, name, place)[service]["acls"])
    own = model(pair, host, place)[service]
    files = {Path(file["path"]): file["content"] for file in own["secret_files"]}
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for keytab in own["keytabs"]:
        Path(keytab["path"]).write_bytes(Path(keytab["file"]).read_bytes())
    environment = {**pair.kdc.environment_of_modules(), "KRB5_CONFIG": own["krb5_config"]}
    return json.loads(files[Path(own["paths"]["config_file"])]), environment


@pytest.mark.skipif(bool(NO_LIBRARY), reason=NO_LIBRARY)
def test_canary_and_page_log_in_by_tickets_and_go_on_after_their_end(
    pair: Pair, mirror: MirrorProcess, tmp_path: Path
) -> None:
    settings, environment = brought(pair, "mirror1", "canary", tmp_path / "of-canary")
    quick = {"interval": 1, "late_after": 30, "missing_after": 3600}
    canary = Canary(tmp_path / "canary", {**settings, **quick}, environment)
    settings, environment = brought(pair, "page1", "page", tmp_path / "of-page")
    page = Page(tmp_path, {"clusters": settings["clusters"], "interval": 2, "stale_after": 30}, more=environment)

    def is_whole(arrived: int) -> bool:
        has_events = canary.status()["status"] == "OK" and canary.events("arrived", "a->b") > arrived
        return has_events and page.get("health").status == 200

    def settle(arrived: int) -> None:
        try:
            until(lambda: is_whole(arrived), "events that arrive, and a page that is fine", timeout=180)
        except AssertionError as error:
            said = f"{canary.status()}\n{canary.log()[-2000:]}\n{page.get('health').text}\n{page.log[-2000:]}"
            raise AssertionError(f"{error}\n{said}\n{mirror.log()[-2000:]}") from None

    canary.start()
    try:
        with page:
            settle(5)
            time.sleep(LIFE_SECONDS + 10)
            settle(5)
            pair.restart_both()
            settle(canary.events("arrived", "a->b") + 5)
    finally:
        canary.kill()


def test_a_spark_job_proves_a_cluster_by_tickets(pair: Pair, tmp_path: Path) -> None:
    topic = {
        "name": "smoke-by-ticket",
        "partitions": 2,
        "replication_factor": 1,
        "config": {"message.timestamp.type": "LogAppendTime"},
    }
    pair.make("a", "topics", topics=[topic])
    login = Kerberos(REALM).login("alice", str(pair.keytabs["alice"]))
    krb5 = tmp_path / "krb5.conf"
    krb5.write_text(Kerberos(REALM, kdcs=(pair.kdc.address,)).krb5())
    arguments = {"topic": topic["name"], "consent_topic": topic["name"], "records": 2000, "live_seconds": 0}
    given = {
        "output_dir": str(tmp_path / "job"),
        "package": str(ROOT / "spark_validation"),
        "python": sys.executable,
        "spark_submit": str(BIN / "spark-submit"),
        "jars": connector_jars(),
        "krb5_file": str(krb5),
        "client_properties": client_properties({"security_protocol": "SASL_PLAINTEXT", **login.options()}),
        "arguments": {"bootstrap_servers": pair.servers("a"), **arguments},
    }
    done = run_module("streamops.kafka.spark_job", given, timeout=500)
    assert (done["failed"], done.get("verdict")) == (False, "pass"), done
