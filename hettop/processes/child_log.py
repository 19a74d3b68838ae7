"""What a child process printed: its last lines, and warnings that a model may not run where it was asked to.

Core ML compiles for the Neural Engine while it loads. If that fails, it prints so and uses another device: the load
succeeds.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from hettop.processes.nserror import flatten
from hettop.text import clean

LOG_LINES = 20
LOG_LINE_BYTES = 4096
"""More of one line is not kept, whatever a framework prints."""

BRACKETS = " \t\r(){}[];,"

LONGEST_LINE = 100
"""Characters of a line that are shown; a unit's note has room for 200."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What a line means that has a text of this form in it: a form that was reported, so that no other words match."""

    meaning: str
    form: re.Pattern[bytes]


SIGNS = (
    # apple/coremltools issues 2758, 2247 and 1548, pytorch/executorch issue 19635
    Sign(
        "the Neural Engine's compiler failed: the model, or part of it, may run elsewhere",
        re.compile(rb"\bANECCompile\([^()]*\) FAILED\b|\bMILCompiler?ForANE error: (?!(?:none|no|0)\b)\w"),
    ),
    # invoke-ai/InvokeAI issue 4356, AUTOMATIC1111/stable-diffusion-webui issue 13933
    Sign(
        "the Neural Engine failed to run a part of the model, which may run elsewhere",
        re.compile(rb"\bANEProgramProcessRequestDirect\(\) Failed with status=|\bANE Evaluation Error = Error Domain="),
    ),
    # apple/coremltools issue 1106
    Sign(
        "Core ML could not prepare the model for one of its devices, and may use another",
        re.compile(rb"\[Espresso::handle_ex_plan\] exception=(?!(?:none|no|0)\b)|\bError plan build: -[1-9]"),
    ),
    # E5RT prepares ML Programs for every device; the same exception has other causes, such as unbounded dimensions.
    Sign(
        "Core ML met an error while it prepared the model, and may use another device",
        re.compile(rb"\bE5RT encountered an \w"),
    ),
)
"""The first sign that a line shows counts; the source of each is where its lines were reported."""


class LogWarnings:
    """What the lines of one log mean, each meaning once, with the first line that says it."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    @property
    def found(self) -> Mapping[str, str]:
        """The first line by what it means, cleaned and shortened."""
        return self._found

    def add(self, line: bytes) -> bool:
        """Look at the next line; return whether it says something new."""
        meaning = next((sign.meaning for sign in SIGNS if sign.form.search(line)), None)
        if meaning is None or meaning in self._found:
            return False
        self._found[meaning] = clean(line.decode(errors="replace").strip(), LONGEST_LINE)
        return True


def sentences(found: Mapping[str, str]) -> list[str]:
    """What was found, for people."""
    return [f"{meaning} (log: {line})" for meaning, line in found.items()]


class ChildLog:
    """The last lines that a child printed, and the warnings in all of them."""

    def __init__(self) -> None:
        self.warnings = LogWarnings()
        self._lines: deque[bytes] = deque(maxlen=LOG_LINES)
        self._line = b""

    def receive(self, data: bytes) -> bool:
        """Take what was printed next, no bytes at the end; return whether there are new warnings in it."""
        *whole, rest = (self._line + data).split(b"\n") if data else (self._line, b"")
        lines = [line[:LOG_LINE_BYTES] for line in whole if line.strip()]
        self._lines.extend(lines)
        self._line = rest[:LOG_LINE_BYTES]
        return sum(map(self.warnings.add, lines)) > 0  # every line is looked at

    def lines(self) -> list[str]:
        """Cleaned for a terminal, with NSErrors in words; of lines of brackets alone nobody learns anything."""
        text = flatten(b"\n".join([*self._lines, self._line]).decode(errors="replace"))
        lines = [line.rstrip() for line in text.split("\n") if line.strip(BRACKETS)]
        return [clean(line) for line in lines[-LOG_LINES:]]

    @property
    def hint(self) -> str:
        """The last two lines, for the error that says that the child was lost."""
        return " · ".join(self.lines()[-2:])
