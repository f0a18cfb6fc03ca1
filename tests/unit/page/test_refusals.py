"""What is refused: counted by reason, and said once with all that came since."""

from __future__ import annotations

import logging

import pytest

from page.core.exposition import exposition
from page.refusals import BAD_REQUEST, REASONS, TLS, TOO_MANY, Refusals, Seldom, is_told


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
    assert found.line() == "1 (TLS handshake failed)"
    assert found.total[TOO_MANY] == 1200, "the metric only rises"


@pytest.mark.parametrize(
    ("said", "told"),
    [("Invalid HTTP request received.", False), ("Exception in ASGI application\n", True), ("Started", True)],
)
def test_of_the_lines_of_uvicorn_only_refusals_are_left_out(said: str, told: bool) -> None:
    assert is_told(logging.makeLogRecord({"msg": said})) is told


def test_a_lack_of_file_handles_is_told_once_a_minute() -> None:
    def line(text: str, at: float) -> logging.LogRecord:
        made = logging.LogRecord("asyncio", logging.ERROR, "", 0, text, None, None)
        made.created = at
        return made

    seldom, lack = Seldom(), "socket.accept() out of system resource\nsocket: ..."
    told = [seldom.filter(line(lack, at)) for at in (1000.0, 1000.5, 1059.0, 1060.0, 1061.0)]
    assert told == [True, False, False, True, False]
    assert seldom.filter(line("Task exception was never retrieved", 1000.6))
