"""status.yml tells of mirrors whose source is down: what mirrors must know of it is said before its hosts leave."""

from __future__ import annotations

import yaml

from tests.support.cluster import ROOT


def test_clusters_say_how_mirrors_reach_them_before_one_that_is_down_ends_its_part_of_the_run() -> None:
    plays = yaml.safe_load((ROOT / "playbooks" / "status.yml").read_text())
    names = [play["name"] for play in plays]
    assert names.index("Publish cluster endpoints for mirrors") < names.index("Look at each cluster")
    assert names.index("Look at each cluster") < names.index("Look at each mirror")
