"""Scratch folders are gone afterwards, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hettop.processes.reaper import Reaper
from hettop.processes.scratch import HELD, remove_forgotten, scratch_folder
from tests.processes.waiting import environment, wait_for

WRITING = """
import os, sys, tempfile, time
folder = os.environ["TMPDIR"]
tempfile.mkdtemp()
print('{"k":"progress","value":"writing"}', flush=True)
for number in range(10_000):  # and no more, should nobody kill it
    with open(os.path.join(folder, str(number)), "w") as file:
        file.write("x")
time.sleep(1000)
"""
ASKING = f"""
import sys
from hettop.processes.call import call
argv = [sys.executable, "-c", {WRITING!r}]
call(argv, None, str, scratch="scratch", progress_type=str, on_progress=lambda word: print(word, flush=True))
"""


def test_it_is_gone_afterwards_and_the_reaper_has_nothing_to_do(tmp_path: Path) -> None:
    reaper = Reaper()
    with scratch_folder(reaper, "scratch-") as folder:
        (Path(folder) / "file").write_text("x")
    assert not Path(folder).exists()
    Path(folder).mkdir()  # somebody else's by now
    reaper.close()
    Path(folder).rmdir()


def test_sigkill_leaves_neither_the_folder_nor_what_the_process_made_for_itself(tmp_path: Path) -> None:
    """The process writes all the time, also while the reaper comes for it."""
    where = {**environment(), "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", ASKING], stdout=subprocess.PIPE, env=where) as asking:
        try:
            assert asking.stdout is not None
            assert asking.stdout.readline() == b"writing\n"
            folders = list(tmp_path.iterdir())
            made = [each for folder in folders for each in folder.iterdir() if each.is_dir()]
        finally:
            asking.send_signal(signal.SIGKILL)
    assert len(folders) == 1
    assert made, "what is temporary there is made in it"
    wait_for(lambda: not any(tmp_path.iterdir()), "the folder is removed")


LIMITED = """
import resource, sys
from pathlib import Path
from hettop.processes.serve import explained
from hettop.errors import HettopError
folder = Path(sys.argv[1])
error = HettopError(sys.argv[2], "graph.cc:5543") if sys.argv[2] else RuntimeError("graph.cc:5543")
print(explained(error, folder).message)
resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
print(explained(error, folder).message)
print(explained(error, folder).hint)
"""


def limited(folder: Path, kind: str) -> list[str]:
    """Words without a limit of a file's size, and with one of 2 KiB."""
    command = [sys.executable, "-c", LIMITED, str(folder), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return done.stdout.splitlines()


@pytest.mark.parametrize(("kind", "words"), [("load", "graph.cc:5543"), ("", "RuntimeError: graph.cc:5543")])
def test_what_fails_for_want_of_room_says_so_and_where(tmp_path: Path, kind: str, words: str) -> None:
    (folder := tmp_path / "hettop-layers-x").mkdir()
    free, full, hint = limited(folder, kind)
    assert free == words
    assert full == f"a scratch file could not be written to {tmp_path}: File too large"
    assert "ulimit -f" in hint
    assert list(folder.iterdir()) == []


def test_what_fails_for_another_reason_keeps_it(tmp_path: Path) -> None:
    free, full, *_ = limited(tmp_path, "unsupported-op")
    assert free == full == "graph.cc:5543"


KEEPING = """
import sys
from hettop.processes.reaper import Reaper
from hettop.processes.scratch import scratch_folder
reaper = Reaper()
with scratch_folder(reaper, sys.argv[1]) as folder:
    print(reaper.pid, folder, flush=True)
    sys.stdin.read()
"""


def keeping(where: Path, prefix: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", KEEPING, prefix]
    pipe, where_to = subprocess.PIPE, {**environment(), "TMPDIR": str(where)}
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=where_to)


def told(process: subprocess.Popen[str]) -> tuple[int, Path]:
    assert process.stdout is not None
    pid, folder = process.stdout.readline().split()
    return int(pid), Path(folder)


def killed_with_its_reaper(where: Path, prefix: str) -> Path:
    with keeping(where, prefix) as process:
        pid, folder = told(process)
        os.kill(pid, signal.SIGKILL)
        process.kill()
    return folder


def test_what_one_that_was_killed_with_its_reaper_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left, others = killed_with_its_reaper(tmp_path, "mine-"), killed_with_its_reaper(tmp_path, "others-")
    (left / "weights").write_text("x")
    assert left.exists()
    with keeping(tmp_path, "mine-") as process:
        _, folder = told(process)
        assert not left.exists()
        assert others.exists(), "it has another prefix"
        assert folder.exists()


def test_what_a_living_one_has_and_what_nobody_knows_stays(tmp_path: Path) -> None:
    (mine := tmp_path / "target").mkdir()
    (mine / HELD).touch()
    (tmp_path / "mine-link").symlink_to(mine)
    (unknown := tmp_path / "mine-unknown").mkdir()
    (linked := tmp_path / "mine-linked").mkdir()
    (linked / HELD).symlink_to(mine / HELD)
    with keeping(tmp_path, "mine-") as first:
        _, living = told(first)
        with keeping(tmp_path, "mine-") as second:
            told(second)
            assert living.exists()
            assert {unknown, linked, mine / HELD} <= {*tmp_path.rglob("*")}


KILLED = """
import os, signal, sys
from hettop.processes.scratch import scratch_folder
with scratch_folder(None, "hettop-mine-") as folder:
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_without_a_reaper_left_is_removed_by_the_next(tmp_path: Path) -> None:
    where = {**environment(), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", KILLED]
    runs = [subprocess.run(command, env=where, capture_output=True, text=True, check=False) for _ in range(2)]
    left = [Path(run.stdout.strip()) for run in runs]
    assert not left[0].exists(), "the next one came"
    assert (left[1] / HELD).exists()
    assert remove_forgotten(tmp_path) == 1
    assert not any(tmp_path.iterdir())
