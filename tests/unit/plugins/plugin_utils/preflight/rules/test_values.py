# SPDX-License-Identifier: GPL-3.0-or-later
"""Every boolean and number of every role and playbook as text: read alike, or refused by name.

The variables come from the argument specs, those inside of lists and dicts too; that roles and playbooks read no other
ones is the business of tests/lint/test_values.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.streamops.kafka.plugins.module_utils._configs.value_bounds import (
    BOUNDS,
    ORDERS,
    Bound,
    Order,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import BROKER_KEYS
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.ensemble_disks import MAX_ID
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.identity import MAX_NODE_ID
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.values import (
    ANSWERS,
    IDS,
    LEAST_DIRECT_MEMORY,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from spark_validation.mirror import config as mirror
from spark_validation.smoke import config as smoke
from tests.lint.test_module_documentation import documentation
from tests.lint.test_roles import ROOT
from tests.support.inventory_data import view
from tests.support.preflight_inventories import CLUSTER, combined, config, ensemble, expect, isolated, node, only, topic

#: By type, text that is clear, with what it means, and values that are not.
CLEAR: dict[str, tuple[tuple[str, Any], ...]] = {
    "bool": (("false", False), ("no", False), ("off", False), ("0", False), ("true", True), ("Yes", True), ("1", True)),
    "int": (("3", 3), (" 3 ", 3)),
    "float": (("0.5", 0.5), ("1", 1.0)),
}
UNCLEAR: dict[str, tuple[Any, ...]] = {
    "bool": ("", "maybe", "falsch", "2", 2, None, []),
    "int": ("", "many", "0x10", "3.5", 3.5, True, None, [], "1_000", "\uff11\uff12"),
    "float": ("", "many", "nan", True, None, [], "1_000", "\uff11\uff12"),
}


def paths(known: dict[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each boolean and number of argument specs: the names that lead to it, and its type."""
    for name, option in known.items():
        if option.get("type") in CLEAR:
            yield (*before, name), option["type"]
        yield from paths(option.get("options") or {}, (*before, name))


ALL = sorted(paths(dict(role_options())))
TOP = [(path[0], kind) for path, kind in ALL if len(path) == 1]


def test_there_are_booleans_and_numbers_of_roles_of_playbooks_and_of_entries() -> None:
    # An empty table would pass every test below.
    assert {"kafka_authorizer", "plan_only", "kafka_grow_partitions", "kafka_replaced_id"} <= {name for name, _ in TOP}
    assert ("kafka_listeners", "port") in [path for path, _kind in ALL]


def rendered_defaults() -> dict[str, Any]:
    """The defaults of all roles with their templates done, but for what looks into the environment."""
    loader, files = DataLoader(), sorted((ROOT / "roles").glob("*/defaults/main.yml"))
    loaded = [loader.load_from_file(str(file), trusted_as_template=True) or {} for file in files]
    given = {name: value for one in loaded for name, value in one.items()}
    asks = {name: "/somewhere" for name, value in given.items() if "lookup(" in str(value)}
    derived = {"inventory_hostname": "kafka1", "ansible_playbook_python": "/python", "_kafka_bootstrap_servers": []}
    templar = Templar(loader, {**given, **asks, **derived})
    return {name: templar.template(value) for name, value in {**given, **asks}.items()}


def test_a_default_that_is_a_boolean_or_a_number_has_a_type_that_is_walked_here() -> None:
    # As raw or str, what -e gives would reach the roles as text.
    clear = {
        name
        for name, value in rendered_defaults().items()
        if isinstance(value, (bool, int, float)) or str(value).lower() in ("true", "false")
    }
    assert clear >= {"kafka_metrics_enabled", "kafka_limit_nofile"}
    assert {name: role_options()[name]["type"] for name in clear} == {name: kind for name, kind in TOP if name in clear}


NUMBERS = [path for path, kind in ALL if kind != "bool"]


def option(path: tuple[str, ...]) -> dict[str, Any]:
    """What the specs say of a boolean or a number."""
    found: dict[str, Any] = dict(role_options()[path[0]])
    return found["options"][path[1]] if path[1:] else found


def edges(path: tuple[str, ...], step: int = 0) -> list[int]:
    """The ends of the range of a number, or what is a step outside of them."""
    least, most = option(path)["range"]
    return [least - step, *([] if most is None else [most + step])]


