"""Where a recording goes that was begun by a key press: the first folder that can be written, under a free name.

Looks at the file system and writes nothing.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from hettop.models.cache import find_home


def unused(path: Path) -> Path:
    """`path`, with a number if there is such a file already: two recordings may begin in one second."""
    names = (path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, 100)))
    return next((name for name in names if not name.exists()), path)


def places_to_record() -> list[Path]:
    """Here, at home, or where temporary files go: the first that can be written."""
    places = [Path(), Path(tempfile.gettempdir())]
    with contextlib.suppress(RuntimeError):  # a user without a home, as in a container
        places.insert(1, find_home())
    return places
