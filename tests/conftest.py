"""What every test has: a machine of its own, and how hypothesis looks for counterexamples.

It looks anew in each run, or, where a run judges a commit, always alike.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The first example of a property may import scipy; how long that takes is no property of the code.
settings.register_profile("searching", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("searching")

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before a test module imports onnxruntime

FOR_TESTS = frozenset({"HETTOP_TEST_MODELS"})
"""The one variable of hettop's that is meant for its tests."""


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
        patch.setattr(tempfile, "tempdir", None)  # read from TMPDIR anew
        yield
    shutil.rmtree(folder, ignore_errors=True)
