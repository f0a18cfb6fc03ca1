"""Ids of brokers that lead to the pages of these brokers. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import Cell, Table
from page.shown.names import path
from page.shown.sheet import Link, State


def broker_ids(state: State) -> list[int]:
    """Return the brokers of a cluster: those of its inventory and those that are registered; none before a picture."""
    one = state.cluster
    if not one.get("answered"):
        return []
    wanted = {node["node_id"] for node in one.get("inventory") or () if "broker" in node["roles"]}
    return sorted({*wanted, *(broker["id"] for broker in one.get("brokers") or ())})


def broker_path(state: State, number: int) -> str:
    """Return the address of the page of a broker."""
    return path("clusters", state.name, "brokers", str(number))


def with_brokers(table: Table, state: State, titles: Collection[str]) -> Table:
    """Return a table in which the ids of brokers under these titles lead to their pages."""
    known = {str(number) for number in broker_ids(state)}
    at = {place for place, (title, _form) in enumerate(table.columns) if title in titles}
    return replace(
        table,
        rows=[[_linked(cell, state, known) if place in at else cell for place, cell in enumerate(row)]
              for row in table.rows],
    )  # fmt: skip


def broker_link(state: State, number: int) -> Link | str:
    """Return a broker for people, with its page where it has one."""
    text = f"broker {number}"
    return Link(text, broker_path(state, number)) if number in broker_ids(state) else text


def _linked(cell: Cell, state: State, known: Collection[str]) -> Cell:
    """Return a cell that lists ids, each of which leads to its broker; what is no known id stays as it is."""
    parts: Sequence[str] = cell.text.split(", ")
    if not any(one in known for one in parts):
        return cell
    return replace(cell, links=[(one, broker_path(state, int(one)) if one in known else "") for one in parts])
