"""Prefill beside decode: the rows, their jobs, and how many tokens a call is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import Setup, counted, parse_stage, parse_tokens, prepare_tokens
from hettop.session.tokens import TokensPerCall
from tests.sources.engine.backends import onnx_files


def setup_of(
    model: Path | str, prefill: str, decode: str, tokens: tuple[int, int] | None = None, *, backend: str | None = None
) -> Setup:
    return prepare_tokens(
        ModelOptions(model=str(model), backend=backend),
        ("CPU_ONLY@1",) if backend is None else ("ALL",),
        2,
        prefill=parse_stage(prefill.split(), "--prefill"),
        decode=parse_stage(decode.split(), "--decode"),
        tokens=tokens,
    )


def refusal(model: Path | str, prefill: str, decode: str, backend: str | None = None) -> HettopError:
    with pytest.raises(HettopError) as caught:
        setup_of(model, prefill, decode, backend=backend)
    return caught.value


@pytest.fixture(scope="module")
def flexible(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    from tests.coreml.models import token_by_token

    return token_by_token(tmp_path_factory.mktemp("flexible") / "m.mlpackage")


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    from tests.coreml.models import prefill_and_decode

    return prefill_and_decode(tmp_path_factory.mktemp("functions"))


def test_shapes_make_a_unit_that_decodes_and_its_variant_that_prefills(flexible: Path) -> None:
    setup = setup_of(flexible, "tokens=1,64", "tokens=1,1")
    assert setup.units == ("CPU_ONLY@1", "CPU_ONLY@1~prefill")
    assert setup.tokens == TokensPerCall(64, 1, "axis 1 of tokens")
    assert dict(setup.inputs.shapes) == {"tokens": (1, 1)}
    variant = setup.variants["prefill"]
    assert dict(variant.job) == {"function": None, "shapes": {"tokens": (1, 64)}, "fresh_state": True}
    assert variant.words == "prefill with tokens=1,64; the unit itself is decode, with tokens=1,1"


def test_functions_are_counted_by_the_shapes_that_the_model_reports(functions: Path) -> None:
    setup = setup_of(functions, "@prefill", "@decode")
    assert setup.tokens == TokensPerCall(16, 1, "axis 1 of tokens")
    assert (setup.function, setup.variants["prefill"].job["function"]) == ("decode", "prefill")


def test_a_number_of_tokens_that_is_reported_is_taken(functions: Path) -> None:
    assert setup_of(functions, "@prefill", "@decode", (20, 2)).tokens == TokensPerCall(20, 2, "--tokens")


def test_lengths_that_no_shape_reports_are_asked_for_and_not_guessed(flexible: Path) -> None:
    error = refusal(flexible, "tokens=1,64", "@main")  # decode runs the model's default length, which is not its limit
    assert (error.kind, error.hint.rpartition(": ")[2]) == ("usage", "--tokens PREFILL,DECODE such as 128,1")


def test_the_same_twice_is_refused(flexible: Path) -> None:
    assert "are the same" in refusal(flexible, "tokens=1,64", "tokens=1,64").message


def test_an_unknown_function_is_refused_with_those_there_are(functions: Path) -> None:
    assert refusal(functions, "@prompt", "@decode").hint == "it has: decode, prefill"


def test_a_simulation_has_no_tokens() -> None:
    assert "simulated" in refusal("mobilenetv2", "x=1,8", "x=1,1", backend="simulated").message


def test_an_onnx_model_is_counted_by_the_shapes_given(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx_files.relu(path, (1, "length"))
    assert setup_of(path, "x=1,8", "x=1,1").tokens == TokensPerCall(8, 1, "axis 1 of x")


def test_several_inputs_may_grow_together() -> None:
    prefill = {"ids": (1, 128), "mask": (1, 1, 128, 512), "past": (4, 64)}
    decode = {"ids": (1, 1), "mask": (1, 1, 1, 512), "past": (4, 64)}
    assert counted(prefill, decode) == TokensPerCall(128, 1, "axis 1 of ids")


@pytest.mark.parametrize(
    ("prefill", "decode", "words"),
    [
        ({"ids": (1, 128), "mask": (1, 640)}, {"ids": (1, 1), "mask": (1, 513)}, "several lengths differ"),
        ({"x": (4, 128)}, {"x": (1, 1)}, "4 and 1 (axis 0 of x), 128 and 1 (axis 1 of x)"),
        ({"x": (1, 128)}, {"x": (1,)}, "another number of axes"),
        ({"x": (1, 128)}, {"y": (1, 1)}, "no shape that is known of both"),
        ({}, {}, "no shape that is known of both"),
    ],
)
def test_where_it_is_not_certain_it_is_asked_for(
    prefill: dict[str, tuple[int, ...]], decode: dict[str, tuple[int, ...]], words: str
) -> None:
    with pytest.raises(HettopError) as caught:
        counted(prefill, decode)
    assert words in caught.value.message
    assert "--tokens" in caught.value.hint


@pytest.mark.parametrize("texts", [[], ["@a", "@b"], ["@"], ["tokens"], ["=1,2"], ["tokens=1,0"]])
def test_what_is_neither_a_function_nor_a_shape_is_refused(texts: list[str]) -> None:
    with pytest.raises(HettopError) as caught:
        parse_stage(texts, "--prefill")
    assert caught.value.kind == "usage"
    assert "--prefill" in caught.value.message


def test_a_function_may_come_with_shapes() -> None:
    stage = parse_stage(["@decode", "ids=1,1", "mask=1,512"], "--decode")
    assert (stage.function, dict(stage.shapes)) == ("decode", {"ids": (1, 1), "mask": (1, 512)})


@pytest.mark.parametrize("text", ["", "128", "128,0", "1,2,3", "a,b", "128;1", "99999999999,1"])
def test_numbers_of_tokens_are_two_whole_ones(text: str) -> None:
    assert parse_tokens(" 128,1 ") == (128, 1)
    with pytest.raises(HettopError):
        parse_tokens(text)
