"""The dispatch of a co-execution, a process of its own: `python -m hettop.studies.coexec.dispatch`, a job on stdin.

It starts the workers, hands out sequence numbers and restores their order; it runs no model itself. It ends with its
standard input, after an answer with what was measured until then.
"""

from __future__ import annotations

import os
import signal
import sys

import msgspec

from hettop.errors import HettopError
from hettop.processes.qos import frozen_collector
from hettop.processes.reaper import Reaper
from hettop.processes.serve import Replies, Request, begin_child
from hettop.sources.engine.backend import RealClock
from hettop.studies.coexec.coexec_run import CoexecRun
from hettop.studies.coexec.crew import ProcessCrew
from hettop.studies.coexec.messages import CoexecJob
from hettop.studies.coexec.rates import Result

STDIN = 0


def main() -> None:
    replies = Replies(begin_child(signal.SIGTERM, signal.SIGHUP))  # `timeout` sends them to the whole group
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(1)
    job = msgspec.json.decode(msgspec.json.decode(line, type=Request).job, type=CoexecJob)
    try:
        replies.answer(_run(job, replies))
    except HettopError as error:
        replies.failed(error)
    os._exit(0)


def _run(job: CoexecJob, replies: Replies) -> Result:
    reaper = Reaper()  # of its own: workers end with the dispatch, as the dispatch ends with hettop
    clock = RealClock()
    try:
        crew = ProcessCrew(job.units, job.work, clock=clock, guard=reaper, environment=dict(os.environ), ending=STDIN)
        try:
            with frozen_collector():
                return CoexecRun(job, crew, clock, tell=replies.progress).run()
        finally:
            crew.close()
    finally:
        reaper.close()


if __name__ == "__main__":
    main()
