"""The lines for nginx in docs/page.md: nginx takes them, and they say what the page reads."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ansible_collections.streamops.kafka.plugins.module_utils._core.service_settings import PAGE_NUMBERS
from page.hosts import is_served, names_served

PAGE = Path(__file__).resolve().parents[3] / "docs" / "page.md"
(LINES,) = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(), re.DOTALL)
BARE = re.sub(r"#.*", "", LINES)
#: Directives of nginx and the blocks that take them, by its documentation (https://nginx.org/en/docs/dirindex.html).
CONTEXTS = {
    "limit_conn_zone": "http",
    "limit_req_zone": "http",
    "server": "http",
    "listen": "server",
    "location": "server location",
    "ssl_certificate": "http server",
    "ssl_certificate_key": "http server",
    "client_header_timeout": "http server",
    "limit_conn": "http server location",
    "limit_req": "http server location",
    "proxy_set_header": "http server location",
    "proxy_pass": "location",
}


def directives() -> list[tuple[str, str, str]]:
    """Return the directives of the lines: the block that each is in, its name, and what follows it."""
    found, blocks = [], ["http"]
    for text, end in re.findall(r"([^;{}]*)([;{}])", BARE):
        name, _blank, values = text.strip().partition(" ")
        if end == "}":
            blocks.pop()
            continue
        found.append((blocks[-1], name, values.strip()))
        if end == "{":
            blocks.append(name)
    assert blocks == ["http"], "a brace is missing"
    return found


def test_each_directive_exists_in_nginx_and_stands_where_nginx_takes_it() -> None:
    for block, name, values in directives():
        assert block in CONTEXTS[name].split(), (block, name)
        assert values or name == "server"


def test_limits_name_zones_that_are_there() -> None:
    zones = {name: dict(re.findall(rf"{name}_zone \S+ (zone)=(\w+):", BARE)) for name in ("limit_conn", "limit_req")}
    assert f"limit_conn {zones['limit_conn']['zone']} " in BARE
    assert f"limit_req zone={zones['limit_req']['zone']} " in BARE


def test_they_lead_to_the_page_and_name_the_client_in_the_header_that_it_reads() -> None:
    default, _least, _most = PAGE_NUMBERS["port"]
    assert f"proxy_pass http://127.0.0.1:{default};" in BARE
    headers = dict(values.split() for _block, name, values in directives() if name == "proxy_set_header")
    # It replaces what a client sends: the page believes all of this header.
    assert headers == {"X-Forwarded-For": "$remote_addr"}
    assert _client_behind_proxy(next(iter(headers))) == "192.0.2.7"
    assert _client_behind_proxy("X-Real-IP") == "127.0.0.1"
    # What nginx sends as Host where no proxy_set_header says another one, to a page as it is by default.
    assert is_served(f"127.0.0.1:{default}".encode(), names_served("127.0.0.1", has_login=False))
    assert "kafka_page_trusted_proxies: [127.0.0.1]" in PAGE.read_text().split("```nginx")[0].splitlines()[-3]


def _client_behind_proxy(header: str) -> str:
    """Return the address that the page's server takes for the client, of a trusted proxy that sends this header."""
    seen: list[str] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope["client"][0])

    # Of the server of page/serve.py, by forwarded_allow_ips.
    proxied = ProxyHeadersMiddleware(app, trusted_hosts=["127.0.0.1"])
    headers = [(header.lower().encode(), b"192.0.2.7")]
    scope: Any = {"type": "http", "client": ("127.0.0.1", 1), "headers": headers}
    asyncio.run(proxied(scope, None, None))  # type: ignore[arg-type]
    return seen[0]


def test_nginx_takes_them(tmp_path: Path) -> None:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")
    if not nginx:
        pytest.skip("no nginx is installed here (Debian package nginx-light): it did not check docs/page.md")
    key, certificate = tmp_path / "page.key", tmp_path / "page.pem"
    subject = ["-subj", "/CN=page.example.com", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject], check=True, capture_output=True
    )
    lines = LINES.replace("/etc/ssl/page.pem", str(certificate)).replace("/etc/ssl/page.key", str(key))
    # A port of this test, since the check opens it.
    lines = lines.replace("listen 443 ssl", f"listen unix:{tmp_path}/socket ssl")
    assert lines.count(str(tmp_path)) == 3
    written = tmp_path / "nginx.conf"
    written.write_text(f"pid {tmp_path}/pid;\nerror_log stderr;\nevents {{ }}\nhttp {{\naccess_log off;\n{lines}\n}}\n")
    command = [nginx, "-t", "-p", str(tmp_path), "-c", str(written)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
