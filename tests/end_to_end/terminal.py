"""A terminal with hettop in it: tmux on a socket of its own, so that nothing of the user's is touched."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from tests.cli.running import HETTOP, plain_environment
from tests.processes.waiting import PATIENCE_S

POLL_S = 0.05
# The shell outlives hettop, says how it ended and in which state it left the terminal, and waits to be looked at.
SHELL = "{command}; echo LEFT:$?; stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e echo -e isig; sleep 600"


class Terminal:
    """hettop with `arguments` in a terminal of `width` x `height` cells; `folder` is its current folder.

    environment: what it has beside the usual.
    """

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str],
        width: int = 120,
        height: int = 40,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._socket = str(folder / "tmux")
        command = SHELL.format(command=shlex.join([*HETTOP, *arguments]))
        size = ["-x", str(width), "-y", str(height)]
        subprocess.run(
            ["tmux", "-S", self._socket, "-f", "/dev/null", "new-session", "-d", "-s", "t", *size, command],
            check=True,
            cwd=folder,
            env=plain_environment(SHELL="/bin/sh", **(environment or {})),
        )
        self.shell = int(self._tmux("list-panes", "-t", "t", "-F", "#{pane_pid}"))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
        return done.stdout

    # What is seen

    @property
    def lines(self) -> list[str]:
        return self._tmux("capture-pane", "-p", "-t", "t").splitlines()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def coloured(self) -> str:
        """The same with its colours, as escape sequences."""
        return self._tmux("capture-pane", "-pe", "-t", "t")

    def until(self, *texts: str, without: Sequence[str] = ()) -> str:
        """The screen, once all of `texts` stand on it and none of `without`."""
        return self.until_so(
            lambda shown: all(text in shown for text in texts) and not any(text in shown for text in without),
            f"{texts} on the screen, without {without}",
        )

    def until_so(self, condition: Callable[[str], bool], what: str) -> str:
        """The screen, once `condition` holds of it."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition(shown := self.text):
            assert time.monotonic() < deadline, f"never happened: {what}\n{shown}"
            time.sleep(POLL_S)
        return shown

    def until_still(self) -> None:
        """Waits until nothing moves: where inference is drawn, something does in each second."""
        self.until_so(lambda _: self.stands_still(), "nothing moves")

    def stands_still(self, seconds: float = 1.0) -> bool:
        """Whether nothing changes for a few redraws."""
        before = self.text
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.text != before:
                return False
            time.sleep(POLL_S)
        return True

    def row_of(self, text: str) -> int:
        """The line, from 0, on which `text` stands."""
        return next(y for y, line in enumerate(self.lines) if text in line)

    @property
    def modes(self) -> str:
        """`alternate screen, cursor, mouse`, each 0 or 1."""
        return self._tmux(
            "display-message", "-p", "-t", "t", "#{alternate_on},#{cursor_flag},#{mouse_any_flag}"
        ).strip()

    def assert_left(self, code: int) -> None:
        """It has ended with this code and left the terminal as a shell needs it."""
        shown = self.until("LEFT:", "echo")
        assert f"LEFT:{code}\n" in shown
        assert {"icanon", "echo", "isig"} <= set(shown.split())
        assert self.modes == "0,1,0"

    # What is done

    def press(self, *keys: str) -> None:
        for key in keys:
            self._tmux("send-keys", "-t", "t", key)

    def click(self, x: int, y: int) -> None:
        """Press and release the left button on a cell (from 0), as terminals report it (SGR)."""
        for end in "Mm":
            self._tmux("send-keys", "-t", "t", "-l", f"\x1b[<0;{x + 1};{y + 1}{end}")

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def hettop(self) -> psutil.Process:
        """The process the user started."""
        (process,) = psutil.Process(self.shell).children()
        return process

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.hettop().pid, number)

    def family(self) -> list[int]:
        """Its pid and those of all that it has started."""
        process = self.hettop()
        return [process.pid, *(child.pid for child in process.children(recursive=True))]
