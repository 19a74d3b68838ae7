"""Textual's drivers, extended: a closed terminal or page ends hettop; a terminal can be suspended and resumed."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
from codecs import getincrementaldecoder
from functools import partial
from queue import Full
from typing import Any

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver
from textual.messages import ExitApp

READ_BYTES = 4096
LISTEN_S = 0.1
"""How long the input thread waits for a key before it checks whether to end."""

FAREWELL_S = 2.0
"""How long the last output may take: a closed terminal never accepts it."""


class TerminalDriver(LinuxDriver):
    """Ends the app when the terminal was closed, with or without a SIGHUP.

    Textual would fill the queue of a writer thread that has ended and then block for ever, without handling signals,
    while engines continue to measure. And it would treat any SIGCONT as the end of a suspension and start a second
    input thread, which never ends.
    """

    _gone = False
    _drawing = False
    _suspended = False

    # -- the terminal was closed ----------------------------------------------------------------------------------

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
            thread._queue.put(None, timeout=FAREWELL_S)  # its own `stop` could block for ever
        thread.join(FAREWELL_S)

    def run_input_thread(self) -> None:
        """Reads keys until the driver stops or the terminal is closed."""
        parser, decode = XTermParser(self._debug), getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(LISTEN_S):
                    try:
                        data = os.read(self.fileno, READ_BYTES)
                    except OSError:  # a closed terminal on Linux; on macOS the read returns nothing
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
            # By a signal, because the driver has no reference to this app, only to Textual's.
            os.kill(os.getpid(), signal.SIGHUP)

    # -- suspend and resume -------------------------------------------------------------------------------------

    def start_application_mode(self) -> None:
        before = self._writer_thread
        super().start_application_mode()  # type: ignore[no-untyped-call]
        # In the background it does not start: the next SIGCONT tries again.
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
            # Stopped by other means, or not at all: other programs may have written to the terminal.
            self._loop.call_soon_threadsafe(self._repaint)

    def _repaint(self) -> None:
        if self._drawing:
            self._app.refresh(layout=True)


MOST_COLUMNS, MOST_ROWS = 800, 300
"""Cells of a page: a 4K screen has fewer in the smallest font, and a page of a million would draw for ever."""


class PageDriver(WebDriver):
    """Ends the app when the server that shows the page is gone, and keeps sizes within what a page can have.

    Textual would let the session measure on where nobody sees it, and draw any size that a page asks for.
    """

    _gone = False

    def __init__(
        self, app: Any, *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        if self._size is not None:
            self._size = page_size(*self._size)
        self._write = partial(self._write_or_hang_up)

    def run_input_thread(self) -> None:
        """Reads keys until the driver stops or the pipe of the server is closed."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._hang_up()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type == "resize":
            width, height = payload.get("width"), payload.get("height")
            if not isinstance(width, int) or not isinstance(height, int):
                return
            columns, rows = page_size(width, height)
            payload = {**payload, "width": columns, "height": rows}
        super().on_meta(packet_type, payload)

    def _write_or_hang_up(self, data: bytes) -> int:
        try:
            return os.write(self.fileno, data)
        except OSError:
            self._hang_up()
            return len(data)

    def _hang_up(self) -> None:
        if not self._gone:
            self._gone = True
            self._app.post_message(ExitApp())


def page_size(columns: int, rows: int) -> tuple[int, int]:
    """The size of a page of so many cells, within what a page can have."""
    return min(max(columns, 1), MOST_COLUMNS), min(max(rows, 1), MOST_ROWS)


def driver_class(named: str) -> type[Driver] | None:
    """The driver of this program; `named`: what TEXTUAL_DRIVER says. None: Textual's own choice."""
    if named.endswith("WebDriver"):
        return PageDriver
    return None if named else TerminalDriver
