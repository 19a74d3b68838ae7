"""Writes the small seeded decoder as a stateful ML Program: the layers and weights of its ONNX form, in float32.

Keys and values are states of a fixed number of positions, in half precision as Core ML's states are; each call writes
those of its tokens and reads all. Needs Core ML of macOS 15.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from hettop.models.networks.ml_program import quiet
from hettop.models.tinydecoder import BLOCKED, Architecture, weight_values

DEFAULT = Architecture()
EPSILON = np.float32(1e-5)


def write_package(path: Path, architecture: Architecture = DEFAULT) -> None:
    """Writes the folder `path`, which must not exist and must end in `.mlpackage`. Raises OSError.

    `input_ids` and `position_ids` int32[1,1..longest] give `logits` float32[1,sequence,vocabulary].
    """
    # coremltools makes a package of its own first, and removes it at Python's exit, which engine processes do without.
    with quiet(), tempfile.TemporaryDirectory(dir=path.parent) as folder:
        import coremltools as ct

        shape = (1, ct.RangeDim(1, architecture.longest, default=1))
        model = ct.convert(
            _program(architecture),
            convert_to="mlprogram",
            inputs=[ct.TensorType(name=name, shape=shape, dtype=np.int32) for name in ("input_ids", "position_ids")],
            minimum_deployment_target=ct.target.iOS18,
            compute_precision=ct.precision.FLOAT32,
            skip_model_load=True,
            package_dir=str(Path(folder) / path.name),
        )
        model.short_description = "Synthetic weights: for measuring speed, not for writing anything."
        model.save(str(path))


def _program(arch: Architecture) -> Any:
    import coremltools as ct
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import Function, Program, get_new_symbol, types

    length = get_new_symbol()
    cache = (1, arch.heads, arch.longest, arch.head_width)
    states = [f"{part}_cache_{layer}" for layer in range(arch.layers) for part in ("key", "value")]
    inputs = {
        **{name: Builder.placeholder((1, length), dtype=types.int32) for name in ("input_ids", "position_ids")},
        **{name: Builder.state_tensor_placeholder(cache, dtype=types.fp16) for name in states},
    }
    program = Program()
    with Function(inputs, opset_version=ct.target.iOS18) as function:
        function.set_outputs([_Writer(Builder, arch, function.inputs).write()])
    program.add_function("main", function)
    return program


class _Writer:
    """Adds the operations to a program."""

    def __init__(self, builder: Any, arch: Architecture, inputs: Any) -> None:
        self._builder, self._arch, self._inputs = builder, arch, inputs
        self._weights = dict(weight_values(arch))
        positions = inputs["position_ids"]
        self._first = builder.gather(x=builder.squeeze(x=positions, axes=[0]), indices=[0], axis=0)
        self._end = builder.add(
            x=self._first, y=builder.slice_by_index(x=builder.shape(x=positions), begin=[1], end=[2])
        )
        queries = builder.expand_dims(x=positions, axes=[1, 3])
        later = builder.greater(x=np.arange(arch.longest, dtype=np.int32)[None, None, None], y=queries)
        self._mask = builder.mul(x=builder.cast(x=later, dtype="fp32"), y=np.float32(BLOCKED))

    def write(self) -> Any:
        builder, inputs = self._builder, self._inputs
        rows = [
            builder.gather(x=self._weights[table], indices=inputs[name], axis=0)
            for table, name in (("embedding", "input_ids"), ("positions", "position_ids"))
        ]
        value = builder.add(x=rows[0], y=rows[1])
        for layer in range(self._arch.layers):
            value = builder.add(x=value, y=self._attention(layer, value))
            value = builder.add(x=value, y=self._feed_forward(layer, value))
        return builder.matmul(x=self._norm(value), y=self._weights["head"], name="logits")

    def _norm(self, value: Any) -> Any:
        return self._builder.layer_norm(x=value, axes=[-1], epsilon=EPSILON)

    def _attention(self, layer: int, value: Any) -> Any:
        builder, arch = self._builder, self._arch
        normed = self._norm(value)
        query, key, mixed = (self._heads(f"{layer}_{name}", normed) for name in ("query", "key", "value"))
        keys, values = self._cached(f"key_cache_{layer}", key), self._cached(f"value_cache_{layer}", mixed)
        scores = builder.matmul(x=query, y=keys, transpose_y=True)
        scaled = builder.mul(x=scores, y=np.float32(1 / math.sqrt(arch.head_width)))
        shares = builder.softmax(x=builder.add(x=scaled, y=self._mask), axis=-1)
        found = builder.transpose(x=builder.matmul(x=shares, y=values), perm=[0, 2, 1, 3])
        flat = builder.reshape(x=found, shape=[1, -1, arch.width])
        return builder.matmul(x=flat, y=self._weights[f"{layer}_joined"])

    def _heads(self, name: str, value: Any) -> Any:
        """[1,heads,sequence,width of a head]"""
        builder, arch = self._builder, self._arch
        product = builder.matmul(x=value, y=self._weights[name])
        split = builder.reshape(x=product, shape=[1, -1, arch.heads, arch.head_width])
        return builder.transpose(x=split, perm=[0, 2, 1, 3])

    def _cached(self, name: str, new: Any) -> Any:
        """Writes the rows of this call's positions into a state, and returns all of it in float32."""
        builder, arch, state = self._builder, self._arch, self._inputs[name]
        begin = builder.concat(values=[[0, 0], self._first, [0]], axis=0)
        end = builder.concat(values=[[1, arch.heads], self._end, [arch.head_width]], axis=0)
        written = builder.slice_update(
            x=builder.read_state(input=state), update=builder.cast(x=new, dtype="fp16"), begin=begin, end=end
        )
        return builder.cast(x=builder.coreml_update_state(state=state, value=written), dtype="fp32")

    def _feed_forward(self, layer: int, value: Any) -> Any:
        builder = self._builder
        wide = builder.relu(x=builder.matmul(x=self._norm(value), y=self._weights[f"{layer}_up"]))
        return builder.matmul(x=wide, y=self._weights[f"{layer}_down"])
