"""A small service that polls Kafka clusters and serves what it sees as pages for people and as metrics, over TLS and
with a login.

It reads groups and logs with the same code as the modules of this collection (plugins/module_utils), of which it needs
what talks to Kafka; it needs kafka-python, Starlette, uvicorn and Jinja2, and neither Ansible nor confluent-kafka.

Pure: config, clusters, login, attempts, remembered, hosts, filed/told, and the folders core, known and shown. The
others act: poll and known/poller on clusters, access, web, pages and patience on readers, tls and filed/shelf on files,
serve on the process.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
