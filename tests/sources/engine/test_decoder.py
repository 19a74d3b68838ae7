"""Answers token by token: state carried, tokens fed back, and the same tokens as without a cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.models.cache import ModelCache
from hettop.models.decoding import Roles, find_roles
from hettop.models.ports import Feed, InputOptions, Port
from hettop.models.tinydecoder import Architecture, build_onnx
from hettop.sources.engine.backend import LoadOptions, RealClock
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from hettop.sources.engine.decoder import Decoder, step_feed
from hettop.sources.engine.job import AnswerJob

TOKENS = 64
SMALL = Architecture(vocabulary=97, width=32, layers=2, heads=4, hidden=64, longest=128)


def loaded(path: Path, folder: Path) -> tuple[OnnxRuntimeBackend, Roles]:
    backend = OnnxRuntimeBackend(RealClock(), ModelCache(folder / "cache", folder / "fallback"))
    found = backend.load(str(path), "CPU_ONLY@1", LoadOptions(threads=1))
    return backend, find_roles(found.inputs, found.outputs)


def decoder(path: Path, folder: Path, **job: Any) -> Decoder:
    backend, roles = loaded(path, folder)
    return Decoder(backend, roles, AnswerJob(max_tokens=TOKENS, **job), InputOptions(seed=3), lambda: 0)


def tokens_of(answering: Decoder, number: int = 0) -> list[int]:
    chunks = list(answering.answer(number).chunks)
    assert chunks == [(0, True)] * TOKENS
    return list(answering.tokens)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny") / "tiny.onnx"
    path.write_bytes(build_onnx(SMALL).SerializeToString())
    return path


def uncached(path: Path, prompt: list[int]) -> list[int]:
    """The same tokens by reading everything anew for each of them, with an empty past."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    empty = np.zeros((1, SMALL.heads, 0, SMALL.head_width), np.float32)
    past = {node.name: empty for node in session.get_inputs() if node.name.startswith("past")}
    found: list[int] = []
    for _ in range(TOKENS):
        read = np.array([prompt + found])
        fed = {"input_ids": read, "position_ids": np.arange(read.size)[None], **past}
        found.append(int(np.argmax(session.run(["logits"], fed)[0][0, -1])))
    return found


def test_cached_decoding_gives_the_tokens_of_uncached_decoding(tiny: Path, tmp_path: Path) -> None:
    answering = decoder(tiny, tmp_path)
    for number in (0, 1):
        found, expected = tokens_of(answering, number), uncached(tiny, answering.prompt(number).tolist())
        assert sum(a == b for a, b in zip(found, expected, strict=True)) == TOKENS
        assert len(set(found)) > 5, "a decoder that repeats one token would prove nothing"


def test_prompts_are_fresh_and_seeded_and_state_does_not_leak(tiny: Path, tmp_path: Path) -> None:
    answering = decoder(tiny, tmp_path)
    first, second = tokens_of(answering, 0), tokens_of(answering, 1)
    assert first != second
    assert tokens_of(answering, 0) == first
    assert answering.prompt(0).tolist() != answering.prompt(1).tolist()
    assert tokens_of(decoder(tiny, tmp_path), 1) == second


def test_a_temperature_draws_tokens_by_the_seed(tiny: Path, tmp_path: Path) -> None:
    warm = decoder(tiny, tmp_path, temperature=1.0)
    found = tokens_of(warm)
    assert found != tokens_of(decoder(tiny, tmp_path))
    assert found == tokens_of(warm)


def running_sum(path: Path) -> Path:
    """score = -(sum of all tokens - (0..9))^2, the sum in `cache_in` float32[1,1], a state of fixed size."""
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("Cast", ["token"], ["number"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["number", "cache_in"], ["sum"]),
        helper.make_node("Mod", ["sum", "ten"], ["cache_out"], fmod=1),
        helper.make_node("Sub", ["cache_out", "digits"], ["apart"]),
        helper.make_node("Mul", ["apart", "apart"], ["squared"]),
        helper.make_node("Neg", ["squared"], ["logits"]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "sum",
        [info("token", TensorProto.INT64, (1, 1)), info("cache_in", TensorProto.FLOAT, (1, 1))],
        [info("logits", TensorProto.FLOAT, (1, 10)), info("cache_out", TensorProto.FLOAT, (1, 1))],
        [
            numpy_helper.from_array(np.array(10, np.float32), "ten"),
            numpy_helper.from_array(np.arange(10, dtype=np.float32)[None], "digits"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def test_a_state_of_fixed_size_is_carried_and_a_prompt_read_one_by_one(tmp_path: Path) -> None:
    """Each token is the sum of all before it, modulo 10: the first that of the prompt, each later one twice as much."""
    answering = decoder(running_sum(tmp_path / "sum.onnx"), tmp_path, prompt_tokens=5)
    expected = [int(answering.prompt(7).sum()) % 10]
    while len(expected) < TOKENS:
        expected.append(2 * expected[-1] % 10)
    assert tokens_of(answering, 7) == expected


class Listed:
    """A framework that lists what it is fed and always finds the same scores."""

    def __init__(self) -> None:
        self.fed: list[Feed] = []

    def carry(self, pairs: Mapping[str, str]) -> None: ...

    def begin_state(self, state: Feed) -> None: ...

    def advance(self, feed: Feed) -> Mapping[str, Any]:
        self.fed.append(feed)
        return {"logits": np.array([[0.0, 2.0, 1.0]])}


def test_positions_masks_and_flags_follow_the_tokens() -> None:
    inputs = [
        Port("input_ids", "int64", (1, None)),
        Port("position_ids", "int64", (1, None)),
        Port("cache_position", "int64", (1,)),
        Port("attention_mask", "int64", (1, None)),
        Port("full_mask", "int32", (1, 6)),
        Port("causal_mask", "float16", (1, 1, None, 6)),
        Port("use_cache_branch", "bool", (1,)),
    ]
    roles = find_roles(inputs, [Port("logits", "float32", (1, 3))], stateful=True)
    backend = Listed()
    answering = Decoder(backend, roles, AnswerJob(prompt_tokens=3, max_tokens=2), InputOptions(), lambda: 0)
    list(answering.answer(0).chunks)
    prompt, step = backend.fed
    assert prompt["input_ids"].shape == (1, 3)
    assert step["input_ids"].tolist() == [[1]], "the likeliest token is fed back"
    assert [fed["position_ids"].tolist() for fed in (prompt, step)] == [[[0, 1, 2]], [[3]]]
    assert [fed["cache_position"].tolist() for fed in (prompt, step)] == [[0], [3]]
    assert [fed["attention_mask"].tolist() for fed in (prompt, step)] == [[[1, 1, 1]], [[1, 1, 1, 1]]]
    assert step["full_mask"].tolist() == [[1, 1, 1, 1, 0, 0]]
    assert (prompt["causal_mask"] == 0).tolist() == [
        [[[True] + [False] * 5, [True] * 2 + [False] * 4, [True] * 3 + [False] * 3]]
    ]
    assert prompt["causal_mask"].min() == np.finfo(np.float16).min
    assert [fed["use_cache_branch"].tolist() for fed in (prompt, step)] == [[False], [True]]
    assert step_feed(roles, np.array([5]), 3)["input_ids"].dtype == np.int64
