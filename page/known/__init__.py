"""What the page knows of clusters: pictures, rates, states, their ages and metrics.

Pure but for poller, which keeps the newest picture and asks for the next.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
