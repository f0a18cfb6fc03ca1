"""What the pages for people show, as words and addresses; the templates add markup and escape. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later
