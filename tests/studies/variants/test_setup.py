"""Variants of a model: which are written from what, what is kept, and how far off their answers are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.measurement.rounds import Candidate, Trial
from hettop.models.cache import ModelCache
from hettop.models.precision import VariantJob
from hettop.models.resolve import ResolvedModel
from hettop.sources.engine.backend import Clock
from hettop.sources.engine.backends import create
from hettop.sources.engine.frames import OutputsFrame
from hettop.sources.engine.published import thin
from hettop.studies.variants.setup import Variant, compared, copy_to, file_stem, make_variants, write_in_child
from tests.sources.engine.backends.onnx_files import FLOAT16, relu, save


class Writer:
    """Writes a file that only says what it is, and notes what was asked for."""

    def __init__(self) -> None:
        self.jobs: list[VariantJob] = []

    def __call__(self, job: VariantJob) -> None:
        self.jobs.append(job)
        if job.precision == "int8":
            raise HettopError("missing", "no tool", "install one")
        Path(job.target).write_text(json.dumps([job.source, job.precision]))


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "cache", tmp_path / "fallback")


def test_the_model_as_it_is_comes_first_and_what_cannot_be_written_has_the_reason(
    cache: ModelCache, tmp_path: Path
) -> None:
    file, write = relu(tmp_path / "net.onnx", (1, 4)), Writer()
    options = ModelOptions(model=file, backend="onnxruntime")
    setup, found = make_variants(options, ("CPU_ONLY",), 2, ["int8", "fp16"], cache, write=write)
    assert [(each.precision, each.reference) for each in found] == [("fp32", True), ("int8", False), ("fp16", False)]
    assert found[0].path == Path(file)
    assert found[0].size_bytes == Path(file).stat().st_size
    assert found[1].candidate.setup is None
    assert found[1].candidate.error is not None
    assert (found[1].candidate.error.message, found[1].candidate.error.hint) == ("no tool", "install one")
    assert found[2].path is not None
    assert json.loads(found[2].path.read_text()) == [file, "fp16"]
    assert found[2].candidate.setup is not None
    assert found[2].candidate.setup.model.path == found[2].path
    assert found[2].candidate.setup.model.sha256 != setup.model.sha256


def test_a_variant_is_written_once_and_again_when_the_model_changes(cache: ModelCache, tmp_path: Path) -> None:
    write = Writer()
    for shape in ((1, 4), (1, 4), (1, 5)):
        file = relu(tmp_path / "net.onnx", shape)
        make_variants(ModelOptions(model=file, backend="onnxruntime"), ("CPU_ONLY",), 2, ["fp16"], cache, write=write)
    assert len(write.jobs) == 2


def test_another_seed_calibrates_anew_and_leaves_the_rest(cache: ModelCache, tmp_path: Path) -> None:
    file, write = relu(tmp_path / "net.onnx", (1, 4)), Writer()
    for seed in (0, 1):
        options = ModelOptions(model=file, backend="onnxruntime", seed=seed)
        make_variants(options, ("CPU_ONLY",), 2, ["fp16", "int8-dynamic"], cache, write=write)
    assert [(job.precision, job.seed) for job in write.jobs] == [("fp16", 0), ("int8-dynamic", 0), ("int8-dynamic", 1)]


@pytest.mark.parametrize(
    ("backend", "words"), [("onnxruntime", "unknown precision"), ("simulated", "only one precision")]
)
def test_what_is_no_precision_of_the_backend_is_refused(backend: str, words: str, cache: ModelCache) -> None:
    with pytest.raises(HettopError, match=words) as refused:
        make_variants(ModelOptions(backend=backend), ("all",), 2, ["palette4"], cache, write=Writer())
    assert refused.value.kind == "usage"


def test_onnx_tools_start_from_float32(cache: ModelCache, tmp_path: Path) -> None:
    half = save(
        tmp_path / "half.onnx",
        [helper.make_node("Relu", ["x"], ["y"])],
        [("x", FLOAT16, (1, 4))],
        [("y", FLOAT16, (1, 4))],
    )
    write = Writer()
    options = ModelOptions(model=half, backend="onnxruntime")
    _, found = make_variants(options, ("CPU_ONLY",), 2, ["fp32", "fp16", "int8-dynamic"], cache, write=write)
    assert [each.precision for each in found] == ["fp16", "fp32", "int8-dynamic"]
    error = found[2].candidate.error
    assert error is not None
    assert error.message == "cannot convert from fp16 to int8-dynamic: the tools need float32"
    assert write.jobs == []


class OnAMac:
    """A Core ML that is there; nothing is loaded."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    name, simulated, has_native = "coreml", False, False

    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(("CPU_ONLY", "CPU_AND_NE"))


