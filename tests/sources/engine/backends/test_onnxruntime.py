"""ONNX Runtime's CPU engine runs what it is given, and its failures come back as words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import psutil
import pytest
from onnx import helper, numpy_helper

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.ports import InputOptions
from hettop.sources.engine.backend import Backend, Loaded, LoadOptions, RealClock
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend, load_error, thread_units
from hettop.sources.engine.coreml.availability import Host
from tests.sources.engine.backends import onnx_files
from tests.sources.engine.backends.contract import BackendContract
from tests.sources.engine.backends.onnx_files import BOOL, DOUBLE, FLOAT, FLOAT16, INT64, STRING


def new_backend(folder: Path) -> OnnxRuntimeBackend:
    return OnnxRuntimeBackend(RealClock(), ModelCache(folder / "cache", folder / "fallback"))


class TestOnnxRuntimeContract(BackendContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def new_backend(self) -> Backend:
        return new_backend(self.folder)

    def model(self) -> str:
        return onnx_files.relu(self.folder / "relu.onnx")


def load(path: str, tmp_path: Path, unit: str = "CPU_ONLY") -> tuple[OnnxRuntimeBackend, Loaded]:
    backend = new_backend(tmp_path)
    return backend, backend.load(path, unit, LoadOptions())


def failure(path: str, tmp_path: Path) -> HettopError:
    with pytest.raises(HettopError) as caught:
        load(path, tmp_path)
    return caught.value


def test_the_default_model_is_built_and_run_by_its_name(tmp_path: Path) -> None:
    backend, loaded = load("mobilenetv2:64x96:b2", tmp_path)
    assert [port.describe() for port in loaded.inputs] == ["image float32[2,3,64,96]"]
    assert [port.describe() for port in loaded.outputs] == ["logits float32[2,1000]"]
    backend.predict(backend.make_inputs(loaded.inputs, InputOptions()))
    assert [path.name for path in (tmp_path / "cache").glob("*.onnx")] == ["mobilenetv2-64x96-b2-r2.onnx"]


def test_what_runs_it_is_said_as_the_session_says_it(tmp_path: Path) -> None:
    _, loaded = load(onnx_files.relu(tmp_path / "m.onnx"), tmp_path)
    assert loaded.placed == "CPU (ONNX Runtime CPUExecutionProvider)"


def test_units_that_need_core_ml_say_so() -> None:
    units = OnnxRuntimeBackend(RealClock(), host=Host("linux", "x86_64", "#1 SMP", (), (3, 12))).units()
    assert units.pop("CPU_ONLY") is None
    assert all("needs Core ML on a Mac" in str(reason) for reason in units.values())


@pytest.mark.parametrize(
    ("cores", "variants"),
    [
        (1, ["CPU_ONLY@1"]),
        (2, ["CPU_ONLY@1", "CPU_ONLY@2"]),
        (6, ["CPU_ONLY@1", "CPU_ONLY@2", "CPU_ONLY@4"]),
        (8, ["CPU_ONLY@1", "CPU_ONLY@2", "CPU_ONLY@4", "CPU_ONLY@8"]),
    ],
)
def test_thread_variants_are_powers_of_two_up_to_the_cores(cores: int, variants: list[str]) -> None:
    assert thread_units(cores) == ["CPU_ONLY", *variants]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_unit_with_threads_gets_that_many(threads: int, tmp_path: Path) -> None:
    path = onnx_files.relu(tmp_path / "m.onnx")
    load(path, tmp_path)  # whatever the framework starts once is started now
    before = psutil.Process().num_threads()
    backend, loaded = load(path, tmp_path, f"CPU_ONLY@{threads}")
    assert psutil.Process().num_threads() - before == threads - 1  # the calling thread is one of them
    assert loaded.requested == f"CPU_ONLY@{threads}"
    assert loaded.note == ""
    del backend


def test_threads_can_come_as_an_option(tmp_path: Path) -> None:
    backend = new_backend(tmp_path)
    loaded = backend.load(onnx_files.relu(tmp_path / "m.onnx"), "CPU_ONLY", LoadOptions(threads=1))
    assert loaded.note == ""


def test_the_frameworks_own_number_of_threads_is_shown(tmp_path: Path) -> None:
    path = onnx_files.relu(tmp_path / "m.onnx")
    load(path, tmp_path)
    before = psutil.Process().num_threads()
    backend, loaded = load(path, tmp_path)
    threads = psutil.Process().num_threads() - before + 1
    assert loaded.note == f"ONNX Runtime default: {threads} thread{'s' if threads > 1 else ''}"
    del backend


def test_every_kind_of_value_goes_in(tmp_path: Path) -> None:
    kinds = {"half": FLOAT16, "count": INT64, "flag": BOOL, "text": STRING}
    shapes = {"half": (2, 2), "count": (), "flag": (3,), "text": (2,)}
    path = onnx_files.save(
        tmp_path / "kinds.onnx",
        [helper.make_node("Identity", [name], [f"{name}_out"]) for name in kinds],
        [(name, kind, shapes[name]) for name, kind in kinds.items()],
        [(f"{name}_out", kind, shapes[name]) for name, kind in kinds.items()],
    )
    backend, loaded = load(path, tmp_path)
    assert [port.describe() for port in loaded.inputs] == [
        "half float16[2,2]",
        "count int64[]",
        "flag bool[3]",
        "text string[2]",
    ]
    backend.predict(backend.make_inputs(loaded.inputs, InputOptions(values={"count": "16000", "text": "hi"})))


def test_dynamic_axes_are_one_or_as_asked(tmp_path: Path) -> None:
    backend, loaded = load(onnx_files.relu(tmp_path / "m.onnx", ("n", 3, "height")), tmp_path)
    assert loaded.inputs[0].describe() == "x float32[?,3,?]"
    for shapes in ({}, {"x": (4, 3, 5)}):
        feed = backend.make_inputs(loaded.inputs, InputOptions(shapes=shapes))
        assert feed["x"].shape == shapes.get("x", (1, 3, 1))
        backend.predict(feed)


def test_an_axis_of_length_minus_one_is_dynamic(tmp_path: Path) -> None:
    backend, loaded = load(onnx_files.relu(tmp_path / "m.onnx", (-1, 3)), tmp_path)
    assert loaded.inputs[0].describe() == "x float32[?,3]"
    backend.predict(backend.make_inputs(loaded.inputs, InputOptions(shapes={"x": (5, 3)})))


def five_by_five(path: Path) -> str:
    """A model that takes any matrix and can only make a 5x5 one of it."""
    return onnx_files.save(
        path,
        [helper.make_node("Reshape", ["x", "five"], ["y"], name="squeeze_in")],
        [("x", FLOAT, ("n", "m"))],
        [("y", FLOAT, (5, 5))],
        initializers=[numpy_helper.from_array(np.array([5, 5]), "five")],
    )


def test_a_shape_the_model_chokes_on_is_an_error_that_names_node_reason_and_way_out(tmp_path: Path) -> None:
    backend, loaded = load(five_by_five(tmp_path / "m.onnx"), tmp_path)
    with pytest.raises(HettopError) as caught:
        backend.predict(backend.make_inputs(loaded.inputs, InputOptions()))
    assert caught.value.kind == "predict"
    assert "node squeeze_in (Reshape)" in caught.value.message
    assert "cannot be reshaped" in caught.value.message
    assert "ONNXRuntimeError" not in caught.value.message
    assert "onnxruntime_src" not in caught.value.message
    assert "--shape" in caught.value.hint
    assert "x float32[?,?]" in caught.value.hint
    backend.predict({"x": np.zeros((5, 5), dtype=np.float32)})


@pytest.mark.parametrize(("domain", "name"), [("", "FancyOp"), ("com.acme", "com.acme:FancyOp")])
def test_an_unknown_operator_is_named(domain: str, name: str, tmp_path: Path) -> None:
    path = onnx_files.save(
        tmp_path / "m.onnx",
        [helper.make_node("FancyOp", ["x"], ["y"], domain=domain)],
        [("x", FLOAT, (1,))],
        [("y", FLOAT, (1,))],
        domains={domain: 1} if domain else {},
    )
    error = failure(path, tmp_path)
    assert error.kind == "unsupported-op"
    assert error.message.endswith(f"operator {name}")


def test_an_operator_without_a_kernel_for_its_type_is_named(tmp_path: Path) -> None:
    path = onnx_files.save(
        tmp_path / "m.onnx",
        [helper.make_node("LRN", ["x"], ["y"], size=3)],
        [("x", DOUBLE, (1, 1, 3, 3))],
        [("y", DOUBLE, (1, 1, 3, 3))],
    )
    error = failure(path, tmp_path)
    assert (error.kind, error.message) == ("unsupported-op", "m.onnx: ONNX Runtime cannot run the operator LRN")


@pytest.mark.parametrize("content", [b"hello, I am no model " * 20, b"\0" * 100], ids=["text", "zeros"])
def test_a_file_that_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    assert failure(str(tmp_path / "m.onnx"), tmp_path).kind == "format"


def test_a_cut_off_model_is_refused(tmp_path: Path) -> None:
    path = Path(onnx_files.relu(tmp_path / "m.onnx"))
    path.write_bytes(path.read_bytes()[:-7])
    assert failure(str(path), tmp_path).kind == "format"


def test_a_graph_with_a_loose_end_is_refused(tmp_path: Path) -> None:
    path = onnx_files.save(
        tmp_path / "m.onnx",
        [helper.make_node("Relu", ["nowhere"], ["y"])],
        [("x", FLOAT, (1,))],
        [("y", FLOAT, (1,))],
    )
    error = failure(path, tmp_path)
    assert error.kind == "format"
    assert "nowhere" in error.message


@pytest.mark.parametrize(("opset", "ir_version"), [(99, 8), (17, 99)])
def test_a_model_newer_than_the_runtime_is_told_so(opset: int, ir_version: int, tmp_path: Path) -> None:
    error = failure(onnx_files.relu(tmp_path / "m.onnx", opset=opset, ir_version=ir_version), tmp_path)
    assert error.kind == "format"
    assert "too new" in error.message
    assert "update onnxruntime" in error.hint


@pytest.mark.parametrize(
    "text",
    [
        'External data path validation failed for initializer: w. Error: External data path does not exist: "/m/w.bin"',
        "Exception during initialization: filesystem error: cannot get file size: No such file or directory [/m/w.bin]",
        'Exception during initialization: filesystem error: in file_size: No such file or directory ["/m/w.bin"]',
    ],
)
def test_missing_weights_are_named_by_every_supported_version(text: str) -> None:
    error = load_error(Path("m.onnx"), RuntimeError(text))
    assert (error.kind, error.message) == ("missing", "m.onnx: its weights are missing: /m/w.bin")


def test_weights_that_were_left_behind_are_missed(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones(4, dtype=np.float32), "w")
    path = onnx_files.save(
        tmp_path / "m.onnx",
        [helper.make_node("Add", ["x", "w"], ["y"])],
        [("x", FLOAT, (1, 4))],
        [("y", FLOAT, (1, 4))],
        initializers=[weight],
    )
    onnx.save_model(onnx.load(path), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    load(path, tmp_path)
    (tmp_path / "weights.bin").unlink()
    error = failure(path, tmp_path)
    assert error.kind == "missing"
    assert error.message == f"m.onnx: its weights are missing: {tmp_path / 'weights.bin'}"


def test_an_input_that_is_no_array_is_refused_by_name(tmp_path: Path) -> None:
    sequence = helper.make_tensor_sequence_value_info("many", FLOAT, (1,))
    node = helper.make_node("ConcatFromSequence", ["many"], ["y"], axis=0)
    graph = helper.make_graph([node], "g", [sequence], [helper.make_tensor_value_info("y", FLOAT, ("n",))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    error = failure(str(tmp_path / "m.onnx"), tmp_path)
    assert error.kind == "format"
    assert "many" in error.message


def test_what_a_file_calls_its_operators_cannot_reach_the_terminal(tmp_path: Path) -> None:
    path = onnx_files.save(
        tmp_path / "m.onnx",
        [helper.make_node("Evil\x1b[2J", ["x"], ["y"])],
        [("x", FLOAT, (1,))],
        [("y", FLOAT, (1,))],
    )
    assert "\x1b" not in failure(path, tmp_path).message


def test_loading_and_failing_print_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    backend, _ = load(five_by_five(tmp_path / "m.onnx"), tmp_path)
    failure(onnx_files.relu(tmp_path / "new.onnx", opset=99), tmp_path)
    with pytest.raises(HettopError):
        backend.predict({"x": np.zeros((1, 1), dtype=np.float32)})
    assert capfd.readouterr() == ("", "")


def test_a_failed_load_leaves_no_older_model_behind(tmp_path: Path) -> None:
    backend, loaded = load(onnx_files.relu(tmp_path / "m.onnx"), tmp_path)
    feed = backend.make_inputs(loaded.inputs, InputOptions())
    with pytest.raises(HettopError):
        backend.load(onnx_files.relu(tmp_path / "new.onnx", opset=99), "CPU_ONLY", LoadOptions())
    with pytest.raises(HettopError, match="no model is loaded"):
        backend.predict(feed)


def test_an_invalid_node_is_named_first_and_then_what_is_wrong_with_it(tmp_path: Path) -> None:
    """ONNX Runtime says that last, behind the types of all inputs, where a table has no room for it."""
    many = [f"input_number_{n}_of_the_node" for n in range(9)]
    node = helper.make_node("Custom", many, ["y"], name="the_node", domain="org.example")
    path = onnx_files.save(tmp_path / "m.onnx", [node], [(name, FLOAT, (1,)) for name in many], [("y", FLOAT, (1,))])
    error = failure(path, tmp_path)
    assert error.message == (
        "not a valid ONNX model: m.onnx: node the_node (Custom): No opset import for domain 'org.example'"
    )


def test_an_operator_of_another_library_has_a_hint(tmp_path: Path) -> None:
    node = helper.make_node("Custom", ["x"], ["y"], domain="org.example")
    ports = [("x", FLOAT, (1,))], [("y", FLOAT, (1,))]
    path = onnx_files.save(tmp_path / "m.onnx", [node], *ports, domains={"org.example": 1})
    error = failure(path, tmp_path)
    assert error.kind == "unsupported-op"
    assert error.hint == "pass the library with this operator: --custom-ops LIB"


def test_outputs_that_numpy_has_no_type_for_are_run_and_the_others_compared(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["half"], to=onnx.TensorProto.BFLOAT16),
        helper.make_node("Relu", ["x"], ["y"]),
    ]
    outputs = [("half", onnx.TensorProto.BFLOAT16, (2,)), ("y", FLOAT, (2,))]
    backend, loaded = load(onnx_files.save(tmp_path / "m.onnx", nodes, [("x", FLOAT, (2,))], outputs), tmp_path)
    assert [port.describe() for port in loaded.outputs][1] == "y float32[2]"
    for values in ([-1.0, 2.0], [3.0, -4.0]):
        backend.predict({"x": np.array(values, np.float32)})
        found = backend.outputs()
        assert list(found) == ["y"]
        assert found["y"].tolist() == [max(0.0, value) for value in values]
