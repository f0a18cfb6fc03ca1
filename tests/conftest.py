"""What holds for every test of every stage."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says something about the machine, nothing about the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
