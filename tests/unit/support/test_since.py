"""Something proves every room, role, playbook and module, and every integration test proves something."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support import parts, since

ROOT = since.ROOT


def proven_by_entries() -> set[str]:
    """The units that entries of PROVEN stand for."""
    return {unit for entry in since.PROVEN.values() for unit in since._targets(entry)}


def rooms() -> list[str]:
    found = [path for half in ("module_utils", "plugin_utils") for path in (ROOT / "plugins" / half).rglob("*.py")]
    return sorted({f"{path.parent.relative_to(ROOT)}/" for path in found})


def named(pattern: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))


@pytest.mark.parametrize(
    "path", [*rooms(), *named("roles/*/tasks/main.yml"), "roles/_common/tasks/node.yml", *named("playbooks/*.yml")]
)
def test_rooms_roles_and_playbooks_are_proven(path: str) -> None:
    found = since._proof(path)
    assert found
    assert found != since.everything(), (
        f"nothing proves {path}: run it in tests/integration, name a test there after it, or give it an entry in PROVEN"
    )


@pytest.mark.parametrize("path", [*named("plugins/*/*.py"), *named("plugins/*/*.yml")])
def test_a_plugin_is_proven_by_an_integration_test_and_not_by_all(path: str) -> None:
    found = since.work([path])
    assert any(unit.endswith(".py") for unit in found) or path.startswith("plugins/doc_fragments/")
    assert len(found) < len(since.everything()) / 2 or path.startswith("plugins/plugin_utils/specs")


def test_every_unit_of_work_is_proof_of_something() -> None:
    derived = {unit for path in [*rooms(), *named("playbooks/*.yml")] for unit in since._proof(path)}
    assert since.everything() - set(since.ALWAYS) <= proven_by_entries() | derived


def test_no_entry_and_no_proof_is_dead() -> None:
    assert [path for path in since.PROVEN if not (ROOT / path).exists()] == []
    assert proven_by_entries() <= since.everything()
    empty = [word for entry in since.PROVEN.values() for word in entry.split() if not since._targets(word)]
    assert empty == []


def test_a_page_needs_lint_and_unit_only() -> None:
    assert since.work(["docs/development/house.md", "tests/unit/support/test_since.py"]) == {"lint", "unit"}


def test_what_no_entry_names_asks_for_everything() -> None:
    assert since.work(["requirements.txt"]) == since.everything()
    assert since.work(["tests/conftest.py"]) == since.everything()


def test_a_room_is_proven_with_the_rooms_that_import_it() -> None:
    found = since.work(["plugins/module_utils/_topics/api.py"])
    assert {
        f"tests/integration/{one}" for one in ("resources/test_topics.py", "reassign/test_reassignment.py")
    } <= found
    # The module mirror_gaps keeps what it saw in a topic.
    assert "tests/integration/mirror/test_mirror_status.py" in found
    assert not any("/security/" in unit for unit in found)


def test_a_test_asks_for_itself_and_its_support_for_its_users() -> None:
    own = "tests/integration/security/test_firewall.py"
    assert since.work([own]) == {*since.ALWAYS, own}
    assert own in since.work(["tests/support/networks.py"])
    assert since.work(["tests/integration/conftest.py"]) >= set(since._integration())
    assert since.work(["molecule/mirror/tests/any.py"]) == {*since.ALWAYS, "molecule:mirror"}


def test_what_has_long_forms_only_is_left_out_of_a_plain_run() -> None:
    long, short = (f"tests/integration/{one}.py" for one in ("install/test_isolated", "install/test_run_check"))
    assert since.plain(["lint", "publish", long, short]) == {"lint", short}


def test_stages_are_printed_as_the_parts_are() -> None:
    chosen = {"unit", "lint", "tests/integration/a/test_b.py", "molecule:secure"}
    assert since.lines(chosen) == ["lint", "unit", "integration tests/integration/a/test_b.py", "molecule secure"]


def test_minutes_of_a_shared_cluster_are_divided_among_its_files() -> None:
    files = parts.files("combined")
    both = sum(since.minutes(file, {"integration:combined": 30.0}) for file in files)
    assert both == pytest.approx(30.0 / parts.AT_ONCE["integration"])


def test_a_revision_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no-such-revision"):
        since.changed("no-such-revision")


def test_what_no_commit_has_yet_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=tmp_path, check=True)

    monkeypatch.setattr(since, "ROOT", tmp_path)
    git("init", "-q")
    for name in ("kept", "gone"):
        (tmp_path / name).write_text("1")
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "gone").unlink()
    (tmp_path / "new").write_text("1")
    assert since.changed("HEAD") == ["gone", "new"]