def test_on_a_mac_packages_are_what_variants_are_written_from(cache: ModelCache) -> None:
    package = cache.folder / "mobilenetv2-224x224-b1-r2.mlpackage"
    write = Writer()
    make = lambda name, clock: OnAMac(clock) if name == "coreml" else create(name, clock)  # noqa: E731
    options = ModelOptions(backend="coreml")
    _, found = make_variants(
        options,
        ("all",),
        2,
        ["fp32", "fp16", "palette4"],
        cache,
        write=write,
        make=make,  # type: ignore[arg-type]
    )
    assert [(each.precision, each.reference) for each in found] == [
        ("fp16", True),
        ("fp32", False),
        ("palette4", False),
    ]
    assert [job.source for job in write.jobs] == ["mobilenetv2:224x224:b1", str(package)]


def trial(precision: str, unit: str, scores: list[float] | None) -> tuple[Variant, Trial]:
    answers = None if scores is None else OutputsFrame((thin({"y": np.array([scores], dtype=np.float32)}, 100),))
    candidate = Candidate(precision, None)
    made = Variant(precision, candidate, reference=precision == "fp32")
    return made, Trial(candidate, unit, answers=answers)


def test_answers_are_held_against_the_reference_on_the_cpu() -> None:
    trials = [
        trial("fp32", "ALL", [1.0, 2.0, 4.0]),
        trial("fp16", "ALL", [1.0, 4.5, 4.0]),
        trial("fp32", "CPU_ONLY", [1.0, 2.0, 3.0]),
        trial("fp16", "CPU_ONLY", [1.0, 2.25, 3.0]),
        trial("int8", "CPU_ONLY", None),
    ]
    found = compared(trials)
    assert set(found) == {("fp32", "ALL"), ("fp16", "ALL"), ("fp16", "CPU_ONLY")}
    assert {each.reference for each in found.values()} == {"fp32 on CPU_ONLY"}
    (far,) = found["fp16", "ALL"].outputs
    assert (far.max_abs, far.top1) == (2.5, 0.0)
    (near,) = found["fp16", "CPU_ONLY"].outputs
    assert (near.max_abs, near.top1) == (0.25, 1.0)


def test_without_the_references_answers_nothing_is_compared() -> None:
    assert compared([trial("fp32", "CPU_ONLY", None), trial("fp16", "CPU_ONLY", [1.0, 2.0])]) == {}


def test_copies_never_overwrite_unasked(cache: ModelCache, tmp_path: Path) -> None:
    file = relu(tmp_path / "net.onnx", (1, 4))
    _, found = make_variants(
        ModelOptions(model=file, backend="onnxruntime"), ("CPU_ONLY",), 2, ["fp16"], cache, write=Writer()
    )
    out = tmp_path / "out"
    assert copy_to(out, "net", found, force=False) == [out / "net-fp32.onnx", out / "net-fp16.onnx"]
    with pytest.raises(HettopError, match="already exists"):
        copy_to(out, "net", found, force=False)
    assert len(copy_to(out, "net", found, force=True)) == 2


def test_the_writing_process_writes_and_says_why_not(tmp_path: Path) -> None:
    file = relu(tmp_path / "net.onnx", (1, 4))
    job = VariantJob(source=file, target=str(tmp_path / "half.onnx"), precision="fp16")
    write_in_child(job)
    assert (tmp_path / "half.onnx").stat().st_size > 0
    with pytest.raises(HettopError, match="no tool converts an ONNX model to fp32"):
        write_in_child(VariantJob(source=file, target=str(tmp_path / "x.onnx"), precision="fp32"))
    with pytest.raises(HettopError, match="the writing process"):
        write_in_child(job, argv=("false",))


def test_files_of_networks_are_called_after_the_whole_name() -> None:
    squeezenet = ResolvedModel(name="squeezenet1.1:224x224:b1", path=None, sha256="")
    assert file_stem(squeezenet) == "squeezenet1.1-224x224-b1"
    assert file_stem(ResolvedModel(name="net.v2.onnx", path=Path("net.v2.onnx"), sha256="")) == "net.v2"
