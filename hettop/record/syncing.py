"""Makes a growing file durable once a second, off the thread that writes it.

Knows the file's descriptor alone. A failed sync is kept for good: the kernel may have dropped what it could not write.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hettop.record.disk import fault_text

# A dead network disk can hold a sync for minutes; closing must not wait for it.
PATIENCE_S = 5.0


class Syncer:
    """A daemon thread that calls `sync(fd)` every `every_s` seconds in which `touch` was called."""

    def __init__(self, fd: int, sync: Callable[[int], None], every_s: float) -> None:
        self._fd = fd
        self._sync = sync
        self._every_s = every_s
        self._touched = threading.Event()
        self._stopping = threading.Event()
        self._fault: str | None = None
        self._thread = threading.Thread(target=self._run, name="hettop-sync", daemon=True)
        self._thread.start()

    @property
    def fault(self) -> str | None:
        """What the first failed sync said; None while all went well."""
        return self._fault

    def touch(self) -> None:
        """There is something new to sync."""
        self._touched.set()

    def stop(self) -> bool:
        """End the thread after a last sync. False when the disk did not answer: the descriptor is still in use."""
        self._stopping.set()
        self._thread.join(PATIENCE_S)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.wait(self._every_s):
            if self._touched.is_set():
                self._once()
        self._once()

    def _once(self) -> None:
        # Cleared first: what is written during the sync is for the next one.
        self._touched.clear()
        try:
            self._sync(self._fd)
        except OSError as error:
            self._fault = self._fault or fault_text(error)
