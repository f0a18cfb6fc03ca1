"""Archives from small fake jars: made, made again, damaged in every place. Maven is a function that writes files."""

from __future__ import annotations

import hashlib
import io
import os
import random
import shutil
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release import archive, layout
from ansible_collections.streamops.kafka.plugins.module_utils._release import lock as _lock
from ansible_collections.streamops.kafka.plugins.module_utils._release import tar as archive_tar
from ansible_collections.streamops.kafka.plugins.module_utils._release.cache import Cache, default_directory, exclusive
from ansible_collections.streamops.kafka.plugins.module_utils._release.errors import (
    ArchiveError,
    CacheBusy,
    DamagedArchive,
    InvalidInput,
    JarMismatch,
)

LAUNCHER = (Path(__file__).parents[5] / "roles/_common/files/launcher").read_text(encoding="utf-8")
CONTENTS = {f"lib{at}-1.jar": random.Random(at).randbytes(3000 + at) for at in range(5)}
CONTENTS["kafka_2.13-4.3.1.jar"] = b"the core"
MAVEN_NS = "{http://maven.apache.org/POM/4.0.0}"


def lock_of(contents: Mapping[str, bytes]) -> _lock.Lock:
    jars = []
    for name, content in sorted(contents.items()):
        artifact, _, version = name[: -len(".jar")].rpartition("-")
        coordinates = _lock.Artifact("g", artifact, version)
        jars.append(_lock.Jar(coordinates, name, hashlib.sha256(content).hexdigest(), len(content)))
    return _lock.Lock("kafka", "4.3.1", True, (jars[0].artifact,), tuple(jars))


def maven_of(
    contents: Mapping[str, bytes], calls: list[Sequence[str]]
) -> Callable[[Sequence[str]], tuple[int, str, str]]:
    """A Maven whose repository holds these jars: it writes those that the POM names where the POM says."""

    def run(argv: Sequence[str]) -> tuple[int, str, str]:
        calls.append(argv)
        pom = ElementTree.parse(argv[argv.index("-f") + 1])
        target = Path(pom.findtext(f".//{MAVEN_NS}outputDirectory") or "")
        target.mkdir(exist_ok=True)
        for name in pom.iter(f"{MAVEN_NS}destFileName"):
            if str(name.text) in contents:
                (target / str(name.text)).write_bytes(contents[str(name.text)])
        return 0, "", ""

    return run


class World:
    """A cache, a lock and a Maven; C(calls) are the Maven runs."""

    def __init__(self, root: Path, serves: Mapping[str, bytes] = CONTENTS) -> None:
        self.calls: list[Sequence[str]] = []
        self.cache = Cache(str(root / "cache"))
        self.spec = archive.Spec("4.3.1", LAUNCHER, lock_of(CONTENTS), "kafka.lock.json")
        self.means = archive.Means(maven_of(serves, self.calls), lock_timeout=0.3)
        self.path = Path(self.cache.archive(self.spec.name))

    def ensure(self) -> tuple[str, bool]:
        return archive.ensure(self.spec, self.cache, self.means)

    def leftovers(self) -> list[str]:
        return os.listdir(self.cache.staging) + [
            name for name in os.listdir(self.cache.releases) if not name.startswith(self.path.name)
        ]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_an_archive_is_made_once_and_then_found_without_maven(world: World) -> None:
    sha256, made = world.ensure()
    assert made
    assert world.ensure() == (sha256, False)
    assert len(world.calls) == 1
    assert hashlib.sha256(world.path.read_bytes()).hexdigest() == sha256
    assert world.leftovers() == []


def test_the_same_jars_give_the_same_bytes_anywhere(tmp_path: Path) -> None:
    first, second = World(tmp_path / "a"), World(tmp_path / "b")
    first.ensure()
    os.utime(tmp_path)
    previous = os.umask(0o077)
    try:
        second.ensure()
    finally:
        os.umask(previous)
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.path.name == second.path.name


def test_the_layout_is_complete_and_the_manifest_last(world: World, tmp_path: Path) -> None:
    world.ensure()
    with tarfile.open(world.path) as tar:
        names = tar.getnames()
        tar.extractall(tmp_path / "out")
    release = tmp_path / "out" / world.spec.name
    assert names[0] == world.spec.name
    assert names[-1] == f"{world.spec.name}/MANIFEST.sha256"
    assert {path.name for path in (release / "libs").iterdir()} == set(CONTENTS)
    assert os.access(release / "bin/launcher", os.X_OK)
    assert {path.name for path in (release / "bin").iterdir() if path.is_symlink()} == set(world.spec.tools)
    manifest = (release / "MANIFEST.sha256").read_text()
    assert world.spec.name.endswith(hashlib.sha256(manifest.encode()).hexdigest()[:12])
    for path, digest in layout.parse_manifest(manifest).items():
        assert hashlib.sha256((release / path).read_bytes()).hexdigest() == digest


