"""Reports that playbooks left in a directory: what each tells of itself, and the directory, which is read only."""
# SPDX-License-Identifier: GPL-3.0-or-later
