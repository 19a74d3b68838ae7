"""Models that really run: their layers have costs, and their slices answer as the whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.sources.engine.backend import RealClock
from hettop.studies.plan.cutting.graph import Part
from hettop.studies.plan.cutting.messages import Piece, Subject
from hettop.studies.plan.cutting.model import Model
from hettop.studies.plan.cutting.result import Survey
from hettop.studies.plan.cutting.running import compare, run_plan
from hettop.studies.plan.cutting.survey import survey
from tests.sources.engine.providers.openvino import needs_openvino
from tests.studies.plan.cutting import models

ONE, TWO = "CPU_ONLY@1", "CPU_ONLY@2"


def subject(model: str, *devices: str) -> Subject:
    return Subject(model=model, devices=devices or (ONE, TWO), warmup=1, runs=4)


def surveyed(folder: Path, model: str, *devices: str) -> Survey:
    (scratch := folder / "survey").mkdir()
    return survey(subject(model, *devices), scratch, cache(folder), RealClock())


def cache(folder: Path) -> ModelCache:
    return ModelCache(folder / "cache", folder / "cache2")


def test_layers_have_times_that_sum_to_a_call_and_bytes_that_cross(tmp_path: Path) -> None:
    found = surveyed(tmp_path, models.residual(tmp_path / "m.onnx"))
    names = [layer.name for layer in found.layers]
    assert {"second", "third", "fourth"} <= set(names)
    for device in (0, 1):
        assert sum(layer.ms[device] or 0.0 for layer in found.layers) == pytest.approx(found.end_to_end_ms[device])
    value = 4 * 8 * 64
    second = found.layers[names.index("second")]
    assert (second.crossing, second.crossing_bytes) == (2, 2 * value)  # its own value, and the one that goes by it
    assert second.weight_bytes == pytest.approx(4 * 64 * 64, abs=100)
    assert found.layers[-1].crossing == 0
    assert {each.device for each in found.moved} == {0, 1}
    assert {each.nbytes for each in found.moved} <= {value, 2 * value, 3 * value}


def test_where_the_runtime_runs_more_than_a_cut_can_part_both_counts_are_reported(tmp_path: Path) -> None:
    """Its own reordering of values is a row in a profile, and no layer."""
    (scratch := tmp_path / "survey").mkdir()
    found = survey(subject("mobilenetv2:32x32", ONE), scratch, cache(tmp_path), RealClock())
    assert len(found.layers) == 55
    assert found.notes[0].startswith("55 layers here, 56 in hettop layers: ")


def test_a_model_of_one_layer_has_no_cut_to_try(tmp_path: Path) -> None:
    found = surveyed(tmp_path, models.one_layer(tmp_path / "m.onnx"), ONE)
    assert [layer.name for layer in found.layers] == ["only"]
    assert found.moved == ()


@pytest.mark.parametrize("make", [models.residual, models.with_constants, models.branching, models.unsorted])
def test_every_cut_of_a_model_answers_as_the_whole(make: Callable[[Path], str], tmp_path: Path) -> None:
    path = make(tmp_path / "m.onnx")
    last = len(Model(Path(path)).flow.steps) - 1
    assert last >= 2
    for cut in range(last):
        (scratch := tmp_path / f"cut{cut}").mkdir()
        pieces = [Piece(first=0, last=cut, device=TWO), Piece(first=cut + 1, last=last, device=ONE)]
        ran = run_plan(subject(path), pieces, scratch, cache(tmp_path), RealClock())
        assert ran.equal, f"cut after step {cut}"
        assert ran.difference is not None
        assert ran.difference <= ran.tolerance == 1e-5
        assert len(ran.slice_ms) == 2
        assert len(ran.whole_ms) == 2
        assert len(ran.gains) == ran.runs == 4


def test_half_precision_is_compared_by_its_own_last_place(tmp_path: Path) -> None:
    path = models.half(tmp_path / "m.onnx")
    pieces = [Piece(first=step, last=step, device=ONE) for step in range(len(Model(Path(path)).flow.steps))]
    ran = run_plan(subject(path), pieces, tmp_path, cache(tmp_path), RealClock())
    assert ran.tolerance == 2**-10
    assert ran.equal
    assert ran.difference is not None


def test_many_slices_answer_as_the_whole(tmp_path: Path) -> None:
    path = models.residual(tmp_path / "m.onnx")
    pieces = [Piece(first=step, last=step, device=(ONE, TWO)[step % 2]) for step in range(8)]
    ran = run_plan(subject(path), pieces, tmp_path, cache(tmp_path), RealClock())
    assert ran.equal
    assert sum(ran.slice_ms) > 0


def test_constants_that_are_worked_out_go_with_each_slice_that_reads_them(tmp_path: Path) -> None:
    model = Model(Path(models.with_constants(tmp_path / "m.onnx")))
    assert [step.name for step in model.flow.steps] == ["first", "bend", "second"]
    types = {"x": (1, (4, 16)), "b": (1, (4, 16))}
    cut = model.extract(Part(2, 2), types)
    assert [node.name for node in cut.graph.node] == ["half", "scale", "second"]
    assert [value.name for value in cut.graph.input] == ["b"]


def test_steps_are_put_in_the_order_in_which_they_can_run(tmp_path: Path) -> None:
    steps = Model(Path(models.unsorted(tmp_path / "m.onnx"))).flow.steps
    assert [step.name for step in steps] == ["cast_in", "first", "bend", "second", "cast_out"]


def test_what_graphs_inside_of_a_step_read_from_around_is_read_by_the_step(tmp_path: Path) -> None:
    model = Model(Path(models.branching(tmp_path / "m.onnx")))
    choice = next(step for step in model.flow.steps if step.name == "choice")
    assert set(choice.reads) == {"positive", "a"}
    assert model.names == {"inner_add": "choice", "inner_sub": "choice"}


@pytest.mark.parametrize(
    ("make", "words"), [(models.drawing, "is random"), (models.sequences, "not an array: the model cannot be cut")]
)
def test_a_model_that_cannot_be_cut_is_refused_with_the_step(
    make: Callable[[Path], str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(HettopError, match=words) as refused:
        surveyed(tmp_path, make(tmp_path / "m.onnx"), ONE)
    assert refused.value.kind == "unsupported-op"


@pytest.mark.parametrize(
    ("one", "other", "difference", "comparable"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 2.0 + 4e-6]), 2e-6, True),
        (np.array([100.0, 0.0]), np.array([100.0, 5e-3]), 5e-5, True),
        (np.array([0.0, 0.1]), np.array([0.0, 0.1 + 5e-6]), 5e-6, True),
        (np.array([1.0, np.nan, np.inf]), np.array([1.0, np.nan, np.inf]), 0.0, True),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), None, False),
        (np.array([1.0, 2.0]), np.array([1.0, np.inf]), None, False),
        (np.array([1, 2]), np.array([1, 2]), 0.0, True),
        (np.array([1, 2]), np.array([1, 3]), None, False),
        (np.array([1.0]), np.array([[1.0]]), None, False),
    ],
)
def test_the_difference_of_outputs_is_in_units_of_their_largest_element(
    one: np.ndarray, other: np.ndarray, difference: float | None, comparable: bool
) -> None:
    found, same = compare([one], [other])
    assert same is comparable
    assert found == (None if difference is None else pytest.approx(difference, rel=1e-3))


# -- a device of an execution provider beside the CPU ----------------------------------------------------------------

OPENVINO = "OV:CPU"


@needs_openvino
@pytest.mark.parametrize("devices", [(ONE, OPENVINO), (OPENVINO,)])
def test_layers_on_a_provider_are_timed_alone_and_sum_to_a_call(devices: tuple[str, ...], tmp_path: Path) -> None:
    found = surveyed(tmp_path, models.residual(tmp_path / "m.onnx"), *devices)
    place = devices.index(OPENVINO)
    assert sum(layer.ms[place] or 0.0 for layer in found.layers) == pytest.approx(found.end_to_end_ms[place])
    assert all((layer.ms[place] or 0.0) > 0 for layer in found.layers)
    assert found.profiled_ms[place] is None
    assert {each.device for each in found.moved} == set(range(len(devices)))
    assert any(note.startswith("OV:CPU runs on OpenVINO CPU, ") for note in found.notes)
    assert any(note.startswith("OV:CPU: layers were timed alone, and scaled by ") for note in found.notes)


@needs_openvino
def test_slices_on_a_provider_are_compared_with_the_cpu_and_allowed_what_the_provider_differs_by(
    tmp_path: Path,
) -> None:
    path = models.residual(tmp_path / "m.onnx")
    last = len(Model(Path(path)).flow.steps) - 1
    pieces = [Piece(first=0, last=0, device=OPENVINO), Piece(first=1, last=last, device=ONE)]
    (scratch := tmp_path / "run").mkdir()
    ran = run_plan(subject(path, OPENVINO, ONE), pieces, scratch, cache(tmp_path), RealClock())
    assert ran.reference == ONE  # although it is not the first
    assert ran.cut_difference is not None
    assert ran.cut_difference <= 1e-5 == ran.cut_tolerance
    own, same = ran.apart
    assert same == 0
    assert own is not None
    assert ran.tolerance == max(1e-5, 2 * own)
    assert ran.equal
