"""What the users of a scenario log in at, a Keycloak or a KDC: its files are written here, and a container runs it.

python -m tests.support.login_peer DIRECTORY ADDRESS reads on standard input which `login` it is for (oauth, kerberos),
the `users` with their secrets, and the `brokers` with their addresses, and writes its files into the directory, last
peer.json: the `command`, the `environment` and the `volumes` of a container that has the address. With kerberos there
is a keytab for each user and each broker (NAME.keytab), and `former.keytab` with keys that the first user had before.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.support.kdc import COMMAND, Kdc
from tests.support.keycloak import HEAP, Keycloak

#: Ports of the peer.
HTTPS, KERBEROS = 8443, 88


@dataclass(frozen=True)
class Peer:
    """How a container runs it."""

    command: list[str]
    environment: dict[str, str]
    volumes: list[str]


def keycloak(directory: Path, address: str, users: Mapping[str, str]) -> Peer:
    """Write the files of a Keycloak with a client for each user, which runs with the Java of the container."""
    made = Keycloak(directory, HTTPS, address, users)
    return Peer(made.command(), dict(HEAP), [f"{directory}:{directory}"])


def kdc(directory: Path, address: str, users: Mapping[str, str], brokers: Mapping[str, str]) -> Peer:
    """Write the database of a KDC and the keytabs; the container has the programs of this machine."""
    made = Kdc(directory, KERBEROS, host=address)
    made.keytab("former", next(iter(users)))
    for user in users:
        made.keytab(user, user)
    for broker, place in brokers.items():
        made.keytab(broker, f"kafka/{place}")
    # Where the modules of the control node find the package gssapi.
    made.environment_of_modules()
    environment = {name: made.environment[name] for name in ("KRB5_CONFIG", "KRB5_KDC_PROFILE")}
    return Peer(list(COMMAND), environment, [f"{directory}:{directory}", "/usr:/usr:ro"])


def main(directory: Path, address: str) -> None:
    """See the words of this file."""
    question = json.load(sys.stdin)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if question["login"] == "oauth":
        peer = keycloak(directory, address, question["users"])
    else:
        peer = kdc(directory, address, question["users"], question["brokers"])
    (directory / "peer.json").write_text(json.dumps(asdict(peer)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
