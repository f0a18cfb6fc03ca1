"""report.html, drawn from the JSON of a result alone."""
# SPDX-License-Identifier: GPL-3.0-or-later