def test_every_number_has_a_range_and_a_range_is_that_of_a_number() -> None:
    # plugins/plugin_utils/ranges.yml; tools/make_specs puts it into the specs.
    ranges = yaml.safe_load((ROOT / "plugins" / "plugin_utils" / "ranges.yml").read_text())
    assert sorted(ranges) == sorted(".".join(path) for path in NUMBERS)
    assert [name for name, (least, most) in ranges.items() if least is None or (most or least) < least] == []


def test_ranges_of_ids_and_of_jobs_are_those_of_the_rules_and_the_jobs() -> None:
    assert edges(("kafka_node_id",)) == edges(("kafka_replaced_id",)) == [0, MAX_NODE_ID]
    assert edges(("zookeeper_id",)) == [1, MAX_ID]
    jobs = {"spark_validation_records": (smoke.FIELDS, "records"), "mirror_audit_wait": (mirror.FIELDS, "wait_seconds"),
            "spark_validation_live_seconds": (smoke.FIELDS, "live_seconds"),
            "spark_validation_client_timeout": (mirror.FIELDS, "timeout_seconds"),
            "mirror_audit_bucket_seconds": (mirror.FIELDS, "bucket_seconds"),
            "mirror_audit_max_examples": (mirror.FIELDS, "max_examples"),
            "mirror_audit_from_ms": (mirror.FIELDS, "from_ms")}  # fmt: skip
    for name, (fields, field) in jobs.items():
        assert not any(fields[field].rule(value) for value in edges((name,))), name
        assert all(fields[field].rule(value) for value in edges((name,), 1)), name


@pytest.mark.parametrize("path", NUMBERS)
def test_a_default_is_in_its_range(path: tuple[str, ...]) -> None:
    default = option(path).get("default")
    assert default is None or edges(path)[0] <= default <= (option(path)["range"][1] or default)


@pytest.mark.parametrize("name", [path[0] for path in NUMBERS if len(path) == 1 and path[0] not in IDS])
def test_a_number_outside_of_its_range_is_refused_by_name_before_any_host_is_touched(name: str) -> None:
    assert [node("kafka1", 1, **{name: str(value)}).unclear for value in edges((name,))] == [()] * len(edges((name,)))
    for value in (one for far in edges((name,), 1) for one in (far, str(far))):
        (found,) = [one for one in check_inventory(combined(**{name: value})) if one.name == "unclear_value"]
        assert (found.level, found.hosts, found.variable) == ("error", ("kafka1", "kafka2", "kafka3"), name)
        assert (found.what, found.found) == ("the value is out of its range", repr(value))
        assert f"{edges((name,))[0]}" in found.allowed


def test_a_number_outside_of_its_range_is_an_error_where_a_role_reads_it() -> None:
    with pytest.raises(ValueError, match="kafka_limit_nofile is out of its range"):
        view({"b1": {"kafka_limit_nofile": 0}}, brokers=["b1"])["settings"]["kafka_limit_nofile"]


@pytest.mark.parametrize(("name", "kind"), TOP)
def test_clear_text_is_what_it_says(name: str, kind: str) -> None:
    numbers = [(f" {value} ", value) for value in edges((name,))] if kind == "int" else CLEAR[kind]
    for text, value in numbers:
        found = node("kafka1", 1, **{name: text})
        assert (found.variables[name], type(found.variables[name]), found.unclear) == (value, type(value), ())


@pytest.mark.parametrize(("name", "kind"), [one for one in TOP if one[0] not in IDS])
def test_unclear_values_are_refused_by_name_before_any_host_is_touched(name: str, kind: str) -> None:
    for value in UNCLEAR[kind]:
        if name in ANSWERS and value == "":
            continue
        (found,) = [one for one in check_inventory(combined(**{name: value})) if one.name == "unclear_value"]
        assert (found.level, found.hosts, found.variable) == ("error", ("kafka1", "kafka2", "kafka3"), name)
        assert "" not in (found.found, found.allowed, found.fix)


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("value", ["", " "])
def test_no_answer_to_what_a_playbook_asks_is_none(name: str, value: str) -> None:
    assert not [one for one in check_inventory(combined(**{name: value})) if one.variable == name]