def test_every_wrong_jar_of_maven_is_named_and_nothing_kept(tmp_path: Path) -> None:
    serves = dict(CONTENTS, **{"lib1-1.jar": b"evil"})
    del serves["lib2-1.jar"]
    world = World(tmp_path, serves)
    with pytest.raises(JarMismatch) as caught:
        world.ensure()
    text = str(caught.value)
    assert "2 of 6 jars" in text
    assert f"lib1-1.jar: expected sha256 {hashlib.sha256(CONTENTS['lib1-1.jar']).hexdigest()}" in text
    assert f"found {hashlib.sha256(b'evil').hexdigest()}" in text
    assert "lib2-1.jar" in text
    assert "what is installed is untouched" in text
    assert not world.path.exists()
    assert world.leftovers() == []


@pytest.mark.parametrize("seed", range(25))
def test_one_flipped_bit_anywhere_in_the_archive_is_refused(world: World, seed: int) -> None:
    world.ensure()
    content = bytearray(world.path.read_bytes())
    at = random.Random(seed).randrange(len(content))
    content[at] ^= 1 << (seed % 8)
    world.path.write_bytes(content)
    with pytest.raises(DamagedArchive, match=f"Delete {world.path}"):
        world.ensure()
    assert len(world.calls) == 1


def test_a_flip_with_a_fitting_digest_beside_it_is_still_refused_by_the_lock(world: World) -> None:
    world.ensure()
    content = bytearray(world.path.read_bytes())
    at = content.find(CONTENTS["lib3-1.jar"])
    content[at] ^= 1
    world.path.write_bytes(content)
    Path(archive_tar.sidecar_of(str(world.path))).write_text(f"{hashlib.sha256(content).hexdigest()}  x.tar\n")
    with pytest.raises(DamagedArchive, match=r"not those of the lock file, the first is libs/lib3-1\.jar"):
        world.ensure()


def rewritten(path: Path, change: Callable[[tarfile.TarInfo], tarfile.TarInfo | None], extra: str = "") -> None:
    """Write an archive again with changed members, with a digest beside it that fits."""
    out = io.BytesIO()
    with tarfile.open(path) as old, tarfile.open(fileobj=out, mode="w") as new:
        for member in old:
            content = old.extractfile(member) if member.isreg() else None
            kept = change(member)
            if kept is not None:
                new.addfile(kept, content)
        if extra:
            new.addfile(tarfile.TarInfo(extra), io.BytesIO())
    path.write_bytes(out.getvalue())
    Path(archive_tar.sidecar_of(str(path))).write_text(f"{hashlib.sha256(out.getvalue()).hexdigest()}  x.tar\n")


def pointing_at_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    if member.issym():
        member.linkname = "/bin/sh"
    return member


def dropped(end: str) -> Callable[[tarfile.TarInfo], tarfile.TarInfo | None]:
    return lambda member: None if member.name.endswith(end) else member


@pytest.mark.parametrize(
    ("change", "extra", "why"),
    [
        (lambda member: member, "../../etc/passwd", "comes after the manifest"),
        (pointing_at_root, "", "nor a link to the launcher"),
        (dropped("lib0-1.jar"), "", "not those of the lock file"),
        (dropped("kafka-topics.sh"), "", "its manifest or its tools"),
        (dropped("MANIFEST.sha256"), "", "its manifest or its tools"),
    ],
)
def test_an_archive_made_over_with_a_fitting_digest_is_refused(
    world: World, change: Callable[[tarfile.TarInfo], tarfile.TarInfo | None], extra: str, why: str
) -> None:
    world.ensure()
    rewritten(world.path, change, extra)
    with pytest.raises(DamagedArchive, match=why):
        world.ensure()


@pytest.mark.parametrize("text", ["", "0" * 64 + "  x.tar\n", "nonsense"])
def test_a_changed_digest_file_is_refused(world: World, text: str) -> None:
    world.ensure()
    Path(archive_tar.sidecar_of(str(world.path))).write_text(text)
    with pytest.raises(DamagedArchive, match="Delete "):
        world.ensure()


def test_an_archive_without_its_digest_is_refused_and_made_anew_once_deleted(world: World) -> None:
    world.ensure()
    os.unlink(archive_tar.sidecar_of(str(world.path)))
    with pytest.raises(DamagedArchive, match="cannot be read"):
        world.ensure()
    world.path.unlink()
    assert world.ensure()[1]


def test_a_cut_archive_is_refused(world: World) -> None:
    world.ensure()
    world.path.write_bytes(world.path.read_bytes()[:20_000])
    with pytest.raises(DamagedArchive):
        world.ensure()


def test_a_run_that_meets_another_one_waits_no_longer_than_told(world: World) -> None:
    world.cache.prepare()
    held = os.path.join(world.cache.locks, f"{world.spec.name}.lock")
    with exclusive(held, 1), pytest.raises(CacheBusy, match=f"process {os.getpid()} has held it"):
        world.ensure()
    assert world.ensure()[1]


def test_reading_a_lock_for_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kafka.lock.json"
    path.write_text(_lock.dump(lock_of(CONTENTS)))
    assert archive.read_lock(str(path), "4.3.1") == lock_of(CONTENTS)
    with pytest.raises(InvalidInput, match=r"for version 4\.3\.1, wanted is 3\.9\.2"):
        archive.read_lock(str(path), "3.9.2")
    with pytest.raises(InvalidInput, match="cannot be read"):
        archive.read_lock(str(tmp_path / "none.json"))


