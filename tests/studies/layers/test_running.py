"""Small models really run under ONNX Runtime's profiler; what comes out is what they hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.sources.counters import CacheCounters, Traffic
from hettop.sources.engine.backend import RealClock
from hettop.sources.engine.backends import onnxruntime as backend
from hettop.studies.layers import running
from hettop.studies.layers.job import LayersJob
from hettop.studies.layers.result import CacheUse, LayersResult, Roofs, total
from tests.sources.engine.backends.onnx_files import FLOAT, save
from tests.studies.layers.measured import ROOFS


def convolution(path: Path) -> str:
    """8 channels of n x n, a 1x1 convolution to 16, and a Relu that is fused into it."""
    return save(
        path,
        [
            helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
            helper.make_node("Relu", ["c"], ["y"], name="relu"),
            helper.make_node("Transpose", ["y"], ["z"], name="turn", perm=[0, 2, 3, 1]),
        ],
        [("x", FLOAT, (1, 8, "n", "n"))],
        [("z", FLOAT, (1, "n", "n", 16))],
        initializers=[numpy_helper.from_array(np.ones((16, 8, 1, 1), np.float32), "w")],
    )


class PlannedCounters(CacheCounters):
    """1,000 accesses and 100 misses in each stretch that is counted."""

    def __init__(self) -> None:
        super().__init__(events=())
        self.stretches = 0

    def end(self) -> None:
        self.stretches += 1

    def traffic(self) -> Traffic:
        return Traffic(1_000.0 * self.stretches, 100.0 * self.stretches)


def no_counters() -> CacheCounters:
    raise OSError(2, "no such counters")


def measured(
    folder: Path,
    model: str,
    most_events: int = running.MOST_EVENTS,
    *,
    count: Callable[[], CacheCounters] = no_counters,
    **changed: object,
) -> LayersResult:
    (scratch := folder / "scratch").mkdir()
    job = LayersJob(**{"model": model, "unit": "CPU_ONLY@1", "warmup": 1, "runs": 4, **changed})  # type: ignore[arg-type]
    cache = ModelCache(folder / "cache", folder / "cache2")
    return running.measure(job, scratch, cache, RealClock(), roofs_of, most_events=most_events, count=count)


def roofs_of(threads: int) -> Roofs:
    assert threads == 1
    return ROOFS


def test_layers_have_the_work_and_bytes_of_the_shape_that_really_ran(tmp_path: Path) -> None:
    found = measured(tmp_path, convolution(tmp_path / "m.onnx"), shapes={"x": (1, 8, 10, 10)})
    rows = {row.name: row for row in found.layers}
    assert rows["conv"].macs == 16 * 8 * 100
    assert rows["conv"].nbytes == 4 * (8 * 100 + 16 * 8 + 16 * 100)
    assert rows["conv"].fused == ("relu",)
    assert rows["turn"].macs == 0
    assert sum(row.share for row in found.layers) == pytest.approx(1)
    assert (found.threads, found.runs, found.shapes) == (1, 4, ["x 1x8x10x10"])
    assert found.end_to_end_ms > 0
    assert found.roofs is ROOFS


def test_counters_count_the_plain_calls_and_give_the_empirical_intensity(tmp_path: Path) -> None:
    """100 misses of 64 bytes a call: 12,800 MACs from 6,400 bytes, and nine of ten accesses are hits."""
    model = convolution(tmp_path / "m.onnx")
    found = measured(tmp_path, model, shapes={"x": (1, 8, 10, 10)}, count=PlannedCounters)
    assert found.cache == CacheUse(references=1_000, misses=100, nbytes=6_400, hit_rate=0.9, oi=2.0)
    assert found.cache_why is None


def test_without_counters_it_is_said_why(tmp_path: Path) -> None:
    found = measured(tmp_path, convolution(tmp_path / "m.onnx"), shapes={"x": (1, 8, 10, 10)}, roofs=False)
    assert (found.cache, found.cache_why) == (None, "no such counters")


def quantised(path: Path) -> str:
    """A 1x1 convolution of 8 channels to 16 between pairs of quantisation and dequantisation, all with the scale .1."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], name="xq"),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"], name="xd"),
        helper.make_node("DequantizeLinear", ["w", "s", "zw"], ["wd"], name="wd"),
        helper.make_node("Conv", ["xd", "wd"], ["c"], name="conv"),
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["cq"], name="cq"),
        helper.make_node("DequantizeLinear", ["cq", "s", "z"], ["y"], name="y"),
    ]
    values: dict[str, np.ndarray] = {
        "w": np.ones((16, 8, 1, 1), np.int8),
        "s": np.array(0.1, np.float32),
        "z": np.array(128, np.uint8),
        "zw": np.array(0, np.int8),
    }
    initializers = [numpy_helper.from_array(value, name) for name, value in values.items()]
    shapes = ([("x", FLOAT, (1, 8, 10, 10))], [("y", FLOAT, (1, 16, 10, 10))])
    return save(path, nodes, *shapes, initializers=initializers)


