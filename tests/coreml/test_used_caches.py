"""What a command comes to does not depend on what other commands have left in the caches.

Of a command that ran before, the next one sees what lies in the caches, so pairs of commands come down to the states in
which these can be. Two of them matter for what a name means, and are tried here: with the default model's ONNX file,
and with its package and what Core ML compiled of it. `python -m benchmarks.used_caches` runs every command over every
state that some command leaves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coreml.used_caches import Machine, Outcome

pytestmark = pytest.mark.slow

pytest.importorskip("coremltools", reason="coremltools is not installed")

WITH_ONNX, WITH_PACKAGE = "inspect", "bench"
"""What leaves the default model's ONNX file, and what leaves its package, compiled as well."""


Run = Callable[..., tuple[Machine, Outcome]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A command on a machine whose caches are those that commands before it have left; each such row runs once."""

    @functools.cache
    def ran(*names: str) -> tuple[Machine, Outcome]:
        used = ran(*names[:-1])[0] if names[1:] else None
        machine = Machine(tmp_path_factory.mktemp("machine"), used)
        return machine, machine.run(names[-1])

    return ran


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (WITH_ONNX, "bench"),
        (WITH_ONNX, "bench onnxruntime"),
        (WITH_PACKAGE, "bench onnxruntime"),
        (WITH_PACKAGE, "inspect"),
    ],
)
def test_a_command_comes_to_the_same_over_a_used_cache_as_over_a_fresh_one(first: str, then: str, run: Run) -> None:
    used, outcome = run(first)
    assert outcome.code == 0
    suffixes = {Path(name).suffix for name in used.state()}
    assert suffixes & {".onnx", ".mlpackage"} == {".onnx" if first == WITH_ONNX else ".mlpackage"}
    _, fresh = run(then)
    assert (fresh.code, fresh.left) == (0, ())
    assert fresh.measured, "it tells what it measured"
    assert run(first, then)[1] == fresh
