"""Who may do what in a cluster: ACLs as a list, SCRAM users and client quotas. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import (
    ON_THE_PAGE,
    Cell,
    Table,
    cut_table,
)
from page.known.details import ACLS, QUOTAS, USERS, Details
from page.shown.ages import as_of, details_of, not_told, times
from page.shown.clusters import rows_for_machines
from page.shown.names import path
from page.shown.sheet import Lister, Sheet, State, downloads, sheet_of
from page.shown.wanted import BY_NAME, LONGEST_SEARCH, Sort, Wanted, listed

Row = Mapping[str, Any]

COLUMNS = ("principal", "host", "permission", "operation", "resource_type", "resource", "pattern_type")
SORTS = tuple(
    Sort(key, title, lambda one, key=key: one[key], falls=False, words=BY_NAME)  # type: ignore[misc]
    for key, title in (
        *(("principal", "Principal"), ("resource", "Resource"), ("resource_type", "Kind of resource")),
        *(("operation", "Operation"), ("permission", "Permission"), ("host", "Host")),
    )
)
_SAID = (
    "What the cluster itself keeps. Super users (super.users of the brokers) may do all without any ACL. Users of "
    "PLAIN and owners of certificates are no SCRAM users: only ACLs and quotas name them. The page asks for no "
    "password and no key."
)
_NO_ACL = (
    "The cluster has no ACL, so only super users may do anything, unless allow.everyone.if.no.acl.found is set on its "
    "brokers."
)
_UNITS = {
    "producer_byte_rate": "bytes a second to each broker",
    "consumer_byte_rate": "bytes a second from each broker",
    "request_percentage": "% of the time of one thread of each broker",
    "controller_mutation_rate": "partitions made or deleted a second",
    "connection_creation_rate": "new connections a second to each broker",
}


def access(state: State, wanted: Wanted) -> Sheet:
    """Return the ACLs that a reader looks for, and all users and quotas."""
    seen = details_of(state)
    # What stands between them is in no search for words, so that none begins in a value and ends in the next.
    rows = [{**one, "name": "\n".join(one.values())} for one in seen.acls or ()]
    found = listed(rows, wanted, SORTS)
    columns = (
        *(("Principal", "name"), ("Host", "name"), ("Permission", "text"), ("Operation", "text")),
        *(("Kind of resource", "text"), ("Resource", "name"), ("Pattern", "text")),
    )
    empty = "No ACL has this in it." if rows else _NO_ACL
    table = Table("ACLs", as_of(state, ACLS), columns, [_acl(one) for one in found.rows], empty)
    own = path("clusters", state.name, "access")
    within = "principal, host, operation or resource"
    lister = Lister("ACLs", own, wanted, found, SORTS, table, downloads(own, wanted), True, within)
    return sheet_of(
        state,
        "access",
        {
            "users": seen.users,
            "acls": None if seen.acls is None else rows_for_machines(found.every, ("name",)),
            "quotas": seen.quotas,
            "as_of": times(state, USERS, ACLS, QUOTAS),
            "not_told": {what: why for what, why in seen.why.items() if what in (USERS, ACLS, QUOTAS)},
        },
        say=_SAID if state.cluster else "",
        lister=lister if seen.acls is not None else None,
        tables=[*_tables(state, seen, own)] if state.cluster else [],
        rows=chain([COLUMNS], ([one[key] for key in COLUMNS] for one in found.every)),
    )


def _tables(state: State, seen: Details, own: str) -> Iterator[Table]:
    if seen.acls is None:
        yield Table("ACLs", "", (), [], not_told(state, ACLS))
    yield _users(state, seen, own)
    yield _quotas(state, seen)


def _acl(one: Row) -> list[Cell]:
    denies = one["permission"] == "deny"
    permission = Cell(one["permission"], "state", "inconclusive") if denies else Cell(one["permission"])
    pattern = "all names that begin so" if one["pattern_type"] == "prefixed" else ""
    if (one["resource"], one["pattern_type"]) == ("*", "literal"):
        pattern = "all names"
    return [
        Cell(one["principal"], "name"),
        Cell(one["host"], "name", more="all hosts" if one["host"] == "*" else ""),
        permission,
        Cell(one["operation"]),
        Cell(one["resource_type"]),
        Cell(one["resource"], "name"),
        Cell(one["pattern_type"], more=pattern),
    ]


def _users(state: State, seen: Details, own: str) -> Table:
    columns = (("User", "name"), ("Mechanism", "text"), ("Iterations", "num"), ("ACLs of its own", "num"))
    own_acls = None if seen.acls is None else Counter(one["principal"] for one in seen.acls)
    rows = []
    for one in seen.users or ():
        principal = f"User:{one['name']}"
        count = "not known" if own_acls is None else f"{own_acls[principal]:,}"
        # A search of a page has an end; a name that is longer has no link to its ACLs.
        is_linked = own_acls is not None and own_acls[principal] and len(principal) <= LONGEST_SEARCH
        link = f"{own}{Wanted(search=principal).query()}" if is_linked else ""
        for mechanism, iterations in one["mechanisms"].items():
            cells = [Cell(one["name"], "name"), Cell(mechanism), Cell(f"{iterations:,}", "num")]
            rows.append([*cells, Cell(count, "num", link=link)])
    note = f"More iterations make a stolen credential harder to try passwords on. {as_of(state, USERS)}".strip()
    empty = not_told(state, USERS) if seen.users is None else "The cluster has no SCRAM user."
    return cut_table("SCRAM users", note, columns, rows, empty, ON_THE_PAGE)


def _quotas(state: State, seen: Details) -> Table:
    columns = (("For", "name"), ("Limit", "name"), ("Value", "num"))
    rows = [
        [_entity(one["entity"]), Cell(limit, "name"), Cell(_number(value), "num", more=_UNITS.get(limit, ""))]
        for one in seen.quotas or ()
        for limit, value in one["limits"].items()
    ]
    note = "Of the quotas that fit a client Kafka takes the one that names it most closely: a user before a client id."
    note = f"{note} {as_of(state, QUOTAS)}".strip()
    empty = not_told(state, QUOTAS) if seen.quotas is None else "The cluster limits no client."
    return cut_table("Client quotas", note, columns, rows, empty, ON_THE_PAGE)


def _entity(parts: Sequence[Row]) -> Cell:
    """Return who a quota is for; a default is told beside a name, which may be any text."""
    named = ", ".join(f"{one['type']} {one['name']}" for one in parts if one["name"] is not None)
    others = " and ".join(f"each other {one['type']}" for one in parts if one["name"] is None)
    return Cell(named or others, "name", more=others if named else "the default" if others else "")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,}"