def test_a_quantised_layer_moves_a_byte_for_each_value(tmp_path: Path) -> None:
    """800 in, 1,600 out and 128 weights, with scales and zero points; in float32 it would be four times as much."""
    found = measured(tmp_path, quantised(tmp_path / "m.onnx"), roofs=False)
    (conv,) = [row for row in found.layers if row.op == "Conv"]
    assert conv.macs == 16 * 8 * 100
    assert conv.nbytes is not None
    assert 2_528 <= conv.nbytes <= 2_600
    assert total(row.macs for row in found.layers) == 12_800, "(de)quantisation has none, wherever the runtime puts it"


def test_operations_without_names_are_called_after_what_they_make(tmp_path: Path) -> None:
    """Exporters leave names out, and a profile has nothing else."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["first"]),
        helper.make_node("Relu", ["first"], ["second"]),
        helper.make_node("Softmax", ["second"], ["third"], name="third_end"),
    ]
    weights = [numpy_helper.from_array(np.ones((8, 4), np.float32), "w")]
    model = save(tmp_path / "m.onnx", nodes, [("x", FLOAT, (2, 8))], [("third", FLOAT, (2, 4))], initializers=weights)
    rows = measured(tmp_path, model, roofs=False).layers
    assert [(row.name, row.op, row.macs) for row in rows] == [
        ("first", "MatMul", 64),
        ("second", "Relu", 0),
        ("third_end", "Softmax", 0),
    ]


def test_a_model_with_weights_in_a_file_of_their_own_is_profiled_where_it_is(tmp_path: Path) -> None:
    path = Path(convolution(tmp_path / "m.onnx"))
    model = onnx.load(path)
    onnx.save_model(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    rows = {row.name: row for row in measured(tmp_path, str(path), shapes={"x": (1, 8, 10, 10)}, roofs=False).layers}
    assert rows["conv"].macs == 16 * 8 * 100


def test_roofs_are_left_out_if_nobody_asked(tmp_path: Path) -> None:
    assert measured(tmp_path, convolution(tmp_path / "m.onnx"), roofs=False).roofs is None


def test_the_frameworks_own_number_of_threads_is_counted(tmp_path: Path) -> None:
    found = measured(tmp_path, convolution(tmp_path / "m.onnx"), unit="CPU_ONLY", roofs=False)
    assert found.threads is not None
    assert found.threads >= 1
    assert any("default" in note for note in found.notes)


def test_runs_that_do_not_fit_in_a_profile_are_left_out_and_said(tmp_path: Path) -> None:
    found = measured(tmp_path, convolution(tmp_path / "m.onnx"), most_events=20, runs=1000)
    assert found.runs is not None
    assert found.runs < 20
    assert f"{found.runs} runs instead of 1000" in found.notes[0]


def test_a_model_that_cannot_be_loaded_is_refused_as_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(HettopError) as refused:
        measured(tmp_path, str(path))
    assert refused.value.kind == "format"


@pytest.mark.parametrize("unit", ["CPU_AND_GPU", "CPU_AND_NE", "ALL"])
def test_no_time_of_the_cpu_passes_for_that_of_another_unit(unit: str, tmp_path: Path) -> None:
    with pytest.raises(HettopError, match=f"{unit}: layers are profiled on ONNX Runtime's CPU engine") as refused:
        measured(tmp_path, convolution(tmp_path / "m.onnx"), unit=unit)
    assert refused.value.kind == "unsupported-unit"


def test_profiled_sessions_are_set_up_as_those_of_the_engine() -> None:
    """Otherwise the layers would be of another session than the one whose latency hettop shows."""
    ours, engines = running.session_options(3), backend._session_options(onnxruntime, 3)
    for entry in ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning"):
        assert ours.get_session_config_entry(entry) == engines.get_session_config_entry(entry)
    for name in ("intra_op_num_threads", "inter_op_num_threads", "execution_mode", "graph_optimization_level"):
        assert getattr(ours, name) == getattr(engines, name)