@pytest.mark.parametrize("value", UNCLEAR["int"])
def test_unclear_ids_are_refused_once_by_the_rules_on_ids(value: Any) -> None:
    found = [one for one in check_inventory(combined(kafka_node_id=value)) if one.variable in IDS]
    assert {one.name for one in found} == {"bad_node_id"}


@pytest.mark.parametrize(("path", "kind"), [one for one in ALL if len(one[0]) > 1])
def test_inside_of_lists_and_dictionaries_too(path: tuple[str, ...], kind: str) -> None:
    variable, field = path
    others = {"mirror_flows": [{"source": "a", "target": "b", "topics": ["orders"]}], "kafka_oauth": {"issuer": "a"}}
    good = {**CLUSTER, **others}[variable]
    is_list = isinstance(good, list)
    entry = good[0] if is_list else good

    def with_value(value: Any) -> Any:
        changed = {**entry, field: value}
        return [changed, *good[1:]] if is_list else changed

    for text, value in CLEAR[kind]:
        read = node("kafka1", 1, **{variable: with_value(text)}).variables[variable]
        assert (read[0] if is_list else read)[field] == value
    where = f"{variable}[0].{field}" if is_list else f"{variable}.{field}"
    for value in (one for one in UNCLEAR[kind] if one not in (None, "")):
        found = check_inventory(combined(**{variable: with_value(value)}))
        assert [one.variable for one in found if one.name == "unclear_value"] == [where]


#: Entries as a module takes them: its documentation says which of their fields are numbers.
ENTRIES: dict[str, dict[str, Any]] = {
    "topics": topic(),
    "users": {"name": "alice", "password": "a long one of alice"},
    "quotas": {"user": "alice", "producer_byte_rate": 1000},
}
FIELDS = [
    (module, name, field["type"])
    for module in ENTRIES
    for name, field in documentation(module)["options"][module]["suboptions"].items()
    if field.get("type") in CLEAR
]


@pytest.mark.parametrize(("module", "field", "kind"), FIELDS)
def test_numbers_of_entries_may_be_text_and_unclear_ones_are_refused(module: str, field: str, kind: str) -> None:
    variable, entry = f"kafka_{module}", {"ip": "10.0.0.9"} if field.startswith("connection") else ENTRIES[module]
    usable = {"replication_factor": "3", "iterations": "8192", "every_broker_leads": "yes"}.get(field, "6")
    good = check_inventory(combined(**{variable: [{**entry, field: usable}]}))
    assert [one.sentence() for one in good if one.level == "error"] == []
    for value in ("many", "0x10", True) if kind != "bool" else ("many", "0x10", 2):
        found = check_inventory(combined(**{variable: [{**entry, field: value}]}))
        assert [one for one in found if one.level == "error" and one.variable.startswith(variable)], (field, value)


MODES = [combined, isolated, ensemble]
STOPS, SLOWS = "number_that_stops", "number_that_slows"
VERSION = "4.4.0"
#: A number beyond a row that this release refuses itself, so that it never comes to the row.
REFUSED = "bad_property_value"


def rules_of(key: str, value: Any) -> set[str]:
    inventory = combined(kafka_version=VERSION, kafka_config=config(**{key: value}))
    return {one.name for one in check_inventory(inventory)}


def beyond(bound: Bound) -> list[tuple[int, int]]:
    """Each end of a row: the number at it, and the next one beyond."""
    least = [] if bound.least is None else [(bound.least, bound.least - 1)]
    most = [] if bound.most is None else [(bound.most, bound.most + 1)]
    return least + most


ENDS = [(bound, at, past) for bound in BOUNDS for at, past in beyond(bound)]


@pytest.mark.parametrize(("bound", "at", "past"), ENDS, ids=[f"{bound.key}-{past}" for bound, _at, past in ENDS])
def test_each_row_holds_at_its_end_and_not_beyond(bound: Bound, at: int, past: int) -> None:
    assert (STOPS if bound.stops else SLOWS) in rules_of(bound.key, past) or REFUSED in rules_of(bound.key, past)
    assert STOPS not in rules_of(bound.key, at)


@pytest.mark.parametrize("order", ORDERS, ids=[order.key for order in ORDERS])
def test_each_order_holds_at_its_end_and_not_beyond(order: Order) -> None:
    # Numbers that break no row of either key by themselves.
    high = 20_000 if order.other.endswith("timeout.ms") or order.other.endswith("lag.time.max.ms") else 2_000_000_000
    high = 100 if order.key == "num.io.threads" else high
    low = high - order.spare
    for value, breaks in ((low, False), (low + 1, True)):
        inventory = combined(kafka_version=VERSION, kafka_config=config(**{order.key: value, order.other: high}))
        texts = [one.what for one in check_inventory(inventory) if one.name in (STOPS, SLOWS)]
        assert (order.why in texts) == breaks


