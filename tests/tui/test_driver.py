"""Input from the terminal, in parts and in floods, and signals that stop the program and let it continue."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from textual.events import Key, MouseScrollDown, Paste
from textual.message import Message

from hettop.tui.driver import KEYS_PER_S, TYPED_KEYS, InputDecoder, TerminalDriver

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
