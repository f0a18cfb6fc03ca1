# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the Prometheus and the Alertmanager of a host of the group prometheus are configured and started with."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from os.path import expanduser
from pathlib import Path
from typing import Any

from ansible.plugins.filter.core import to_nice_yaml

from ...module_utils._core.addresses import host_port, plain_host, reached_here
from ..monitoring.routes import alertmanager
from ..monitoring.rules import WATCHDOG, alert_rules
from ..monitoring.targets import PREFIX, answers, scrape_configs
from ..run.results import Results
from .parts import Parts
from .paths import SYSTEMD, shared

#: The names of the services, those of Debian, and under which names the programs are found.
PROMETHEUS, ALERTMANAGER = "prometheus", "prometheus-alertmanager"
PROGRAMS = {PROMETHEUS: [PROMETHEUS], ALERTMANAGER: [ALERTMANAGER, "alertmanager"]}
#: What checks a configuration.
CHECKERS = ("promtool", "amtool")
#: Alertmanager has no login by itself, so it listens here alone.
LOOPBACK = "127.0.0.1"
#: Who runs both in the packages of Debian.
USER = "prometheus"
NOTE = "# Written by monitoring.yml of the collection streamops.kafka; the next run writes it anew.\n"
RULES = "rules/streamops-kafka.yml"


def alertmanager_socket(settings: Mapping[str, Any]) -> str:
    """Return where the Alertmanager of a host listens, on that host alone."""
    return host_port(LOOPBACK, settings["kafka_monitoring_alertmanager_port"])


