from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hettop.processes import reaper_child
from hettop.processes.reaper import Reaper
from tests.processes.waiting import environment, gone, wait_for

HANG_HOLDING_THE_GIL = "import ctypes; print('hanging', flush=True); ctypes.PyDLL(None).sleep(3600)"

PARENT = f"""
import os, subprocess, sys, time
from hettop.processes.reaper import Reaper
reaper = Reaper()
command = [sys.executable, "-c", {HANG_HOLDING_THE_GIL!r}]
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
reaper.add(child.pid)
child.stdout.readline()
print(child.pid, reaper.pid, flush=True)
time.sleep(3600)
"""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", HANG_HOLDING_THE_GIL], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_child_that_hangs_in_a_native_call_dies_with_its_parent(end: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=environment(), text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert not gone(pids)
        parent.send_signal(end)
        wait_for(lambda: gone(pids), "the child and the reaper end")


def test_a_signal_to_the_whole_group_spares_the_reaper_which_then_does_its_work() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=environment(), text=True, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        os.killpg(parent.pid, signal.SIGKILL)
        wait_for(lambda: gone(pids), "the child and the reaper end")


def test_closing_kills_what_is_registered(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    reaper.add(sleeper.pid)
    reaper.close()
    assert sleeper.wait() == -signal.SIGKILL
    assert reaper.pid is None


def test_a_removed_pid_is_spared(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    reaper.add(sleeper.pid)
    reaper.remove(sleeper.pid)
    reaper.close()
    assert sleeper.poll() is None


def test_signals_meant_for_hettop_do_not_end_the_reaper(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    reaper.add(sleeper.pid)
    other = subprocess.Popen([sys.executable, "-c", HANG_HOLDING_THE_GIL])
    reaper.add(other.pid)
    reaper.remove(other.pid)
    other.kill()
    other.wait()
    assert reaper.pid is not None
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(reaper.pid, ignored)
    assert sleeper.poll() is None
    reaper.close()
    assert sleeper.wait() == -signal.SIGKILL


def test_a_reaper_that_was_killed_is_replaced_and_learns_all_pids(sleeper: subprocess.Popen[bytes]) -> None:
    reaper = Reaper()
    reaper.add(sleeper.pid)
    first = reaper.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: gone([first]), "the first reaper ends")
    reaper.add(sleeper.pid)  # any word to it shows that nobody listens
    assert reaper.pid != first
    reaper.close()
    assert sleeper.wait() == -signal.SIGKILL


def test_a_line_without_end_is_not_taken_in_and_ends_the_reading(sleeper: subprocess.Popen[bytes]) -> None:
    """The pipe stays open, and yet what is registered is killed: nobody valid sends such a line."""
    argv = [sys.executable, "-S", "-E", "-P", reaper_child.__file__]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, bufsize=0) as reaper:
        assert reaper.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it may be gone before it received all of it
            reaper.stdin.write(f"+{sleeper.pid}\n".encode() + b"+/" + b"61" * 40_000)
        wait_for(lambda: gone([sleeper.pid]), "what is registered is killed")
        assert reaper.wait() == 0


def test_the_longest_path_that_a_system_has_is_taken_in(tmp_path: Path) -> None:
    (folder := tmp_path / "scratch").mkdir()
    entry = reaper_child.PATH_MARK + os.fsencode(f"{'/./' * 1_300}{folder}").hex()
    with subprocess.Popen([sys.executable, "-S", "-E", "-P", reaper_child.__file__], stdin=subprocess.PIPE) as reaper:
        reaper.communicate(f"+{entry}\n".encode())
    assert not folder.exists()


def test_one_that_stands_still_with_its_pipe_full_is_replaced_and_nobody_waits(
    sleeper: subprocess.Popen[bytes],
) -> None:
    reaper = Reaper()
    first = reaper.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    reaper.add(sleeper.pid)
    for number in range(20_000):  # two lines each, far more than a pipe holds
        reaper.add_folder(f"/never/there/{number}")
        reaper.remove_folder(f"/never/there/{number}")
    assert reaper.pid != first
    assert gone([first])
    reaper.close()
    assert sleeper.wait() == -signal.SIGKILL


def test_once_it_is_closed_nothing_is_registered_and_nothing_can_be(tmp_path: Path) -> None:
    reaper = Reaper()
    reaper.add(2**22 + 1)
    reaper.add_folder(str(tmp_path / "scratch"))
    reaper.remove(2**22 + 1)
    reaper.add(2**22 + 1)
    reaper.close()
    reaper.remove(2**22 + 1)
    reaper.remove_folder(str(tmp_path / "scratch"))
    reaper.close()
    with pytest.raises(ValueError, match="closed"):
        reaper.add(2**22 + 1)


def filled(folder: Path) -> Path:
    """A folder with a file, a folder in it, and links out of it."""
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "weights").write_text("x")
    (folder / "to-file").symlink_to(folder.parent / "mine" / "note")
    (folder / "to-folder").symlink_to(folder.parent / "mine")
    return folder


def test_closing_removes_the_folders_that_are_registered_and_nothing_they_link_to(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note").write_text("mine")
    odd, spared = filled(tmp_path / "+1\nodd \udcff"), filled(tmp_path / "spared")
    reaper = Reaper()
    for folder in (odd, spared):
        reaper.add_folder(str(folder))
    reaper.remove_folder(str(spared))
    reaper.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine", "spared"]
    assert (tmp_path / "mine" / "note").read_text() == "mine"


def test_a_replaced_reaper_learns_the_folders_too(tmp_path: Path) -> None:
    folder = filled(tmp_path / "scratch")
    reaper = Reaper()
    reaper.add_folder(str(folder))
    first = reaper.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: gone([first]), "the first reaper ends")
    reaper.remove_folder("/never/added")
    reaper.add_folder(str(tmp_path / "another"))  # any word to it shows that nobody listens
    assert reaper.pid != first
    reaper.close()
    assert not folder.exists()
