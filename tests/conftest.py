"""How hypothesis looks for counterexamples: anew in each run, or, where a run judges a commit, always alike."""

from __future__ import annotations

from hypothesis import settings

# The first example of a property may import scipy; how long that takes is no property of the code.
settings.register_profile("searching", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("searching")
