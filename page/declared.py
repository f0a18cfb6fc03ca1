"""Hold the defaults and bounds of settings of the page. Made by tools/make_defaults."""
# SPDX-License-Identifier: GPL-3.0-or-later

#: The address that it binds.
HOST = "127.0.0.1"
#: Numbers that may be set: default, least and most. Times are in seconds.
NUMBERS = {
    "port": (9406, 1, 65535),
    "interval": (30, 1, 3600),
    "poll_timeout": (60, 1, 3600),
    "stale_after": (300, 1, 86400),
    "details_interval": (600, 1, 86400),
    "series_limit": (100000, 0, 10000000),
}
