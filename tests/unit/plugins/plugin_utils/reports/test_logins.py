# SPDX-License-Identifier: GPL-3.0-or-later
"""By which mechanisms clients log in, as a status says it of all brokers."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.logins import login_lines, login_rows

SCRAM, TOKENS = "SCRAM-SHA-512", "OAUTHBEARER"
AT = 1_790_000_000


def look(*logins: tuple[str, int, int], mechanisms: tuple[str, ...] = (TOKENS, SCRAM)) -> dict[str, Any]:
    """What node_info returned; each login is a mechanism, how often, and the last second after AT."""
    listed = [
        {"listener": "CLIENT", "mechanism": name, "count": count, "first": AT, "last": AT + last}
        for name, count, last in logins
    ]
    return {"mechanisms": {"client": [*mechanisms]}, "logins": listed}


def test_a_line_for_each_mechanism_over_all_brokers() -> None:
    looks = {"kafka1": look((TOKENS, 7, 60)), "kafka2": look((TOKENS, 5, 90), (SCRAM, 2, 30))}
    # This broker restarted later, and counts from then on.
    for entry in looks["kafka2"]["logins"]:
        entry["first"] = AT + 20
    assert login_lines(login_rows(looks)) == [
        "Logins       CLIENT by OAUTHBEARER: 12, the last at 2026-09-21 14:14:50 UTC "
        "(kafka1 7 since 2026-09-21 14:13:20 UTC, kafka2 5 since 2026-09-21 14:13:40 UTC)",
        "Logins       CLIENT by SCRAM-SHA-512: 2, the last at 2026-09-21 14:13:50 UTC "
        "(kafka2 2 since 2026-09-21 14:13:40 UTC)",
    ]


def test_none_is_said_of_brokers_that_count_alone() -> None:
    silent = {**look(), "logins": None}
    lines = login_lines(login_rows({"kafka1": look((TOKENS, 7, 60)), "kafka2": silent}))
    assert lines[1] == "Logins       CLIENT by SCRAM-SHA-512: none since 2026-09-21 14:13:20 UTC; not known on kafka2"
    lines = login_lines(login_rows({"kafka1": look(), "kafka2": look((TOKENS, 7, 60))}))
    assert lines[1] == "Logins       CLIENT by SCRAM-SHA-512: none counted yet", "of kafka1 nothing is known"
    assert login_lines(login_rows({"kafka2": silent}))[0].endswith(": not known on kafka2")


def test_where_clients_have_no_choice_nothing_is_said() -> None:
    assert login_rows({"kafka1": look(mechanisms=(SCRAM,)), "kafka2": {}, "kafka3": {"unreachable": True}}) == []


def test_a_row_has_what_machines_read() -> None:
    (tokens, scram) = login_rows({"kafka1": look((SCRAM, 2, 30))})
    assert tokens == {
        "host": "kafka1",
        "listener": "CLIENT",
        "mechanism": TOKENS,
        "count": 0,
        "since": AT,
        "last": None,
    }
    assert (scram["count"], scram["since"], scram["last"]) == (2, AT, AT + 30)
