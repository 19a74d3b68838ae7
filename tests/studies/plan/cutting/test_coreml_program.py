"""ML Programs cut into packages: their translations together answer as that of the whole."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.mil.package import Package, open_package
from hettop.models.mil.translate import translate
from hettop.studies.plan.cutting.graph import Part, crossings, ends

pytest.importorskip("coremltools", reason="coremltools is not installed")

from hettop.sources.engine.placement import OpFacts
from hettop.studies.plan.cutting.coreml_layers import cannot_run, layers_of
from hettop.studies.plan.cutting.coreml_program import Program
from tests.coreml.models import counter, neural_network, two_functions
from tests.models.mil.programs import ct, session
from tests.studies.plan.cutting import coreml_models as models


def program(path: Path, function: str | None = None) -> Program:
    return Program(open_package(path), function)


def answers(package: Package, feed: dict[str, Any], function: str | None = None) -> dict[str, Any]:
    run = session(translate(package, function))
    names = [each.name for each in run.get_outputs()]
    return dict(zip(names, run.run(names, {each.name: feed[each.name] for each in run.get_inputs()}), strict=True))


def inputs(cut: Program) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {name: (rng.random(cut.values[name].shape) * 255).round().astype(np.float32) for name in cut.flow.inputs}


def chained(cut: Program, after: list[int], folder: Path) -> dict[str, Any]:
    """What slices that end after these steps give together."""
    values = inputs(cut)
    edges = [-1, *after, len(cut.flow.steps) - 1]
    for before, last in pairwise(edges):
        made = cut.extract(Part(before + 1, last), folder / f"{before + 1}-{last}.mlpackage")
        package = open_package(made.path)
        assert tuple(port.name for port in package.functions[0].inputs) == made.takes
        values.update(answers(package, values))
        assert set(made.gives) <= set(values)
    return values


MAKERS: list[Callable[[Path], Path]] = [
    models.chain,
    models.residual,
    models.shared,
    models.two_outputs,
    lambda path: models.half(path, ct.target.iOS15),
    lambda path: models.half(path, ct.target.iOS17),
]


@pytest.mark.parametrize("make", MAKERS, ids=["chain", "residual", "shared", "two outputs", "half, old", "half, new"])
def test_every_cut_of_a_program_answers_as_the_whole(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path / "m.mlpackage")
    cut = program(path)
    whole = answers(open_package(path), inputs(cut))
    tolerance = 2**-10 if cut.half else 1e-5
    tried = [after for after, values in enumerate(crossings(cut.flow)) if values and cut.can_cross(values)]
    assert len(tried) >= 2
    for chosen in [[after] for after in tried] + [tried]:
        (folder := tmp_path / f"cut{chosen}").mkdir()
        found = chained(cut, chosen, folder)
        for name in cut.flow.outputs:
            scale = max(1.0, float(np.abs(whole[name]).max()))
            assert float(np.abs(found[name] - whole[name]).max()) / scale <= tolerance, f"{name}, cut after {chosen}"


def test_the_default_models_package_answers_as_the_whole_when_cut(tmp_path: Path) -> None:
    from hettop.models.resolve import model_package

    path = model_package("mobilenetv2:32x32", ModelCache(tmp_path / "cache", tmp_path / "other"))
    cut = program(path)
    whole = answers(open_package(path), inputs(cut))["logits"]
    parts = layers_of(cut, None)
    assert len(parts) == 54  # 52 convolutions, the mean and the classifier
    found = chained(cut, [parts[10].last, parts[30].last], tmp_path)["logits"]
    assert float(np.abs(found - whole).max() / np.abs(whole).max()) <= 2**-10


def test_slices_hold_their_own_weights_and_no_others(tmp_path: Path) -> None:
    cut = program(models.shared(tmp_path / "m.mlpackage"))
    assert cut.weight_bytes(Part(0, len(cut.flow.steps) - 1)) == 4 * 64 * 64
    for part in (Part(0, 0), Part(len(cut.flow.steps) - 2, len(cut.flow.steps) - 1)):
        made = cut.extract(part, tmp_path / f"{part.first}.mlpackage")
        assert program(made.path).weight_bytes(Part(0, part.last - part.first)) == 4 * 64 * 64


def test_weights_that_were_moved_are_read_by_coremltools_own_reader(tmp_path: Path) -> None:
    from coremltools.libmilstoragepython import _BlobStorageReader

    cut = program(models.residual(tmp_path / "m.mlpackage"))
    last = len(cut.flow.steps) - 1
    made = cut.extract(Part(last, last), tmp_path / "last.mlpackage")
    package = open_package(made.path)
    [blob] = [
        value.blobFileValue
        for operation in package.block().operations
        for value in operation.attributes.values()
        if value.WhichOneof("value") == "blobFileValue"
    ]
    reader = _BlobStorageReader(str(made.path / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"))
    assert np.asarray(reader.read_float_data(blob.offset)).size == 2 * 4 * 3 * 3


def test_half_precision_crosses_as_single_where_systems_know_no_other(tmp_path: Path) -> None:
    for target, dtype in ((ct.target.iOS15, "float32"), (ct.target.iOS17, "float16")):
        cut = program(models.half(tmp_path / f"{dtype}.mlpackage", target))
        ports = open_package(cut.extract(Part(2, 3), tmp_path / f"cut-{dtype}.mlpackage").path).functions[0]
        assert {port.dtype for port in (*ports.inputs, *ports.outputs)} == {dtype}


def test_an_image_stays_an_image(tmp_path: Path) -> None:
    cut = program(models.residual(tmp_path / "m.mlpackage"))
    ports = open_package(cut.extract(Part(0, 1), tmp_path / "cut.mlpackage").path).functions[0]
    assert [(port.kind, port.color) for port in ports.inputs] == [("image", "RGB")]


def test_a_function_that_is_not_the_default_can_be_cut(tmp_path: Path) -> None:
    path = two_functions(tmp_path)
    cut = program(path, "large")
    made = cut.extract(Part(0, 0), tmp_path / "cut.mlpackage")
    assert answers(open_package(made.path), {"x": np.ones((1, 4), np.float32)})["y"].shape == (1, 7)


def test_what_is_computed_in_passing_is_no_layer_and_what_cannot_cross_no_cut(tmp_path: Path) -> None:
    cut = program(models.residual(tmp_path / "m.mlpackage"))
    assert [cut.flow.steps[part.first].name for part in layers_of(cut, None)] == ["first", "second", "y"]
    assert len(layers_of(program(models.scalar_between(tmp_path / "s.mlpackage")), None)) == 1


def test_an_operation_is_refused_where_its_plan_names_other_devices_alone() -> None:
    fact = OpFacts("a", "topk", "GPU", ("GPU",), 0.5)
    assert [cannot_run(unit, fact) for unit in ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")] == [
        True,
        False,
        True,
        False,
    ]
    assert not cannot_run("CPU_AND_NE", OpFacts("a", "topk", "CPU", ("CPU",), 0.5))  # it falls back


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (models.flexible, "input", "shape of x is not fixed"),
        (models.random, "unsupported-op", "is random"),
        (counter, "format", "keeps a state"),
    ],
)
def test_a_program_that_cannot_be_cut_says_why(
    make: Callable[[Path], Path], kind: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(HettopError, match=words) as refused:
        program(make(tmp_path / "m.mlpackage"))
    assert refused.value.kind == kind


def test_the_old_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="NeuralNetwork format: only ML Programs can be cut"):
        program(neural_network(tmp_path / "m.mlmodel"))


def test_a_slices_ends_are_those_of_its_steps(tmp_path: Path) -> None:
    cut = program(models.two_outputs(tmp_path / "m.mlpackage"))
    assert ends(cut.flow, Part(0, 0)) == (("x",), ("z",))
