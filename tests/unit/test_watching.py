"""What ./quickstart --watch adds stays when a run names the cluster's inventory alone, and its page has the reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible.vars.manager import VariableManager

ROOT = Path(__file__).resolve().parents[2]
LOCAL = [path.parent.name for path in sorted((ROOT / "inventories").glob("local*/hosts.yml"))]


def value(expression: str, directory: Path, *inventories: str, host: str = "") -> object:
    """What a variable is on a host, the first node unless one is named, of these inventories together."""
    loader = DataLoader()
    inventory = InventoryManager(loader, [str(ROOT / "inventories" / name) for name in inventories])
    nodes = inventory.get_hosts("kafka_brokers")
    variables = VariableManager(loader, inventory).get_vars(host=inventory.get_host(host or nodes[0].name))
    templar = Templar(loader=loader, variables={**variables, "kafka_local_dir": str(directory)})
    return templar.template(trust_as_template(f"{{{{ {expression} }}}}"))


@pytest.mark.parametrize("name", LOCAL)
def test_metrics_of_nodes_stay_on_without_the_inventory_that_watches(name: str, tmp_path: Path) -> None:
    assert value("kafka_metrics_enabled", tmp_path, name) is False
    assert value("kafka_metrics_enabled", tmp_path, name, "watching") is True
    # As quickstart keeps the choice.
    assert '\n  [ -z "$watch" ] || touch "$run_dir/watch"\n' in (ROOT / "quickstart").read_text()
    (tmp_path / "watch").touch()
    assert value("kafka_metrics_enabled", tmp_path, name) is True


@pytest.mark.parametrize("name", LOCAL)
def test_the_page_shows_the_reports_of_the_spark_job(name: str, tmp_path: Path) -> None:
    written = value("spark_validation_output_dir", tmp_path, name)
    assert value("kafka_page_reports", tmp_path, name, "watching", host="page") == written == f"{tmp_path}/reports"
