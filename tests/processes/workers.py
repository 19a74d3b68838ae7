"""Stand-ins for a child that answers one job: programs that say what a test wants them to."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec

from hettop.processes.serve import Answered, Failed, Progress

encode = msgspec.json.encode


def running(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def saying(said: bytes, after: str = "") -> list[str]:
    """Reads the job, says these bytes, and does what `after` says."""
    return running(f"import sys; sys.stdin.readline(); sys.stdout.buffer.write({said!r}); sys.stdout.flush(); {after}")


def answer_line(answer: object) -> bytes:
    return encode(Answered(msgspec.Raw(encode(answer)))) + b"\n"


def answering(answer: object, progress: Sequence[object] = (), after: str = "") -> list[str]:
    lines = [encode(Progress(msgspec.Raw(encode(each)))) + b"\n" for each in progress]
    return saying(b"".join(lines) + answer_line(answer), after)


def failing(kind: str, message: str, hint: str = "") -> list[str]:
    return saying(encode(Failed(kind, message, hint)) + b"\n")
