"""What all jobs and their reports share: arguments, results, errors, the session, and the style sheet.

The pages of the collection use the style sheet too (plugin_utils/reports/document.py).
"""
# SPDX-License-Identifier: GPL-3.0-or-later
