# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a Spark job, repeats the module spark_job, which watches it for one interval, and shows each interval."""

from __future__ import annotations

import secrets
import time
from typing import Any

from ..module_utils._core.progress import DONE, Step, duration
from ..module_utils._spark.job import (
    MIRROR_AUDIT,
    PROOF,
    SMOKE,
    WATCH_OPTIONS,
    Tracker,
    failure,
    left_alone,
    place,
    refusal,
    split_secrets,
)
from ..plugin_utils.progress.action import ProgressAction

_NOT_IN_CHECK_MODE = {
    SMOKE: "Spark validation is skipped in check mode: the job writes records",
    MIRROR_AUDIT: "The audit of the mirror is skipped in check mode: it waits for records that no run has sent",
    PROOF: "The second reading of the proof is skipped in check mode: no stream was written",
}


class ActionModule(ProgressAction):
    """Runs a job to its verdict."""

    _requires_connection = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the job and return its verdict; in check mode nothing is started."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(WATCH_OPTIONS)
        if self._task.check_mode:
            # Said here as well, since a callback may hide skipped tasks.
            why = _NOT_IN_CHECK_MODE[options["job"]]
            self._display.display(f"[{(task_vars or {}).get('inventory_hostname')}] {why}")
            return dict(result, skipped=True, msg=why)
        wrong = refusal(options)
        if wrong:
            return dict(result, failed=True, msg=wrong)
        plain, secret = split_secrets(options["client_properties"])
        source_plain, source_secret = split_secrets(options["source_client_properties"])
        job_dir, arguments = place(options, time.strftime("%Y%m%dT%H%M%S", time.gmtime()), secrets.token_hex(2))
        given = {
            "client_properties": plain,
            "secret_properties": secret,
            "source_client_properties": source_plain,
            "source_secret_properties": source_secret,
            "arguments": arguments,
        }
        started = self.call(task_vars, step="start", job_dir=job_dir, **given)
        if started.get("failed"):
            return dict(result, **started)
        # A run that is interrupted says nothing any more.
        self._display.display(f"[{(task_vars or {}).get('inventory_hostname')}] {left_alone(started, job_dir)}")
        tracker = Tracker()

        # What was written once, at the start, needs no second way.
        unwritten: dict[str, Any] = {"client_properties": {}, "source_client_properties": {}, "arguments": {}}

        def look(_elapsed: float) -> Step:
            """Run the module once, for one interval."""
            window = float(min(options["interval"], options["timeout"]))
            watched = {"interval": window, "offset": tracker.offset}
            return tracker.step(self.call(task_vars, step="observe", job_dir=job_dir, **watched, **unwritten))

        followed = self.follow(look, task_vars, float(options["timeout"]), options["interval"])
        found = tracker.last
        if followed.timed_out or found.get("failed"):
            found = dict(found, **self.call(task_vars, step="stop", job_dir=job_dir, **unwritten))
        verdict = (found.get("result") or {}).get("verdict")
        result.update(changed=False, verdict=verdict, exit_code=found.get("exit_code"), **followed.as_result())
        result.update({name: found[name] for name in ("result", "report") if name in found})
        if followed.timed_out or followed.last.state != DONE:
            # What a person has to read is the cause.
            del result["history"]
        if followed.timed_out:
            lasted = f"was ended after {duration(followed.elapsed)} (timeout {options['timeout']} s)"
            why = f"{lasted}; it was at: {followed.last.text}{followed.prolonged()}"
            result.update(failed=True, msg=f"Spark job in {job_dir}: {why}", log_tail=found.get("log_tail", [])[-10:])
        elif followed.last.state != DONE:
            result.update(failure(found, job_dir))
        return result
