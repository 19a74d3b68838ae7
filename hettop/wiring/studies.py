"""Studies of the model that is being watched: hettop's own commands, run beside the screen, one at a time.

Knows how they are called and what became of them, nothing of what they say.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from hettop.load.source import ProcessGuard
from hettop.text import clean
from hettop.tui.feed import StudyState
from hettop.wiring.options import ModelOptions

MOST_LINES = 400
LONGEST_LINE = 400  # characters
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Kind:
    """A command by name, what it finds out, and its arguments beside the model."""

    name: str
    words: str
    arguments: tuple[str, ...]


def kinds(unit: str, units: Sequence[str]) -> tuple[Kind, ...]:
    """What can be asked of a model that runs on these units; `unit` is the one that is looked at."""
    pair = ",".join(units[:2])
    together = (
        Kind("coexec", "two units on one stream, with work stealing", ("coexec", "--units", pair)),
        Kind("plan", "which layers on which of two units, and what that gains", ("plan", "--devices", pair, "--run")),
    )
    return (
        Kind("layers", "time by layer, and the share of each type of operation", ("layers", "--unit", unit)),
        Kind("roofline", "what this machine can do, and how near each layer comes", ("roofline", "--unit", unit)),
        Kind(
            "sweep", "items a second and latency by batch, 1 to 16", ("sweep", "--units", unit, "--batch", "1,2,4,8,16")
        ),
        Kind("variants", "fp32, fp16, int8: speed, size, output difference", ("variants", "--units", unit)),
        *(together if len(units) > 1 else ()),
        Kind(
            "granularities",
            "parallel within operators, between them, by sub-graph, by task",
            ("coexec", "--granularities"),
        ),
    )


class Studies:
    """Starts a study, and knows of all that were started what became of them."""

    def __init__(
        self,
        model: ModelOptions,
        guard: ProcessGuard,
        environment: Mapping[str, str],
        command: Sequence[str] = (sys.executable, "-P", "-m", "hettop"),
    ) -> None:
        self._model = model
        self._guard = guard
        self._environment = environment
        self._command = tuple(command)
        self._running: _Running | None = None
        self._found: dict[str, StudyState] = {}

    @property
    def running(self) -> bool:
        return self._running is not None

    def start(self, kind: Kind, width: int, t: int) -> None:
        """Begin it at `t` of the session, its lines at most `width` wide. Ends one that runs."""
        self.stop()
        arguments = [*self._command, *kind.arguments, *model_arguments(self._model)]
        environment = {**self._environment, "COLUMNS": str(width), "NO_COLOR": "1", "TERM": "dumb"}
        self._running = _Running(kind, arguments, environment, t, self._guard)

    def look(self) -> bool:
        """Whether the study that ran has ended since the last look."""
        running = self._running
        if running is None or not running.ended:
            return False
        self._found[running.kind.name] = running.result()
        self._running = None
        return True

    def stop(self) -> None:
        """End the one that runs; what it said so far is forgotten."""
        if self._running is not None:
            self._running.stop()
            self._running = None

    def states(self, offered: Sequence[Kind], t: int) -> tuple[StudyState, ...]:
        """Each study that is offered, and what became of it."""
        return tuple(self._state(kind, t) for kind in offered)

    def _state(self, kind: Kind, t: int) -> StudyState:
        running = self._running
        if running is not None and running.kind.name == kind.name:
            return StudyState(kind.name, kind.words, "running", t - running.since_ns)
        return self._found.get(kind.name) or StudyState(kind.name, kind.words, "not run")


class _Running:
    """One study's process. What it says goes to a file without a name: nobody has to read along."""

    def __init__(
        self, kind: Kind, arguments: list[str], environment: Mapping[str, str], t: int, guard: ProcessGuard
    ) -> None:
        self.kind, self.since_ns = kind, t
        self._guard = guard
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `result` or `stop`
        self._process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=self._said, stderr=subprocess.STDOUT, env=dict(environment)
        )
        guard.add(self._process.pid)

    @property
    def ended(self) -> bool:
        # Looks without reaping: a pid stays the child's own until the guard has been told to forget it.
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def result(self) -> StudyState:
        self._guard.remove(self._process.pid)
        code = self._process.wait()
        self._said.seek(0)
        text = self._said.read(MOST_LINES * LONGEST_LINE).decode(errors="replace")
        self._said.close()
        lines = tuple(clean(line, LONGEST_LINE) for line in text.splitlines()[:MOST_LINES])
        return StudyState(self.kind.name, self.kind.words, "done" if code == 0 else f"failed, exit {code}", lines=lines)

    def stop(self) -> None:
        self._process.terminate()  # it ends its own children; its reaper does if it cannot
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._guard.remove(self._process.pid)
        self._said.close()


def model_arguments(model: ModelOptions) -> list[str]:
    """The model as the user wrote it, for another command line."""
    told = [model.model]
    for option, value in (("--backend", model.backend), ("--function", model.function)):
        told += [option, value] if value is not None else []
    for option, values in (("--shape", model.shapes), ("--input", model.values), ("--hint", model.hints)):
        told += [part for value in values for part in (option, value)]
    return [*told, "--seed", str(model.seed)] if model.seed else told
