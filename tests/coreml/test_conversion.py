"""What coremltools' binding takes of Python's values, by its own rules: they are why hettop prepares its inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.coreml.bench import Bench
from tests.coreml.conversion import built
from tests.coreml.site.standin_coreml.native import Convert, _conversion

pytest.importorskip("coremltools", reason="coremltools is not installed")


@pytest.fixture
def convert() -> Convert:
    """Skips where the rules cannot be built."""
    found = built()
    if found.path is None:
        pytest.skip(found.why_not)
    return _conversion(str(found.path))


def read_only() -> Any:
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int8"])
def test_arrays_of_four_types_go_in_without_a_copy(dtype: str, convert: Convert) -> None:
    array = np.arange(6, dtype=dtype).reshape(2, 3)
    seen = convert({"x": array})["x"]
    assert np.shares_memory(seen, array)
    assert seen.tolist() == array.tolist()


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(read_only(), id="read only"),
        pytest.param(np.zeros(3, np.int64), id="int64"),
        pytest.param(np.zeros(3, np.uint8), id="uint8"),
        pytest.param(np.zeros(3, np.float16), id="float16"),
        pytest.param(np.zeros(3, np.bool_), id="bool"),
        pytest.param(np.zeros((), np.float32), id="no axes"),
        pytest.param(np.float32(1), id="a number of numpy's that is not Python's"),
        pytest.param(memoryview(b"abc"), id="a buffer that is no array"),
        pytest.param(2**70, id="a number of more than 64 bits"),
        pytest.param({"a": "b"}, id="a dictionary of text"),
        pytest.param({"a": 1.5, "b": "c"}, id="a dictionary of several types"),
        pytest.param(None, id="nothing"),
    ],
)
def test_anything_else_is_not_convertible_and_nobody_says_why(
    value: Any, convert: Convert, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RuntimeError, match=r"^value type not convertible$"):
        convert({"x": value})
    assert capsys.readouterr().out.startswith("Error: value type not convertible:\n")


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (7, 7),
        (True, 1),
        (np.int64(7), 7),
        (2.5, 2.5),
        (np.float64(2.5), 2.5),
        ("text", "text"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ({3: 0.5}, {3: 0.5}),
        ({}, {}),
    ],
)
def test_numbers_text_and_dictionaries_of_numbers_go_in(value: Any, seen: Any, convert: Convert) -> None:
    assert convert({"x": value}) == {"x": seen}


def test_a_list_becomes_nothing(convert: Convert) -> None:
    assert convert({"x": [1.0, 2.0]}) == {}


def test_the_order_of_bytes_is_taken_for_the_machines_own(convert: Convert) -> None:
    swapped = np.array([1, 256], np.int32).astype(np.dtype(np.int32).newbyteorder())
    assert convert({"x": swapped})["x"].tolist() == [1 << 24, 1 << 16]


def test_an_array_that_runs_backwards_would_be_read_outside(convert: Convert) -> None:
    with pytest.raises(RuntimeError, match="before the beginning"):
        convert({"x": np.zeros(3, np.float32)[::-1]})


@pytest.mark.parametrize(("mode", "taken"), [("RGB", True), ("RGBA", True), ("L", True), ("F", True), ("P", False)])
def test_images_go_in_in_four_modes(mode: str, taken: bool, convert: Convert) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed").new(mode, (2, 3))
    if taken:
        assert convert({"x": image})["x"] is image
        return
    with pytest.raises(RuntimeError, match=r"^Unsupported image type P\. Supported types are: RGB, RGBA, L\.$"):
        convert({"x": image})


def test_a_model_refuses_what_is_not_convertible(bench: Bench, package: Path, convert: Convert) -> None:
    ct = pytest.importorskip("coremltools")
    with bench.here():
        model = ct.models.MLModel(str(package))
        with pytest.raises(RuntimeError, match="value type not convertible"):
            model.predict({"x": np.broadcast_to(np.float32(1), (1, 4))})
        assert model.predict({"x": np.ones((1, 4), np.float32)})["y"].tolist() == [[-14.0, 2.0, 18.0]]


def test_a_state_is_written_by_the_same_rules(bench: Bench, tmp_path: Path, convert: Convert) -> None:
    from tests.coreml.models import counter

    ct = pytest.importorskip("coremltools")
    with bench.here():
        state = ct.models.MLModel(str(counter(tmp_path / "counter.mlpackage"))).make_state()
        with pytest.raises(RuntimeError, match="value type not convertible"):
            state.write_state("memory", np.zeros(4, np.int64))
        state.write_state("memory", np.full(4, 2, np.float32))
        assert state.read_state("memory").tolist() == [2, 2, 2, 2]
