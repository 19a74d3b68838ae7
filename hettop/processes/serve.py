"""The process at the other end of `asking`: reads one job from stdin, writes one answer to stdout, and ends.

Knows neither the job nor the answer: bytes both.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from hettop.processes.qos import set_worker_qos
from hettop.sources.engine.frame_writer import begin_child

Tell = Callable[[bytes], None]
"""Says one line on the way to the answer: no line end may be in it."""


def answer_one(answer: Callable[[bytes], bytes]) -> NoReturn:
    """Answer the job on stdin; end at once if stdin ends before that, for then nobody waits for the answer."""
    answer_telling(lambda line, _tell: answer(line))


def answer_telling(answer: Callable[[bytes, Tell], bytes]) -> NoReturn:
    """As `answer_one`, and `answer` may tell whoever asked how far it is.

    The thread that answers has the quality of service of every thread that measures.
    """
    out = begin_child()
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    set_worker_qos()
    with os.fdopen(out, "wb") as stream:

        def tell(told: bytes) -> None:
            stream.write(told + b"\n")
            stream.flush()

        stream.write(answer(line, tell))
    os._exit(0)  # frameworks' exit handlers have been seen to hang


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)
