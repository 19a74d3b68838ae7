"""The points of a sweep: what of a model can be had in which batch and size, before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from onnx import helper

from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.sources.engine.backend import Clock
from hettop.sources.engine.backends import create
from hettop.studies.sweep.measure import Point, core_ml_compilations, input_ports, make_points
from tests.models.mil.programs import convert, ct, mb, mil, program, spec
from tests.sources.engine.backends.onnx_files import FLOAT, relu, save


def points(model: str, batches: list[int], sizes: list[tuple[int, int]] | None = None, **more: object) -> list[Point]:
    options = ModelOptions(model=model, backend="onnxruntime", **more)  # type: ignore[arg-type]
    return make_points(options, ("CPU_ONLY",), 2, batches=batches, sizes=sizes or [])[1]


def test_mobilenetv2_is_built_for_each_point_with_the_work_that_it_is() -> None:
    found = points("mobilenetv2:96x64", [4, 1], [(128, 128), (64, 32)])
    assert [(point.candidate.name, point.batch, point.height, point.width) for point in found] == [
        ("64x32 b1", 1, 64, 32),
        ("64x32 b4", 4, 64, 32),
        ("128x128 b1", 1, 128, 128),
        ("128x128 b4", 4, 128, 128),
    ]
    names = [point.candidate.setup.model.name for point in found if point.candidate.setup]
    assert names == ["mobilenetv2:64x32:b1", "mobilenetv2:64x32:b4", "mobilenetv2:128x128:b1", "mobilenetv2:128x128:b4"]
    assert found[1].candidate.work == 4 * found[0].candidate.work


def test_what_the_name_says_is_what_no_option_says() -> None:
    (only,) = points("mobilenetv2:96x64:b2", [], [(32, 32)])
    assert (only.batch, only.height, only.width) == (2, 32, 32)
    (only,) = points("mobilenetv2:96x64:b2", [3])
    assert (only.batch, only.height, only.width) == (3, 96, 64)


def test_a_dynamic_axis_of_a_file_takes_the_batch(tmp_path: Path) -> None:
    file = relu(tmp_path / "dynamic.onnx", ("n", 3, 8, 8))
    found = points(file, [1, 2])
    shapes = [dict(point.candidate.setup.inputs.shapes) for point in found if point.candidate.setup]
    assert shapes == [{"x": (1, 3, 8, 8)}, {"x": (2, 3, 8, 8)}]


def test_a_fixed_axis_leaves_the_batch_it_has_and_says_why_not_the_others(tmp_path: Path) -> None:
    found = points(relu(tmp_path / "fixed.onnx", (1, 4)), [1, 2])
    assert found[0].candidate.setup is not None
    assert found[1].candidate.setup is None
    error = found[1].candidate.error
    assert error is not None
    assert error.message == "x float32[1,4] cannot be [2,4]"
    assert error.hint == "export the model with a dynamic first axis"


def test_no_point_at_all_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match=r"x float32\[1,4\] cannot be \[2,4\]") as refused:
        points(relu(tmp_path / "fixed.onnx", (1, 4)), [2, 4])
    assert refused.value.kind == "input"


def test_a_size_keeps_the_batch_that_the_model_has(tmp_path: Path) -> None:
    axes = (2, 3, "h", "w")
    file = save(
        tmp_path / "sized.onnx", [helper.make_node("Relu", ["x"], ["y"])], [("x", FLOAT, axes)], [("y", FLOAT, axes)]
    )
    (only,) = points(file, [], [(64, 48)])
    assert (only.batch, only.height, only.width) == (2, 64, 48)


def test_a_batch_beyond_what_can_be_built_is_refused() -> None:
    with pytest.raises(HettopError, match="the batch must be 1 to 512"):
        points("mobilenetv2", [1, 1024])


def test_a_simulated_machine_has_no_batches() -> None:
    with pytest.raises(HettopError, match="one batch and one size"):
        make_points(ModelOptions(backend="simulated"), ("all",), 2, batches=[1, 2], sizes=[])


def flexible(path: Path) -> str:
    """y = relu(x) for a batch of 1 to 8 and three values."""
    source = program(lambda x: mb.relu(x=x), {"x": spec((mil.get_new_symbol(), 3))})
    inputs = [ct.TensorType(name="x", shape=ct.Shape((ct.RangeDim(1, 8, default=2), 3)))]
    convert(source, inputs=inputs).save(str(path))
    return str(path)


def test_a_packages_range_of_batches_is_kept_to(tmp_path: Path) -> None:
    found = points(flexible(tmp_path / "flexible.mlpackage"), [1, 8, 16])
    assert [point.batch for point in found] == [1, 8, 16]
    assert found[1].candidate.setup is not None
    assert found[1].candidate.setup.inputs.shapes == {"x": (8, 3)}
    error = found[2].candidate.error
    assert error is not None
    assert "cannot be [16,3]" in error.message


class OnAMac:
    """A Core ML that is there; nothing is loaded."""

    name, simulated, has_native = "coreml", False, False

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(("CPU_ONLY", "CPU_AND_NE"))


def test_on_a_mac_each_point_is_named_so_that_core_ml_builds_its_package() -> None:
    make = lambda name, clock: OnAMac(clock) if name == "coreml" else create(name, clock)  # noqa: E731
    options = ModelOptions(backend="coreml")
    setup, found = make_points(options, ("all",), 2, batches=[1, 4], sizes=[], make=make)  # type: ignore[arg-type]
    assert (setup.backend, setup.units) == ("coreml", ("CPU_ONLY", "CPU_AND_NE"))
    models = [point.candidate.setup.model for point in found if point.candidate.setup]
    assert [(model.name, model.path) for model in models] == [
        ("mobilenetv2:224x224:b1", None),
        ("mobilenetv2:224x224:b4", None),
    ]


def test_a_compiled_model_does_not_report_its_inputs() -> None:
    with pytest.raises(HettopError, match="does not describe its inputs"):
        input_ports(Path("net.mlmodelc"), None)


def test_core_ml_compiles_each_point_that_can_be_had_for_each_of_its_units(tmp_path: Path) -> None:
    options = ModelOptions(model=relu(tmp_path / "fixed.onnx", (1, 4)), backend="onnxruntime")
    setup, found = make_points(options, ("CPU_ONLY",), 2, batches=[1, 2], sizes=[])
    assert core_ml_compilations(setup, found) == 0, "ONNX Runtime's own engine compiles nothing"
    on_a_mac = replace(setup, units=("CPU_ONLY", "CPU_ONLY@2", "CPU_AND_NE", "ALL"))
    assert core_ml_compilations(on_a_mac, found) == 2, "of the batches one cannot be had"
    core_ml = replace(setup, backend="coreml", units=("CPU_ONLY", "CPU_AND_NE", "ALL"))
    assert core_ml_compilations(core_ml, found) == 3
    assert core_ml_compilations(core_ml, found * 4) == 12
