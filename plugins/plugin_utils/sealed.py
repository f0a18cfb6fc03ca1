# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Values that ansible-vault has sealed and that no password of the run opens."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.parsing.vault import EncryptedString

from ..module_utils._core.names import capped

FIX = (
    "give the password of the vault: in AWX attach the vault credential to the job template, elsewhere add "
    "--ask-vault-pass or --vault-password-file"
)
#: How Ansible says that it has no password for a value, or another one (ansible-core 2.19, parsing/vault).
_REASONS = re.compile(r"undecryptable|no vault secrets|Decryption failed")
#: How many variables and how many hosts a message names.
_SHOWN = 5


def is_sealed(reason: str) -> bool:
    """Tell whether this is why Ansible could not open a sealed value."""
    return bool(_REASONS.search(reason))


def unopened(hostvars: Any, hosts: Iterable[str], names: Collection[str]) -> list[str]:
    """Return a refusal where a variable needs a sealed value that does not open, empty where all open.

    A sealed value that none of the variables needs may stay shut: it may be another team's.

    Args:
        hostvars: the variables of all hosts, as Ansible gives them to a task.
        hosts: the hosts of the run.
        names: the variables that the run reads.
    """
    opens: dict[str, bool] = {}
    shut: dict[str, list[str]] = {}
    for host in hosts:
        if all(_opens(value, opens) for value in _sealed(hostvars.raw_get(host))):
            continue
        variables = hostvars[host]
        for name in names:
            if name in variables and not _can_be_read(variables, name):
                shut.setdefault(name, []).append(host)
    if not shut:
        return []
    affected = list(dict.fromkeys(host for where in shut.values() for host in where))
    return [
        f"no password of this run opens what ansible-vault has sealed for {capped(sorted(shut), _SHOWN)} on "
        f"{capped(affected, _SHOWN)}. fix: {FIX}."
    ]


def _sealed(value: Any) -> Iterator[EncryptedString]:
    """Yield the sealed values in a variable, before any template is done."""
    if isinstance(value, EncryptedString):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _sealed(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _sealed(part)


def _opens(value: EncryptedString, known: dict[str, bool]) -> bool:
    """Tell whether a value opens; ``known`` keeps the answers, since hosts of a group have the same values."""
    ciphertext = value._ciphertext
    if ciphertext not in known:
        try:
            str(value)
            known[ciphertext] = True
        except AnsibleError:
            known[ciphertext] = False
    return known[ciphertext]


def _can_be_read(variables: Mapping[str, Any], name: str) -> bool:
    """Tell whether a variable needs no sealed value that does not open; other faults are for those who use it."""
    try:
        _read(variables[name])
    except AnsibleError as error:
        return not is_sealed(str(error))
    return True


def _read(value: Any) -> None:
    """Read all of a value: Ansible does the templates in it, and opens what is sealed, at that time."""
    if isinstance(value, Mapping):
        for part in value.values():
            _read(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _read(part)
    else:
        str(value)
