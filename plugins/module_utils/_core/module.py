# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What every module of this collection does: take options, work, end with a result or with an error for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from .errors import StreamopsError, errors_reported


class SecretModule(AnsibleModule):  # type: ignore[misc]  # Ansible ships no types
    """An AnsibleModule that does not log what it was called with.

    Ansible writes every call into the machine's journal. Of a secret below the top level it blanks what reads exactly
    like it, but prints lists as Python does: a key of several lines, a password with a backslash or an @ is not found
    again and stays readable for everybody who may read the journal.
    """

    def _log_invocation(self) -> None:
        self.log("Invoked; its parameters are not logged, since lists of them hold secrets")


def run_module(
    spec: Mapping[str, Any],
    work: Callable[[Any], Mapping[str, Any]],
    kind: type = AnsibleModule,
    **rules: Any,
) -> None:
    """Be a module with these options: end with what C(work) returns, or fail with the StreamopsError that it raises.

    C(work) gets the module. C(kind) is SecretModule where lists or mappings hold secrets. C(rules) are those of
    AnsibleModule; check mode is supported unless they say otherwise.
    """
    module = kind(argument_spec=dict(spec), **{"supports_check_mode": True, **rules})
    with errors_reported(module):
        module.exit_json(**work(module))


def options_of(spec: Mapping[str, object], name: str, given: Mapping[str, object]) -> dict[str, Any]:
    """Return options that were given in one mapping, as a module with this spec has them, with its defaults.

    Raises StreamopsError, with the C(name) of the option that has the mapping, where the spec does not take them.
    """
    checked = ArgumentSpecValidator(dict(spec)).validate(dict(given))
    if checked.error_messages:
        raise StreamopsError(f"option {name}: {'; '.join(checked.error_messages)}. Nothing was looked at or changed.")
    taken: dict[str, Any] = checked.validated_parameters
    return taken
