"""The measuring process: its answer, its errors and its death come back in words, and nothing is left of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.studies.layers.child import measure_in_child
from hettop.studies.layers.job import Answer, Failed, Job, encode
from tests.studies.layers.measured import measured

JOB = Job(model="m.onnx", unit="CPU_ONLY", folder="")


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def refused(code: str) -> HettopError:
    with pytest.raises(HettopError) as error:
        measure_in_child(JOB, argv=python(code))
    return error.value


def answering(answer: Answer) -> str:
    return f"import sys; sys.stdin.readline(); sys.stdout.buffer.write({encode(answer)!r})"


def test_what_was_measured_comes_back_as_it_was() -> None:
    assert measure_in_child(JOB, argv=python(answering(Answer(measured=measured())))) == measured()


def test_the_job_goes_there_with_a_folder_of_its_own_that_is_gone_afterwards(tmp_path: Path) -> None:
    note = tmp_path / "job"
    code = f"import sys, pathlib; pathlib.Path({str(note)!r}).write_text(sys.stdin.readline()); print()"
    refused(code)
    text = note.read_text()
    assert '"model":"m.onnx"' in text
    folder = text.partition('"folder":"')[2].partition('"')[0]
    assert "hettop-layers-" in folder
    assert not Path(folder).exists()


def test_an_error_in_the_process_is_the_users_error() -> None:
    error = refused(answering(Answer(failed=Failed(kind="format", message="no model", hint="copy it"))))
    assert (error.kind, error.message, error.hint) == ("format", "no model", "copy it")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os; os._exit(3)", "exited with status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
        ("print('hello')", "answered what makes no sense"),
        ("print('{}')", "answered nothing"),
    ],
)
def test_a_process_that_dies_or_talks_nonsense_is_told(code: str, words: str) -> None:
    error = refused(code)
    assert error.kind == "crashed"
    assert words in error.message


def test_its_last_words_come_along_cleaned() -> None:
    error = refused("import sys, os; sys.stderr.write('out of \\x1b[2Jmemory\\n'); sys.stderr.flush(); os._exit(1)")
    assert "memory" in error.hint
    assert "\x1b" not in error.hint


def test_a_process_that_goes_on_after_its_answer_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        f"import os, sys, time, pathlib; pathlib.Path({str(note)!r}).write_text(str(os.getpid())); "
        f"{answering(Answer(measured=measured()))}; sys.stdout.close(); os.close(1); time.sleep(600)"
    )
    assert measure_in_child(JOB, argv=python(code)) == measured()
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(HettopError, match="could be started"):
        measure_in_child(JOB, argv=["/no/such/program"])
