"""Controllers that were whole with files with which no leader lasts: named, corrected at once, or taken back."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse, to_text
from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import CURRENT, EARLIER, Generations
from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, read_until, until
from tests.support.growing import Hosts, three_nodes
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


@pytest.fixture
def combined(tmp_path: Path) -> Iterator[Cluster]:
    """Three nodes that are controllers and brokers."""
    found = three_nodes(tmp_path)
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


def whole_with(cluster: Cluster, controllers: Iterable[str], values: dict[str, str]) -> None:
    """Have all controllers run with these properties, as if each had been whole with them for a moment."""
    before = {node: cluster.pid(node) for node in controllers}
    for node in before:
        found = generations(cluster, node)
        texts = found.texts(CURRENT) or {}
        head = "".join(line for line in texts["server.properties"].splitlines(True) if line.startswith("#"))
        texts["server.properties"] = head + to_text({**parse(texts["server.properties"]), **values})
        name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        found.stage(name, lambda at, texts=texts: [_written(Path(at, one), text) for one, text in texts.items()])
        found.switch()
        found.prove()
    for node in before:
        cluster.kill(node)
    for node, pid in before.items():
        until(lambda node=node, pid=pid: cluster.has_started_again(node, pid), f"{node} to run again", 60)
    first = epoch(cluster, next(iter(before)))
    until(lambda: epoch(cluster, next(iter(before))) > first + 10, "ten epochs more", 120)
    # One that has just started is not judged.
    time.sleep(15)


def _written(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o750)


def epoch(cluster: Cluster, controller: str) -> int:
    """The epoch that a controller knows."""
    state = next((cluster.directory / "data").glob(f"{controller}/**/__cluster_metadata-0/quorum-state"))
    return int(json.loads(state.read_text())["leaderEpoch"])


@contextlib.contextmanager
def losing_nothing(cluster: Cluster) -> Iterator[None]:
    """Write all the time; what was acknowledged can be read at the end."""
    with producing(cluster.bootstrap_servers, "orders", rate=100) as ledger:
        until(lambda: len(ledger.acknowledged) > 500, "500 acknowledged records", 120)
        yield
        known = len(ledger.acknowledged)
        until(lambda: len(ledger.acknowledged) > known + 500, "500 acknowledged records more", 120)
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))


def test_the_same_inventory_takes_back_what_changed_last(cluster: Cluster) -> None:
    before = {node: cluster.start_files(node) for node in CONTROLLERS}
    with losing_nothing(cluster):
        whole_with(cluster, CONTROLLERS, FLAPPING)
        began = time.monotonic()
        status = " ".join(cluster.playbook("playbooks/status.yml").output.split())
        assert time.monotonic() - began < 60
        assert "the metadata quorum has no stable leader" in status
        assert f"property {FETCH}" in status

        began = time.monotonic()
        run = declaring(cluster, FLAPPING).begin()
        read_until(run, "has no stable leader")
        took = time.monotonic() - began
        rest, _none = run.communicate()
        assert took < 60
        said = " ".join(rest.split())
        assert run.returncode != 0
        assert "was taken back" in said, rest[-6000:]
        assert f"property {FETCH}: (not set) -> 100" in said, rest[-6000:]
        assert {node: cluster.start_files(node) for node in CONTROLLERS} == before
        stands = epoch(cluster, "controller1")
    assert epoch(cluster, "controller1") == stands

    refused = declaring(cluster, FLAPPING).playbook()
    assert refused.rc != 0
    assert "exactly these files before" in " ".join(refused.output.split())


def test_a_corrected_inventory_is_taken_at_once(cluster: Cluster) -> None:
    corrected_at_once(cluster, CONTROLLERS)


def test_a_corrected_inventory_is_taken_at_once_by_combined_nodes(combined: Cluster) -> None:
    said = corrected_at_once(combined, combined.nodes)
    assert "It is a broker too" in said


def corrected_at_once(cluster: Cluster, controllers: Iterable[str]) -> str:
    """Let no leader last, and run the inventory from before; return what the run said."""
    with losing_nothing(cluster):
        whole_with(cluster, controllers, {**FLAPPING, FETCH: "90"})
        run = cluster.playbook().ok()
        said = " ".join(run.output.split())
        assert "restart at once, without a gate" in said
        for node in controllers:
            assert FETCH not in cluster.start_files(node)
            assert cluster.is_proven(node)
            assert FETCH in (generations(cluster, node).texts(EARLIER) or {})["server.properties"]
    return said
