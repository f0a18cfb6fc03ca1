# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Words for what runs on a machine, whoever installed it: the product, who starts it, whose build it is."""

from __future__ import annotations

#: Products, by their main class.
KAFKA, ZOOKEEPER, MIRROR, CONNECT = "kafka", "zookeeper", "mirror", "connect"
#: Who starts a process: a unit, a program of supervisord, an engine of containers, something else, nobody.
SYSTEMD, SUPERVISOR, CONTAINER, OTHER, NONE = "systemd", "supervisor", "container", "other", "none"
#: Those that can be told to stop a process and to start it again.
MANAGERS = (SYSTEMD, SUPERVISOR, NONE)
#: The vendor of a build that is no other vendor's.
APACHE = "apache"
