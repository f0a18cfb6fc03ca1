"""Tickets of a real KDC at a real broker, with the properties and the krb5.conf that the roles write."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.login import KRB5_OPTION
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import TICKET_MODULE, to_text
from ansible_collections.streamops.kafka.plugins.module_utils._node.keytab import fault, read_keys
from tests.support.cluster import free_port_base
from tests.support.kdc import MISSING, NO_LIBRARY, REALM, Kdc
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module
from tests.support.ticket_broker import HOST, ticket_broker

pytestmark = [pytest.mark.full, pytest.mark.skipif(bool(MISSING), reason=f"no KDC: {MISSING}")]
#: The principal of the broker.
NAME = f"kafka/{HOST}@{REALM}"
TOPIC = {"name": "of-modules", "partitions": 1, "replication_factor": 1}
needs_library = pytest.mark.skipif(bool(NO_LIBRARY), reason=NO_LIBRARY)


@dataclass
class Place:
    """A broker that takes tickets; keytab -- the file that it reads."""

    kdc: Kdc
    broker: LoneBroker
    keytab: Path
    people: dict[str, Path]

    def said(self, who: str, *words: str) -> tuple[int, str]:
        """Have somebody run kafka-topics.sh with these words; return its status, and what it prints."""
        file = self.keytab.parent / f"{who}.properties"
        module = TICKET_MODULE.format(initiates="true", keytab=f'"{self.people[who]}"', principal=f'"{who}@{REALM}"')
        settings = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "GSSAPI",
            "sasl.kerberos.service.name": "kafka",
            "sasl.jaas.config": module,
            "default.api.timeout.ms": 20000,
            "request.timeout.ms": 10000,
        }
        file.write_text(to_text(settings))
        command = [str(self.broker.release / "bin" / "kafka-topics.sh"), "--command-config", str(file)]
        command += ["--bootstrap-server", f"{HOST}:{self.broker.port}", *words]
        environment = {**os.environ, "KAFKA_OPTS": f"{KRB5_OPTION}{self.kdc.krb5_file}"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
        return done.returncode, f"{done.stdout}{done.stderr}"

    def module(self, name: str, who: str = "alice", environment: bool = True, **options: Any) -> dict[str, Any]:
        """Run a module as somebody; without an environment it has neither krb5.conf nor the package gssapi."""
        connection = {
            "bootstrap_servers": [f"{HOST}:{self.broker.port}"],
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "GSSAPI",
            "sasl_kerberos_keytab": str(self.people[who]),
            "sasl_kerberos_principal": f"{who}@{REALM}",
        }
        variables = self.kdc.environment_of_modules() if environment else {"PYTHONPATH": ""}
        return run_module(f"streamops.kafka.{name}", {**connection, **options}, environment=variables)

    def takes(self, who: str = "alice") -> bool:
        """Tell whether somebody is let in."""
        status, printed = self.said(who, "--list")
        # Why a client gets no ticket, its login says; what the broker has against one, an authentication.
        assert status == 0 or "Authentication" in printed or "LoginException" in printed, printed
        return status == 0

    def look(self, user: str = "", copied: int | None = None) -> dict[str, object]:
        """Return what node_info says of the keytab of the broker."""
        wanted = {"path": str(self.keytab), "user": user, "principals": [NAME]}
        keytab = wanted if copied is None else {**wanted, "copied": copied}
        look: dict[str, object] = run_module("streamops.kafka.node_info", {"keytab": keytab})["keytab"]
        return look

    def brings(self, file: Path) -> None:
        """Put a keytab where the broker reads it, as the roles do, by a new file."""
        new = self.keytab.with_suffix(".new")
        shutil.copy(file, new)
        new.chmod(0o440)
        new.rename(self.keytab)


@pytest.fixture(scope="module", params=["4.3.1", "3.9.2"])
def place(
    request: pytest.FixtureRequest,
    kafka_release: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    version, directory, port = request.param, tmp_path_factory.mktemp("kerberos"), free_port_base()
    with Kdc(directory, port + 8) as kdc:
        keytab = directory / "broker.keytab"
        people = {name: kdc.keytab(name, name) for name in ("alice", "bob")}
        shutil.copy(kdc.keytab("first", f"kafka/{HOST}"), keytab)
        keytab.chmod(0o440)
        with ticket_broker(kafka_release(version), directory / "broker", port, kdc, keytab) as broker:
            yield Place(kdc, broker, keytab, people)


def test_a_principal_is_the_user_of_its_first_part(place: Place) -> None:
    wanted = ["--create", "--topic", "of-tickets", "--partitions", "1", "--replication-factor", "1"]
    status, printed = place.said("bob", *wanted)
    assert status != 0
    assert "Authorization" in printed, "he is let in, and has no rights"
    assert place.said("alice", *wanted)[0] == 0, "she is a super user"
    assert place.look()["problem"] == ""


@needs_library
def test_modules_ask_and_change_as_the_principal_of_their_keytab(place: Place) -> None:
    made = place.module("topics", topics=[TOPIC])
    assert made["changed"], made
    assert not place.module("topics", topics=[TOPIC])["changed"]
    assert len(place.module("cluster_info")["nodes"]) == 1
    refused = place.module("topics", "bob", topics=[{**TOPIC, "name": "of-bob"}])
    assert f"bob@{REALM} (principal_rules of the brokers make its name) has no right" in refused["msg"]


@needs_library
def test_a_module_without_a_ticket_or_the_package_says_why(place: Place) -> None:
    other = place.module("topics", topics=[TOPIC], sasl_kerberos_principal=f"carol@{REALM}")
    assert f"no ticket for carol@{REALM}" in other["msg"]
    assert "Correct sasl_kerberos_keytab" in other["msg"]
    by_address = place.module("topics", topics=[TOPIC], bootstrap_servers=[f"127.0.0.1:{place.broker.port}"])
    assert "Name each broker in bootstrap_servers" in by_address["msg"]
    bare = place.module("topics", environment=False, topics=[TOPIC])
    assert "Install the package gssapi where the module runs: python3-gssapi" in bare["msg"]


@needs_library
def test_what_writes_records_refuses_tickets_before_anything_is_changed(place: Place, tmp_path: Path) -> None:
    refused = place.module("record_proof", state="started", directory=str(tmp_path / "proof"))
    assert "sasl_mechanism is GSSAPI, by which confluent-kafka" in refused["msg"]
    assert not (tmp_path / "proof").exists()


def test_the_keytab_of_another_host_lets_nobody_in_until_the_right_one_comes(place: Place) -> None:
    right, other = place.keytab.read_bytes(), place.kdc.keytab("other", "kafka/other.example.com")
    place.brings(other)
    try:
        assert not place.takes()
        assert f"no key of {NAME}, but of kafka/other.example.com@{REALM}" in str(place.look()["problem"])
    finally:
        other.write_bytes(right)
        place.brings(other)
    assert place.takes(), "without a restart"


def test_older_keys_let_nobody_in_and_are_named_before_they_replace_newer_ones(place: Place) -> None:
    old = place.keytab.parent / "old.keytab"
    old.write_bytes(place.keytab.read_bytes())
    newest = place.kdc.keytab("second", f"kafka/{HOST}")
    assert fault(read_keys(old.read_bytes()), NAME) == "", "nothing is wrong with it but its age"
    assert not place.takes()
    place.brings(newest)
    assert place.takes(), "without a restart"
    look = place.look(copied=2)
    assert (look["version"], look["copied"]) == (3, 2)


def test_a_keytab_that_the_service_may_not_read_is_named(place: Place) -> None:
    place.keytab.chmod(0o400)
    assert place.look("nobody")["problem"] == "the user nobody of the node may not read it"
    place.keytab.chmod(0o444)
    assert place.look("nobody")["is_open"]
    place.keytab.chmod(0o440)


def test_a_broker_starts_while_no_kdc_answers(place: Place) -> None:
    place.broker.terminate()
    place.kdc.close()
    try:
        place.broker.start()
        assert not place.takes(), "clients get no ticket"
    finally:
        place.kdc.start()
    assert place.takes()
