"""Which port of a decoder does what: by the names of several exporters, by shape, and by what the user says."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.decoding import find_pairs, find_roles, growing_axis, parse_state
from hettop.models.inspection.reading import inspect
from hettop.models.ports import Port
from hettop.models.tinydecoder import Architecture, build_onnx

IDS = Port("input_ids", "int64", ("batch_size", "sequence_length"))
LOGITS = Port("logits", "float32", ("batch_size", "sequence_length", 32))


def cache(name: str, length: str | int | None = "past", heads: int = 4) -> Port:
    return Port(name, "float32", ("batch_size", heads, length, 16))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("past_key_values.0.key", "present.0.key"),  # Optimum
        ("past_key_values.0.decoder.value", "present.0.decoder.value"),
        ("past_key_0", "present_key_0"),
        ("past_0", "present_0"),
        ("k_cache_in", "k_cache_out"),
        ("kv_cache", "updated_kv_cache"),
        ("kv_cache", "kv_cache/after"),  # a translated Core ML state
        ("state", "stateN"),  # Silero
        ("h", "hn"),
    ],
)
def test_pairs_are_found_by_the_names_of_exporters(before: str, after: str) -> None:
    pairs = find_pairs([IDS, cache(before)], [LOGITS, cache(after, "total")])
    assert [(pair.input.name, pair.output) for pair in pairs] == [(before, after)]


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ([Port("input", "float32", (1, 8))], [Port("output", "float32", (1, 8))]),  # no word says that it is kept
        ([Port("token", "int64", (1, 1))], [Port("next_token", "int64", (1, 1))]),  # numbers of tokens are no state
        ([cache("past_0", heads=4)], [cache("present_0", heads=8)]),
        ([cache("past_0")], [Port("present_0", "float16", ("batch_size", 4, "past", 16))]),
        ([cache("past_0")], [cache("present_1")]),
    ],
)
def test_what_does_not_belong_together_is_no_pair(inputs: list[Port], outputs: list[Port]) -> None:
    assert find_pairs(inputs, outputs) == ()


def test_each_pair_takes_its_own_output() -> None:
    names = [f"{layer}.{part}" for layer in range(12) for part in ("key", "value")]
    pairs = find_pairs(
        [cache(f"past_key_values.{name}") for name in names], [cache(f"present.{name}", "total") for name in names]
    )
    assert [(pair.input.name, pair.output) for pair in pairs] == [
        (f"past_key_values.{name}", f"present.{name}") for name in names
    ]


def test_the_axis_that_grows_is_the_free_one_that_differs() -> None:
    assert growing_axis(cache("past_0", "past"), cache("present_0", "past + sequence")) == 2
    assert growing_axis(cache("past_0", None), cache("present_0", None)) == 2  # names are missing
    assert growing_axis(cache("past_0", 128), cache("present_0", 128)) is None  # a ring
    grown = find_pairs([cache("past_0")], [cache("present_0", "total")])[0]
    ring = find_pairs([cache("past_0", 128)], [cache("present_0", 128)])[0]
    assert (grown.begin(), ring.begin()) == ((1, 4, 0, 16), (1, 4, 128, 16))
    assert grown.describe() == "past_0 -> present_0 (grows)"
    assert ring.describe() == "past_0 -> present_0 (fixed size)"


def test_the_users_pairs_come_first_and_are_checked() -> None:
    inputs, outputs = [cache("a"), cache("b")], [cache("x", "total"), cache("y", "total")]
    pairs = find_pairs(inputs, outputs, {"b": "x"})
    assert [(pair.input.name, pair.output) for pair in pairs] == [("b", "x")]
    for given, words in (({"c": "x"}, "no input c"), ({"a": "z"}, "no output z")):
        with pytest.raises(HettopError, match=words):
            find_pairs(inputs, outputs, given)
    with pytest.raises(HettopError, match="differ in type or shape"):
        find_pairs([cache("a", heads=2)], outputs, {"a": "x"})
    assert parse_state("past=present") == ("past", "present")
    with pytest.raises(HettopError, match="invalid --state"):
        parse_state("past")


def test_inputs_beside_tokens_are_recognized() -> None:
    inputs = [
        IDS,
        Port("attention_mask", "int64", ("batch_size", "total")),
        Port("position_ids", "int64", ("batch_size", "sequence_length")),
        Port("use_cache_branch", "bool", (1,)),
        Port("pixels", "float32", (1, 3, 8, 8)),
        cache("past_key_values.0.key"),
    ]
    roles = find_roles(inputs, [LOGITS, cache("present.0.key", "total")])
    assert (roles.tokens.name, roles.logits.name) == ("input_ids", "logits")
    named = [[port.name for port in ports] for ports in (roles.positions, roles.masks, roles.flags, roles.others)]
    assert named == [["position_ids"], ["attention_mask"], ["use_cache_branch"], ["pixels"]]
    assert roles.describe() == (
        "tokens input_ids; next token from logits; positions position_ids; mask attention_mask; "
        "state past_key_values.0.key -> present.0.key (grows)"
    )


def test_a_model_without_state_or_tokens_is_refused() -> None:
    with pytest.raises(HettopError, match="no state is carried"):
        find_roles([IDS], [LOGITS])
    with pytest.raises(HettopError, match="no input takes token numbers"):
        find_roles([cache("past_0")], [LOGITS, cache("present_0")])
    with pytest.raises(HettopError, match="several inputs may take tokens: ids, other_ids"):
        find_roles([Port("ids", "int64", (1, 1)), Port("other_ids", "int64", (1, 1))], [LOGITS], stateful=True)
    with pytest.raises(HettopError, match="no output to take a token from"):
        find_roles([IDS, cache("past_0")], [cache("present_0", "total")])


@pytest.mark.parametrize(
    ("port", "left", "most"),
    [
        (Port("ids", "int64", (1, None)), 100, 100),
        (Port("ids", "int64", (1, 1)), 100, 1),
        (Port("ids", "int32", (1, None), ranges=((1, 1), (1, 64))), 100, 64),
        (Port("ids", "int32", (1, None), choices=((1, 1), (1, 16), (1, 64))), 40, 16),
    ],
)
def test_a_call_takes_as_many_tokens_as_the_model_allows(port: Port, left: int, most: int) -> None:
    assert find_roles([port], [LOGITS], stateful=True).most(left) == most


def test_a_model_that_takes_many_tokens_only_cannot_go_on() -> None:
    roles = find_roles([Port("ids", "int64", (1, 16))], [LOGITS], stateful=True)
    with pytest.raises(HettopError, match="takes 16 tokens per call"):
        roles.most(1)


def test_inspect_shows_what_is_carried(tmp_path: Path) -> None:
    path = tmp_path / "tiny.onnx"
    path.write_bytes(
        build_onnx(Architecture(vocabulary=8, width=8, layers=1, heads=2, hidden=8, longest=8)).SerializeToString()
    )
    (note,) = inspect(path, shapes={}).notes
    assert note == (
        "carried from call to call: past_key_values.0.key -> present.0.key (grows), "
        "past_key_values.0.value -> present.0.value (grows)"
    )
    totals = inspect(path, shapes={}).totals
    assert totals is not None
    assert totals.parameters == Architecture(8, 8, 1, 2, 8, 8).parameters
