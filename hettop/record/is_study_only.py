"""Whether a recording contains only a study, by its first bytes, without imports."""

from __future__ import annotations

from pathlib import Path

LARGEST = 64 << 10  # bytes: header, study and end take some thousand
AFTER = (b'{"k":"keyframe",', b'{"k":"end",')
"""What may follow: a study that took more than some seconds has a keyframe."""
STUDY = b'{"k":"study",'


def is_study_only(path: Path) -> bool:
    """Whether there is a header and one study, and nothing else that happened. False for what cannot be read."""
    try:
        with path.open("rb") as file:
            beginning = file.read(LARGEST + 1)
    except OSError:
        return False
    lines = beginning.splitlines()
    if len(beginning) > LARGEST or len(lines) < 2 or not lines[1].startswith(STUDY):
        return False
    return all(line.startswith(AFTER) for line in lines[2:])
