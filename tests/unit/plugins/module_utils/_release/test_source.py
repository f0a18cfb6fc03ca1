from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release import source
from ansible_collections.streamops.kafka.plugins.module_utils._release.errors import (
    ArchiveError,
    ChecksumMismatch,
    DownloadFailed,
)

CONTENT = b"\x1f\x8b an archive"
SHA512 = hashlib.sha512(CONTENT).hexdigest()


class Pages(BaseHTTPRequestHandler):
    """/packed names gzip as its encoding, /private wants a login, /slow sends a byte at a time."""

    def do_GET(self) -> None:
        login = f"Basic {base64.b64encode(b'user:secret').decode()}"
        if self.path == "/private" and self.headers.get("Authorization") != login:
            self.send_response(401, "Unauthorized")
            self.send_header("WWW-Authenticate", 'Basic realm="mirror"')
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        if self.path == "/packed":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        for byte in CONTENT:
            self.wfile.write(bytes([byte]))
            time.sleep(0.3 if self.path.startswith("/slow") else 0)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """Host and port of a web server on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as pages:
        pages.daemon_threads = True
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{pages.server_port}"
        pages.shutdown()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    return made


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (member("/etc/passwd"), "leads out"),
        (member("kafka/../../etc/passwd"), "leads out"),
        (member("kafka/libs/x", tarfile.SYMTYPE, "/etc/passwd"), "link that leads out"),
        (member("kafka/libs/x", tarfile.SYMTYPE, "../../other"), "link that leads out"),
        (member("kafka/libs/x", tarfile.LNKTYPE, "/etc/passwd"), "link that leads out"),
        (member("kafka/libs/x", tarfile.LNKTYPE, "other/file"), "link that leads out"),
        (member("kafka/dev", tarfile.CHRTYPE), "device"),
        (member("kafka/pipe", tarfile.FIFOTYPE), "device or a pipe"),
    ],
)
def test_members_that_leave_the_archive_are_refused(bad: tarfile.TarInfo, why: str, tmp_path: Path) -> None:
    assert why in source.unsafe(bad)
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        tar.addfile(member("kafka/libs/kafka_2.13-4.3.1.jar"))
        tar.addfile(bad)
    with pytest.raises(ArchiveError, match=r"untouched"):
        source.extract_jars(str(tmp_path / "a.tgz"), "a.tgz", "4.3.1", str(tmp_path / "libs"))
    assert set(os.listdir(tmp_path)) == {"a.tgz", "libs"}


@pytest.mark.parametrize(
    "good",
    [
        member("kafka"),
        member("kafka/libs/a.jar"),
        member("kafka/bin/x", tarfile.SYMTYPE, "launcher"),
        member("kafka/bin/x", tarfile.SYMTYPE, "../libs/a.jar"),
        member("kafka/bin/x", tarfile.LNKTYPE, "kafka/libs/a.jar"),
        member("kafka/libs", tarfile.DIRTYPE),
    ],
)
def test_members_that_stay_inside_are_taken(good: tarfile.TarInfo) -> None:
    assert source.unsafe(good) == ""


def test_a_jar_that_is_a_link_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        tar.addfile(member("kafka/libs/a.jar", tarfile.SYMTYPE, "../bin/a.jar"))
    with pytest.raises(ArchiveError, match="is not a plain file"):
        source.extract_jars(str(tmp_path / "a.tgz"), "a.tgz", "4.3.1", str(tmp_path / "libs"))


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8b\x08 broken"])
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.tgz").write_bytes(content)
    with pytest.raises(ArchiveError, match=r"cannot be read as a gzip tar file|found no kafka_2"):
        source.extract_jars(str(tmp_path / "a.tgz"), "a.tgz", "4.3.1", str(tmp_path / "libs"))


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"\n<!DOCTYPE html><html>", "a web page"),
        (b"<HTML>", "a web page"),
        (b"PK\x03", "not a gzip file"),
        (b"", "0 bytes"),
    ],
)
def test_a_wrong_file_is_told_by_its_content(content: bytes, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    path.write_bytes(content)
    with pytest.raises(ChecksumMismatch, match=hint) as caught:
        source.local_copy(str(path), "0" * 128, str(tmp_path), 1)
    assert caught.value.failure["found"] == hashlib.sha512(content).hexdigest()
    assert path.exists()


def test_a_local_archive_is_used_where_it_lies(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    path.write_bytes(b"x")
    assert source.local_copy(str(path), hashlib.sha512(b"x").hexdigest(), str(tmp_path), 1) == str(path)


def test_a_local_archive_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="no such file on the control node"):
        source.local_copy(str(tmp_path / "none.tgz"), "0" * 128, str(tmp_path), 1)


def test_secrets_in_a_url_are_not_shown() -> None:
    assert source.shown("https://user:secret@host:8443/a/b.tgz?token=secret") == "https://host:8443/a/b.tgz"
    assert source.shown("/srv/a.tgz") == "/srv/a.tgz"


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_MAX_BYTES", 1000)
    big = member("kafka/libs/kafka_2.13-4.3.1.jar")
    big.size = 2000
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        tar.addfile(big, io.BytesIO(bytes(2000)))
    with pytest.raises(ArchiveError, match="more than any Kafka takes"):
        source.extract_jars(str(tmp_path / "a.tgz"), "a.tgz", "4.3.1", str(tmp_path / "libs"))


@pytest.mark.parametrize("path", ["packed", "private"])
def test_a_url_is_fetched_once_as_it_was_published(path: str, server: str, tmp_path: Path) -> None:
    fetched = source.local_copy(f"http://user:secret@{server}/{path}", SHA512, str(tmp_path), 10)
    assert Path(fetched).read_bytes() == CONTENT
    assert source.local_copy("http://127.0.0.1:1/gone", SHA512, str(tmp_path), 10) == fetched


@pytest.mark.parametrize(
    ("url", "sha512", "why"),
    [
        ("http://user:wrong@{}/private", SHA512, "the server answered 401 Unauthorized"),
        ("http://user:secret@{}/private", "0" * 128, "expected sha512 000"),
        ("http://user:secret@{}/slow?token=secret", SHA512, "the download passed its time limit"),
        ("http://user:secret@127.0.0.1:1/{}", SHA512, "refused"),
    ],
)
def test_what_goes_wrong_leaves_no_file_and_tells_no_secret(
    url: str, sha512: str, why: str, server: str, tmp_path: Path
) -> None:
    with pytest.raises((DownloadFailed, ChecksumMismatch), match=why) as caught:
        source.local_copy(url.format(server), sha512, str(tmp_path), 1)
    assert os.listdir(tmp_path) == []
    assert "secret" not in str(caught.value.failure)
    assert "wrong" not in str(caught.value)
