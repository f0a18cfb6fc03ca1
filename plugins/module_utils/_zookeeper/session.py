# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The one file that imports kazoo: what a Kafka cluster keeps in ZooKeeper, read and, where a module asks, written."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from .._core.errors import MissingLibraryError, StreamopsError
from .connection import Access
from .ensemble import Member

# Where Kafka registers each broker for as long as its session lives, and what else is read (ZkData.scala).
BROKER_IDS, CLUSTER_ID, CONTROLLER, USERS = "/brokers/ids", "/cluster/id", "/controller", "/config/users"
#: Who is in charge of the metadata: a broker, or a controller of KRaft during a migration (KIP-866).
IN_CHARGE = (CONTROLLER, "/controller_epoch", "/migration")
ROOT = "/"
#: What controllers of KRaft read and write in a migration, with all that is below (KRaftMigrationZkWriter,
#: ZkMigrationClient of Kafka 3.9). In the root they make and delete the znodes of IN_CHARGE.
MIGRATED = (
    ROOT,
    *IN_CHARGE,
    "/brokers/topics",
    "/config",
    "/kafka-acl",
    "/kafka-acl-changes",
    "/kafka-acl-extended",
    "/kafka-acl-extended-changes",
    "/delegation_token",
    "/latest_producer_id_block",
)
#: A version that no znode gets to, so a change that names it is refused. ZooKeeper looks at the right before it looks
#: at the version (PrepRequestProcessor.pRequest2Txn), so the reason of the refusal tells whether the right is there.
_NEVER = 2**31 - 1
#: How many questions are asked before their answers are waited for.
_AT_ONCE = 1000


class EnsembleUnreachableError(StreamopsError):
    """No session with the ensemble could be had."""


class ZnodesKeptError(StreamopsError):
    """ZooKeeper refused a change of znodes, or may not have heard of it; unclear where it may be carried out."""


class Change(NamedTuple):
    """A change of one znode: its new content, None to delete it, and the version that it must still have."""

    path: str
    content: bytes | None
    version: int


