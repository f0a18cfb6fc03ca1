# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Have the Java and the Kafka of a node load the stores that it would start with, and shake hands with what they hold.

A tool of Kafka reads both stores as a broker does (DefaultSslEngineFactory), as a client of a server on this machine
that shows the same key and certificates: so Java judges the chain by the same trust store, as other nodes will. The
server listens on the loopback address for as long as the tool runs; nothing but a directory that is removed is written.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from .._core.properties import parse, to_text
from .scratch import write

#: A tool of all supported versions that prints the whole cause of what it fails for: its class since Kafka 4.4, and
#: before.
MAINS = ("org.apache.kafka.tools.ConfigCommand", "kafka.admin.ConfigCommand")
#: Seconds for a step of the handshake, and for the tool's own patience.
_STEP, _PATIENCE = 20.0, 60_000
#: What a client does not have, or needs otherwise: it knows the server by no name.
_NOT_TAKEN = ("ssl.principal.mapping.rules", "ssl.client.auth", "ssl.endpoint.identification.algorithm")
_EXCEPTION = re.compile(r'^(?:Exception in thread "main" |Caused by: )?(?P<name>[\w.$]+): (?P<said>.*)$', re.M)
_OF_CERTIFICATES = ("java.security.cert.", "sun.security.validator.", "sun.security.provider.certpath.")


class Peer:
    """A server on the loopback address that shows a store, and notes how far a client came."""

    def __init__(self, store: str) -> None:
        """Listen; C(store) -- the file with key and certificates."""
        self.connected = self.agreed = False
        self._over = threading.Event()
        self._context: ssl.SSLContext | None = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            self._context.load_cert_chain(store)
        except (ssl.SSLError, ValueError):
            # What OpenSSL does not read here, Java may; then its loading alone is judged.
            self._context = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.2)
        self.port = int(self._listener.getsockname()[1])
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Peer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join(_STEP + 1)
        self._listener.close()

    def is_enough(self) -> bool:
        """Return whether the client has accepted what it was shown, or cannot be shown anything."""
        return self.agreed or (self.connected and self._context is None)

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                client, _address = self._listener.accept()
            except OSError:
                continue
            with client:
                self.connected = True
                self._agree(client)

    def _agree(self, client: socket.socket) -> None:
        if self._context is None:
            return
        client.settimeout(_STEP)
        try:
            with self._context.wrap_socket(client, server_side=True) as wrapped:
                # Its first request comes when the client has verified the certificates, in any version of TLS.
                self.agreed = bool(wrapped.recv(1))
        except (OSError, ValueError):
            return


def needs(properties: str, stores: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether the properties name these stores, and each of their TLS values stands there itself."""
    named = {key: value for key, value in parse(properties).items() if key.startswith("ssl.")}
    places = [named.get(f"ssl.{name}.location") for name in ("keystore", "truststore")]
    return places == [stores[name]["path"] for name in ("keystore", "truststore")] and "${" not in "".join(
        named.values()
    )


def client_properties(properties: str, places: Mapping[str, str]) -> str:
    """Return the properties of a client with the stores at other places and the TLS settings of a node."""
    taken = {key: value for key, value in parse(properties).items() if key.startswith(("ssl.", "security.providers"))}
    own = {key: value for key, value in taken.items() if key not in _NOT_TAKEN}
    moved = {f"ssl.{name}.location": place for name, place in places.items()}
    limits = {"default.api.timeout.ms": _PATIENCE, "request.timeout.ms": _PATIENCE // 2}
    return to_text({**own, **moved, **limits, "security.protocol": "SSL", "ssl.endpoint.identification.algorithm": ""})


def said_by(
    java: str,
    words: Sequence[str],
    properties: str,
    stores: Mapping[str, Mapping[str, Any]],
    place: str,
    run: Callable[..., Any],
) -> tuple[str, str]:
    """Return what is wrong with the stores, and why they were not judged; both are empty where they are fine.

    java, words -- the program and its arguments (the file of them); place -- a directory for secrets.
    """
    places = {name: write(place, f"{name}.pem", str(stores[name]["content"])) for name in stores}
    client = write(place, "client.properties", client_properties(properties, places))
    with Peer(places["keystore"]) as peer:
        what = ["--bootstrap-server", f"127.0.0.1:{peer.port}", "--command-config", client]
        what += ["--describe", "--entity-type", "topics", "--entity-name", "none"]
        env = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_")}
        for main in MAINS:
            command = [java, *words, main, *what]
            code, out, err = run(command, 2 * _STEP, cwd=place, env=env, enough=peer.is_enough)
            if peer.is_enough():
                return "", ""
            if f"main class {main}" not in err:
                break
        return judged(f"{out}\n{err}", peer.connected, code)


def judged(said: str, connected: bool, code: int) -> tuple[str, str]:
    """Return the fault and why there is no verdict, of a tool that was not satisfied.

    connected -- whether it came as far as the server, and so has loaded the stores. What it has against the handshake
    then is a fault of the certificates only where it says so: the server is not the node.
    """
    found = [(one["name"], one["said"]) for one in _EXCEPTION.finditer(said) if "." in one["name"]]
    name, words = found[-1] if found else ("", "")
    if not connected and any("InvalidConfigurationException" in one or "KafkaException" in one for one, _said in found):
        return words or name, ""
    if connected and any(one.startswith(_OF_CERTIFICATES) for one, _said in found):
        return words or name, ""
    return "", f"{name}: {words}" if name else f"the JVM ended with {code} without an answer"
