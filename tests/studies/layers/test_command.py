"""`hettop layers` and `hettop roofline` from outside, on models that really run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hettop.models.networks.catalogue import network, parse_variant
from hettop.studies.layers.job import LayersJob, measure_in_child
from hettop.studies.layers.result import Kernel, LayersResult, Roofs
from tests.cli.running import assert_refused, called, hettop, one_document, plain_environment
from tests.sources.engine.backends.onnx_files import relu

MACS = network(parse_variant("mobilenetv2:32x32")).macs
SMALL = ("mobilenetv2:32x32", "--unit", "CPU_ONLY@1", "--runs", "5", "--warmup", "2")


@dataclass(frozen=True)
class Measured:
    """What one run of a command printed and recorded, for the tests that only read it."""

    recording: Path
    lines: list[dict[str, Any]]

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = self.lines[-1]["document"]
        return document


ROOFS = Roofs.of_kernels([Kernel("matmul", 100.0, 90.0)], [Kernel("copy", 10.0, 9.0)], threads=1, repeats=1)


def given_roofs(patch: pytest.MonkeyPatch) -> None:
    """Measuring them takes all threads for three seconds; the run of `roofline` does."""

    def measure(job: LayersJob) -> LayersResult:
        return measure_in_child(msgspec.structs.replace(job, roofs=False)).under(ROOFS)

    patch.setattr("hettop.studies.layers.command.measure_in_child", measure)


def measured(name: str, folder: Path) -> Measured:
    done = hettop(name, *SMALL, "--stream", "--record", "x.jsonl", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in folder.iterdir()] == ["x.jsonl"]
    return Measured(folder / "x.jsonl", [json.loads(line) for line in done.stdout.splitlines()])


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    with pytest.MonkeyPatch.context() as patch:
        given_roofs(patch)
        return measured("layers", tmp_path_factory.mktemp("layers"))


@pytest.fixture(scope="module")
def roofline(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured("roofline", tmp_path_factory.mktemp("roofline"))


def test_layers_of_the_default_model_add_up(layers: Measured) -> None:
    document = layers.document
    assert sum(layer["share"] for layer in document["layers"]) == pytest.approx(1)
    assert sum(document["by_op"].values()) == pytest.approx(1)
    assert document["by_op"].keys() >= {"Conv", "Gemm"}
    assert (document["unit"], document["threads"], document["estimated"]) == ("CPU_ONLY@1", 1, False)
    stem = next(layer for layer in document["layers"] if layer["name"] == "stem_conv_Conv")
    # 3 -> 32 channels, 3x3, 16x16 pixels; the clip is fused, so 32x32x3 come in and 16x16x32 leave.
    assert stem["macs"] == 27 * 32 * 256
    assert stem["bytes"] == 4 * (3 * 1024 + 27 * 32 + 32 + 32 * 256)
    assert stem["fused"] == ["stem_Clip"]
    # 52 convolutions, and at least pooling and the classifier; every MAC of the model is in one of them
    assert sum(layer["op"] == "Conv" for layer in document["layers"]) == 52
    assert sum(layer["macs"] for layer in document["layers"]) == MACS


def test_the_roofline_has_roofs_that_were_measured_and_bounds_by_their_ridge(roofline: Measured) -> None:
    document = roofline.document
    roofs = document["roofs"]
    assert roofs["measured"] is True
    assert roofs["threads"] == 1
    ridge = roofs["gflops"] / roofs["gbytes_per_s"]
    for layer in document["layers"]:
        if layer["macs"]:
            assert layer["bound"] == ("compute" if 2 * layer["macs"] / layer["bytes"] > ridge else "memory")
            assert layer["gflops"] == pytest.approx(2 * layer["macs"] / layer["ms"] / 1e6)
    assert document["model"]["macs"] == MACS


def test_an_open_axis_is_measured_at_the_shape_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_roofs(monkeypatch)
    done = hettop("layers", relu(tmp_path / "m.onnx", (1, "n")), "--shape", "x=1,64", "--runs", "3", "--json")
    (layer,) = one_document(done.stdout)["layers"]
    assert (layer["op"], layer["bytes"], layer["macs"]) == ("Relu", 512, 0)


def test_the_page_is_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_roofs(monkeypatch)
    done = hettop("layers", relu(tmp_path / "m.onnx"), "--runs", "3", COLUMNS="80")
    assert done.returncode == 0
    assert "end to end" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("command", ["layers", "roofline"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.onnx",), "nowhere.onnx"),
        (("--unit", "CPU_AND_NE"), "cannot run here"),
        (("--unit", "all"), "one unit"),
        (("--unit", "CPU_ONLY@0"), "at least 1"),
        (("--backend", "simulated"), "onnxruntime"),
        (("--runs", "0"), "whole number"),
        (("--shape", "x"), "invalid --shape"),
        (("mobilenetv2:0x0",), "height and width"),
    ],
)
def test_wrong_use_is_refused_before_anything_starts(command: str, arguments: tuple[str, ...], words: str) -> None:
    assert_refused(called(command, *arguments), words)


def test_what_only_the_runtime_can_refuse_is_refused_as_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"no model at all")
    assert_refused(hettop("layers", str(path)), "not a valid ONNX model")
    assert_refused(hettop("layers", relu(tmp_path / "m.onnx"), "--shape", "z=1,4"), "no input")


def test_published_roofs_are_reported_without_measuring(tmp_path: Path) -> None:
    done = called("roofline", "mobilenetv2:32x32", "--chip", "exynos 5422", "--device", "A7", "--json", cwd=tmp_path)
    document = one_document(done.stdout)
    assert (document["roofs"]["measured"], document["roofs"]["device"]) == (False, "A7")
    assert len(document["layers"]) == 53
    assert document["model"]["bound"] == "memory"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--chip", "M9"), "unknown chip 'M9'"),
        (("--device", "A7"), "--device needs --chip"),
        (("--chip", "M2", "--device", "TPU"), "invalid device 'TPU' of M2"),
    ],
)
def test_chips_that_nobody_published_are_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("roofline", *arguments, cwd=tmp_path), words)


@pytest.mark.parametrize(("command", "words"), [("layers", "% of the time"), ("roofline", "The whole model reaches")])
def test_a_study_is_followed_by_its_stream_and_its_record_is_reported_replayed_and_verified(
    command: str, words: str, request: pytest.FixtureRequest
) -> None:
    study: Measured = request.getfixturevalue(command)
    first, recording = study.lines[0], str(study.recording)
    assert "measuring" in first["doing"]
    assert first["share"] is None, "how much is done is not known"
    assert len(study.document["layers"]) >= 54
    assert words in hettop("report", recording).stdout
    assert words in hettop("replay", recording, "--headless").stdout
    (told,) = one_document(hettop("replay", recording, "--json").stdout)["studies"]
    assert (told["name"], told["state"]) == (command, "done")
    assert hettop("verify", recording).returncode == 0


@pytest.mark.parametrize("command", ["layers", "plan"])
def test_a_limit_on_files_is_said_to_be_what_is_in_the_way(command: str, tmp_path: Path) -> None:
    """2 KiB, as `ulimit -f 2` sets it: the runtime itself reports a line of its source."""
    limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))"
    program = f"{limit}; os.execv(sys.executable, [sys.executable, '-m', 'hettop', *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", program, command, "mobilenetv2:32x32"],
        capture_output=True,
        text=True,
        check=False,
        env=plain_environment(TMPDIR=str(tmp_path), PYTHONDONTWRITEBYTECODE="1"),
    )
    assert done.returncode == 3
    assert f"a scratch file could not be written to {tmp_path}" in done.stderr
    assert "ulimit -f" in done.stderr
    assert "graph.cc" not in done.stderr
