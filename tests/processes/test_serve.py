"""A process that answers one question answers it as every process does that measures."""

from __future__ import annotations

import subprocess
import sys

from tests.processes.waiting import environment

ANSWER = """
import threading
from hettop.processes import serve as answering
threads = []
answering.set_worker_qos = lambda: threads.append(threading.current_thread())
answering.answer_one(lambda line: b"raised" if threads == [threading.current_thread()] else b"not raised")
"""


def test_the_thread_that_answers_has_a_workers_quality_of_service() -> None:
    argv = [sys.executable, "-c", ANSWER]
    with subprocess.Popen(argv, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"a job\n")
        process.stdin.flush()
        assert process.stdout.read() == b"raised"
