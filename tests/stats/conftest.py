from __future__ import annotations

from hypothesis import settings

# The first example of a property may import scipy; how long that takes is no property of the code.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")
