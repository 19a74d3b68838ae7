"""The dispatch of a co-execution, a process of its own: `python -m hettop.studies.coexec.dispatch`, a job on stdin.

It starts the workers, hands out sequence numbers and restores their order; it runs no model itself. It ends with its
standard input, after an answer with what was measured until then.
"""

from __future__ import annotations

import os
import signal

from hettop.errors import HettopError
from hettop.processes.reaper import Reaper
from hettop.processes.serve import begin_child
from hettop.sources.engine.clock import RealClock
from hettop.sources.engine.garbage import frozen_collector
from hettop.studies.coexec.coexec_run import Course
from hettop.studies.coexec.crew import READ_BYTES, ProcessCrew
from hettop.studies.coexec.messages import Answer, Failed, Job, Lines, Progress, decode_job, encode

STDIN = 0


def main() -> None:
    out = begin_child(signal.SIGTERM, signal.SIGHUP)  # `timeout` sends them to the whole group
    lines, found = Lines(), list[bytes]()
    while not found:
        data = os.read(STDIN, READ_BYTES)
        if not data:
            os._exit(1)
        found = lines.feed(data)
    answer = _answer(decode_job(found[0]), out)
    with os.fdopen(out, "wb") as stream:
        stream.write(encode(answer) + b"\n")
    os._exit(0)


def _answer(job: Job, out: int) -> Answer:
    reaper = Reaper()  # of its own: workers end with the dispatch, as the dispatch ends with hettop
    clock = RealClock()
    try:
        crew = ProcessCrew(job.units, job.work, clock=clock, reaper=reaper, environment=dict(os.environ), ending=STDIN)
        try:
            with frozen_collector():
                return Answer(result=Course(job, crew, clock, tell=lambda word: _say(out, word)).run())
        finally:
            crew.close()
    except HettopError as error:
        return Answer(failed=Failed(kind=error.kind, message=error.message, hint=error.hint))
    finally:
        reaper.close()


def _say(out: int, word: Progress) -> None:
    os.write(out, encode(word) + b"\n")


if __name__ == "__main__":
    main()
