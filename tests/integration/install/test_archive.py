"""Real jars: archives from Maven and from an archive of Apache's layout over HTTP, installed, run, and damaged."""

from __future__ import annotations

import concurrent.futures
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release.layout import runnable, tool_names
from tests.support.cluster import BIN, ROOT, Run, environment, parse_recap
from tests.support.forms import short
from tests.support.modules import run_module

FILES = ROOT / "roles/_common/files"
LAUNCHER = FILES / "launcher"
# Of 4.4.0 Maven has neither MirrorMaker nor the shell.
VERSIONS = ["4.4.0", "4.3.1", "3.9.2"]
NO_MAVEN = "/nonexistent/mvn"
PLAY = """
- hosts: localhost
  gather_facts: false
  connection: local
  vars: {ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  tasks:
    - ansible.builtin.import_role: {name: streamops.kafka._common, tasks_from: archive.yml}
      when: _common_installs_release
"""


def lock_of(version: str) -> Path:
    return FILES / f"kafka-{version}.lock.json"


def make(cache: Path, version: str = "4.3.1", check: bool = False, **arguments: Any) -> dict[str, Any]:
    """Call kafka_archive; the source is Maven unless the arguments name another."""
    given = {"version": version, "launcher": str(LAUNCHER), "cache_dir": str(cache), **arguments}
    if given.get("source") != "archive":
        given["lock"] = str(lock_of(version))
    return run_module("streamops.kafka.kafka_archive", given, check=check)


def install(install_dir: Path, cache: Path, check: bool = False, **variables: Any) -> Run:
    """Run the tasks of roles/_common/tasks/archive.yml on this machine as on one that has no release."""
    wanted = {
        "kafka_install_dir": str(install_dir),
        "kafka_cache_dir": str(cache),
        "_common_release_missing": "{{ (_model.release.dir ~ '/MANIFEST.sha256') is not exists }}",
        **variables,
    }
    with tempfile.TemporaryDirectory() as folder:
        inventory, play = Path(folder, "hosts.ini"), Path(folder, "play.yml")
        inventory.write_text("[kafka_brokers]\nlocalhost kafka_node_id=1\n")
        play.write_text(PLAY)
        command = [str(BIN / "ansible-playbook"), "-i", str(inventory), str(play), "-e", json.dumps(wanted)]
        done = subprocess.run(
            [*command, *(["--check"] if check else [])],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
    return Run(done.returncode, done.stdout, parse_recap(done.stdout))


def only_release(install_dir: Path) -> Path:
    (release,) = (install_dir / "releases").iterdir()
    return release


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds the archives of all versions from Maven."""
    directory = tmp_path_factory.mktemp("cache")
    for version in VERSIONS:
        result = make(directory, version)
        assert result["changed"], result
    return directory


@pytest.fixture(scope="module")
def releases(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The installed release of each version."""
    found = {}
    for version in VERSIONS:
        directory = tmp_path_factory.mktemp("opt")
        assert install(directory, cache, kafka_version=version).ok().changed
        found[version] = only_release(directory)
    return found


@pytest.fixture
def damaged(cache: Path, tmp_path: Path) -> Path:
    """A copy of the cache in which one byte of the 4.3.1 archive is flipped, at another place each time."""
    copy = tmp_path / "damaged"
    subprocess.run(["cp", "-r", cache, copy], check=True)
    (archive,) = (copy / "releases").glob("kafka-4.3.1-*.tar")
    with archive.open("r+b") as file:
        at = random.randrange(archive.stat().st_size)
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))
    return copy


# Making and installing


@pytest.mark.parametrize("version", short(VERSIONS, "4.4.0"))
def test_a_filled_cache_needs_neither_maven_nor_change(cache: Path, version: str) -> None:
    result = make(cache, version, maven=NO_MAVEN)
    assert result["changed"] is False, result
    assert hashlib.sha256(Path(result["archive"]).read_bytes()).hexdigest() == result["sha256"]


