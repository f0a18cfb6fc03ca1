"""Which playbooks AWX shows of a project: its own rule (awx/main/utils/ansible.py), by content and folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_LINE = re.compile(r"^\s*?-?\s*?(?:hosts|include|import_playbook):\s*?.*?$", re.M)
_HIDDEN = {"roles", "tasks", "group_vars", "host_vars"}


def shown(root: Path, files: Iterable[str]) -> list[str]:
    """Those of these files of a project that AWX offers for a job template, sorted; paths are relative to root."""
    return sorted(name for name in files if _is_shown(root, name))


def _is_shown(root: Path, name: str) -> bool:
    path = Path(name)
    folders = path.parts[:-1]
    if path.suffix not in (".yml", ".yaml") or _HIDDEN & set(folders) or any(one.startswith(".") for one in folders):
        return False
    text = (root / path).read_text(errors="ignore")
    return text.startswith("$ANSIBLE_VAULT;") or _LINE.search(text) is not None
