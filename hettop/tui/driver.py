"""Textual's drivers, extended: closed terminals and pages end hettop, floods of input are bounded, suspend works."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from queue import Empty, Full
from typing import Any

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver
from textual.events import Key, MouseMove, Paste
from textual.message import Message
from textual.messages import ExitApp

READ_BYTES = 4096
LISTEN_S = 0.1
"""How long the input thread waits for a key before it checks whether to end."""

FAREWELL_S = 1.0
"""How long the last output may take in all: a closed terminal never accepts it, nor one that was stopped (Ctrl-S)."""

KNOWN_DEAF_S = 0.1
"""The same for a terminal that had not read for a while already."""

DISCARDS = 100
"""How often to discard what a writer that waits for the terminal goes on to write, at most."""

LEAVE_SCREEN = b"\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[?2004l"
"""Leave the alternate screen, show the cursor, end the reports that a screen asks for: keys, mouse, focus, paste."""

CATCH_UP_S = 0.25
"""How often to check whether a terminal that did not read reads again."""


TYPED_KEYS = 64
"""As many keys may come at once: what was typed while the program was busy. More at once is pasted text."""

KEYS_PER_S = 100.0
"""Above the repeat rate of keyboards. Keys that keep coming faster are pasted text, too."""


class InputDecoder:
    """Makes keys and other input of the bytes that a terminal sends.

    Text that is pasted into a terminal without bracketed paste looks like keys, a million of them for a megabyte. It
    becomes a paste, which a prompt inserts and which the panels ignore.

    clock: in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._parser = XTermParser()
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._clock = clock
        self._counted_at = clock()
        self._allowed = float(TYPED_KEYS)

    def feed(self, data: bytes) -> list[Message]:
        """The input in `data`, and in what came before and was incomplete."""
        text = self._decode(data)
        # Nothing, between two bytes of a character, would be the end of the input for the parser.
        messages = _without_passed_moves(list(self._parser.feed(text)) if text else [])
        keys = [message for message in messages if isinstance(message, Key)]
        if not self._are_pasted(len(keys)):
            return messages
        pasted = "".join(key.character for key in keys if key.character and key.is_printable)
        return [*(each for each in messages if not isinstance(each, Key)), *([Paste(pasted)] if pasted else [])]

    def tick(self) -> list[Message]:
        """The input that is complete because nothing followed, such as an Escape."""
        return list(self._parser.tick())

    def _are_pasted(self, keys: int) -> bool:
        now = self._clock()
        refilled = min(TYPED_KEYS, self._allowed + (now - self._counted_at) * KEYS_PER_S)
        self._counted_at = now
        self._allowed = max(-1.0, refilled - keys)
        return self._allowed < 0


def _without_passed_moves(messages: list[Message]) -> list[Message]:
    """Of moves of the mouse that directly follow each other only the last, where it is now."""
    return [
        message
        for message, following in zip_longest(messages, messages[1:])
        if not (isinstance(message, MouseMove) and isinstance(following, MouseMove))
    ]


class TerminalDriver(LinuxDriver):
    """Ends the app when the terminal was closed, with or without a SIGHUP, and never waits for one that does not read.

    Such a terminal (Ctrl-S, a stalled connection) misses frames and gets a whole one when it reads again: what measures
    and records runs in the loop that draws. Textual would fill the queue of a writer thread that has ended and then
    block for ever, without handling signals,
    while engines continue to measure. And it would treat any SIGCONT as the end of a suspension and start a second
    input thread, which never ends.
    """

    _gone = False
    _drawing = False
    _suspended = False
    _behind = False
    _farewell_ends: float | None = None

    # -- the terminal was closed ----------------------------------------------------------------------------------

    def write(self, data: str) -> None:
        if self._output_has_died():
            if not self._suspended:  # else it was ended for the suspension, and begins again with the screen
                self._hang_up()
            return
        if self._behind and self._drawing:
            return  # a part of a frame without the rest would only confuse
        try:
            self._put(data)
        except Full:
            if self._drawing:
                self._behind = True
                self._loop.call_later(CATCH_UP_S, self._catch_up)

    def close(self) -> None:
        thread = self._writer_thread
        if thread is None:
            return
        with contextlib.suppress(Full):
            self._put(None)  # its own `stop` could block for ever
        thread.join(self._patience())
        if thread.is_alive():
            self._discard_output(thread)

    def _put(self, data: str | None) -> None:
        """Hand it to the writer. Raises Full: at once while frames are drawn, for the next one will do as well."""
        if self._writer_thread is None:
            return
        queue = self._writer_thread._queue
        try:
            queue.put_nowait(data)
        except Full:
            if self._drawing:
                raise
            queue.put(data, timeout=self._patience())

    def _discard_output(self, thread: WriterThread) -> None:
        """Drop what the terminal does not read, so that nothing that is printed after the screen waits for it."""
        with contextlib.suppress(Empty):
            while True:
                thread._queue.get_nowait()
        thread._queue.put_nowait(None)
        descriptor = self._output_descriptor()
        for _ in range(DISCARDS):
            with contextlib.suppress(termios.error):
                termios.tcflush(descriptor, termios.TCOFLUSH)
                termios.tcflow(descriptor, termios.TCOOFF)  # Linux wakes the writer where output goes on
                termios.tcflow(descriptor, termios.TCOON)
            thread.join(FAREWELL_S / DISCARDS)
            if not thread.is_alive():
                os.write(descriptor, LEAVE_SCREEN)
                return

    def _output_descriptor(self) -> int:
        return self.fileno if self._file is None else self._file.fileno()

    def _patience(self) -> float:
        """What is left, in seconds, of the time for the last output, which begins when it is asked for first."""
        now = time.monotonic()
        if self._farewell_ends is None:
            self._farewell_ends = now + (FAREWELL_S if not self._behind else KNOWN_DEAF_S)
        return max(0.0, self._farewell_ends - now)

    def _catch_up(self) -> None:
        """Draw everything, once the terminal has read what was written before it stopped reading."""
        if not self._drawing or self._writer_thread is None:
            return
        if self._writer_thread._queue.empty():
            self._behind = False
            self._repaint()
        else:
            self._loop.call_later(CATCH_UP_S, self._catch_up)

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except Exception as error:  # noqa: BLE001 - of this thread, whatever it is: the app reports it
            self._loop.call_soon_threadsafe(self._app._handle_exception, error)

    def run_input_thread(self) -> None:
        """Reads keys until the driver stops or the terminal is closed."""
        decoder = InputDecoder()
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
                    for message in decoder.feed(data):
                        self.process_message(message)
                for message in decoder.tick():
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
            self._behind, self._farewell_ends = False, None

    def stop_application_mode(self) -> None:
        self._drawing = False
        super().stop_application_mode()

    def _sigtstp_application(self, *_: object) -> None:
        if not self._soon(self._stop_here):
            os.kill(os.getpid(), signal.SIGSTOP)

    def _sigcont_application(self, *_: object) -> None:
        self._soon(self._go_on)

    def _soon(self, callback: Callable[[], None]) -> bool:
        """Call it in the loop, never in a signal handler: that may have interrupted a write, whose lock it would wait
        for in vain. False where the loop has ended."""
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            return False
        return True

    def _stop_here(self) -> None:
        if self._auto_restart and self._drawing:
            self._suspended = self._must_signal_resume = True
            self.suspend_application_mode()
        os.kill(os.getpid(), signal.SIGSTOP)

    def _go_on(self) -> None:
        if self._suspended:
            self.resume_application_mode()
        # Stopped by other means, or not at all, too: other programs may have written to the terminal.
        self._repaint()

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
