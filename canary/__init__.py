"""A small service next to the target of mirrors: it writes an event a minute into each source, and looks for it in the
target.

It needs kafka-python, and of this collection what talks to Kafka (plugins/module_utils); neither Ansible nor
confluent-kafka.

Pure: event, ledger, latencies, figures, metrics, told, places, config; board holds what threads share. The others act:
write and read on clusters, serve on the process and on readers.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
