"""Textual's driver for terminals, which notices when the terminal is gone.

Knows nothing of what is drawn.
"""

from __future__ import annotations

import signal

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Ends the app when its output thread has died: a terminal that vanished without a SIGHUP.

    Textual would go on to fill the queue of a thread that empties it no more, and then wait for room for ever: deaf to
    signals, while engines measure on.
    """

    _gone = False

    def write(self, data: str) -> None:
        if self._output_has_died():
            if not self._gone:
                self._gone = True
                # A number, not a call into our app: the driver knows Textual's App alone.
                signal.raise_signal(signal.SIGHUP)
            return
        super().write(data)

    def close(self) -> None:
        if not self._output_has_died():
            super().close()

    def _output_has_died(self) -> bool:
        thread = getattr(self, "_writer_thread", None)
        return thread is not None and not thread.is_alive()