class Prometheus(Parts):
    """The key C(prometheus) of the model; docs/development/house.md lists its own keys.

    model -- that of the host. read -- the variables of a host. results -- what tasks registered.
    """

    def __init__(self, model: Mapping[str, Any], read: Callable[[str], Mapping[str, Any]], results: Results) -> None:
        self._model, self._read, self._results = model, read, results
        super().__init__(
            {
                "paths": self._paths,
                "services": self._services,
                "programs": lambda: [*(name for names in PROGRAMS.values() for name in names), *CHECKERS],
                "missing": self._missing,
                "configuration": self._configuration,
                "alertmanager": self._alertmanager,
                "written": lambda: self._written(self["paths"]["config"], self._data()),
                "candidate": lambda: self._written(self["paths"]["candidate"], []),
                "checks": self._checks,
                "answers": self._answers,
            }
        )

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self._model["settings"]
        return settings

    def _paths(self) -> dict[str, str]:
        """Return where everything is on the machine."""
        settings = self._settings
        config = settings["kafka_monitoring_config_dir"]
        return {
            "config": config,
            "candidate": f"{config}/candidate",
            "data": settings["kafka_monitoring_data_dir"],
            "supervisor": shared(settings)["supervisor"],
        }

    @property
    def _found(self) -> list[str]:
        """The programs that the host has, as far as a task has looked."""
        looked = self._results.of(self._results.host).monitoring_programs
        return [os.path.basename(one["path"]) for one in looked.get("files", ())]

    def _missing(self) -> list[str]:
        """The programs that the host lacks, each by its first name."""
        wanted = [*PROGRAMS.values(), *([name] for name in CHECKERS)]
        return [names[0] for names in wanted if not set(names) & set(self._found)]

    def _services(self) -> list[dict[str, Any]]:
        """Both services: names, arguments, where each answers, its log under supervisor and what describes it."""
        return [
            self._service(PROMETHEUS, **self._of_prometheus()),
            self._service(ALERTMANAGER, **self._of_alertmanager()),
        ]

    def _service(self, name: str, url: str, config_file: str, arguments: list[str]) -> dict[str, Any]:
        settings = self._settings
        program = next((one for one in PROGRAMS[name] if one in self._found), PROGRAMS[name][0])
        command = [f"{settings['kafka_monitoring_program_dir']}/{program}", *arguments]
        systemd = settings["kafka_service_manager"] == SYSTEMD
        return {
            "name": name,
            "url": url,
            "config_file": config_file,
            "command": command,
            "log": f"{settings['kafka_log_dir']}/{name}.log",
            "file": f"/etc/systemd/system/{name}.service.d/streamops-kafka.conf"
            if systemd
            else f"{self['paths']['supervisor']}/conf.d/{name}.conf",
            "records": [
                self._record(name, "started", _digest(command)),
                self._record(name, "loaded", self._loaded(name)),
            ],
        }

    def _of_prometheus(self) -> dict[str, Any]:
        settings, paths = self._settings, self["paths"]
        web, listens = settings["kafka_monitoring_web_config"], plain_host(settings["kafka_monitoring_host"])
        port = settings["kafka_monitoring_port"]
        scheme = "https" if web.get("tls_server_config") else "http"
        return {
            "url": f"{scheme}://{host_port(reached_here(listens), port)}",
            "config_file": "prometheus.yml",
            "arguments": [
                f"--config.file={paths['config']}/prometheus.yml",
                f"--storage.tsdb.path={paths['data']}/prometheus",
                f"--storage.tsdb.retention.time={settings['kafka_monitoring_retention']}",
                f"--web.listen-address={host_port(listens, port)}",
                *([f"--web.config.file={paths['config']}/web.yml"] if web else []),
            ],
        }

    def _of_alertmanager(self) -> dict[str, Any]:
        paths, socket = self["paths"], alertmanager_socket(self._settings)
        return {
            "url": f"http://{socket}",
            "config_file": "alertmanager.yml",
            "arguments": [
                f"--config.file={paths['config']}/alertmanager.yml",
                f"--storage.path={paths['data']}/alertmanager",
                f"--web.listen-address={socket}",
                # It would listen on all addresses for other Alertmanagers.
                "--cluster.listen-address=",
            ],
        }

    # What Prometheus reads. Paths of files are relative to the directory of the configuration, so that a configuration
    # can be checked with all its files before it replaces the one that is there.

    @property
    def _placed(self) -> tuple[list[dict[str, Any]], dict[str, dict[str, str]]]:
        made: tuple[list[dict[str, Any]], dict[str, dict[str, str]]] = self._once("placed", self._place)
        return made

    def _place(self) -> tuple[list[dict[str, Any]], dict[str, dict[str, str]]]:
        """The targets of the inventory with the places of their CA and password on this machine, and these files."""
        files: dict[str, dict[str, str]] = {"trust": {}, "secrets": {}}
        targets = []
        for target in self._model["monitoring"]["targets"]:
            variables = self._read(target["node"])
            placed = dict(target)
            if target.get("tls"):
                content = _text(variables["kafka_tls_ca_file"])
                placed["ca_file"] = _kept(files, "trust", "ca.pem", target, content)
            if target.get("user"):
                content = self._password(target, variables)
                placed["password_file"] = _kept(files, "secrets", "password", target, content)
            targets.append(placed)
        return targets, files

    def _password(self, target: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
        if target["job"] != "page":
            return str(variables["kafka_metrics_password"])
        password = (variables.get("kafka_page_users") or {}).get(target["user"])
        if not password:
            raise ValueError(
                f"the page on {target['node']} is read as user {target['user']}, whose password is not known; fix: set "
                "kafka_page_users for it. Nothing was changed."
            )
        return str(password)

    def _configuration(self) -> dict[str, Any]:
        """The configuration of Prometheus."""
        settings = self._settings
        interval = f"{settings['kafka_monitoring_scrape_interval']}s"
        alertmanager = alertmanager_socket(settings)
        read = scrape_configs(self._placed[0])["scrape_configs"]
        return {
            # A node with many partitions needs longer than the ten seconds that Prometheus would give it.
            "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
            "rule_files": [RULES, *settings["kafka_monitoring_rule_files"]],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
            "scrape_configs": [*read, *self._watchers(alertmanager), *settings["kafka_monitoring_scrape_configs"]],
        }

    def _watchers(self, alertmanager: str) -> list[dict[str, Any]]:
        """Prometheus and Alertmanager themselves; of a Prometheus behind TLS or logins no password is known here."""
        settings = self._settings
        own = {ALERTMANAGER: alertmanager}
        if not settings["kafka_monitoring_web_config"]:
            listens = reached_here(plain_host(settings["kafka_monitoring_host"]))
            own[PROMETHEUS] = host_port(listens, settings["kafka_monitoring_port"])
        jobs = {PROMETHEUS: "prometheus", ALERTMANAGER: "alertmanager"}
        return [
            {
                "job_name": f"{PREFIX}-{jobs[name]}",
                "static_configs": [{"targets": [address], "labels": {"job": jobs[name], "node": self._results.host}}],
            }
            for name, address in own.items()
        ]

    def _alertmanager(self) -> dict[str, Any]:
        """The configuration of Alertmanager."""
        settings = self._settings
        return alertmanager(settings["kafka_monitoring_route"], settings["kafka_monitoring_receivers"])

    def _rules(self) -> dict[str, Any]:
        watched = self._model["monitoring"]
        # Its route of the default tells nobody of it.
        return alert_rules(watched["alerts"], watched["runbooks"], turned_on=[WATCHDOG])

    # What is written.

    def _owned(self, path: str, mode: str, user: bool = False) -> dict[str, Any]:
        """Path, mode and owner of a file that the services may read; without systemd all belongs to who runs the play.

        user -- whether it belongs to their user.
        """
        systemd = self._settings["kafka_service_manager"] == SYSTEMD
        owner = (USER if user else "root") if systemd else None
        return {"path": path, "mode": mode, "owner": owner, "group": USER if systemd else None}

    def _data(self) -> list[dict[str, Any]]:
        """The directories of data."""
        data = self["paths"]["data"]
        return [self._owned(path, "0750", user=True) for path in (data, f"{data}/prometheus", f"{data}/alertmanager")]

    def _written(self, directory: str, data: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """All files below a directory, as the module node_files takes them; secret ones are never shown.

        data -- the directories of data.
        """
        settings, placed = self._settings, self._placed[1]
        # Scrape configurations of the user may hold secrets.
        shown = not settings["kafka_monitoring_scrape_configs"]
        main = {"prometheus.yml": _yaml(self["configuration"])}
        web = settings["kafka_monitoring_web_config"]
        open_ = {RULES: _yaml(self._rules()), **(main if shown else {}), **placed["trust"]}
        secret = {
            "alertmanager.yml": _yaml(self["alertmanager"]),
            **({} if shown else main),
            **({"web.yml": _yaml(web)} if web else {}),
        }
        folders = ["", *(f"/{name}" for name in ("rules", "trust", "secrets"))]
        return {
            "directories": [*(self._owned(f"{directory}{folder}", "0750") for folder in folders), *data],
            "files": [{**self._owned(f"{directory}/{name}", "0640"), "content": text} for name, text in open_.items()],
            "secret_files": [
                *({**self._owned(f"{directory}/{name}", "0640"), "content": text} for name, text in secret.items()),
                *(
                    {**self._owned(f"{directory}/{name}", "0600", user=True), "content": text}
                    for name, text in placed["secrets"].items()
                ),
            ],
        }

    def _checks(self) -> list[dict[str, Any]]:
        """The commands that check the candidate, with the variables of which mistakes would come."""
        place = self["paths"]["candidate"]
        prefix = "kafka_monitoring_"
        asked = {
            "configuration of Prometheus": (
                ["promtool", "check", "config", f"{place}/prometheus.yml"],
                ["scrape_configs", "rule_files", "alerts"],
            ),
            "configuration of Alertmanager": (
                ["amtool", "check-config", f"{place}/alertmanager.yml"],
                ["receivers", "route"],
            ),
        }
        if self._settings["kafka_monitoring_web_config"]:
            web = ["promtool", "check", "web-config", f"{place}/web.yml"]
            asked["web configuration of Prometheus"] = (web, ["web_config"])
        return [
            {"what": what, "argv": argv, "variables": [f"{prefix}{name}" for name in names]}
            for what, (argv, names) in asked.items()
        ]

    def _record(self, name: str, what: str, digest: str) -> dict[str, Any]:
        """The file that says what a service was started with, or has read."""
        owned = self._owned(f"{self['paths']['config']}/{name}.{what}", "0600")
        return {**owned, "group": None, "content": digest}

    def _loaded(self, name: str) -> str:
        """The digest of what a service reads, the rest of its configuration being arguments."""
        all_ = [*self["written"]["files"], *self["written"]["secret_files"]]
        own = [one for one in all_ if one["path"].endswith("/alertmanager.yml") == (name == ALERTMANAGER)]
        return _digest([(one["path"], one["content"]) for one in own])

    def _answers(self) -> str:
        """The line that says which targets answer."""
        seen = self._results.own.targets
        if seen.get("status") == 401:
            return "The targets were not looked at: Prometheus asks for a login, which this run does not have."
        if seen.get("status") != 200:
            return f"The targets were not looked at: {seen.get('msg', 'no answer')}."
        return answers(seen["json"]["data"]["activeTargets"])


def _kept(
    places: Mapping[str, dict[str, str]], folder: str, ending: str, target: Mapping[str, Any], content: str
) -> str:
    """Keep a file of a target and return its name: one for a cluster, and one for each node that has another."""
    files, cluster, node = places[folder], str(target.get("cluster") or target["job"]), target["node"]
    name = f"{folder}/{cluster}-{ending}"
    if files.setdefault(name, content) != content:
        name = f"{folder}/{cluster}-{node}-{ending}"
        files[name] = content
    return name


def _yaml(content: Any) -> str:
    return NOTE + str(to_nice_yaml(content, indent=2, width=1000, sort_keys=False))


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _text(path: str) -> str:
    try:
        return Path(expanduser(path)).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(
            f"{path} on the control node cannot be read ({error.strerror}), the CA that Prometheus needs; fix: run "
            "site.yml for its cluster first, which makes or checks it. Nothing was changed."
        ) from error
