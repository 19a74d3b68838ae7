"""The reaper's process: kills and removes what hettop leaves behind, at the end of a pipe from hettop.

Each line of the pipe enters (`+entry`) or strikes out (`-entry`) the pid of a child, or the path of a folder. A child
cannot end itself when hettop dies: while a native call holds the GIL none of its threads runs, and macOS has no death
signal. Started by its path with `-S`, it imports nothing but `os`, `sys`, `signal` and `time`: 7 MB, and no model
runtime can hurt it.
"""

# ruff: noqa: PTH106, PTH108, PTH114, PTH118
# (pathlib would double what this process imports.)

from __future__ import annotations

import os
import signal
import sys
import time

REMOVALS, PAUSE_S = 10, 0.05  # a killed process may still write what it had begun to

LONGEST_LINE = 64 << 10
"""Characters: a system's longest path, 4096 bytes, takes 8 KiB."""

PATH_MARK = "/"
"""Parts a folder from a pid in what the reaper is sent."""

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


def end_all(entries: set[str]) -> None:
    """Kills the processes, and then removes the folders, in which they may have written."""
    folders = {entry for entry in entries if entry.startswith(PATH_MARK)}
    for pid in entries - folders:
        try:
            os.kill(int(pid), signal.SIGKILL)
        except OSError:
            continue  # it had already ended
    remove_all({os.fsdecode(bytes.fromhex(entry.removeprefix(PATH_MARK))) for entry in folders})


def remove_all(folders: set[str]) -> None:
    """The folders, and all that is in them; links are removed, not followed."""
    left = folders
    for _ in range(REMOVALS):
        left = {folder for folder in left if not _removed(folder)}
        if not left:
            return
        time.sleep(PAUSE_S)


def _removed(folder: str) -> bool:
    """Whether it is gone now. Not `shutil.rmtree`: importing it would double the reaper's memory."""
    for inner, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            path = os.path.join(inner, name)
            try:
                os.unlink(path) if name in files or os.path.islink(path) else os.rmdir(path)
            except OSError:
                continue  # the next attempt may find it gone, or empty
    try:
        os.rmdir(folder)
    except OSError:
        return not os.path.lexists(folder)
    return True


def main() -> None:
    """The reaper process: reads `+entry` and `-entry` lines until they end, then ends and removes what is left."""
    for ignored in IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    entries: set[str] = set()
    while line := sys.stdin.readline(LONGEST_LINE):
        if not line.endswith("\n"):
            break  # torn: hettop died while it wrote; or longer than any line of hettop
        entry = line[1:-1]
        if line[0] == "+":
            entries.add(entry)
        else:
            entries.discard(entry)
    end_all(entries)


if __name__ == "__main__":
    main()
