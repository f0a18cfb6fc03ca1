# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Keycloak from its archive on Maven Central, with one realm whose clients may have tokens."""

from __future__ import annotations

import json
import ssl
import subprocess
import urllib.request
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.certificates import issue
from tests.support.cluster import free_port_base, until
from tests.support.daemons import Daemons

VERSION = "26.7.3"
REALM = "kafka"
#: A client that may ask for tokens (client credentials), its secret, and the audience that all tokens have.
CLIENT, SECRET, AUDIENCE = "orders", "secret-of-orders", "kafka"
#: Keycloak makes a name of its own for the service account of a client, and puts it into this claim.
PRINCIPAL_CLAIM, PRINCIPAL = "preferred_username", f"service-account-{CLIENT}"

#: The environment that bounds its memory.
HEAP = {"JAVA_OPTS_KC_HEAP": "-Xms64m -Xmx512m"}


def archive() -> Path:
    """Return its archive in the repository of this machine's Maven, fetched where it is not there yet."""
    folder = Path.home() / ".m2" / "repository" / "org" / "keycloak" / "keycloak-quarkus-dist" / VERSION
    wanted = folder / f"keycloak-quarkus-dist-{VERSION}.zip"
    if not wanted.exists():
        artifact = f"-Dartifact=org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
        command = ["mvn", "-q", "-B", "dependency:get", artifact, "-Dtransitive=false"]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    return wanted


@dataclass
class Keycloak:
    """One that serves its realm over TLS with a CA of its own; ready after start(), which runs it on this machine.

    host -- a name or an address by which it is asked, with the port. clients -- the id of each client, and its secret.
    """

    directory: Path
    port: int = field(default_factory=free_port_base)
    host: str = "localhost"
    clients: Mapping[str, str] = field(default_factory=lambda: {CLIENT: SECRET}, repr=False)

    def __post_init__(self) -> None:
        """Write its files."""
        with zipfile.ZipFile(archive()) as packed:
            packed.extractall(self.directory)
        self._home = self.directory / f"keycloak-{VERSION}"
        authority = issue("CA of Keycloak", ca=True)
        self._own, self._key = issue(self.host, by=authority, names=(self.host,)).write(self.directory, "keycloak")
        self.ca_file = self.directory / "keycloak-ca.pem"
        self.ca_file.write_bytes(authority.pem())
        imported = self._home / "data" / "import"
        imported.mkdir(parents=True)
        (imported / f"{REALM}.json").write_text(json.dumps(_realm(self.clients)))
        self._daemons = Daemons(self.directory)

    @property
    def issuer(self) -> str:
        """Who its tokens say that made them."""
        return f"https://{self.host}:{self.port}/realms/{REALM}"

    @property
    def jwks_url(self) -> str:
        """Where its keys are."""
        return f"{self.issuer}/protocol/openid-connect/certs"

    @property
    def endpoint_url(self) -> str:
        """Where clients get tokens."""
        return f"{self.issuer}/protocol/openid-connect/token"

    def command(self) -> list[str]:
        """Return what runs it, where its directory has the same path and HOST is an address of the machine."""
        options = [f"--https-port={self.port}", f"--https-certificate-file={self._own}"]
        options += [f"--https-certificate-key-file={self._key}", f"--http-host={self._listens_on}"]
        # Without passwords of its own: nobody logs in at its pages.
        shell = ["sh", str(self._home / "bin" / "kc.sh"), "start-dev"]
        return [*shell, *options, "--http-enabled=false", "--import-realm"]

    @property
    def _listens_on(self) -> str:
        return "127.0.0.1" if self.host == "localhost" else self.host

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._daemons.run("keycloak", self.command(), HEAP)
        until(self._answers, "Keycloak to answer", 240)

    def _answers(self) -> bool:
        context = ssl.create_default_context(cafile=str(self.ca_file))
        try:
            with urllib.request.urlopen(self.jwks_url, timeout=5, context=context) as answer:
                return bool(json.load(answer)["keys"])
        except OSError:
            return False

    def stop(self) -> None:
        """End it."""
        self._daemons.stop()


def _realm(clients: Mapping[str, str]) -> dict[str, object]:
    return {"realm": REALM, "enabled": True, "clients": [_client(*client) for client in clients.items()]}


def _client(name: str, secret: str) -> dict[str, object]:
    mapper = {
        "name": "audience",
        "protocol": "openid-connect",
        "protocolMapper": "oidc-audience-mapper",
        "config": {"included.custom.audience": AUDIENCE, "access.token.claim": "true"},
    }
    return {
        "clientId": name,
        "secret": secret,
        "serviceAccountsEnabled": True,
        "standardFlowEnabled": False,
        "publicClient": False,
        "protocolMappers": [mapper],
    }
