# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What can go wrong, as exceptions that carry fields, and the one place that turns them into fail_json.

Logic and clients raise these and know nothing of Ansible; a module wraps its work in C(errors_reported).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule


class StreamopsError(Exception):
    """The base of all errors that a user should read: C(message) is for people, C(failure) for programs."""

    #: Whether waiting may mend it, as when a broker restarts. Whoever waits asks this, and nothing else.
    passing = False
    #: Whether it surely changed nothing, because no request was sent.
    unsent = False

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields
        #: What was changed before it, as the fields C(changed) and C(diff) of a module's result.
        self.done: dict[str, Any] = {}
        #: The same in fields of the module's own result, such as C(created): names of what was done, or may be.
        self.partial: dict[str, Any] = {}
        #: Whether a change was asked for without a clear answer, so that it may be done or not.
        self.unclear = False
        #: Waits, with a session, until every broker knows what was asked for; None where nothing was, or nobody waits.
        self.settle: Callable[[Any], None] | None = None

    def __str__(self) -> str:
        """Return C(message) as it is now: whoever passes the error on may have added where it came up."""
        return self.message

    @property
    def failure(self) -> dict[str, Any]:
        """The structured form that a module returns as C(failure): C(kind), C(passing) and the fields of the error."""
        return dict(self.fields, kind=type(self).__name__, passing=self.passing)


def is_denial(code: str) -> bool:
    """Return whether Kafka's name of an error says that the principal may not do this."""
    return code.endswith("_AUTHORIZATION_FAILED")


#: Errors behind which a request may have been carried out all the same: its time ended, the connection broke, or the
#: server failed in the middle of it. UNKNOWN is how both libraries call -1.
_DOUBTFUL = frozenset(
    {
        "NETWORK_EXCEPTION",
        "REQUEST_TIMED_OUT",
        "UNKNOWN",
        "UNKNOWN_SERVER_ERROR",
    }
)


def in_doubt(code: str) -> bool:
    """Say whether a request with this error may have been carried out: then it was no answer, or no clear one.

    A name that is not one of Kafka's, in capitals, is the class of what kafka-python raised, and one that begins with
    an underscore is librdkafka's own (rd_kafka_resp_err_t below 0): they got no answer.
    """
    return code in _DOUBTFUL or code.startswith("_") or not code.isupper()


class MissingLibraryError(StreamopsError):
    """A Python library that the call needs cannot be imported where the module runs."""

    unsent = True

    def __init__(self, library: str, reason: str, trace: str) -> None:
        super().__init__(f"{library} is needed {reason}", library=library, reason=reason)
        self.trace = trace


def _tried(attempts: Mapping[str, str]) -> str:
    """Return what happened at each server; servers with the same story share it."""
    alike: dict[str, list[str]] = {}
    for server, why in attempts.items():
        alike.setdefault(why, []).append(server)
    return "; ".join(f"{', '.join(servers)}: {why}" for why, servers in alike.items())


class ClusterUnreachableError(StreamopsError):
    """No bootstrap server let us in. C(attempts) maps each server that was tried to what happened there.

    C(refused) are those of them that answered and refused us: they run, and waiting mends nothing there. C(is_gone):
    nobody serves at any of them, as far as can be seen from here; trouble of this machine itself is no such thing.
    """

    passing, unsent = True, True

    def __init__(self, attempts: dict[str, str], refused: Sequence[str] = (), is_gone: bool = False) -> None:
        self.is_gone = is_gone
        tried = _tried(attempts)
        super().__init__(
            f"Kafka cluster {','.join(attempts)}: no bootstrap server answered ({tried}). "
            "Check that the brokers run, that bootstrap_servers and security_protocol are those of a client "
            "listener, that user and password are right, and that no firewall is in between. Nothing was changed.",
            attempts=attempts,
            refused=list(refused),
        )


class AccessRefusedError(StreamopsError):
    """The cluster is there and does not let us in, or we do not trust it; repeating cannot help."""

    unsent = True

    def __init__(self, attempts: dict[str, str], fixes: Sequence[str]) -> None:
        tried = _tried(attempts)
        super().__init__(
            f"Kafka cluster {','.join(attempts)}: no bootstrap server can be used ({tried}). "
            f"Fix: {' '.join(fixes)} Waiting does not help. Nothing was changed.",
            attempts=attempts,
            fixes=list(fixes),
        )


class RequestFailedError(StreamopsError):
    """The cluster answered a request with an error. C(code) is Kafka's name for it, for example POLICY_VIOLATION.

    C(unsent): no broker got it, as when no connection was ready.
    """

    def __init__(self, what: str, name: str, code: str, why: str, unsent: bool = False) -> None:
        super().__init__(f"{what} {name}: {why} ({code})", what=what, name=name, code=code, why=why)
        self.code = code
        self.why = why
        self.unsent = unsent
        # Rights do not come by themselves.
        self.passing = not is_denial(code)


class RefusedError(StreamopsError):
    """Options that break rules; C(violations) are all of them, and nothing was changed.

    Each violation is one sentence that says what, where, found, allowed and the fix.
    """

    def __init__(self, subject: str, violations: Sequence[str]) -> None:
        listed = "".join(f"\n- {line}" for line in violations)
        super().__init__(
            f"{subject}: {len(violations)} violation(s), nothing was changed:{listed}", violations=list(violations)
        )
        self.violations = list(violations)


class WaitTimeoutError(StreamopsError):
    """Something asked for did not become visible in time. C(missing) says what is still not there."""

    def __init__(self, subject: str, seconds: float, missing: Sequence[str], done: str) -> None:
        shown = "".join(f"\n- {line}" for line in missing[:20])
        more = f"\n- and {len(missing) - 20} more" if len(missing) > 20 else ""
        super().__init__(
            f"{subject}: not seen within {seconds:g} s, {len(missing)} missing:{shown}{more}\n{done}",
            seconds=seconds,
            missing=list(missing),
        )


#: Who hears of warnings: the module whose work is being done.
_WARNED: list[Callable[[str], Any]] = []


def warn(text: str) -> None:
    """Have the module whose work this is warn of something, whatever it returns."""
    for heard in _WARNED:
        heard(text)


@contextlib.contextmanager
def errors_reported(module: AnsibleModule) -> Iterator[None]:
    """Run a module's work; end the module by C(fail_json) when it raises a StreamopsError."""
    _WARNED.append(module.warn)
    try:
        yield
    except MissingLibraryError as error:
        # Imported here, so that logic and tests can use this file where Ansible is not installed.
        from ansible.module_utils.basic import missing_required_lib

        module.fail_json(
            msg=missing_required_lib(error.fields["library"], reason=error.fields["reason"]),
            exception=error.trace,
            failure=error.failure,
        )
    except StreamopsError as error:
        module.fail_json(msg=error.message, failure=error.failure, **error.done)
    finally:
        _WARNED.remove(module.warn)
