"""What is refused: counted by reason, and said once with all that came since."""

from __future__ import annotations

import logging

import pytest

from page.exposition import exposition
from page.refusals import BAD_REQUEST, REASONS, TLS, TOO_MANY, Refusals, is_told


def test_each_reason_has_a_series_from_the_start() -> None:
    found = Refusals()
    text = exposition([found.families()])
    assert "# TYPE streamops_page_refused_connections_total counter\n" in text
    assert [line.split('"')[1] for line in text.splitlines() if not line.startswith("#")] == [*REASONS]
    found.count(TLS)
    found.count(TLS)
    assert 'streamops_page_refused_connections_total{reason="tls"} 2\n' in exposition([found.families()])


def test_a_line_has_what_came_since_the_line_before() -> None:
    found = Refusals()
    assert found.line() == ""
    for _one in range(1200):
        found.count(TOO_MANY)
    found.count(BAD_REQUEST)
    assert found.line() == "1,200 (more than are served at once), 1 (no valid HTTP)"
    assert found.line() == ""
    found.count(TLS)
    assert found.line() == "1 (no TLS handshake that the service takes)"
    assert found.total[TOO_MANY] == 1200, "the metric only rises"


@pytest.mark.parametrize(
    ("said", "told"),
    [("Invalid HTTP request received.", False), ("Exception in ASGI application\n", True), ("Started", True)],
)
def test_of_the_lines_of_uvicorn_only_refusals_are_left_out(said: str, told: bool) -> None:
    assert is_told(logging.makeLogRecord({"msg": said})) is told
