"""A job that a child does: its answer, its errors and its death come back, and nothing is left of it.

The workers here are stand-ins for those of the studies, the plan reader and the device query, which all call this way.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from hettop.errors import HettopError
from hettop.processes.call import Call, Called, ChildLostError, call
from tests.processes.waiting import environment, gone, wait_for
from tests.processes.workers import answer_line, answering, failing, running, saying
from tests.sources.load.fakes import ListedGuard


class Sum(msgspec.Struct, frozen=True):
    numbers: tuple[int, ...]
    does: str = ""


class Step(msgspec.Struct, frozen=True):
    at: int


# A worker: adds, and does what a test says on its way.
WORKER = """
import ctypes, os, signal, sys, threading, time
from pathlib import Path
import msgspec
from hettop.errors import HettopError
from hettop.processes import serve as module
from tests.processes.test_call import Step, Sum
raised, attempts = [], []
module.set_worker_qos = lambda: raised.append(threading.current_thread())

def add(job, caller):
    print("chatter of a framework")
    for at in range(len(job.numbers)) if job.does != "quiet" else ():
        caller.send(Step(at))
    if job.does == "note":
        made = Path(caller.scratch, "made")
        made.write_text(os.environ["TMPDIR"])
        return 0 if made.read_text() == str(caller.scratch) else 1
    if job.does == "refuse":
        raise HettopError("format", "no model", "copy it")
    if job.does == "raise":
        raise ValueError("odd")
    if job.does == "pids":
        caller.send(Step(os.getpid()))
    if job.does == "wait":
        caller.send(Step(os.getpid()))
        while not Path(caller.scratch, "go").exists():
            time.sleep(0.01)
    if job.does in ("hang", "pids"):
        ctypes.PyDLL(None).sleep(3600)
    if job.does == "limit":
        from hettop.processes.time_limit import time_limit
        with time_limit("adding", 0.05):
            ctypes.PyDLL(None).sleep(3600)
    if job.does == "abort":
        sys.stderr.write("MILCompilerForANE error: refused\\nout of \\x1b[2Jmemory\\n")
        os.abort()
    if job.does == "warn":
        os.write(2, b"MILCompilerForANE error: refused\\n" + b"more\\n" * 100)
    if job.does == "stop":
        attempts.append(caller.scratch)
        if len(attempts) < 3:
            os.kill(os.getpid(), signal.SIGCONT)
        return len(set(attempts))
    if job.does == "much":
        return "x" * 1_000_000
    if job.does == "thread":
        return int(raised == [threading.current_thread()])
    return sum(job.numbers)

