"""Controllers that were whole with files with which no leader lasts: named, corrected at once, or taken back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse, to_text
from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import CURRENT, EARLIER, Generations
from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, read_until, until
from tests.support.growing import Hosts
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

ELECTION, FETCH = "controller.quorum.election.timeout.ms", "controller.quorum.fetch.timeout.ms"
#: A leader resigns when no majority fetched for 1.5 times as long, and followers fetch every 500 ms where little is
#: written: legal, and no leader lasts.
FLAPPING = {ELECTION: "100", FETCH: "100"}


CONTROLLERS: Hosts = {f"controller{one}": {"kafka_node_id": one} for one in (1, 2, 3)}
BROKERS: Hosts = {f"broker{one}": {"kafka_node_id": one, "kafka_rack": f"r{one}"} for one in (4, 5, 6)}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three controllers and their brokers, of this file alone."""
    directory = tmp_path_factory.mktemp("unsteady")
    found = Cluster(inventory(directory / "plain", {}), directory / "cluster", free_port_base())
    try:
        found.playbook().ok()
        yield found
    finally:
        found.destroy()


def inventory(directory: Path, values: dict[str, str]) -> Path:
    """An inventory whose controllers have these properties, and its brokers do not."""
    variables = local_variables("local_isolated")
    own = {"kafka_config": {**variables["kafka_config"], **values}}
    controllers = {host: {**one, **own} for host, one in CONTROLLERS.items()}
    return hosts_file(directory, {"kraft_controllers": controllers, "kafka_brokers": BROKERS}, variables)


def declaring(cluster: Cluster, values: dict[str, str]) -> Cluster:
    """The same cluster by an inventory with these properties."""
    return Cluster(inventory(cluster.directory.parent / "flapping", values), cluster.directory, cluster.port_base)


def generations(cluster: Cluster, node: str) -> Generations:
    return Generations(str(cluster.directory / "config" / node))


def whole_with(cluster: Cluster, values: dict[str, str]) -> None:
    """Have all controllers run with these properties, as if each had been whole with them for a moment."""
    for node in CONTROLLERS:
        found = generations(cluster, node)
        texts = found.texts(CURRENT) or {}
        head = "".join(line for line in texts["server.properties"].splitlines(True) if line.startswith("#"))
        texts["server.properties"] = head + to_text({**parse(texts["server.properties"]), **values})
        name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        found.stage(name, lambda at, texts=texts: [_written(Path(at, one), text) for one, text in texts.items()])
        found.switch()
        found.prove()
    for node in CONTROLLERS:
        cluster.stop(node)
    for node in CONTROLLERS:
        cluster.supervisorctl("start", cluster.service(node))
    until(lambda: all(cluster.alive(node) for node in CONTROLLERS), "the controllers to run", 60)
    first = epoch(cluster)
    until(lambda: epoch(cluster) > first + 10, "ten epochs more", 60)
    # One that has just started is not judged.
    time.sleep(15)


def _written(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o750)


def epoch(cluster: Cluster) -> int:
    """The epoch that the first controller knows."""
    state = next((cluster.directory / "data").glob("controller1/**/__cluster_metadata-0/quorum-state"))
    return int(json.loads(state.read_text())["leaderEpoch"])


def test_the_same_inventory_takes_back_what_changed_last(cluster: Cluster) -> None:
    before = {node: cluster.start_files(node) for node in CONTROLLERS}
    with producing(cluster.bootstrap_servers, "orders", rate=100) as ledger:
        until(lambda: len(ledger.acknowledged) > 500, "500 acknowledged records", 60)
    whole_with(cluster, FLAPPING)

    began = time.monotonic()
    status = " ".join(cluster.playbook("playbooks/status.yml").output.split())
    print("status:", time.monotonic() - began)
    assert "the metadata quorum has no stable leader" in status
    assert f"property {FETCH}" in status

    began = time.monotonic()
    run = declaring(cluster, FLAPPING).begin()
    read_until(run, "has no stable leader")
    took = time.monotonic() - began
    print("named after:", took)
    rest, _none = run.communicate()
    said = " ".join(rest.split())
    assert run.returncode != 0
    assert "was taken back" in said, rest[-6000:]
    assert f"property {FETCH}: (not set) -> 100" in said, rest[-6000:]
    assert {node: cluster.start_files(node) for node in CONTROLLERS} == before
    stands = epoch(cluster)
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    assert epoch(cluster) == stands
    assert took < 60

    refused = declaring(cluster, FLAPPING).playbook()
    assert refused.rc != 0
    assert "exactly these files before" in " ".join(refused.output.split())


def test_a_corrected_inventory_is_taken_at_once(cluster: Cluster) -> None:
    with producing(cluster.bootstrap_servers, "orders", rate=100) as ledger:
        until(lambda: len(ledger.acknowledged) > 500, "500 acknowledged records", 60)
    whole_with(cluster, {**FLAPPING, FETCH: "90"})
    assert FETCH in cluster.start_files("controller1")
    run = cluster.playbook().ok()
    assert "restart at once, without a gate" in run.output
    assert all(FETCH not in cluster.start_files(node) and cluster.is_proven(node) for node in CONTROLLERS)
    assert generations(cluster, "controller1").name(EARLIER) is not None
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
