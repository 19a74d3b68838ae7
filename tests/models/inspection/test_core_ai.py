"""What is reported of a Core AI asset, by its own summary and by its files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.inspection.core_ai import described_port, inspect_asset
from hettop.models.inspection.inspection import document
from hettop.models.inspection.page import page
from hettop.models.inspection.reading import inspect
from hettop.models.ports import Port
from hettop.processes.call import ChildLostError
from tests.sources.engine.backends.aimodels import authored, files, needs_wheel

ANSWER = """
import sys; sys.stdin.readline()
print('{"k":"answer","value":{"functions":[{"name":"main","inputs":[["x","NDArray (Float16, 1 × ? × 4)"]],'
 '"outputs":[["y","Image (RGB)"]]},{"name":"decode","inputs":[],"outputs":[]}],"stored":[["Float16",257],["Int32",7]],'
 '"computed":["Float16","Int32","UInt64"],"ops":[["relu",1],["conv2d",2]]}}')
"""


def answering(program: str) -> tuple[str, ...]:
    return (sys.executable, "-c", program)


def test_ports_are_read_from_the_words_of_a_summary() -> None:
    assert described_port("x", "NDArray (Float32, 1 × 3 × 16 × 16)") == Port("x", "float32", (1, 3, 16, 16))
    assert described_port("x", "NDArray (Float16, 1 × ? × 4)") == Port("x", "float16", (1, None, 4))
    assert described_port("x", "NDArray (Int32)") == Port("x", "int32", ())
    assert described_port("x", "Image (RGB)") == Port("x", "", kind="Image (RGB)")


def test_a_summary_becomes_a_page_and_a_document(tmp_path: Path) -> None:
    found = inspect_asset(Path(files(tmp_path / "m.aimodel")), None, answering(ANSWER))
    assert (found.precision, found.ops, found.totals) == ("float16", {"relu": 1, "conv2d": 2}, None)
    text = page(found)
    assert "Core AI asset · asset 2.0 · by coreai-core 1.0.0b3" in text
    assert "values stored: 257 float16, 7 int32" in text
    assert "functions    main *, decode" in text
    written = document(found)
    assert (written["format"], written["precision"], written["parameters"]) == ("coreai", "float16", None)
    assert "placement is not reported by Core AI" in written["note"]


def test_an_unknown_function_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="no function 'prefill'") as caught:
        inspect_asset(Path(files(tmp_path / "m.aimodel")), "prefill", answering(ANSWER))
    assert "main, decode" in caught.value.hint


def test_a_reader_that_core_ai_ends_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChildLostError):
        inspect_asset(Path(files(tmp_path / "m.aimodel")), None, answering("import os; os.abort()"))


def test_shapes_have_no_effect_on_an_asset(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="--shape"):
        inspect(Path(files(tmp_path / "m.aimodel")), shapes={"x": (1,)})


@needs_wheel
def test_a_real_asset_is_read_by_its_own_summary(tmp_path: Path) -> None:
    found = inspect(Path(authored(tmp_path / "m.aimodel")), shapes={})
    assert found.inputs == (Port("x", "float32", (1, 3, 16, 16)),)
    assert found.outputs == (Port("y", "float32", (1, 5)),)
    assert found.ops["conv2d"] == 1
    assert found.precision == "float32"
    # 8·3·3·3 weights of the convolution, 8·5 of the dense layer, and one that the mean is divided by
    assert "257 float32" in found.notes[0]


@needs_wheel
def test_a_program_that_core_ai_cannot_parse_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="no function that this coreai-core can read") as caught:
        inspect(Path(files(tmp_path / "m.aimodel")), shapes={})
    assert caught.value.kind == "format"
