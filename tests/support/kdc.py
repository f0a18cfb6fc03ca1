# SPDX-License-Identifier: GPL-3.0-or-later
"""A KDC of MIT Kerberos, on the loopback address by default; database, log and keytabs are in a temporary folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

from tests.support.cluster import until

REALM = "TEST.EXAMPLE"
#: Where Debian has the package gssapi and what that imports: an environment of pip does not look there.
_DEBIAN = Path("/usr/lib/python3/dist-packages")
_PACKAGES = ("gssapi", "decorator.py")
#: Why no module can log in here, empty where it can.
NO_LIBRARY = "" if (_DEBIAN / "gssapi").is_dir() else "no python3-gssapi"
#: Debian keeps them where users do not look.
_PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
#: Runs it in the foreground, so that this process alone has to be ended.
COMMAND = ("krb5kdc", "-n", "-r", REALM)
_PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "ktutil", "kinit")
#: Why none can be started here, empty where all is there.
MISSING = ", ".join(name for name in _PROGRAMS if shutil.which(name, path=_PLACES) is None)
_KRB5 = """\
[libdefaults]
    default_realm = {realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    allow_weak_crypto = true
    permitted_enctypes = aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96 rc4-hmac
[realms]
    {realm} = {{
        kdc = {address}
    }}
"""
_KDC = """\
[kdcdefaults]
    kdc_listen = {address}
    kdc_tcp_listen = {address}
[realms]
    {realm} = {{
        database_name = {directory}/principal
        key_stash_file = {directory}/stash
        acl_file = {directory}/kadm5.acl
        max_life = {ticket_life}
        supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
    }}
[logging]
    kdc = FILE:{directory}/kdc.log
"""


class Kdc:
    """Gives tickets on a port until it is closed.

    krb5_file -- what its clients read; address -- host:port of it.
    """

    def __init__(self, directory: Path, port: int, ticket_life: str = "10h", host: str = "127.0.0.1") -> None:
        """Make its database; ticket_life -- the longest of a ticket, as kdc.conf takes a duration.

        host -- the address that it listens on, where it runs.
        """
        self._directory, self.address = directory, f"{host}:{port}"
        self.krb5_file = directory / "krb5.conf"
        names = {"realm": REALM, "address": self.address, "directory": directory, "ticket_life": ticket_life}
        self.krb5_file.write_text(_KRB5.format(**names))
        (directory / "kdc.conf").write_text(_KDC.format(**names))
        self.environment = {
            **os.environ,
            "PATH": _PLACES,
            "KRB5_CONFIG": str(self.krb5_file),
            "KRB5_KDC_PROFILE": str(directory / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{directory}/tickets",
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "password-of-the-test")

    def __enter__(self) -> Kdc:
        """Give tickets."""
        self.start()
        return self

    def __exit__(self, *_problem: object) -> None:
        """End it."""
        self.close()

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._process = subprocess.Popen(COMMAND, env=self.environment, cwd=self._directory)
        try:
            until(self._listens, "the KDC to listen", timeout=30)
        except AssertionError:
            self.close()
            raise

    def close(self) -> None:
        """End it, as a KDC that is down; no harm when it has ended."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)

    def keytab(self, name: str, *principals: str, kinds: str = "") -> Path:
        """Make new keys for principals, which are added where there are none, and return a keytab of them.

        kinds -- of keys, as kadmin takes them; those of the realm without it.
        """
        file = self._directory / f"{name}.keytab"
        for principal in principals:
            self.admin(f"addprinc -randkey {principal}@{REALM}")
            self.admin(f"ktadd -k {file} {f'-e {kinds} ' if kinds else ''}{principal}@{REALM}")
        return file

    def environment_of_modules(self) -> dict[str, str]:
        """Return by what modules come upon the KDC, and upon the package gssapi alone of what Debian has."""
        packages = self._directory / "packages"
        packages.mkdir(exist_ok=True)
        for name in _PACKAGES:
            if not (packages / name).exists():
                (packages / name).symlink_to(_DEBIAN / name)
        return {"KRB5_CONFIG": str(self.krb5_file), "PYTHONPATH": str(packages)}

    def admin(self, query: str) -> str:
        """Ask kadmin.local; what it prints, whether it did what was asked or not."""
        return self._run("kadmin.local", "-r", REALM, "-q", query)

    def kinit(self, principal: str, keytab: Path) -> None:
        """Get a ticket into the file that `environment` names."""
        self._run("kinit", "-k", "-t", str(keytab), f"{principal}@{REALM}")

    def ktutil(self, commands: str) -> str:
        """Give ktutil these lines."""
        return self._run("ktutil", given=commands)

    def _run(self, *command: str, given: str = "") -> str:
        done = subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment,
            cwd=self._directory,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def _listens(self) -> bool:
        host, _colon, port = self.address.partition(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0
