"""The small seeded decoder as a stateful ML Program: its state is carried; its layers are those of the ONNX form."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hettop.measurement.setup import usual_backend
from hettop.models.cache import ModelCache
from hettop.models.decoding import find_roles
from hettop.models.ports import InputOptions
from hettop.models.resolve import core_ml_file
from hettop.models.tinydecoder import Architecture, build_onnx
from hettop.sources.engine.backend import LoadOptions, RealClock
from hettop.sources.engine.backends.coreml import CoreMLBackend
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from hettop.sources.engine.decoder import Decoder
from hettop.sources.engine.job import AnswerJob
from tests.coreml.bench import Bench

pytest.importorskip("coremltools", reason="coremltools is not installed")

TOKENS = 64
SMALL = Architecture(vocabulary=97, width=32, layers=2, heads=4, hidden=64, longest=128)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from hettop.models.tinydecoder_package import write_package

    path = tmp_path_factory.mktemp("tiny") / "tiny.mlpackage"
    write_package(path, SMALL)
    return path


def check_tokens(backend: Any, path: Path, unit: str) -> None:
    """Those of answers are those of a state as new that reads prompt and answer so far at once, for each token anew."""
    loaded = backend.load(str(path), unit, LoadOptions())
    roles = find_roles(loaded.inputs, loaded.outputs, stateful=loaded.stateful)
    answering = Decoder(backend, roles, AnswerJob(max_tokens=TOKENS, prompt_tokens=16), InputOptions(seed=3), lambda: 0)
    for number in (0, 1):
        list(answering.answer(number).chunks)
        found, read = list(answering.tokens), answering.prompt(number).tolist()
        assert len(set(found)) > 5, "a decoder that repeats one token would prove nothing"
        for token in found:
            assert int(np.argmax(scores(backend, roles, read))) == token
            read.append(token)


def scores(backend: Any, roles: Any, read: list[int]) -> Any:
    """Of the token after `read`, with a state as new."""
    backend.begin_state({pair.input.name: np.zeros(pair.begin(), pair.input.dtype) for pair in roles.pairs})
    fed = {"input_ids": np.array([read], np.int32), "position_ids": np.arange(len(read), dtype=np.int32)[None]}
    return np.asarray(backend.advance(fed)["logits"])[0, -1]


def test_the_translation_carries_the_state(tiny: Path, tmp_path: Path) -> None:
    check_tokens(OnnxRuntimeBackend(RealClock(), ModelCache(tmp_path / "c", tmp_path / "f")), tiny, "CPU_ONLY@1")


def test_core_ml_carries_its_own_state(tiny: Path, tmp_path: Path, bench: Bench) -> None:
    with bench.here():
        check_tokens(CoreMLBackend(RealClock(), ModelCache(tmp_path / "c", tmp_path / "f")), tiny, "CPU_AND_NE")


def test_the_layers_are_those_of_the_onnx_form(tiny: Path, tmp_path: Path) -> None:
    """Keys and values are in half precision: 2^-11 of each at most is lost, and the scores are sums of those."""
    import onnxruntime

    backend = OnnxRuntimeBackend(RealClock(), ModelCache(tmp_path / "c", tmp_path / "f"))
    loaded = backend.load(str(tiny), "CPU_ONLY@1", LoadOptions())
    read = [5, 96, 0, 31, 31, 7, 64]
    got = scores(backend, find_roles(loaded.inputs, loaded.outputs, stateful=loaded.stateful), read)
    session = onnxruntime.InferenceSession(build_onnx(SMALL).SerializeToString(), providers=["CPUExecutionProvider"])
    empty = np.zeros((1, SMALL.heads, 0, SMALL.head_width), np.float32)
    past = {node.name: empty for node in session.get_inputs() if node.name.startswith("past")}
    fed = {"input_ids": np.array([read]), "position_ids": np.arange(len(read))[None], **past}
    wanted = session.run(["logits"], fed)[0][0, -1]
    assert np.abs(got - wanted).max() < 5e-3 * np.ptp(wanted)


def test_core_ml_loads_it_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hettop.models import tinydecoder_package

    monkeypatch.setattr(tinydecoder_package, "write_package", Path.mkdir)  # which fails for a folder that exists
    cache = ModelCache(tmp_path / "c", tmp_path / "f")
    path = core_ml_file("tinydecoder", cache)
    assert path.name == "tinydecoder-r1.mlpackage"
    assert core_ml_file("tinydecoder", cache) == path


def test_core_ml_runs_it_where_it_is() -> None:
    coreml = SimpleNamespace(units=lambda: {"CPU_AND_NE": None})
    assert usual_backend("tinydecoder", None, lambda *_: coreml) == "coreml"
    assert usual_backend("tinydecoder", ("CPU_ONLY@2",), lambda *_: coreml) == "onnxruntime"
