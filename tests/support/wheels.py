"""The file with which pip installs the environment of a service, against what the repository runs with."""

from __future__ import annotations

import re
from pathlib import Path

from tests.lint.test_packaging import pins

#: Wheels of a package that is no pure Python: of CPython 3.11 to 3.14 on two kinds of machine.
_COMPILED = 8


def pinned(lock: Path) -> dict[str, int]:
    """The packages of a lock with their number of wheels; each has the version that the repository runs with."""
    locked = {**pins("requirements.lock"), **pins("requirements-test.lock")}
    found = {}
    for line in lock.read_text().replace("\\\n", "").splitlines():
        if line.startswith("#"):
            continue
        one, *digests = re.split(r"\s+--hash=sha256:", line.strip())
        name, _equals, version = one.partition("==")
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
        assert len(set(digests)) in (1, _COMPILED), name
        assert f"=={version}" == str(locked[name.lower().replace("_", "-")].specifier), name
        found[name] = len(digests)
    return found


def compiled(lock: Path) -> list[str]:
    """The packages of a lock that are no pure Python."""
    return [name for name, wheels in pinned(lock).items() if wheels == _COMPILED]
