"""What is hidden for `--macos`: the names by their sources, and that any Python process here then has none of them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.coreml.bench import Bench
from tests.macos.lacking import KEPT, VARIABLE, VERSIONS, environment, lacking, linux_only
from tests.processes.waiting import REPOSITORY

pytest.importorskip("mypy", reason="mypy, whose typeshed knows what macOS lacks, is not installed")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only on Linux is there anything to hide")

# By the "Availability" lines of Python's documentation and by psutil's.
LINUX_ONLY = (
    *("os pidfd_open", "os P_PIDFD", "os sched_getaffinity", "os sched_setaffinity", "os posix_fadvise"),
    *("os posix_fallocate", "os memfd_create", "os eventfd", "os fdatasync", "os getrandom", "os copy_file_range"),
    *("os splice", "os pipe2", "os getxattr", "os O_DIRECT", "os O_TMPFILE", "os O_PATH", "os O_NOATIME"),
    *("select epoll", "signal pidfd_send_signal", "signal sigtimedwait", "signal sigwaitinfo", "socket AF_NETLINK"),
    *("resource prlimit", "resource RUSAGE_THREAD", "time CLOCK_BOOTTIME", "fcntl F_SETPIPE_SZ", "mmap MAP_POPULATE"),
    *("psutil Process.cpu_affinity", "psutil Process.rlimit", "psutil Process.ionice", "psutil Process.io_counters"),
    *("psutil Process.memory_maps", "psutil sensors_temperatures", "psutil sensors_fans", "psutil RLIMIT_AS"),
)
ON_BOTH = (
    *("os sync", "os fsync", "os sendfile", "os posix_spawn", "os mkfifo", "os getpriority", "os O_CLOEXEC"),
    *("os sched_yield", "os getloadavg", "os wait4", "select poll", "fcntl flock", "signal pthread_sigmask"),
    *("signal sigwait", "resource getrusage", "resource setrlimit", "time CLOCK_MONOTONIC", "mmap MAP_SHARED"),
    *("psutil Process.environ", "psutil Process.num_threads", "psutil sensors_battery", "psutil virtual_memory"),
)


def words(names: tuple[str, ...]) -> set[tuple[str, str]]:
    return {(module, name) for module, name in (each.split() for each in names)}


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_what_only_linux_has_is_hidden_and_what_both_have_is_not(version: tuple[int, int]) -> None:
    found = lacking(version)
    assert words(LINUX_ONLY) - found == set()
    assert words(ON_BOTH) & found == set()


@pytest.mark.parametrize("running", [(3, 11), (3, 13)])
def test_waitid_came_to_macos_with_python_3_13_whichever_version_runs_the_tests(running: tuple[int, int]) -> None:
    assert [("os", "waitid") in lacking(version, running) for version in ((3, 11), (3, 12), (3, 13))] == [1, 1, 0]


def test_what_came_to_linux_after_the_version_that_is_imitated_is_hidden_from_a_newer_one() -> None:
    assert ("os", "unshare") not in lacking((3, 11), running=(3, 11))
    assert ("os", "unshare") in lacking((3, 11), running=(3, 12))


def said(program: str, variables: Mapping[str, str], *arguments: str) -> Any:
    """What a process of its own prints of a value of Python's."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], env=variables, capture_output=True, check=True)
    return ast.literal_eval(done.stdout.decode())


@pytest.fixture(scope="module", params=[VERSIONS[0], VERSIONS[-1]])
def hiding(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that lacks what a version of Python lacks on macOS."""
    folder = tmp_path_factory.mktemp("macos")
    return environment(request.param, folder, {**os.environ, "PYTHONPATH": str(REPOSITORY)})


STILL_THERE = """
import importlib, sys
def has(module, name):
    try:
        there = importlib.import_module(module)
    except ImportError:
        return False
    owner, _, attribute = name.rpartition(".")
    return hasattr(getattr(there, owner) if owner else there, attribute)
names = [line.split() for line in open(sys.argv[1])]
print(len(names), sorted(name for name in names if has(*name)), sep=",")
"""


def test_a_process_has_none_of_the_names_however_late_it_imports_their_modules(hiding: dict[str, str]) -> None:
    checked, there = said(STILL_THERE, hiding, hiding[VARIABLE])
    assert checked > 500
    assert there == []
    if VARIABLE not in os.environ:
        plain = {name: value for name, value in hiding.items() if name != VARIABLE}
        assert len(said(STILL_THERE, plain, hiding[VARIABLE])[1]) > 300, "they are there otherwise"


def test_what_has_to_stay_is_named_with_its_reason_and_is_indeed_linux_only() -> None:
    assert all(KEPT.values())
    assert KEPT.keys() <= linux_only((3, 11))
    assert KEPT.keys() & lacking((3, 11)) == set()


@pytest.mark.parametrize("given", [{}, {"PYTHONPATH": ""}, {"PYTHONPATH": "/somewhere"}, {"A": "b"}])
def test_a_process_that_it_starts_lacks_them_too_whatever_environment_it_is_given(
    hiding: dict[str, str], given: dict[str, str]
) -> None:
    program = """
import subprocess, sys
middle = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], env={})"
command = [sys.executable, "-c", middle, "import os; print(hasattr(os, 'pipe2'))"]
print(subprocess.run(command, env=eval(sys.argv[1]), capture_output=True, text=True, check=True).stdout)
"""
    assert said(program, hiding, repr(given)) is False


def test_the_environment_of_this_process_is_passed_on_where_none_is_given(hiding: dict[str, str]) -> None:
    program = """
