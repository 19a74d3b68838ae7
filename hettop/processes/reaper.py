"""Removes what hettop leaves behind: a tiny process that holds a pipe from hettop and the pids of its children.

At the end of the pipe, however hettop ended, it kills every registered pid, and then removes every registered folder,
in which they may have written. A child cannot do that for itself: while a
native call holds the GIL none of its threads runs, and macOS has no death signal. Started by its path with `-S`, it
imports nothing but `os`, `sys`, `signal` and `time`: 7 MB, and no model runtime can hurt it.
"""

# ruff: noqa: PTH106, PTH108, PTH114, PTH118
# (pathlib would double what the reaper process imports.)

from __future__ import annotations

import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

PATIENCE_S = 1.0  # a reaper at the end of its pipe has milliseconds of work
REMOVALS, PAUSE_S = 10, 0.05  # a killed process may still write what it had begun to

LONGEST_LINE = 64 << 10
"""Characters: a system's longest path, 4096 bytes, takes 8 KiB."""

PATH_MARK = "/"
"""Parts a folder from a pid in what the reaper is told."""

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


class Reaper:
    """hettop's end of the pipe. Not thread-safe; `close` ends the process and kills what is still registered.

    Remove a pid *before* waiting for its process: a dead child keeps its pid until it is waited for, so the pid that
    is registered can never be a stranger's.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._pids: set[int] = set()
        self._folders: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = self._start()

    @property
    def pid(self) -> int | None:
        """The reaper's own pid; None once closed."""
        return None if self._process is None else self._process.pid

    def add(self, pid: int) -> None:
        self._pids.add(pid)
        self._tell(f"+{pid}\n")

    def remove(self, pid: int) -> None:
        if pid in self._pids:
            self._pids.discard(pid)
            self._tell(f"-{pid}\n")

    def add_folder(self, path: str) -> None:
        """An absolute path: the folder and all that is in it are removed once the registered pids are dead."""
        self._folders.add(path)
        self._tell(f"+{_written(path)}\n")

    def remove_folder(self, path: str) -> None:
        if path in self._folders:
            self._folders.discard(path)
            self._tell(f"-{_written(path)}\n")

    def close(self) -> None:
        """Kills and removes all that is registered and ends the reaper; may be called twice."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            self._await_end(process)

    def _tell(self, line: str) -> None:
        if self._process is None:
            raise ValueError("the reaper is closed")
        try:
            _write(self._process, line)
        except BrokenPipeError:
            # It was killed (out of memory, a zealous user): a new one learns all that is registered.
            self._process.wait()
            self._process = self._start()
            entries = (*map(str, self._pids), *map(_written, self._folders))
            _write(self._process, "".join(f"+{entry}\n" for entry in entries))

    def _await_end(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for the reaper; one that stands still is killed, and its work done here."""
        import subprocess

        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kill_all(self._pids)
            remove_all(self._folders)

    def _start(self) -> subprocess.Popen[bytes]:
        import subprocess

        # Blocked signals stay blocked in the new process, so that none can end it before it has set them to be ignored.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, IGNORED)
        try:
            # A session of its own: a signal to hettop's whole process group must not take the reaper along.
            return subprocess.Popen(
                [self._python, "-S", "-E", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _write(process: subprocess.Popen[bytes], line: str) -> None:
    assert process.stdin is not None  # noqa: S101 (it was started with a pipe)
    os.write(process.stdin.fileno(), line.encode())


def kill_all(pids: set[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue  # it had already ended


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


def _written(path: str) -> str:
    """A path as a line may hold it, whatever is in it."""
    return PATH_MARK + os.fsencode(path).hex()


def main() -> None:
    """The reaper process: reads `+entry` and `-entry` lines until they end, then ends and removes what is left."""
    for ignored in IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    entries = set()
    while line := sys.stdin.readline(LONGEST_LINE):
        if not line.endswith("\n"):
            break  # torn: hettop died while it wrote; or longer than anything hettop tells
        entry = line[1:-1]
        if line[0] == "+":
            entries.add(entry)
        else:
            entries.discard(entry)
    folders = {entry for entry in entries if entry.startswith(PATH_MARK)}
    kill_all({int(entry) for entry in entries - folders})
    remove_all({os.fsdecode(bytes.fromhex(entry.removeprefix(PATH_MARK))) for entry in folders})


if __name__ == "__main__":
    main()
