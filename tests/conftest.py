"""What every test has: a machine of its own, the system that it runs on, and how hypothesis looks for counterexamples.

It looks anew in each run, or, where a run judges a commit, always alike.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.macos.lacking import VARIABLE, VERSIONS, environment

# The first example of a property may import scipy; how long that takes is no property of the code.
settings.register_profile("searching", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("searching")

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before a test module imports onnxruntime

FOR_TESTS = frozenset(
    {"HETTOP_TEST_MODELS", "HETTOP_TEST_DIST", "HETTOP_MACOS_COREMLTOOLS", "HETTOP_UPDATE_GOLDENS", VARIABLE}
)
"""Variables that are meant for the tests; any other of hettop's is a setting of whoever runs them."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
IGNORED = pytest.StashKey[list[int]]()
"""Signals that were ignored when the run was started."""


@pytest.fixture(scope="session", autouse=True)
def _own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Home, caches, settings and temporary files of whoever runs the tests are seen by no test, nor by its children.

    The folders are those of one worker: the default model is built once in each, and most tests start from caches that
    other tests have used. Settings are nobody's: nothing can be read or kept there, not even by root.
    """
    folder = tmp_path_factory.mktemp("machine")
    places = {"HOME": "home", "TMPDIR": "tmp", "XDG_CACHE_HOME": "cache"}
    with pytest.MonkeyPatch.context() as patch:
        for variable, name in places.items():
            (folder / name).mkdir()
            patch.setenv(variable, str(folder / name))
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(variable, os.devnull)
        for variable in [name for name in os.environ if name.startswith("HETTOP_") and name not in FOR_TESTS]:
            patch.delenv(variable)
        patch.setenv("HETTOP_PROVIDERS", "none")  # units are the same whatever is installed here
        # Whoever keeps Python from writing compiled modules would have every child compile all of hettop anew.
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        patch.setattr(tempfile, "tempdir", None)  # read from TMPDIR anew
        yield
    shutil.rmtree(folder, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--macos", choices=VERSIONS, help="run without what this version of Python lacks on macOS")


def pytest_configure(config: pytest.Config) -> None:
    version = config.getoption("macos")
    if version is not None and VARIABLE not in os.environ:
        _start_again(config, version)
    _leave_children_the_default_signals(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collecting makes and imports is there to the end: garbage is never looked for in it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: the tests of processes wait more than they compute."""
    return (os.cpu_count() or 1) + 1


def pytest_configure_node(node: Any) -> None:
    """A worker is a child itself: it would not know which signals were ignored."""
    node.workerinput["ignored"] = node.config.stash[IGNORED]


def _leave_children_the_default_signals(config: pytest.Config) -> None:
    """`nohup` and `&` start this process with signals ignored, and its children would ignore them, too.

    A handler that does nothing has the same effect here, but a child starts with the default again.
    """
    workerinput = getattr(config, "workerinput", {})
    ignored = [int(number) for number in ENDING if signal.getsignal(number) is signal.SIG_IGN]
    config.stash[IGNORED] = sorted({*ignored, *workerinput.get("ignored", ())})
    for number in config.stash[IGNORED]:
        signal.signal(number, lambda *_: None)


def _start_again(config: pytest.Config, version: str) -> None:
    """With `--macos`: names must be hidden before anything is imported."""
    if sys.platform != "linux":
        raise pytest.UsageError("--macos imitates macOS on Linux; elsewhere it would hide what is really there")
    assert config.cache is not None
    try:
        hiding = environment(version, config.cache.mkdir("macos"))
    except ModuleNotFoundError as error:
        raise pytest.UsageError(f"--macos: {error}; run: pip install -e '.[dev]'") from None
    config.pluginmanager.getplugin("capturemanager").stop_global_capturing()
    os.execve(sys.executable, [sys.executable, "-m", "pytest", *config.invocation_params.args], hiding)


def pytest_report_header(config: pytest.Config) -> str | None:
    version = config.getoption("macos")
    return None if version is None else f"hidden: what Python {version} lacks on macOS"
