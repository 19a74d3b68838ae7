"""What really goes to a terminal: as many colours as it has, and none where none are wanted."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time

import pytest

from tests.cli.running import HETTOP, plain_environment, read
from tests.processes.waiting import PATIENCE_S, REPOSITORY

REPLAY = ("replay", str(REPOSITORY / "recordings" / "simulated-m2.jsonl"), "--at", "20s")
TRUE = re.compile(r"[34]8;2;(\d+);(\d+);(\d+)")
OF_256 = re.compile(r"[34]8;5;\d+")
OF_16 = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])[;m]")


def written(*arguments: str, **environment: str) -> str:
    """All that it wrote until its panels stood, and until `q` had ended it."""
    far, near = pty.openpty()
    told = plain_environment(COLUMNS="100", LINES="30", **environment)
    with subprocess.Popen([*HETTOP, *arguments], stdin=near, stdout=near, stderr=near, env=told) as process:
        os.close(near)
        shown = b""
        deadline = time.monotonic() + PATIENCE_S
        while b"P90" not in shown or b"quit" not in shown:
            assert time.monotonic() < deadline, shown
            shown += os.read(far, 65536)
        os.write(far, b"q")
        while part := read(far):
            shown += part
        assert process.wait(PATIENCE_S) == 0
    os.close(far)
    return shown.decode(errors="replace")


@pytest.mark.parametrize(
    ("environment", "has", "lacks"),
    [
        ({"COLORTERM": "truecolor", "NO_COLOR": ""}, [TRUE], [OF_256]),  # one that is empty says nothing
        ({"TERM": "xterm-256color"}, [OF_256], [TRUE]),
        ({"TERM": "xterm-16color"}, [OF_16], [TRUE, OF_256]),
    ],
)
def test_a_terminal_gets_the_colours_it_has(
    environment: dict[str, str], has: list[re.Pattern[str]], lacks: list[re.Pattern[str]]
) -> None:
    text = written(*REPLAY, **environment)
    assert all(pattern.search(text) for pattern in has)
    assert not any(pattern.search(text) for pattern in lacks)
    assert TRUE not in has or any(len(set(channels)) > 1 for channels in TRUE.findall(text)), "not greys alone"


@pytest.mark.parametrize(
    ("theme", "sent"), [("hettop-dark", "96"), ("hettop-light", "34"), ("light", "34"), ("hettop-phosphor", "33")]
)
def test_of_sixteen_colours_a_theme_takes_those_it_names(theme: str, sent: str) -> None:
    text = written(*REPLAY, "--theme", theme, TERM="screen")
    assert not TRUE.search(text)
    assert not OF_256.search(text)
    assert re.search(rf"\x1b\[(?:\d+;)*{sent}[;m]", text)


def test_without_colour_there_are_greys_alone_that_differ_in_brightness_and_with_ascii_nothing_else() -> None:
    """The bands have brightnesses of their own unless a theme was named."""
    text = written(*REPLAY, "--ascii", NO_COLOR="1", COLORTERM="truecolor")
    usual = set(TRUE.findall(text))
    named = set(TRUE.findall(written(*REPLAY, "--theme", "hettop-dark", NO_COLOR="1", COLORTERM="truecolor")))
    mono = {("168",) * 3, ("212",) * 3, ("255",) * 3}  # primary, warning and error of hettop-mono
    assert mono <= usual
    assert not mono <= named
    assert all(len(set(channels)) == 1 for channels in usual | named)
    assert not [char for char in text if ord(char) > 126]