class Zookeeper:
    """A session with an ensemble below a chroot; a context manager."""

    def __init__(self, members: Sequence[Member], access: Access, chroot: str = "") -> None:
        self._access = access
        self._hosts = ",".join(member.address for member in members) + chroot.rstrip("/")
        self._client: Any = None
        #: The versions that in_charge() read last.
        self.versions: dict[str, int] = {}

    def __enter__(self) -> Zookeeper:
        try:
            from kazoo.client import KazooClient
            from kazoo.exceptions import KazooException
            from kazoo.handlers.threading import KazooTimeoutError
        except ImportError as error:
            raise MissingLibraryError("kazoo", "to read what is in ZooKeeper", traceback.format_exc()) from error
        logging.getLogger("kazoo").addHandler(logging.NullHandler())
        self._client = KazooClient(hosts=self._hosts, timeout=self._access.request_timeout * 2.0, **self._options())
        try:
            self._client.start(timeout=self._access.request_timeout * 2.0)
        except (KazooException, KazooTimeoutError, OSError, ValueError) as error:
            self._close()
            raise self._unreachable(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if error is not None and type(error).__module__.startswith("kazoo."):
            raise self._unreachable(error) from error

    def _unreachable(self, error: BaseException) -> EnsembleUnreachableError:
        why = str(error) or type(error).__name__
        return EnsembleUnreachableError(
            f"ZooKeeper {self._hosts}: it does not answer us: {why}. Check that a majority of its servers runs, and "
            "name, password and certificates. Run again once it does.",
            servers=self._hosts,
        )

    def _close(self) -> None:
        self._client.stop()
        self._client.close()

    def _options(self) -> dict[str, Any]:
        access = self._access
        options: dict[str, Any] = {"use_ssl": bool(access.ssl_ca_location), "verify_certs": True}
        if access.ssl_ca_location:
            options.update(ca=access.ssl_ca_location, check_hostname=True)
            options.update(certfile=access.ssl_certificate_location, keyfile=access.ssl_key_location)
        if access.sasl_username:
            login = {"mechanism": "DIGEST-MD5", "username": access.sasl_username, "password": access.sasl_password}
            options["sasl_options"] = login
        return options

    # -- reading -------------------------------------------------------------------------------------------------

    def cluster(self) -> dict[str, Any]:
        """The cluster below the chroot: cluster_id, controller_id (None while there is none), brokers that live."""
        return {
            "cluster_id": (self.read(CLUSTER_ID) or {}).get("id"),
            "controller_id": (self.read(CONTROLLER) or {}).get("brokerid"),
            "brokers": [self._broker(name) for name in sorted(self.children(BROKER_IDS), key=int)],
        }

    def _broker(self, name: str) -> dict[str, Any]:
        node = self.read(f"{BROKER_IDS}/{name}") or {}
        return {"id": int(name), "endpoints": node.get("endpoints", []), "rack": node.get("rack")}

    def children(self, path: str) -> list[str]:
        """The names below a path; none when it does not exist."""
        return list(self._found(self._client.get_children, path) or ())

    def acls(self, paths: Iterable[str]) -> dict[str, list[str]]:
        """Return who may do what to each path, as scheme:id:rights; paths that do not exist are left out."""
        found = {path: self._found(self._client.get_acls, path) for path in paths}
        return {
            path: [f"{one.id.scheme}:{one.id.id}:{'+'.join(one.acl_list).lower()}" for one in listed[0]]
            for path, listed in found.items()
            if listed is not None
        }

    def read(self, path: str) -> dict[str, Any] | None:
        """The JSON at a path; None when it does not exist."""
        found = self._found(self._client.get, path)
        return None if found is None else dict(json.loads(found[0] or "{}"))

    def in_charge(self) -> dict[str, Any]:
        """Read the znodes that say who is in charge of the metadata, without a change.

        Return them as {znodes, unread}: each path with its JSON, None where it does not exist or was not read, and for
        each that was not read the reason.
        """
        from kazoo.exceptions import NoAuthError

        znodes: dict[str, Any] = dict.fromkeys(IN_CHARGE)
        unread: dict[str, str] = {}
        for path in IN_CHARGE:
            try:
                answer = self._found(self._client.get, path)
                if answer is not None:
                    znodes[path] = json.loads(answer[0])
                    self.versions[path] = answer[1].version
            except NoAuthError:
                unread[path] = f"{self._login} has no right to read it"
            except ValueError:
                unread[path] = "its content is no JSON"
        return {"znodes": znodes, "unread": unread}

    def denied(self) -> list[str]:
        """Return the znodes that a migration reads and writes, and that this login may not read or change.

        Nothing is changed. Each is read with who has a right to it; of those with the same rights one is tried to be
        changed. Kafka gives all rights or the one to read (ZkData.defaultAcls), so the right to change stands for those
        to make and to delete.
        """
        denied: list[str] = []
        by_rights: dict[tuple[object, ...], list[str]] = {}
        paths = list(MIGRATED)
        while paths:
            level, paths = paths[:_AT_ONCE], paths[_AT_ONCE:]
            children = self._answers(self._client.get_children_async, level)
            rights = self._answers(self._client.get_acls_async, level)
            for path in level:
                if path not in children or path not in rights:
                    continue
                names, holders = children[path], rights[path]
                if names is None or holders is None:
                    denied.append(path)
                    continue
                by_rights.setdefault(tuple(holders[0]), []).append(path)
                # What else is in the root is listed there, or no part of a migration.
                paths += [] if path == ROOT else [f"{path}/{name}" for name in names]
        for alike in by_rights.values():
            denied += alike if self._is_kept_from(alike) else []
        return sorted(denied)

    def _answers(self, call: Callable[[str], Any], paths: Sequence[str]) -> dict[str, Any]:
        """Return the answer for each path that exists; None where this login has no right to it."""
        from kazoo.exceptions import NoAuthError, NoNodeError

        answers: dict[str, Any] = {}
        for path, pending in [(path, call(path)) for path in paths]:
            try:
                answers[path] = pending.get(timeout=self._access.request_timeout * 2.0)
            except NoAuthError:
                answers[path] = None
            except NoNodeError:
                continue
        return answers

    def _is_kept_from(self, paths: Sequence[str]) -> bool:
        """Tell whether this login has no right to change znodes that all have the same rights."""
        from kazoo.exceptions import BadVersionError, NoAuthError, NoNodeError

        for path in paths:
            try:
                self._client.set(path, b"", _NEVER)
            except NoAuthError:
                return True
            except BadVersionError:
                return False
            except NoNodeError:
                # It is gone meanwhile; the next has the same rights.
                continue
        return False

    @property
    def _login(self) -> str:
        return self._access.sasl_username or "a session without a login"

    @staticmethod
    def _found(call: Callable[[str], Any], path: str) -> Any:
        """Return what the library says of a path; None when the path does not exist."""
        from kazoo.exceptions import NoNodeError

        try:
            return call(path)
        except NoNodeError:
            return None

    # -- writing -------------------------------------------------------------------------------------------------

    def change(self, changes: Sequence[Change]) -> None:
        """Change znodes in one transaction: all of them, or none.

        Raises ZnodesKeptError where one of them has another version, or where this login has no right to it; where no
        answer came in twice the time of a request it is unclear whether anything was changed.
        """
        from kazoo.exceptions import KazooException
        from kazoo.handlers.threading import KazooTimeoutError

        transaction = self._client.transaction()
        for path, content, version in changes:
            if content is None:
                transaction.delete(path, version)
            else:
                transaction.set_data(path, content, version)
        paths = [change.path for change in changes]
        try:
            answers = transaction.commit_async().get(timeout=self._access.request_timeout * 2.0)
        except (KazooException, KazooTimeoutError) as error:
            unclear = ZnodesKeptError(
                f"ZooKeeper {self._hosts}: no answer to the change of {', '.join(paths)} "
                f"({str(error) or type(error).__name__}). All of it was carried out, or nothing. Run again: it is read "
                "anew then.",
                paths=paths,
            )
            unclear.unclear = True
            raise unclear from error
        self._refuse(dict(zip(paths, answers)))  # noqa: B905 (nodes may have Python 3.9)

    def _refuse(self, answers: dict[str, Any]) -> None:
        """Raise ZnodesKeptError where one change of a transaction failed, which kept all others from being made."""
        from kazoo.exceptions import KazooException, NoAuthError, RolledBackError, RuntimeInconsistency

        for path, answer in answers.items():
            # What stood in front of the one that failed was taken back, and what stood behind it was not tried.
            if isinstance(answer, KazooException) and not isinstance(answer, (RolledBackError, RuntimeInconsistency)):
                why = f"somebody else has changed it meanwhile ({type(answer).__name__}). Run again: it is read anew."
                if isinstance(answer, NoAuthError):
                    why = f"{self._login} has no right to change it. Log in as the brokers do, and run again."
                raise ZnodesKeptError(
                    f"ZooKeeper {self._hosts}: znode {path} was not changed, nor any other: {why}", path=path
                ) from answer

    def write(self, path: str, content: bytes) -> None:
        """Write a path that only its writer may see; parents that are missing others may read, as Kafka makes them."""
        from kazoo.security import ACL, CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

        secured = bool(self._access.sasl_username)
        own: list[ACL] = list(CREATOR_ALL_ACL if secured else OPEN_ACL_UNSAFE)
        shared = [*own, *READ_ACL_UNSAFE] if secured else own
        parts = path.strip("/").split("/")[:-1]
        self._make("", shared)
        for depth in range(len(parts)):
            parent = "/" + "/".join(parts[: depth + 1])
            self._make(parent, own if parent == USERS else shared)
        if self._client.exists(path):
            self._client.set(path, content)
        else:
            self._client.create(path, content, acl=own)

    def _make(self, path: str, acl: Any) -> None:
        from kazoo.exceptions import NodeExistsError

        if self._client.exists(path or "/"):
            return
        try:
            self._client.create(path or "/", b"", acl=acl, makepath=not path)
        except NodeExistsError:
            return