import os, subprocess, sys
os.environ["SET_LATER"] = "x"
code = "import os; print([os.environ['SET_LATER'], hasattr(os, 'pipe2')])"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
"""
    assert said(program, hiding) == ["x", False]


LOOKS = """
import os, pathlib, sys
from pathlib import Path
def tried(how):
    try:
        return bool(how())
    except FileNotFoundError:
        return False
def looks():
    return [
        tried(lambda: open("/proc/self/status").read()),
        tried(lambda: Path("/proc/self/status").read_text()),
        tried(lambda: Path("/proc/self").exists()),
        tried(lambda: os.path.isdir("/proc/self")),
        tried(lambda: os.stat(b"/proc/self/status")),
        tried(lambda: os.listdir("/sys")),
        tried(lambda: list(Path("/sys").iterdir())),
        tried(lambda: list(Path("/sys").glob("*"))),
        tried(lambda: os.close(os.open("/proc/self/status", os.O_RDONLY)) is None),
        tried(lambda: list(os.walk("/sys/kernel"))),
    ]
"""


def test_proc_and_sys_are_hidden_from_hettop_and_from_nobody_else(hiding: dict[str, str]) -> None:
    program = """
import sys
looks, place = sys.argv[1:]
def by(file):
    names = {}
    exec(compile(looks, file, "exec"), names)
    return names["looks"]()
files = [place + "/hettop/sources/engine/loop.py", place + "/tests/x.py", "/elsewhere/site-packages/psutil/x.py"]
print([by(file) for file in files])
"""
    here, tests, library = said(program, hiding, LOOKS, str(REPOSITORY))
    assert here == [False] * 10
    assert tests == library == [True] * 10


def test_what_hettop_asks_of_psutil_is_answered(hiding: dict[str, str]) -> None:
    program = """
import sys, psutil
names = {"psutil": psutil}
exec(compile("n = psutil.Process().num_threads()", sys.argv[1] + "/hettop/sources/engine/loop.py", "exec"), names)
print(names["n"])
"""
    assert said(program, hiding, str(REPOSITORY)) == 1


def test_no_function_of_the_c_library_is_there_for_hettop(hiding: dict[str, str]) -> None:
    program = """
import sys
code = '''
import ctypes
def has(name):
    return [hasattr(ctypes.CDLL(None), name), hasattr(ctypes.CDLL("libc.so.6"), name)]
'''
def by(file):
    names = {}
    exec(compile(code, file, "exec"), names)
    return names["has"]("prctl")
print([by(sys.argv[1] + "/hettop/processes/qos.py"), by(sys.argv[1] + "/tests/x.py")])
"""
    assert said(program, hiding, str(REPOSITORY)) == [[False, False], [True, True]]


def test_core_ml_can_stand_in_beside(tmp_path: Path) -> None:
    core_ml = Bench(tmp_path).environment({**os.environ, "PYTHONPATH": str(REPOSITORY)})
    program = """
import os, subprocess, sys
code = '''import os, sys
print([hasattr(os, "pipe2"), any("standin_coreml" in type(finder).__module__ for finder in sys.meta_path)])'''
exec(code)
sys.stdout.flush()
reordered = {**os.environ, "PYTHONPATH": os.pathsep.join(reversed(os.environ["PYTHONPATH"].split(os.pathsep)))}
for environment in (None, reordered):
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
"""
    command = [sys.executable, "-c", program]
    hiding = environment(VERSIONS[0], tmp_path, core_ml)
    done = subprocess.run(command, env=hiding, capture_output=True, text=True, check=True)
    assert done.stdout == "[False, True]\n" * 3
