"""Records of a topic for people to read: who may, which, within which bounds, and what is hidden of them.

Pure: rights, asked, bounds, found, batches, codecs, walk, trees, masking, decoding, shown, markup. Gate counts readers,
read talks to a cluster, and door answers requests.
"""
# SPDX-License-Identifier: GPL-3.0-or-later