def test_a_missing_maven_says_how_to_get_it(tmp_path: Path) -> None:
    result = make(tmp_path, maven=NO_MAVEN)
    assert result["failed"]
    assert "apt-get install maven" in result["msg"]
    assert result["failure"]["kind"] == "MavenFailed"
    assert list((tmp_path / "releases").iterdir()) == []


def test_check_mode_makes_nothing_and_says_what_it_would(tmp_path: Path) -> None:
    result = make(tmp_path / "none", check=True, maven=NO_MAVEN)
    assert result["changed"] is True, result
    assert result["release_name"].startswith("kafka-4.3.1-")
    assert not (tmp_path / "none").exists()


@pytest.mark.full
def test_two_runs_at_once_end_in_one_archive(tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda _: make(tmp_path), range(2)))
    assert sorted(result["changed"] for result in results) == [False, True], results
    assert results[0]["sha256"] == results[1]["sha256"]
    assert len(list((tmp_path / "releases").iterdir())) == 2  # the archive and its digest
    assert list((tmp_path / "staging").iterdir()) == []


@pytest.mark.parametrize("version", short(VERSIONS, "4.4.0"))
def test_an_installed_release_is_what_its_manifest_says(releases: dict[str, Path], version: str) -> None:
    release = releases[version]
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "MANIFEST.sha256"], cwd=release, check=True)
    manifest = hashlib.sha256((release / "MANIFEST.sha256").read_bytes()).hexdigest()
    assert release.name == f"kafka-{version}-{manifest[:12]}"
    locked = {jar["file"] for jar in json.loads(lock_of(version).read_text())["jars"]}
    assert {path.name for path in (release / "libs").iterdir()} == locked


def test_check_mode_on_a_fresh_machine_touches_nothing(cache: Path, tmp_path: Path) -> None:
    for source in (cache, tmp_path / "empty"):
        assert install(tmp_path / "opt", source, check=True).ok().changed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_a_machine_that_has_the_release_needs_no_archive(cache: Path, tmp_path: Path) -> None:
    install(tmp_path / "opt", cache).ok()
    again = install(tmp_path / "opt", tmp_path / "empty", kafka_maven_settings="/nonexistent")
    assert again.ok().changed == 0
    assert not (tmp_path / "empty").exists()


def test_an_unpack_that_was_cut_is_done_again(cache: Path, tmp_path: Path) -> None:
    install(tmp_path / "opt", cache).ok()
    release = only_release(tmp_path / "opt")
    (release / "MANIFEST.sha256").unlink()
    (release / "libs/kafka_2.13-4.3.1.jar").write_bytes(b"half")
    assert install(tmp_path / "opt", cache).ok().changed
    subprocess.run(["sha256sum", "--check", "--quiet", "MANIFEST.sha256"], cwd=release, check=True)


@pytest.mark.full
@pytest.mark.parametrize("attempt", range(3))
def test_a_flipped_byte_is_refused_before_unpacking(damaged: Path, tmp_path: Path, attempt: int) -> None:
    run = install(tmp_path / "opt", damaged)
    assert run.rc != 0
    assert "Delete " in run.output
    assert "what is installed is untouched" in run.output
    assert not (tmp_path / "opt").exists()


# The archive that Apache publishes


