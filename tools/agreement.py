"""Print the table of docs/guide/coreml-on-linux.md: how far translated ML Programs differ from the same model as ONNX.

    python tools/agreement.py [FOLDER]

FOLDER holds the unpacked wheel of basic-pitch 0.4.0, which ships its network as ML Program and as ONNX.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from hettop.models.mil.package import open_package
from hettop.models.mil.translate import translate
from hettop.models.networks.catalogue import Variant, network
from hettop.models.networks.ml_program import Precision, write_package
from hettop.models.networks.onnx_file import build_model

Array = NDArray[np.float32]
Run = Callable[[Array], list[Array]]
Row = tuple[str, str, float, float]
SEEDS = 5


def main() -> None:
    rows = [*_mobilenet("float32"), *_mobilenet("float16")]
    rows += _basic_pitch(Path(sys.argv[1])) if len(sys.argv) > 1 else []
    for model, against, absolute, relative in rows:
        sys.stdout.write(f"| {model} | {against} | {absolute:.1e} | {relative:.1e} |\n")


def _mobilenet(precision: Precision) -> Iterator[Row]:
    net = network(Variant())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.mlpackage"
        write_package(net, path, precision)
        program = translate(open_package(path)).model.SerializeToString()
    ours, other = _runner(program, optimised=True), _runner(build_model(net).SerializeToString(), optimised=True)
    images = [_rng(seed).integers(0, 256, net.variant.input_shape).astype(np.float32) for seed in range(SEEDS)]
    absolute, relative = _worst((ours(image), other(image / np.float32(255))) for image in images)
    yield f"MobileNetV2, {precision}", "the same layers and weights as an ONNX file, float32", absolute, relative


def _basic_pitch(folder: Path) -> Iterator[Row]:
    """The network takes the logarithm of near-silent bins, where rounding shows: so it is compared three ways."""
    package, sibling = next(folder.rglob("nmp.mlpackage")), str(next(folder.rglob("nmp.onnx")))
    program = translate(open_package(package)).model.SerializeToString()
    sounds = [*_noises(), *_tones()]
    for words, ours, other in (
        ("its ONNX sibling, graph optimisations off in both", _runner(program), _runner(sibling)),
        ("its ONNX sibling", _runner(program, optimised=True), _runner(sibling, optimised=True)),
        ("(the sibling with optimisations against itself without)", _runner(sibling, optimised=True), _runner(sibling)),
    ):
        absolute, relative = _worst((_sorted(ours(sound)), _sorted(other(sound))) for sound in sounds)
        yield "basic-pitch 0.4.0, float32", words, absolute, relative


def _sorted(outputs: list[Array]) -> list[Array]:
    """The two forms name their outputs differently: contours have 264 bins, of the others notes are the more active."""
    return sorted(outputs, key=lambda array: (array.shape[-1], float(array.sum())))


def _noises() -> list[Array]:
    return [_rng(seed).uniform(-1, 1, (1, 43844, 1)).astype(np.float32) for seed in range(SEEDS)]


def _tones() -> list[Array]:
    """Sines from 220 Hz up by octaves at 22,050 Hz, with a little noise."""
    time = np.arange(43844) / 22_050
    return [
        (0.5 * np.sin(2 * np.pi * 220 * 2**seed * time) + 0.01 * _rng(seed).normal(size=time.size))
        .astype(np.float32)
        .reshape(1, -1, 1)
        for seed in range(SEEDS)
    ]


def _worst(pairs: Iterator[tuple[list[Array], list[Array]]]) -> tuple[float, float]:
    """The largest difference of all outputs, absolute and relative to the largest value of its output."""
    absolute = relative = 0.0
    for ours, others in pairs:
        for got, wanted in zip(ours, others, strict=True):
            difference = float(np.abs(got - wanted).max())
            absolute = max(absolute, difference)
            relative = max(relative, difference / float(np.abs(wanted).max()))
    return absolute, relative


def _runner(model: bytes | str, *, optimised: bool = False) -> Run:
    options: Any = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (name,) = (value.name for value in session.get_inputs())
    return lambda array: session.run(None, {name: array})


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


if __name__ == "__main__":
    main()
