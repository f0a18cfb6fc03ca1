"""The files of a certificate: what is wrong with them, and what is taken up when they are renewed."""

from __future__ import annotations

import asyncio
import os
import ssl
from pathlib import Path

import pytest

from page.tls import Renewal, wrong_pair
from tests.support.certificates import Issued, issue


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    certificate, key = issue("one", names=("127.0.0.1",)).write(tmp_path, "page")
    return str(certificate), str(key)


def test_a_pair_that_belongs_together_serves(pair: tuple[str, str]) -> None:
    assert wrong_pair(*pair) == []


def test_each_file_that_is_not_there_is_named(tmp_path: Path, pair: tuple[str, str]) -> None:
    (tmp_path / "pipe").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe")
    assert [one.split(":")[0] for one in wrong_pair(f"{tmp_path}/no", f"{tmp_path}/none")] == [
        f"tls_certificate {tmp_path}/no cannot be read",
        f"tls_key {tmp_path}/none cannot be read",
    ]
    for path, why in ((str(tmp_path), "not a file"), (f"{tmp_path}/pipe", "not a file"), ("\ud800", "no such file")):
        (found,) = wrong_pair(pair[0], path)
        assert found.startswith(f"tls_key {path} cannot be read: ")
        assert why in found


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_right_is_named(pair: tuple[str, str]) -> None:
    Path(pair[1]).chmod(0)
    assert "Permission denied" in wrong_pair(*pair)[0]


def test_what_is_in_the_files_is_judged(pair: tuple[str, str]) -> None:
    certificate, key = (Path(one) for one in pair)
    other = issue("other")
    for content in (other.key_pem(), other.key_pem(b"secret"), b"", b"no PEM"):
        key.write_bytes(content)
        (found,) = wrong_pair(*pair)
        assert found.startswith(f"tls_key {key} does not serve with tls_certificate {certificate}: ")
    for content in (b"", b"no PEM", other.key_pem()):
        certificate.write_bytes(content)
        (found,) = wrong_pair(*pair)
        assert found.startswith(f"tls_certificate {certificate} has no certificate: ")


def shown(context: ssl.SSLContext) -> bytes:
    """The certificate that a context shows to a client, in DER."""
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname, client_context.verify_mode = False, ssl.CERT_NONE
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server)
    server = context.wrap_bio(to_server, to_client, server_side=True)
    for _step in range(4):
        for one in (client, server):
            try:
                one.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return client.getpeercert(binary_form=True) or b""


def write(issued: Issued, pair: tuple[str, str]) -> None:
    """Write as a renewal does: new files, put in the place of the old ones."""
    for path, content in zip(pair, (issued.pem(), issued.key_pem()), strict=True):
        Path(f"{path}.new").write_bytes(content)
        Path(f"{path}.new").replace(path)


def test_a_renewed_pair_is_loaded_and_a_broken_one_is_not(
    pair: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        renewal = Renewal(*pair)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        first = shown(context)
        assert not await renewal.look(context), "nothing has changed"
        second, third = issue("two"), issue("three")
        Path(pair[0]).write_bytes(second.pem())
        for _look in range(3):
            assert not await renewal.look(context), "the key is not there yet"
        assert shown(context) == first
        assert caplog.text.count("does not serve") == 1, "said once"
        Path(pair[1]).write_bytes(second.key_pem())
        assert await renewal.look(context)
        assert ssl.DER_cert_to_PEM_cert(shown(context)).encode() == second.pem()
        Path(pair[1]).unlink()
        assert not await renewal.look(context)
        assert ssl.DER_cert_to_PEM_cert(shown(context)).encode() == second.pem()
        write(third, pair)
        assert await renewal.look(context)
        assert not await renewal.look(context)
        assert ssl.DER_cert_to_PEM_cert(shown(context)).encode() == third.pem()

    asyncio.run(run())