module.serve(add, Sum, unexpected="load", timed=True)
"""


def add(does: str = "", numbers: tuple[int, ...] = (1, 2, 3), **options: object) -> Called[int]:
    return call(running(WORKER), Sum(numbers, does), int, environment=environment(), **options)  # type: ignore[arg-type]


def test_the_answer_comes_back_typed_with_the_steps_on_its_way() -> None:
    steps: list[Step] = []
    assert add(progress_type=Step, on_progress=steps.append, scratch="test") == Called(6, ())
    assert steps == [Step(0), Step(1), Step(2)]


def test_a_job_during_which_the_process_was_stopped_is_done_again_in_a_folder_of_its_own() -> None:
    assert add("stop", (), scratch="test").answer == 3


def test_the_thread_that_answers_has_a_workers_quality_of_service() -> None:
    assert add("thread", ()).answer == 1


def test_it_has_a_folder_for_its_scratch_files_that_is_gone_afterwards(tmp_path: Path) -> None:
    where: Mapping[str, str] = {**environment(), "TMPDIR": str(tmp_path)}
    note = subprocess.run(
        [
            sys.executable,
            "-c",
            "from tests.processes.test_call import *; print(add('note', (), scratch='test').answer)",
        ],
        env=where,
        capture_output=True,
        text=True,
        check=True,
    )
    assert note.stdout == "0\n"
    assert not any(tmp_path.iterdir())


def test_what_its_log_warns_of_comes_with_the_answer() -> None:
    assert [words.partition(":")[0] for words in add("warn", ()).warnings] == ["the Neural Engine's compiler failed"]


@pytest.mark.parametrize(
    ("does", "kind", "message", "hint"),
    [("refuse", "format", "no model", "copy it"), ("raise", "load", "ValueError: odd", "")],
)
def test_what_its_work_raises_is_raised_here(does: str, kind: str, message: str, hint: str) -> None:
    with pytest.raises(HettopError) as caught:
        add(does, ())
    assert (caught.value.kind, caught.value.message, caught.value.hint) == (kind, message, hint)
    assert not isinstance(caught.value, ChildLostError)


def test_an_error_is_cleaned_for_a_terminal() -> None:
    with pytest.raises(HettopError) as caught:
        call(failing("format", "no \x1b[2Jmodel", "\x07"), None, int)
    assert "\x1b" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("argv", "kind", "message"),
    [
        (running("import os; os._exit(3)"), "crashed", "the measuring process exited with status 3"),
        (running("import os; os.abort()"), "crashed", "the measuring process killed by SIGABRT"),
        (saying(b"hello\n"), "crashed", "the measuring process answered what makes no sense"),
        (saying(b"{}\n"), "crashed", "the measuring process answered what makes no sense"),
        (saying(b"[" * 100_000 + b"\n"), "crashed", "the measuring process answered what makes no sense"),
        (answering("three"), "crashed", "the measuring process answered what makes no sense"),
        (answering(3, progress=["no step"]), "crashed", "the measuring process answered what makes no sense"),
        (saying(answer_line(3)[:-1]), "crashed", "the measuring process exited with status 0"),
        (running(WORKER), "timeout", "the measuring process killed by SIGALRM: its time limit was over"),
    ],
)
def test_one_that_dies_or_talks_nonsense_is_lost(argv: list[str], kind: str, message: str) -> None:
    with pytest.raises(ChildLostError) as caught:
        call(argv, Sum((), "limit"), int, environment=environment(), progress_type=Step)
    assert (caught.value.kind, caught.value.message) == (kind, message)
    assert message.endswith(caught.value.ending)


def test_its_last_words_are_the_hint_cleaned() -> None:
    with pytest.raises(ChildLostError, match="killed by SIGABRT") as caught:
        add("abort", ())
    assert "memory" in caught.value.hint or "File" in caught.value.hint  # the stack follows them
    assert "\x1b" not in caught.value.hint


def test_one_that_hangs_is_waited_for_as_long_as_it_may_take_and_killed() -> None:
    pids: list[Step] = []
    with pytest.raises(ChildLostError, match="the measuring process did not answer within 5 s") as caught:
        add("pids", (), progress_type=Step, on_progress=pids.append, time_limit_s=5)
    assert caught.value.kind == "timeout"
    assert gone([pids[0].at])


def test_one_that_goes_on_after_its_answer_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    argv = running(
        f"import sys, os, time; open({str(note)!r}, 'w').write(str(os.getpid())); "
        f"sys.stdin.readline(); os.write(1, {answer_line(7)!r}); time.sleep(600)"
    )
    assert call(argv, None, int).answer == 7
    assert gone([int(note.read_text())])


def test_an_answer_and_a_job_may_be_larger_than_a_pipe() -> None:
    numbers = tuple(range(200_000))
    assert add("quiet", numbers).answer == sum(numbers)
    assert len(call(running(WORKER), Sum((), "much"), str, environment=environment()).answer) == 1_000_000


def test_a_slow_listener_makes_it_wait_and_loses_nothing() -> None:
    """More steps than a pipe holds, to one that looks at each: the worker waits for room."""
    heard: list[int] = []
    answer = add("", tuple(range(50_000)), progress_type=Step, on_progress=lambda step: heard.append(step.at)).answer
    assert heard == list(range(50_000))
    assert answer == sum(range(50_000))


def test_a_listener_that_fails_or_is_interrupted_leaves_nothing_behind() -> None:
    pids: list[int] = []

    def interrupted(step: Step) -> None:
        pids.append(step.at)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add("pids", (), progress_type=Step, on_progress=interrupted)
    assert gone(pids)


def test_a_program_that_is_not_there_is_reported() -> None:
    with pytest.raises(HettopError, match=r"no measuring process could be started: .*No such file") as caught:
        call(["/no/such/program"], None, int)
    assert caught.value.kind == "crashed"


HETTOP_LIKE = """
import os, psutil
from tests.processes.test_call import *
def told(step):
    print(step.at, *(child.pid for child in psutil.Process().children()), flush=True)
add("pids", (), progress_type=Step, on_progress=told, scratch="test")
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_one_that_hangs_holding_the_gil_and_its_folder_do_not_outlive_a_hettop_that_is_killed(
    end: signal.Signals, tmp_path: Path
) -> None:
    where = {**environment(), "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", HETTOP_LIKE], stdout=subprocess.PIPE, text=True, env=where) as hettop:
        assert hettop.stdout is not None
        pids = [int(word) for word in hettop.stdout.readline().split()]
        assert len(set(pids)) == 2, "the worker and the reaper"
        assert any(tmp_path.iterdir())
        hettop.send_signal(end)
        wait_for(lambda: gone(pids), "both end")
    wait_for(lambda: not any(tmp_path.iterdir()), "the folder is removed")


def test_a_worker_ends_by_itself_when_nobody_waits_for_its_answer_any_more() -> None:
    """Without any reaper: its stdin has ended."""
    with subprocess.Popen(
        running(WORKER.replace("ctypes.PyDLL(None).sleep(3600)", "time.sleep(3600)")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(b'{"job":{"numbers":[1],"does":"hang"}}\n')
        worker.stdin.flush()
        assert b"progress" in worker.stdout.readline()
        worker.stdin.close()
        assert worker.wait(60) == 1


def test_a_worker_without_a_whole_job_does_nothing() -> None:
    done = subprocess.run(
        running(WORKER), input=b'{"job":{"numbers":[1', env=environment(), capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_ctrl_c_is_not_for_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def interrupt(step: Step) -> None:
        os.kill(step.at, signal.SIGINT)
        (folder,) = tmp_path.iterdir()
        (folder / "go").touch()  # for which it waits when the signal arrives

    assert add("wait", (), progress_type=Step, on_progress=interrupt, scratch="test").answer == 0


def test_it_can_be_followed_without_waiting_and_given_up() -> None:
    guard = ListedGuard()
    running_call: Call[int] = Call(
        running(WORKER), Sum((1,), "hang"), int, environment(), guard, name="adder", progress_type=Step
    )
    assert not running_call.poll(), "it has not even begun"
    assert guard.pids == [running_call.process.pid]
    running_call.give_up()
    wait_for(lambda: running_call.collect(0), "it is gone")
    with pytest.raises(ChildLostError, match="the adder took too long"):
        running_call.answer()
    assert guard.pids == []
