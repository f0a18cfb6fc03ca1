# SPDX-License-Identifier: GPL-3.0-or-later
"""Keytabs that were copied go where the model names them no more, after what read them was started anew."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import Generations
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.cluster import ROOT
from tests.support.inventory_data import DataReader

ROLES = ROOT / "roles"


def tasks_of(path: str) -> list[dict[str, Any]]:
    """Return the tasks of a file of a role."""
    return list(yaml.safe_load((ROLES / path).read_text()))


def _removed_copies(there: list[str], **kept: Any) -> list[str]:
    """Return which copied keytabs are removed; find is done as its module does."""
    find, look, remove = tasks_of("_common/tasks/old_keytabs.yml")
    kept = {"directory": "/etc/kafka/mirror-b", "names": "*.keytab", **kept}
    known = {"_common_copied_keytabs": kept, find["register"]: {"files": [{"path": path} for path in there]}}
    templar = Templar(loader=DataLoader(), variables=known)
    options = find["ansible.builtin.find"]
    assert templar.template(trust_as_template(options["paths"])) == kept["directory"]
    assert templar.template(trust_as_template(options["patterns"])) == kept["names"]
    options, results = look["ansible.builtin.find"], []
    assert options["recurse"]
    for item in templar.template(trust_as_template(look["loop"])):
        asked = Templar(loader=DataLoader(), variables={**known, "item": item})
        below, pattern = (asked.template(trust_as_template(options[name])) for name in ("paths", "contains"))
        files = Path(below).rglob(options["patterns"]) if below else ()
        # As the module find: it follows no link, and compares each line from its start.
        texts = [path.read_text() for path in files if not path.is_symlink()]
        matched = sum(any(re.match(pattern, line) for line in text.splitlines()) for text in texts)
        results.append({"item": item, "matched": matched})
    templar = Templar(loader=DataLoader(), variables={**known, look["register"]: {"results": results}})
    return list(templar.template(trust_as_template(remove["loop"])))


def test_only_keytabs_that_are_named_no_more_are_removed() -> None:
    there = ["/m/a.keytab", "/m/gone.keytab"]
    assert _removed_copies(there, keytabs=[{"file": "/k", "path": "/m/a.keytab"}]) == ["/m/gone.keytab"]


@pytest.mark.parametrize("states", [("named",), ("named", "plain"), ("plain", "staged named")])
def test_a_keytab_of_the_shared_directory_stays_while_start_files_of_any_mirror_of_the_machine_name_it(
    tmp_path: Path, states: tuple[str, ...]
) -> None:
    shared = tmp_path / "mirror-dc_b"
    shared.mkdir()
    own, old = str(shared / "own.keytab"), str(shared / "dc_a.keytab")
    # What refers to the shared secrets by name, as our own properties do, names no keytab.
    texts = {"plain": f"a.sasl.jaas.config=${{file:{shared}/secrets.properties:dc_a.sasl.jaas.config}}"}
    texts["named"] = f'{texts["plain"]}\nsource.x.sasl.jaas.config=Krb5LoginModule required keyTab="{own}";'
    for mirror, its in (("mirror1", ("plain",)), ("mirror2", states)):
        (tmp_path / mirror).mkdir()
        generations = Generations(str(tmp_path / mirror))
        for number, state in enumerate(its):
            generations.stage(str(number), partial(_write, texts[state.removeprefix("staged ")]))
            if not state.startswith("staged"):
                generations.switch()
                generations.prove()
    assert _removed_copies([own, old], keytabs=[], named_in=str(tmp_path)) == [old]
    (task,) = tasks_of("mirror_maker/tasks/old_keytabs.yml")
    templar = Templar(loader=DataLoader(), variables={"_model": {"mirroring": {"shared_dir": str(shared)}}})
    named_in = task["vars"]["_common_copied_keytabs"]["named_in"]
    assert templar.template(trust_as_template(named_in)) == str(tmp_path)


def test_mirrors_and_services_remove_theirs_after_their_start() -> None:
    for path in ("mirror_maker/tasks/old_keytabs.yml", "_common/tasks/python/old.yml"):
        (task,) = (task for task in tasks_of(path) if "_common_copied_keytabs" in task.get("vars", {}))
        assert set(task["vars"]["_common_copied_keytabs"]) - {"named_in"} == {"directory", "names", "keytabs"}, path
    for role, variables in (("mirror_maker", "_mirror_maker_canary_service"), ("kafka_page", "_kafka_page_service")):
        service = yaml.safe_load((ROLES / role / "vars" / "main.yml").read_text())[variables]
        assert {"config", "keytabs"} <= set(service)


def test_nothing_that_a_node_read_is_removed_before_it_has_proven_other_files() -> None:
    names = [task["name"] for task in tasks_of("_common/tasks/roll/proven.yml")]
    assert names.index("Proven | Keep the start files") < names.index(
        "Proven | Remove key stores, their passwords and a keytab that no start files name"
    )


@pytest.mark.parametrize(
    ("kind", "old_keytab", "leftovers"),
    [
        ("kafka", "/k/kafka.keytab", ["/k/metrics-1-keystore.p12", "/k/kafka.keytab"]),
        ("kafka", "", ["/k/metrics-1-keystore.p12"]),
        ("mirror", "/k/kafka.keytab", ["/k/metrics-1-keystore.p12"]),
    ],
)
def test_a_node_looks_at_stores_of_the_metrics_and_at_a_keytab_that_it_does_not_read(
    kind: str, old_keytab: str, leftovers: list[str]
) -> None:
    remove = tasks_of("_common/tasks/roll/proven.yml")[-1]
    known = {
        "_common_kind": kind,
        "_model": {"old_keytab": old_keytab},
        "__common_stores": {"files": [{"path": "/k/metrics-1-keystore.p12"}]},
    }
    templar = Templar(loader=DataLoader(), variables=known)
    assert templar.template(trust_as_template(remove["vars"]["_common_leftovers"])) == leftovers


def _write(text: str, at: str) -> None:
    Path(at, "server.properties").write_text(text)


@pytest.mark.parametrize(
    ("logins", "stays"),
    [
        (("GSSAPI", "SCRAM-SHA-512"), True),
        (("PLAIN", "SCRAM-SHA-512"), False),
        (("SCRAM-SHA-512",), False),
        # Properties of the operator's own name a keytab that he has put there.
        (("PLAIN", "GSSAPI"), True),
    ],
)
def test_a_keytab_stays_while_start_files_name_it_that_a_node_has_or_may_go_back_to(
    tmp_path: Path, logins: tuple[str, ...], stays: bool
) -> None:
    config, keytab = tmp_path / "a", tmp_path / "a" / "kafka.keytab"
    generations = Generations(str(config))
    config.mkdir()
    for login in logins:
        ticket = f'Krb5LoginModule required keyTab="{keytab}";'
        generations.stage(login, partial(_write, f"jaas.config={ticket if login == 'GSSAPI' else login}"))
        generations.switch()
        generations.prove()
    assert _removed(config, [str(keytab)]) == ([] if stays else [str(keytab)])


def test_a_store_of_the_metrics_stays_while_a_node_may_go_back_to_start_files_that_name_it(tmp_path: Path) -> None:
    config = tmp_path / "a"
    digests = ("1", "2", "3")
    stores = [str(config / f"metrics-{digest}-keystore.p12") for digest in digests]
    generations = Generations(str(config))
    config.mkdir()
    for digest, store in zip(digests, stores, strict=True):
        generations.stage(digest, partial(_write, f"keyStore:\n  filename: {store}\n"))
        generations.switch()
        generations.prove()
    assert _removed(config, stores) == stores[:1]


def test_a_store_stays_that_files_name_which_wait_for_the_turn_of_the_node(tmp_path: Path) -> None:
    config = tmp_path / "a"
    stores = [str(config / f"rest-{digest}-keystore.p12") for digest in ("1", "2")]
    generations = Generations(str(config))
    config.mkdir()
    generations.stage("1", partial(_write, f"listeners.https.ssl.keystore.location={stores[0]}\n"))
    generations.switch()
    generations.stage("2", partial(_write, f"listeners.https.ssl.keystore.location={stores[1]}\n"))
    generations.prove()
    assert _removed(config, stores) == []


def _removed(config: Path, leftovers: list[str]) -> list[str]:
    """Return which of these files the tasks remove."""
    look, remove = tasks_of("_common/tasks/roll/unnamed.yml")
    known = {"_model": {"paths": {"config": str(config)}}, "_common_leftovers": leftovers}
    results = []
    for item in leftovers:
        templar = Templar(loader=DataLoader(), variables={**known, "item": item})
        find = look["ansible.builtin.find"]
        *places, pattern = (templar.template(trust_as_template(text)) for text in (*find["paths"], find["contains"]))
        files = [path.read_text() for place in places for path in Path(place).glob("*")]
        # As the module find compares: each line from its start.
        named = sum(any(re.match(pattern, line) for line in text.splitlines()) for text in files)
        results.append({"item": item, "matched": named})
    templar = Templar(loader=DataLoader(), variables={**known, look["register"]: {"results": results}})
    return list(templar.template(trust_as_template(remove["loop"])))


def test_mirrors_of_one_machine_and_target_wait_for_each_other() -> None:
    cluster_of = {"a1": "dc_a", "b1": "dc_b", "m1": "dc_b", "m2": "dc_b", "m3": "dc_b", "other": "dc_a"}
    machine_of = {"m1": "shared", "m2": "shared", "other": "shared"}
    hosts = {
        name: {"kafka_cluster_name": cluster, "kafka_node_id": 1, "ansible_host": machine_of.get(name, name)}
        for name, cluster in cluster_of.items()
    }
    groups = {"kafka_brokers": ["a1", "b1"], "mirror_makers": ["m1", "m2", "m3", "other"]}
    outside = {}
    for limit in (("m1",), ("m1", "m2"), ("m3",)):
        reader = DataReader(hosts, groups, limit[0])
        reader.play_hosts = limit
        outside[limit] = View(reader)["mirroring"]["outside"]
    assert outside == {("m1",): ["m2"], ("m1", "m2"): [], ("m3",): []}


def test_no_keytab_goes_that_a_mirror_outside_of_the_run_may_read() -> None:
    (task,) = (task for task in tasks_of("mirror_maker/tasks/old_keytabs.yml"))
    assert "_model.mirroring.outside == []" in task["when"]
