"""What every room of the page may use: checks of configured values, and the text format of metrics. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later
