"""Recurrent layers, loops and branches agree with numpy, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from tests.models.mil.programs import Array, Case, agrees, close, evaluate, mb
from tests.models.mil.references import gru, lstm

RNG = np.random.default_rng(5)
STEPS, BATCH, INPUTS, HIDDEN = 4, 2, 3, 5


def floats(*shape: int) -> Array:
    return (0.5 * RNG.normal(size=shape)).astype(np.float32)


def gates(count: int) -> list[Array]:
    return [floats(count * HIDDEN, INPUTS), floats(count * HIDDEN, HIDDEN), floats(count * HIDDEN)]


X, H, C = floats(STEPS, BATCH, INPUTS), floats(BATCH, HIDDEN), floats(BATCH, HIDDEN)
H2, C2 = floats(BATCH, 2 * HIDDEN), floats(BATCH, 2 * HIDDEN)
FORWARD, BACKWARD, PEEPHOLE = gates(4), gates(4), floats(3 * HIDDEN)
GATED, INPUT_BIAS = gates(3), floats(3 * HIDDEN)
PLAIN = gates(1)


def _weights(t: Any, parts: list[Array], suffix: str = "") -> dict[str, Any]:
    return {
        f"{name}{suffix}": part.astype(t) for name, part in zip(("weight_ih", "weight_hh", "bias"), parts, strict=True)
    }


def _lstm(**options: Any) -> Any:
    return lambda t, x, h, c: mb.lstm(x=x, initial_h=h, initial_c=c, **_weights(t, FORWARD), **options)


def _both(x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
    ahead = lstm(x, h[:, :HIDDEN], c[:, :HIDDEN], FORWARD)
    back = lstm(x[::-1], h[:, HIDDEN:], c[:, HIDDEN:], BACKWARD)
    sequence = np.concatenate([ahead[0], back[0][::-1]], -1)
    return (sequence, *(np.concatenate(pair, -1) for pair in zip(ahead[1:], back[1:], strict=True)))  # type: ignore[return-value]


def _rnn(x: Array, h: Array) -> tuple[Array, Array]:
    outputs = []
    for step in x:
        h = np.maximum(step @ PLAIN[0].T + h @ PLAIN[1].T + PLAIN[2], 0)
        outputs.append(h)
    return np.stack(outputs), h


CASES = {
    "lstm": Case(_lstm(output_sequence=True), {"x": X, "h": H, "c": C}, lambda x, h, c: lstm(x, h, c, FORWARD)),
    "lstm, last step only": Case(
        _lstm(),
        {"x": X, "h": H, "c": C},
        lambda x, h, c: (lstm(x, h, c, FORWARD)[1][None], *lstm(x, h, c, FORWARD)[1:]),
    ),
    "lstm reversed gives its steps in the order it takes them": Case(
        _lstm(output_sequence=True, direction="reverse"),
        {"x": X, "h": H, "c": C},
        lambda x, h, c: lstm(x[::-1], h, c, FORWARD),
    ),
    "lstm with peepholes": Case(
        lambda t, x, h, c: mb.lstm(
            x=x, initial_h=h, initial_c=c, **_weights(t, FORWARD), peephole=PEEPHOLE.astype(t), output_sequence=True
        ),
        {"x": X, "h": H, "c": C},
        lambda x, h, c: lstm(x, h, c, FORWARD, PEEPHOLE),
    ),
    "lstm in both directions": Case(
        lambda t, x, h, c: mb.lstm(
            x=x,
            initial_h=h,
            initial_c=c,
            **_weights(t, FORWARD),
            **_weights(t, BACKWARD, "_back"),
            direction="bidirectional",
            output_sequence=True,
        ),
        {"x": X, "h": H2, "c": C2},
        _both,
    ),
    "gru resets the state before its product": Case(
        lambda t, x, h: mb.gru(x=x, initial_h=h, **_weights(t, GATED), output_sequence=True),
        {"x": X, "h": H},
        lambda x, h: gru(x, h, GATED),
    ),
    "gru resets the product": Case(
        lambda t, x, h: mb.gru(
            x=x,
            initial_h=h,
            **_weights(t, GATED),
            input_bias=INPUT_BIAS.astype(t),
            reset_after=True,
            output_sequence=True,
        ),
        {"x": X, "h": H},
        lambda x, h: gru(x, h, GATED, True, INPUT_BIAS),
    ),
    "gru reversed": Case(
        lambda t, x, h: mb.gru(x=x, initial_h=h, **_weights(t, GATED), direction="reverse", output_sequence=True),
        {"x": X, "h": H},
        lambda x, h: gru(x[::-1], h, GATED),
    ),
    "rnn": Case(
        lambda t, x, h: mb.rnn(x=x, initial_h=h, **_weights(t, PLAIN), activation="relu", output_sequence=True),
        {"x": X, "h": H},
        _rnn,
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_a_recurrent_layer_agrees_with_its_equations(name: str, dtype: str) -> None:
    agrees(CASES[name], dtype)


def test_a_clipped_cell_state_is_refused_by_name() -> None:
    with pytest.raises(HettopError, match=r"'lstm' operation .* clips its cell state") as caught:
        evaluate(
            lambda x, h, c: mb.lstm(
                x=x, initial_h=h, initial_c=c, **_weights(np.float32, FORWARD), clip=np.float32(0.5)
            ),
            {"x": X, "h": H, "c": C},
        )
    assert caught.value.kind == "unsupported-op"


def test_a_branch_is_chosen_when_it_runs() -> None:
    def build(x: Any) -> Any:
        positive = mb.squeeze(x=mb.greater(x=mb.reduce_sum(x=x, axes=[0], keep_dims=True), y=0.0))
        return mb.cond(pred=positive, _true_fn=lambda: mb.add(x=x, y=1.0), _false_fn=lambda: mb.mul(x=x, y=-2.0))

    for values in ([1.0, 2.0], [-1.0, -2.0]):
        x = np.array(values, np.float32)
        (got,) = evaluate(build, {"x": x})
        np.testing.assert_array_equal(got, x + 1 if x.sum() > 0 else -2 * x)


def test_a_loop_runs_until_its_condition_fails() -> None:
    def build(x: Any, limits: Any) -> Any:
        limit = mb.squeeze(x=limits)
        return mb.while_loop(
            _cond=lambda i, value: mb.less(x=i, y=limit),
            _body=lambda i, value: (mb.add(x=i, y=np.int32(1)), mb.mul(x=value, y=2.0)),
            loop_vars=(np.int32(0), x),
        )[1]

    for rounds in (0, 1, 5):
        (got,) = evaluate(build, {"x": X[0, 0], "limits": np.array([rounds], np.int32)})
        close(got, X[0, 0] * 2.0**rounds)