def test_jars_are_put_whole_into_a_directory_and_only_what_is_wrong_is_replaced(world: World, tmp_path: Path) -> None:
    lock, dest = lock_of(CONTENTS), tmp_path / "jars" / "spark"
    archive.ensure_jars(lock, "x", str(dest), world.means)
    (dest / "lib0-1.jar").write_bytes(b"damaged")
    (dest / "mine.jar").write_bytes(b"mine")
    untouched = (dest / "lib1-1.jar").stat().st_ino
    assert list(archive.jars_to_fetch(lock, str(dest))) == ["lib0-1.jar"]
    archive.ensure_jars(lock, "x", str(dest), world.means)
    archive.ensure_jars(lock, "x", str(dest), world.means)
    assert len(world.calls) == 2
    assert (dest / "lib0-1.jar").read_bytes() == CONTENTS["lib0-1.jar"]
    assert (dest / "mine.jar").read_bytes() == b"mine"
    assert (dest / "lib1-1.jar").stat().st_ino == untouched
    assert sorted(os.listdir(dest.parent)) == [".spark.lock", "spark"]


def test_wrong_jars_never_reach_the_directory(tmp_path: Path) -> None:
    world = World(tmp_path, dict(CONTENTS, **{"lib1-1.jar": b"evil"}))
    with pytest.raises(JarMismatch):
        archive.ensure_jars(lock_of(CONTENTS), "x", str(tmp_path / "jars"), world.means)
    assert not (tmp_path / "jars").exists()


def test_the_cache_follows_the_xdg_rules() -> None:
    assert default_directory({"HOME": "/home/a"}) == "/home/a/.cache/streamops-kafka"
    assert default_directory({"HOME": "/home/a", "XDG_CACHE_HOME": "/c"}) == "/c/streamops-kafka"


def apache_archive(path: Path, contents: Mapping[str, bytes], top: str = "kafka_2.13-4.3.1") -> str:
    """An archive of Apache's layout with these jars; returns its SHA-512."""
    files = {f"libs/{name}": content for name, content in contents.items()}
    files.update({"bin/kafka-topics.sh": b"#!/bin/sh\n", "config/server.properties": b"", "LICENSE": b"Apache"})
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return hashlib.sha512(path.read_bytes()).hexdigest()


def test_both_sources_end_in_the_same_files(world: World, tmp_path: Path) -> None:
    world.ensure()
    extras = dict.fromkeys(("kafka_2.13-4.3.1-sources.jar", "lib0-1-javadoc.jar", "lib0-1-test.jar", "x.asc"), b"no")
    sha512 = apache_archive(tmp_path / "k.tgz", dict(CONTENTS, **extras))
    spec = archive.Spec("4.3.1", LAUNCHER, src=str(tmp_path / "k.tgz"), sha512=sha512)
    assert archive.ensure(spec, world.cache, world.means)[1]
    assert not archive.ensure(spec, world.cache, world.means)[1]
    assert spec.name != world.spec.name
    unpacked = []
    for one in (spec, world.spec):
        with tarfile.open(world.cache.archive(one.name)) as tar:
            unpacked.append({member.name.partition("/")[2]: (member.mode, member.linkname) for member in tar})
            tar.extractall(tmp_path / "out")
    assert unpacked[0] == unpacked[1]
    manifests = [(tmp_path / "out" / one.name / "MANIFEST.sha256").read_text() for one in (spec, world.spec)]
    assert manifests[0] == manifests[1]
    assert len(world.calls) == 1


def test_an_archive_of_another_version_is_refused(world: World, tmp_path: Path) -> None:
    sha512 = apache_archive(tmp_path / "k.tgz", CONTENTS)
    spec = archive.Spec("3.9.2", LAUNCHER, src=str(tmp_path / "k.tgz"), sha512=sha512)
    with pytest.raises(ArchiveError, match=r"expected Kafka 3\.9\.2 .*found kafka_2\.13-4\.3\.1\.jar"):
        archive.ensure(spec, world.cache, world.means)
    assert os.listdir(world.cache.releases) == []
    assert os.listdir(world.cache.staging) == []


def test_a_damaged_archive_of_the_archive_source_is_refused_too(world: World, tmp_path: Path) -> None:
    sha512 = apache_archive(tmp_path / "k.tgz", CONTENTS)
    spec = archive.Spec("4.3.1", LAUNCHER, src=str(tmp_path / "k.tgz"), sha512=sha512)
    archive.ensure(spec, world.cache, world.means)
    path = Path(world.cache.archive(spec.name))
    rewritten(path, dropped("lib0-1.jar"))
    with pytest.raises(DamagedArchive, match="its manifest"):
        archive.ensure(spec, world.cache, world.means)
    shutil.rmtree(world.cache.releases)
    assert archive.ensure(spec, world.cache, world.means)[1]
