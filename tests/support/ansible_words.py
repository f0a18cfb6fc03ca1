"""The keys of a result that Ansible itself reads or writes: a module that returns one of them is misread."""

from __future__ import annotations

from collections.abc import Iterable

from ansible import constants
from ansible.executor import task_result
from ansible.plugins.callback import CallbackBase

#: What a module may return because it means what Ansible does.
MEANT = frozenset({"changed", "diff", "failed", "msg", "warnings"})
#: Words that Ansible's source names nowhere in a list: documented return values, those of conditions, retries, loops,
#: async tasks and commands.
_SCATTERED = frozenset(
    {
        "ansible_facts",
        "ansible_job_id",
        "ansible_stats",
        "backup_file",
        "delta",
        "end",
        "exception",
        "failed_when_result",
        "failed_when_suppressed_exception",
        "finished",
        "ignored",
        "include",
        "include_args",
        "invocation",
        "item",
        "rc",
        "rescued",
        "results",
        "results_file",
        "retries",
        "skip_reason",
        "skipped",
        "start",
        "started",
        "stderr",
        "stderr_lines",
        "stdout",
        "stdout_lines",
        "unreachable",
    }
)
_LISTED = frozenset(
    {
        *constants.INTERNAL_RESULT_KEYS,
        *constants.RESTRICTED_RESULT_KEYS,
        *task_result._IGNORE,
        *task_result._PRESERVE,
        *CallbackBase()._hide_in_debug,
    }
)
RESERVED = (_SCATTERED | _LISTED) - MEANT


def misread(keys: Iterable[str]) -> list[str]:
    """Return those of these keys that Ansible would take for its own."""
    return sorted(key for key in keys if key in RESERVED or key.startswith(("_ansible_", "ansible_")))
