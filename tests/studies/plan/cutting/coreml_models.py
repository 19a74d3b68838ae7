"""Small ML Programs that really run, with what makes cutting hard: residuals, shared weights, halves, images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.models.mil.programs import convert, ct, mb, mil, program, spec

RNG = np.random.default_rng(11)
PICTURE = (1, 3, 8, 8)


def weight(*shape: int) -> Any:
    return (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def _conv(x: Any, name: str, out: int, into: int) -> Any:
    return mb.conv(x=x, weight=weight(out, into, 3, 3), pad_type="same", name=name)


def _saved(path: Path, build: Any, specs: dict[str, Any], target: Any = None, **options: Any) -> Path:
    convert(program(build, specs, target), target, **options).save(str(path))
    return path


def chain(path: Path) -> Path:
    """Three convolutions one after another."""

    def build(x: Any) -> Any:
        for number in range(3):
            x = mb.relu(x=_conv(x, f"conv{number}", 3, 3), name=f"relu{number}")
        return x

    return _saved(path, build, {"x": spec(PICTURE)})


def _residual(x: Any) -> Any:
    p = mb.relu(x=_conv(x, "first", 4, 3), name="p")
    q = mb.relu(x=_conv(p, "second", 4, 4), name="q")
    return _conv(mb.add(x=q, y=p, name="sum"), "y", 2, 4)


def residual(path: Path) -> Path:
    """An image whose features go by a convolution."""
    image = ct.ImageType(name="x", shape=PICTURE, color_layout=ct.colorlayout.RGB)
    return _saved(path, _residual, {"x": spec(PICTURE)}, inputs=[image])


def shared(path: Path) -> Path:
    """One weight that two products read, and a truth value between them."""
    matrix = weight(64, 64)

    def build(x: Any) -> Any:
        held = mb.const(val=matrix, name="held")
        a = mb.tanh(x=mb.matmul(x=x, y=held, name="one"), name="a")
        positive = mb.greater(x=a, y=np.float32(0), name="positive")
        b = mb.matmul(x=a, y=held, name="two")
        return mb.select(cond=positive, a=b, b=a, name="y")

    return _saved(path, build, {"x": spec((4, 64))})


def half(path: Path, target: Any) -> Path:
    """The residual one in half precision, for an older or a newer system."""
    source = program(_residual, {"x": spec(PICTURE)}, target)
    made = ct.convert(
        source,
        convert_to="mlprogram",
        minimum_deployment_target=target,
        compute_precision=ct.precision.FLOAT16,
        skip_model_load=True,
    )
    made.save(str(path))
    return path


def two_outputs(path: Path) -> Path:
    """An output that a later step reads."""

    def build(x: Any) -> Any:
        z = _conv(x, "z", 4, 3)
        return z, _conv(mb.relu(x=z, name="r"), "y", 2, 4)

    return _saved(path, build, {"x": spec(PICTURE)})


def one_layer(path: Path) -> Path:
    return _saved(path, lambda x: _conv(x, "y", 3, 3), {"x": spec(PICTURE)})


def scalar_between(path: Path) -> Path:
    """The only value between its layers is a number without axes, which no model can take."""

    def build(x: Any) -> Any:
        total = mb.reduce_sum(x=x, axes=[0, 1, 2, 3], keep_dims=False, name="total")
        return mb.reshape(x=mb.erf(x=total, name="bent"), shape=[1], name="y")

    return _saved(path, build, {"x": spec(PICTURE)})


def flexible(path: Path) -> Path:
    shape = ct.Shape((1, 3, ct.RangeDim(8, 16, default=8), 8))
    specs = {"x": spec((1, 3, mil.get_new_symbol(), 8))}
    return _saved(
        path,
        lambda x: _conv(mb.relu(x=_conv(x, "a", 3, 3)), "y", 3, 3),
        specs,
        inputs=[ct.TensorType(name="x", shape=shape)],
    )


def random(path: Path) -> Path:
    def build(x: Any) -> Any:
        noise = mb.random_normal(shape=np.array(PICTURE, np.int32), name="noise")
        return _conv(mb.add(x=x, y=noise, name="s"), "y", 3, 3)

    return _saved(path, build, {"x": spec(PICTURE)})
