"""Lists give what was written to them, grow where they may, and go through loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hettop.models.mil.translate import translate
from tests.models.mil.programs import Array, convert, mb, opened, program, run, spec


def answers(build: Any, **feed: Array) -> list[Array]:
    model = convert(program(build, {name: spec(value.shape, value.dtype) for name, value in feed.items()}))
    return list(run(translate(opened(model)), feed))


@pytest.mark.parametrize("dynamic", [True, False])
def test_what_is_written_is_read_and_the_rest_is_zero(dynamic: bool) -> None:
    def build(x: Any) -> Any:
        held = mb.make_list(init_length=4, elem_shape=(2,), dynamic_length=dynamic, dtype="fp32")
        held = mb.list_write(ls=held, index=1, value=x)
        held = mb.list_scatter(ls=held, indices=[0, 2], value=np.array([[1, 2], [3, 4]], np.float32))
        return mb.list_read(ls=held, index=1), mb.list_gather(ls=held, indices=[2, 0, 3]), mb.list_length(ls=held)

    read, gathered, length = answers(build, x=np.array([7, 8], np.float32))
    assert read.tolist() == [7, 8]
    assert gathered.tolist() == [[3, 4], [1, 2], [0, 0]]
    assert length == 4


def test_a_list_without_a_fixed_length_grows_to_what_is_written() -> None:
    def build(x: Any) -> Any:
        held = mb.make_list(init_length=1, elem_shape=(2,), dynamic_length=True, dtype="fp32")
        held = mb.list_write(ls=held, index=3, value=x)
        return mb.list_length(ls=held), mb.list_gather(ls=held, indices=[3, 2])

    length, gathered = answers(build, x=np.array([7, 8], np.float32))
    assert length == 4
    assert gathered.tolist() == [[7, 8], [0, 0]]


def test_a_loop_fills_a_list() -> None:
    """1 x, 2 x, 3 x, 4 x, 5 x, as a converter writes a loop over steps."""

    def build(x: Any) -> Any:
        held = mb.make_list(init_length=1, elem_shape=(2,), dynamic_length=True, dtype="fp32")

        def body(i: Any, value: Any, ls: Any) -> Any:
            return mb.add(x=i, y=1), mb.add(x=value, y=x), mb.list_write(ls=ls, index=i, value=value)

        _, _, filled = mb.while_loop(
            _cond=lambda i, value, ls: mb.less(x=i, y=5), _body=body, loop_vars=(np.int32(0), x, held)
        )
        return mb.list_gather(ls=filled, indices=[0, 1, 2, 3, 4])

    x = np.array([1, -2], np.float32)
    (found,) = answers(build, x=x)
    assert found.tolist() == [(n * x).tolist() for n in range(1, 6)]
