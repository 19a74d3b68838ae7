"""Input from the terminal, in parts and in floods, and signals that stop the program and let it continue."""

from __future__ import annotations

import os
import pty
import select
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.events import Key, MouseScrollDown, Paste
from textual.message import Message

from hettop.tui.driver import KEYS_PER_S, LEAVE_SCREEN, TYPED_KEYS, InputDecoder, TerminalDriver

WHEEL = b"\x1b[<65;10;10M"


def characters(messages: list[Message]) -> str:
    return "".join(message.character or "" for message in messages if isinstance(message, Key))


def pastes(messages: list[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, Paste)]


@pytest.mark.parametrize(
    ("character", "place"), [(each, place) for each in "ü€🙂" for place in range(1, len(each.encode()))]
)
def test_a_character_may_arrive_in_two_reads(character: str, place: int) -> None:
    data = character.encode()
    decoder = InputDecoder()
    assert decoder.feed(data[:place]) == []
    assert characters(decoder.feed(data[place:])) == character
    assert characters(decoder.feed(b"q")) == "q"


@pytest.mark.parametrize("character", "ü€🙂")
def test_a_character_may_arrive_in_single_bytes(character: str) -> None:
    decoder = InputDecoder()
    read = [decoder.feed(bytes([byte])) for byte in character.encode()]
    assert [characters(messages) for messages in read] == [""] * (len(read) - 1) + [character]


def test_a_character_that_never_ends_is_replaced_and_ends_nothing() -> None:
    decoder = InputDecoder()
    assert decoder.feed(b"\xf0\x9f") == []
    assert characters(decoder.feed(b"q")) == "\ufffdq"


def test_a_long_text_without_an_announced_paste_is_no_key() -> None:
    decoder = InputDecoder(lambda: 0.0)
    text = b"quit\r" * 20_000
    read = [message for at in range(0, len(text), 4096) for message in decoder.feed(text[at : at + 4096])]
    assert characters(read) == ""
    assert "".join(pastes(read)) == "quit" * 20_000
    assert len(read) == 25  # 100,000 bytes in reads of 4,096


def test_what_was_typed_ahead_stays_keys() -> None:
    decoder = InputDecoder(lambda: 0.0)
    assert characters(decoder.feed(b"a" * TYPED_KEYS)) == "a" * TYPED_KEYS
    assert pastes(decoder.feed(b"bc")) == ["bc"]


def test_keys_in_small_reads_that_come_faster_than_a_keyboard_are_pasted() -> None:
    times = iter(range(1000))
    decoder = InputDecoder(lambda: next(times) / 128)
    read = [message for _ in range(200) for message in decoder.feed(b"ab")]
    # 64 - 2 keys are left after the first read, and each takes 2 - 100/128 = 1.21875 more: none after 51 reads.
    assert characters(read) == "ab" * 51
    assert "".join(pastes(read)) == "ab" * 149


def test_after_a_pause_keys_are_keys_again() -> None:
    now = 0.0
    decoder = InputDecoder(lambda: now)
    assert pastes(decoder.feed(b"x" * 1000)) == ["x" * 1000]
    now = 3 / KEYS_PER_S
    assert characters(decoder.feed(b"q")) == "q"


def test_a_held_key_stays_a_key() -> None:
    times = iter(range(1000))
    decoder = InputDecoder(lambda: next(times) / KEYS_PER_S)
    read = [message for _ in range(500) for message in decoder.feed(b"\x1b[B")]
    assert [message.key for message in read if isinstance(message, Key)] == ["down"] * 500


def test_an_announced_paste_and_the_mouse_pass() -> None:
    decoder = InputDecoder(lambda: 0.0)
    read = decoder.feed(b"\x1b[200~" + b"q" * 1000 + b"\x1b[201~" + WHEEL)
    assert pastes(read) == ["q" * 1000]
    assert isinstance(read[-1], MouseScrollDown)
    flooded = decoder.feed(b"x" * 1000 + WHEEL)
    assert [type(message) for message in flooded] == [MouseScrollDown, Paste]


