"""A small seeded decoder with a growing key-value cache: one architecture description, and its ONNX form in float32.

Architecture: Vaswani et al., "Attention Is All You Need", NeurIPS 2017, decoder only, norms first (Xiong et al., ICML
2020, figure 1b), learned positions. Weights are synthetic: for measuring, not for writing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NAME = "tinydecoder"

RECIPE = "1"
"""Changes whenever the same name would give other layers or weights."""

SEED = 64
EMBEDDING_LIMIT = 0.5
OPSET = 17
IR_VERSION = 8
BLOCKED = -1e9
"""Added to the score of a position that must not be seen; its softmax is exactly 0 in float32."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """`hidden` is the width between the two products of a feed-forward layer, `longest` the number of positions."""

    vocabulary: int = 2048
    width: int = 256
    layers: int = 4
    heads: int = 4
    hidden: int = 1024
    longest: int = 2048

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    def weights(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Name and shape of each weight, in order."""
        yield "embedding", (self.vocabulary, self.width)
        yield "positions", (self.longest, self.width)
        for layer in range(self.layers):
            for name in ("query", "key", "value", "joined"):
                yield f"{layer}_{name}", (self.width, self.width)
            yield f"{layer}_up", (self.width, self.hidden)
            yield f"{layer}_down", (self.hidden, self.width)
        yield "head", (self.width, self.vocabulary)

    @property
    def parameters(self) -> int:
        """Weights, and the scale and shift that all norms share."""
        return sum(math.prod(shape) for _, shape in self.weights()) + 2 * self.width


def weight_values(architecture: Architecture) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    """Seeded values of each weight: the same on every platform."""
    import numpy as np

    bits = np.random.PCG64(SEED)
    for name, shape in architecture.weights():
        limit = EMBEDDING_LIMIT if name in ("embedding", "positions") else math.sqrt(3 / shape[0])
        raw = np.asarray(bits.random_raw(math.prod(shape)), dtype=np.uint64) >> np.uint64(40)
        values = (raw.astype(np.float32) * np.float32(2**-23) - np.float32(1)) * np.float32(limit)
        yield name, values.reshape(shape)


def build_onnx(architecture: Architecture = Architecture()) -> Any:
    """The `onnx.ModelProto`.

    `input_ids` and `position_ids` int64[1,sequence] and a past of keys and values [1,heads,past,width] for each layer
    give `logits` float32[1,sequence,vocabulary] and the present keys and values [1,heads,past+sequence,width].
    """
    from onnx import TensorProto, helper

    graph = _Graph(architecture)
    graph.build()
    cache = (1, architecture.heads, "past", architecture.head_width)
    grown = (1, architecture.heads, "past+sequence", architecture.head_width)
    info = helper.make_tensor_value_info
    ends = [f"{layer}.{part}" for layer in range(architecture.layers) for part in ("key", "value")]
    made = helper.make_graph(
        graph.nodes,
        NAME,
        [
            info("input_ids", TensorProto.INT64, (1, "sequence")),
            info("position_ids", TensorProto.INT64, (1, "sequence")),
            *(info(f"past_key_values.{end}", TensorProto.FLOAT, cache) for end in ends),
        ],
        [
            info("logits", TensorProto.FLOAT, (1, "sequence", architecture.vocabulary)),
            *(info(f"present.{end}", TensorProto.FLOAT, grown) for end in ends),
        ],
        graph.constants,
    )
    return helper.make_model(
        made,
        producer_name="hettop",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        doc_string="Synthetic weights: for measuring speed, not for writing anything.",
    )