class Site(ThreadingHTTPServer):
    """Serves C(pages): path to (status, headers, content)."""

    pages: dict[str, tuple[int, dict[str, str], bytes]]

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Pages(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        status, headers, content = self.server.pages.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def apache_archive(libs: Path) -> bytes:
    """An archive of Apache's layout, with the jars of an installed release and what else lies in the real one."""
    other = {
        "LICENSE": b"Apache License",
        "NOTICE": b"Apache Kafka",
        "bin/kafka-topics.sh": b"#!/bin/bash\nexec $(dirname $0)/kafka-run-class.sh ...\n",
        "bin/windows/kafka-topics.bat": b"@echo off\n",
        "config/server.properties": b"node.id=1\n",
        "libs/kafka_2.13-4.3.1-sources.jar": b"not for a class path",
        "libs/kafka_2.13-4.3.1-javadoc.jar": b"not for a class path",
        "libs/kafka-clients-4.3.1-test.jar": b"not for a class path",
        "libs/kafka_2.13-4.3.1.jar.asc": b"a signature",
        "site-docs/kafka_2.13-4.3.1-site-docs.tgz": b"pages",
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
        tar.add(libs, "kafka_2.13-4.3.1/libs")
        for name, content in other.items():
            member = tarfile.TarInfo(f"kafka_2.13-4.3.1/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture(scope="module")
def site(releases: dict[str, Path]) -> Iterator[Site]:
    """A web server on loopback with the archive, and with what servers deliver instead of it."""
    archive = apache_archive(releases["4.3.1"] / "libs")
    server = Site(("127.0.0.1", 0), Pages)
    html = b"<!DOCTYPE html><html><body>Please sign in</body></html>"
    server.pages = {
        "/kafka.tgz": (200, {}, archive),
        "/cut.tgz": (200, {"Content-Length": str(len(archive)), "Connection": "close"}, archive[: len(archive) // 2]),
        "/short.tgz": (200, {}, archive[: len(archive) // 2]),
        "/login.tgz": (200, {"Content-Type": "text/html"}, html),
        "/away.tgz": (302, {"Location": "file:///etc/passwd"}, b""),
    }
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(10)


def sha512_of(site: Site) -> str:
    return hashlib.sha512(site.pages["/kafka.tgz"][2]).hexdigest()


@pytest.mark.full
def test_both_sources_end_in_the_same_class_path_and_launcher(
    site: Site, releases: dict[str, Path], tmp_path: Path
) -> None:
    variables: dict[str, Any] = {
        "kafka_install_source": "archive",
        "kafka_archive_src": site.url("/kafka.tgz"),
        "kafka_archive_sha512": sha512_of(site).upper(),
    }
    cache = tmp_path / "cache"
    assert install(tmp_path / "opt", cache, check=True, **variables).ok().changed
    assert not (tmp_path / "opt").exists()
    assert install(tmp_path / "opt", cache, **variables).ok().changed
    mine, theirs = only_release(tmp_path / "opt"), releases["4.3.1"]
    assert mine.name != theirs.name
    for part in ("libs", "bin", "config"):
        assert sorted(os.listdir(mine / part)) == sorted(os.listdir(theirs / part))
    assert (mine / "MANIFEST.sha256").read_bytes() == (theirs / "MANIFEST.sha256").read_bytes()
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "MANIFEST.sha256"], cwd=mine, check=True)
    assert run_tool(mine, "kafka-topics.sh", "--version").stdout.strip() == "4.3.1"
    variables["kafka_archive_src"] = site.url("/gone.tgz")
    assert install(tmp_path / "other", cache, **variables).ok().changed


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/cut.tgz", "the download is cut: expected"),
        ("/short.tgz", "expected sha512"),
        ("/login.tgz", "it is a web page, not an archive"),
        ("/gone.tgz", "the server answered 404"),
        ("/away.tgz", "the server answered 302"),
    ],
)
def test_what_is_not_the_archive_is_refused_and_nothing_kept(site: Site, tmp_path: Path, path: str, why: str) -> None:
    result = make(tmp_path, source="archive", src=site.url(path), sha512=sha512_of(site))
    assert result["failed"]
    assert why in result["msg"]
    assert "what is installed is untouched" in result["msg"]
    assert [str(found) for found in tmp_path.rglob("*") if found.is_file() and found.suffix != ".lock"] == []


def test_a_wrong_sha512_names_both_and_opens_nothing(site: Site, tmp_path: Path) -> None:
    result = make(tmp_path, source="archive", src=site.url("/kafka.tgz"), sha512="0" * 128)
    assert f"expected sha512 {'0' * 128}, found {sha512_of(site)}" in result["msg"]
    assert result["failure"]["kind"] == "ChecksumMismatch"


def test_a_server_that_is_not_there_is_a_clear_failure(site: Site, tmp_path: Path) -> None:
    result = make(tmp_path, source="archive", src="http://127.0.0.1:1/kafka.tgz", sha512="0" * 128)
    assert result["failed"]
    assert "http://127.0.0.1:1/kafka.tgz" in result["msg"]
    assert "refused" in result["msg"]


# The operator tools


def run_tool(release: Path, tool: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(release / "bin" / tool), *arguments]
    # Java says on stderr that it has read this variable.
    plain = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    return subprocess.run(command, env={**plain, **environment}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", short(VERSIONS, "4.4.0"))
def test_the_class_of_every_tool_is_in_the_jars(releases: dict[str, Path], version: str, tmp_path: Path) -> None:
    classes = set()
    for jar in (releases[version] / "libs").iterdir():
        classes.update(zipfile.ZipFile(jar).namelist())
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin/java"
    java.write_text('#!/bin/sh\nfor word in "$@"; do last=$word; done\necho "$last"\n')
    java.chmod(0o755)
    names = set(runnable(tool_names(LAUNCHER.read_text(), version), version)) - {"kafka-run-class.sh"}
    for name in names:
        main = run_tool(releases[version], name, JAVA_HOME=str(tmp_path)).stdout.strip()
        assert f"{main.replace('.', '/')}.class" in classes, f"{name}: {main}"


@pytest.mark.full
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("kafka-topics.sh", ["--help"], "create, delete, describe, or change a topic"),
        ("kafka-metadata-shell.sh", ["--help"], "usage: kafka-metadata-shell"),
        ("connect-mirror-maker.sh", ["--help"], "usage: connect-mirror-maker"),
    ],
)
def test_a_tool_prints_its_usage(
    releases: dict[str, Path], version: str, tool: str, arguments: list[str], says: str
) -> None:
    if not runnable([tool], version):
        assert not (releases[version] / "bin" / tool).exists()
        return
    done = run_tool(releases[version], tool, *arguments)
    assert says in done.stdout + done.stderr


@pytest.mark.full
@pytest.mark.parametrize("version", VERSIONS)
def test_the_output_of_a_tool_is_only_its_own(releases: dict[str, Path], version: str) -> None:
    done = run_tool(releases[version], "kafka-storage.sh", "random-uuid")
    assert len(done.stdout.strip()) == 22
    assert done.stderr == ""


# Jars for others


def test_the_jars_for_spark_come_once_and_heal(tmp_path: Path) -> None:
    lock = ROOT / "roles/spark_validation/files/spark-kafka-4.2.0.lock.json"
    given = {"lock": str(lock), "dest": str(tmp_path / "jars")}
    names = sorted(jar["file"] for jar in json.loads(lock.read_text())["jars"])
    planned = run_module("streamops.kafka.maven_jars", given, check=True, diff=True)
    assert planned["changed"], planned
    assert planned["fetched"] == names
    assert not (tmp_path / "jars").exists()
    first = run_module("streamops.kafka.maven_jars", given)
    assert first["jars"] == [str(tmp_path / "jars" / name) for name in names]
    assert all(Path(path).is_file() for path in first["jars"])
    assert run_module("streamops.kafka.maven_jars", {**given, "maven": NO_MAVEN})["changed"] is False
    with open(first["jars"][1], "ab") as file:
        file.write(b"!")
    healed = run_module("streamops.kafka.maven_jars", given, diff=True)
    assert healed["fetched"] == [names[1]]
    assert run_module("streamops.kafka.maven_jars", given)["changed"] is False


LOCKS = sorted(path.name for path in ROOT.glob("roles/*/files/*.lock.json"))


@pytest.mark.full
@pytest.mark.parametrize("lock", LOCKS)
def test_the_documented_command_finds_each_lock_file_as_maven_resolves_it(lock: str) -> None:
    (path,) = ROOT.glob(f"roles/*/files/{lock}")
    done = subprocess.run(
        [sys.executable, ROOT / "tools/make_lock", "--check", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