@pytest.mark.parametrize("handler", ["_sigtstp_application", "_sigcont_application"])
def test_a_signal_handler_leaves_the_work_to_the_loop(handler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have interrupted a write to the terminal, whose lock it would wait for in vain."""
    scheduled: list[str] = []

    class Loop:
        def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
            scheduled.append(callback.__name__)

    driver = TerminalDriver.__new__(TerminalDriver)
    monkeypatch.setattr(driver, "_loop", Loop(), raising=False)
    monkeypatch.setattr("hettop.tui.driver.os.kill", lambda *_: scheduled.append("killed"))
    getattr(driver, handler)()
    assert scheduled == [{"_sigtstp_application": "_stop_here", "_sigcont_application": "_go_on"}[handler]]


@pytest.mark.parametrize("suspended", [False, True])
def test_a_frame_between_continuation_and_the_new_screen_is_no_hang_up(
    suspended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer was ended for the suspension: that it is gone says nothing of the terminal."""
    sent: list[int] = []
    monkeypatch.setattr("os.kill", lambda _process, number: sent.append(number))
    driver = TerminalDriver.__new__(TerminalDriver)
    output = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - the thread is never started
    driver._writer_thread = WriterThread(output)
    driver._suspended = suspended
    driver.write("a frame")
    assert sent == ([] if suspended else [signal.SIGHUP])


def test_after_the_loop_a_stop_stops_at_once_and_a_continuation_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended:
        def call_soon_threadsafe(self, _: Callable[[], None]) -> None:
            raise RuntimeError("Event loop is closed")

    sent: list[int] = []
    driver = TerminalDriver.__new__(TerminalDriver)
    monkeypatch.setattr(driver, "_loop", Ended(), raising=False)
    monkeypatch.setattr("hettop.tui.driver.os.kill", lambda _, number: sent.append(number))
    driver._sigtstp_application()
    driver._sigcont_application()
    assert sent == [signal.SIGSTOP]


class Loop:
    """Keeps what is to be called later."""

    def __init__(self) -> None:
        self.later: list[Callable[[], None]] = []

    def call_later(self, _seconds: float, callback: Callable[[], None]) -> None:
        self.later.append(callback)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[TerminalDriver, Loop, int]]:
    """A driver that draws on a terminal whose other end is read by the test alone."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    driver, loop = TerminalDriver.__new__(TerminalDriver), Loop()
    driver._loop = loop  # type: ignore[assignment]
    driver._file = os.fdopen(theirs, "w")
    driver._writer_thread = WriterThread(driver._file)
    driver._writer_thread.start()
    driver._drawing = True
    yield driver, loop, ours
    if driver._writer_thread.is_alive():
        driver._discard_output(driver._writer_thread)
    os.close(ours)


def read_all(descriptor: int) -> bytes:
    """What there is to read until nothing comes any more."""
    found = b""
    while select.select([descriptor], [], [], 0.2)[0]:
        found += os.read(descriptor, 1 << 16)
    return found


FRAME = "x" * 20_000


def test_a_terminal_that_does_not_read_misses_frames_and_gets_a_whole_one_when_it_reads(
    deaf: tuple[TerminalDriver, Loop, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, loop, terminal = deaf
    repainted: list[str] = []
    monkeypatch.setattr(driver, "_repaint", lambda: repainted.append("all"))
    for _ in range(10 * MAX_QUEUED_WRITES):
        driver.write(FRAME)  # none of these waits, or the test would never end
    assert len(loop.later) == 1
    loop.later.pop()()
    assert (repainted, len(loop.later)) == ([], 1), "it still does not read: look again later"
    assert len(read_all(terminal)) <= (MAX_QUEUED_WRITES + 2) * len(FRAME)
    loop.later.pop()()
    assert (repainted, loop.later) == (["all"], [])
    driver.write("next")
    assert read_all(terminal).endswith(b"next")


def test_a_driver_ends_although_the_terminal_does_not_read_and_leaves_it_usable(
    deaf: tuple[TerminalDriver, Loop, int],
) -> None:
    driver, _, terminal = deaf
    for _ in range(2 * MAX_QUEUED_WRITES):
        driver.write(FRAME)
    driver._drawing = False
    driver.write("the last words")
    driver.close()
    assert driver._writer_thread is not None
    assert not driver._writer_thread.is_alive(), "what is printed now would wait for it"
    assert read_all(terminal).endswith(LEAVE_SCREEN)
