"""Hold the defaults and bounds of settings of the canary. Made by tools/make_defaults."""
# SPDX-License-Identifier: GPL-3.0-or-later

#: The address that it binds.
HOST = "127.0.0.1"
#: Numbers that may be set: default, least and most. Times are in seconds.
NUMBERS = {
    "port": (9407, 1, 65535),
    "interval": (60, 5, 3600),
    "late_after": (120, 1, 43200),
    "missing_after": (21600, 1, 43200),
    "offset_flush": (10, 1, 86400),
}
