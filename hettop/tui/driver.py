"""Textual's driver for terminals, which notices when the terminal is gone, and stops and goes on with the shell."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
from codecs import getincrementaldecoder
from queue import Full

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

READ_BYTES = 4096
LISTEN_S = 0.1
"""How long the input thread waits for a key before it looks whether it is to end."""

FAREWELL_S = 2.0
"""How long the last output may take: a terminal that nobody reads any more takes none, ever."""


class TerminalDriver(LinuxDriver):
    """Ends the app when the terminal vanished without a SIGHUP, and with it in any case.

    Textual would go on to fill the queue of a thread that empties it no more, and then wait for room for ever: deaf to
    signals, while engines measure on. And it would take any SIGCONT for the end of a suspension, and begin once more:
    with a second thread for input, which nothing ends.
    """

    _gone = False
    _drawing = False
    _suspended = False

    # -- the terminal is gone ------------------------------------------------------------------------------------

    def write(self, data: str) -> None:
        if self._output_has_died():
            self._hang_up()
            return
        super().write(data)

    def close(self) -> None:
        thread = self._writer_thread
        if thread is None:
            return
        with contextlib.suppress(Full):
            thread._queue.put(None, timeout=FAREWELL_S)  # its own `stop` would wait for ever
        thread.join(FAREWELL_S)

    def run_input_thread(self) -> None:
        """Reads keys until the driver stops, or there is no terminal any more."""
        parser, decode = XTermParser(self._debug), getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(LISTEN_S):
                    try:
                        data = os.read(self.fileno, READ_BYTES)
                    except OSError:  # Linux' word for a terminal that was closed; macOS says that it ended
                        data = b""
                    if not data:
                        self._hang_up()
                        return
                    for message in parser.feed(decode(data)):
                        self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)

    def _output_has_died(self) -> bool:
        thread = self._writer_thread
        return thread is not None and not thread.is_alive()

    def _hang_up(self) -> None:
        if not self._gone:
            self._gone = True
            # A number, not a call into our app: the driver knows Textual's App alone.
            os.kill(os.getpid(), signal.SIGHUP)

    # -- stopping, and going on ----------------------------------------------------------------------------------

    def start_application_mode(self) -> None:
        before = self._writer_thread
        super().start_application_mode()  # type: ignore[no-untyped-call]
        # In the background it does not start: the next SIGCONT is to try again.
        if self._writer_thread is not before:
            self._drawing, self._suspended = True, False

    def stop_application_mode(self) -> None:
        self._drawing = False
        super().stop_application_mode()

    def _sigtstp_application(self, *_: object) -> None:
        if self._auto_restart and self._drawing:
            self._suspended = self._must_signal_resume = True
            self.suspend_application_mode()
        os.kill(os.getpid(), signal.SIGSTOP)

    def _sigcont_application(self, *_: object) -> None:
        if self._suspended:
            self.resume_application_mode()
        elif self._drawing:
            # Stopped by other means, or not at all: others may have written on the terminal meanwhile.
            self._loop.call_soon_threadsafe(self._repaint)

    def _repaint(self) -> None:
        if self._drawing:
            self._app.refresh(layout=True)
