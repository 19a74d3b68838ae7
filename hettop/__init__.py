"""hettop: a terminal live profiler for on-device inference.

For programs: `hettop.open_recording(path)` gives a recording as numpy arrays (docs/reference/api.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hettop.version import __version__

if TYPE_CHECKING:
    from hettop.record.opened import Recording, open_recording

__all__ = ["Recording", "__version__", "open_recording"]


def __getattr__(name: str) -> object:
    """What needs numpy is imported when it is asked for: `hettop --version` must answer at once."""
    if name in ("Recording", "open_recording"):
        from hettop.record import opened

        return getattr(opened, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