class _Graph:
    """Nodes and constants, in the order in which they are made."""

    def __init__(self, architecture: Architecture) -> None:
        self.architecture = architecture
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def build(self) -> None:
        import numpy as np

        arch = self.architecture
        for name, values in weight_values(arch):
            self.constant(name, values)
        self.constant("norm_scale", np.ones(arch.width, np.float32))
        self.constant("norm_shift", np.zeros(arch.width, np.float32))
        self.constant("split", np.array([1, -1, arch.heads, arch.head_width]))
        self.constant("join", np.array([1, -1, arch.width]))
        self.constant("scale", np.float32(1 / math.sqrt(arch.head_width)))
        self.constant("blocked", np.float32(BLOCKED))
        self.constant("seen", np.float32(0))
        self.constant("zero", np.int64(0))
        self.constant("one", np.int64(1))
        self.constant("two", np.int64(2))
        self.constant("last", np.array([-1]))
        self.constant("heads_axis", np.array([1]))
        value = self.node(
            "Add", "embedded", self._row("embedding", "input_ids"), self._row("positions", "position_ids")
        )
        mask = self._mask()
        for layer in range(arch.layers):
            value = self.node("Add", f"{layer}_attended", value, self._attention(layer, value, mask))
            value = self.node("Add", f"{layer}_fed", value, self._feed_forward(layer, value))
        self.node("MatMul", "logits", self._norm("last_norm", value), "head")

    def constant(self, name: str, values: Any) -> None:
        import numpy as np
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.asarray(values), name))

    def node(self, op: str, output: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(op, list(inputs), [output], name=f"{output}_{op}", **attributes))
        return output

    def _row(self, table: str, indices: str) -> str:
        return self.node("Gather", f"{table}_{indices}", table, indices, axis=0)

    def _norm(self, name: str, value: str) -> str:
        # scale and shift of each norm are those of all: 1 and 0
        return self.node("LayerNormalization", name, value, "norm_scale", "norm_shift", axis=-1)

    def _mask(self) -> str:
        """[1,1,sequence,past+sequence]: 0 where the key's position is not after the query's, else `BLOCKED`."""
        lengths = [
            self.node("Gather", f"length_{name}", self.node("Shape", f"shape_{name}", name), axis, axis=0)
            for name, axis in (("past_key_values.0.key", "two"), ("input_ids", "one"))
        ]
        total = self.node("Add", "length", *lengths)
        keys = self.node("Range", "key_positions", "zero", total, "one")
        later = self.node("Greater", "later", keys, self.node("Unsqueeze", "query_positions", "position_ids", "last"))
        return self.node(
            "Unsqueeze", "mask", self.node("Where", "blocked_or_seen", later, "blocked", "seen"), "heads_axis"
        )

    def _attention(self, layer: int, value: str, mask: str) -> str:
        normed = self._norm(f"{layer}_norm1", value)
        query, key, mixed = (self._heads(layer, name, normed) for name in ("query", "key", "value"))
        keys = self.node("Concat", f"present.{layer}.key", f"past_key_values.{layer}.key", key, axis=2)
        values = self.node("Concat", f"present.{layer}.value", f"past_key_values.{layer}.value", mixed, axis=2)
        turned = self.node("Transpose", f"{layer}_keys", keys, perm=[0, 1, 3, 2])
        scores = self.node("Mul", f"{layer}_scaled", self.node("MatMul", f"{layer}_scores", query, turned), "scale")
        shares = self.node("Softmax", f"{layer}_shares", self.node("Add", f"{layer}_masked", scores, mask), axis=-1)
        found = self.node(
            "Transpose", f"{layer}_found", self.node("MatMul", f"{layer}_mix", shares, values), perm=[0, 2, 1, 3]
        )
        return self.node(
            "MatMul", f"{layer}_out", self.node("Reshape", f"{layer}_flat", found, "join"), f"{layer}_joined"
        )

    def _heads(self, layer: int, name: str, value: str) -> str:
        """[1,heads,sequence,width of a head]"""
        product = self.node("MatMul", f"{layer}_{name}_product", value, f"{layer}_{name}")
        split = self.node("Reshape", f"{layer}_{name}_split", product, "split")
        return self.node("Transpose", f"{layer}_{name}_heads", split, perm=[0, 2, 1, 3])

    def _feed_forward(self, layer: int, value: str) -> str:
        up = self.node("MatMul", f"{layer}_wide", self._norm(f"{layer}_norm2", value), f"{layer}_up")
        return self.node("MatMul", f"{layer}_narrow", self.node("Relu", f"{layer}_rectified", up), f"{layer}_down")
