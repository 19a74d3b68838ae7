"""Libraries that are imported beside what is going on."""

from __future__ import annotations

import subprocess
import sys

from hettop.app.live import import_beside


def test_they_are_there_once_the_thread_is_done_and_missing_ones_hold_up_nothing() -> None:
    thread = import_beside("nothing_of_this_name", "colorsys")
    thread.join()
    assert "colorsys" in sys.modules


def test_an_import_that_hangs_does_not_keep_a_program_from_ending() -> None:
    code = (
        "import sys, types, time; from hettop.app.live import import_beside\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        "        time.sleep(600 if name == 'slow' else 0)\n"
        "sys.meta_path.insert(0, Slow()); import_beside('slow')"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert done.returncode == 0
