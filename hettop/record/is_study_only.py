"""Whether a recording contains only a study, by its first bytes, without imports."""

from __future__ import annotations

from pathlib import Path

LARGEST = 64 << 10  # bytes: header, study and end take some thousand
MOST_LINES = 3
STUDY = b'{"k":"study",'


def is_study_only(path: Path) -> bool:
    """Whether there is a header, one study, and nothing else but an end. False for what cannot be read."""
    try:
        with path.open("rb") as file:
            beginning = file.read(LARGEST + 1)
    except OSError:
        return False
    lines = beginning.splitlines()
    return len(beginning) <= LARGEST and 2 <= len(lines) <= MOST_LINES and lines[1].startswith(STUDY)
