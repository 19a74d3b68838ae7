"""Scratch folders are gone afterwards, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from hettop.engine.asking import ask_in_folder
from hettop.engine.reaper import Reaper
from hettop.engine.scratch import scratch_folder
from tests.engine.processes import environment, wait_for

WRITING = """
import os, sys, tempfile, time
folder = sys.stdin.readline().strip()
tempfile.mkdtemp()
print("writing", flush=True)
for number in range(10_000):  # and no more, should nobody kill it
    with open(os.path.join(folder, str(number)), "w") as file:
        file.write("x")
time.sleep(1000)
"""
ASKING = f"""
import sys
from hettop.engine.asking import ask_in_folder
argv = [sys.executable, "-c", {WRITING!r}]
ask_in_folder(lambda folder: folder.encode(), argv, None, prefix="scratch-", hear=lambda line: print(line, flush=True))
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
            assert asking.stdout.readline() == b"b'writing'\n"
            folders = list(tmp_path.iterdir())
            made = [each for folder in folders for each in folder.iterdir() if each.is_dir()]
        finally:
            asking.send_signal(signal.SIGKILL)
    assert len(folders) == 1
    assert made, "what is temporary there is made in it"
    wait_for(lambda: not any(tmp_path.iterdir()), "the folder is removed")


def test_lines_come_at_once_and_what_follows_the_last_is_the_answer() -> None:
    code = "import sys; sys.stdin.readline(); print('one'); print('two'); sys.stdout.write('three')"
    told: list[bytes] = []
    answer, _, status = ask_in_folder(
        os.fsencode, [sys.executable, "-c", code], None, prefix="scratch-", hear=told.append
    )
    assert (told, answer, status) == ([b"one", b"two"], b"three", "exited with status 0")