def test_every_key_of_the_table_is_one_of_kafka_and_its_defaults_are_within() -> None:
    assert {row.key for row in (*BOUNDS, *ORDERS)} <= {key for keys in BROKER_KEYS.values() for key in keys}
    for version, keys in BROKER_KEYS.items():
        for bound in BOUNDS:
            default = keys[bound.key].default if bound.key in keys else None
            assert default is None or bound.holds(int(default)), (version, bound.key)
        for order in ORDERS:
            ends = [keys[key].default for key in (order.key, order.other) if key in keys]
            assert None in ends or len(ends) < 2 or order.holds(*map(int, ends)), (version, order.key)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("controller.quorum.append.linger.ms", 30000),
        ("controller.quorum.election.timeout.ms", "1"),
        ("initial.broker.registration.timeout.ms", 1),
        ("max.connection.creation.rate", "0"),
        ("listener.name.client.max.connection.creation.rate", 0),
        ("message.max.bytes", 100),
        ("replica.fetch.backoff.ms", 300000),
        ("replica.fetch.wait.max.ms", 0),
        ("replica.fetch.min.bytes", "-1"),
        ("num.replica.alter.log.dirs.threads", 0),
        ("broker.heartbeat.interval.ms", "0"),
    ],
)
def test_what_a_cluster_cannot_live_with_is_refused(key: str, value: Any) -> None:
    expect(combined(kafka_config=config(**{key: value})), STOPS, f"kafka_config['{key}']", f"{key} {value}")


def test_a_request_that_no_registration_fits_in_is_refused() -> None:
    inventory = isolated(kraft_controller_config={"socket.request.max.bytes": "2000"})
    expect(inventory, STOPS, "controller1, controller2, controller3", "at least 65536")
    found = check_inventory(combined(kafka_config=config(socket_request_max_bytes=2000, message_max_bytes=1900)))
    assert {one.name for one in found} == {STOPS, "request_below_message"}


def test_a_number_that_slows_is_a_warning_that_may_be_accepted() -> None:
    inventory = combined(kafka_config=config(controller_quorum_append_linger_ms=500))
    expect(inventory, SLOWS, "at most 200", level="warning")
    accepted = [*combined().nodes[0].names("preflight_accept"), SLOWS]
    own = config(controller_quorum_append_linger_ms=500)
    assert check_inventory(combined(kafka_config=own, preflight_accept=accepted)) == []


def test_only_nodes_that_read_a_key_are_judged() -> None:
    quorum = config(controller_quorum_election_timeout_ms=1, initial_broker_registration_timeout_ms=1)
    assert check_inventory(ensemble(kafka_config=quorum)) == []
    inventory = isolated(kafka_config=config(controller_quorum_append_linger_ms=30000))
    assert only(inventory, STOPS).hosts == ("controller1", "controller2", "controller3")


def test_a_release_that_refuses_it_is_left_to_say_so() -> None:
    fetchers = config(num_replica_fetchers=0)
    expect(ensemble(kafka_config=fetchers), STOPS, "num.replica.fetchers 0")
    expect(combined(kafka_config=fetchers), REFUSED, "num.replica.fetchers")


@pytest.mark.parametrize("make", MODES)
def test_direct_memory_has_room_for_requests(make: Callable[..., Inventory]) -> None:
    for size in ("1m", "1024", f"{LEAST_DIRECT_MEMORY - 1}"):
        inventory = make(kafka_jvm_options=[f"-XX:MaxDirectMemorySize={size}"])
        expect(inventory, "small_direct_memory", f"-XX:MaxDirectMemorySize={size}", "32m or more")
    for size in ("32m", "1g", "0"):
        assert check_inventory(make(kafka_jvm_options=["-Xss1m -XX:MaxDirectMemorySize=" + size])) == []
    # Of several the last one holds.
    options = ["-XX:MaxDirectMemorySize=1m", "-XX:MaxDirectMemorySize=64m"]
    assert check_inventory(make(kafka_jvm_options=options)) == []
