"""Which points are measured, and rows that outlive an interruption."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hettop.errors import HettopError
from hettop.session.statistics import Reason, Statistics
from hettop.studies.embench.measure import Conditions, Kept, Point, chosen_batches, chosen_networks, points_of

CONDITIONS = Conditions(warmup=1, runs=5, rest_ns=0, backend="onnxruntime", chip="M2", hettop="0.2.0")
A1, A2, A4 = (Point("squeezenet1.1", batch) for batch in (1, 2, 4))


def test_all_are_the_26_of_table_1_and_light_those_below_a_billion() -> None:
    assert len(chosen_networks("all")) == 26
    light = chosen_networks("light")
    assert light[0] == "shufflenetv2-0.5"
    assert "squeezenet1.0" in light
    assert "resnet18" not in light
    assert chosen_networks("resnet18, alexnet,resnet18") == ["alexnet", "resnet18"]
    with pytest.raises(HettopError, match="unknown network: 'resnet51'"):
        chosen_networks("resnet51")


def test_batches_are_in_order_and_checked() -> None:
    assert chosen_batches("8,1,2,2") == [1, 2, 8]
    for wrong in ("", "0", "1,x", "513", "-1", "²"):
        with pytest.raises(HettopError, match="invalid batch size"):
            chosen_batches(wrong)
    assert points_of(["a", "b"], [1, 2]) == [Point("a", 1), Point("a", 2), Point("b", 1), Point("b", 2)]


def test_a_row_has_the_shortest_call_and_its_rate() -> None:
    measured = Statistics(unit="ALL", load="none", n=50, min_ms=8.0, mean_ms=9.0, energy_mj_per_inference=40.0)
    row = A4.row("ALL", measured)
    assert (row.min_ms, row.items_per_s, row.energy_mj, row.macs) == (8.0, 500.0, 10.0, 349_151_936)
    assert (row.top1_percent, row.parameters) == (58.18, 1_235_496)
    failed = Statistics(unit="ALL", load="none", error=Reason(kind="load", message="out of memory", hint=""))
    assert (A4.row("ALL", failed).error, A4.row("ALL", None).error) == ("out of memory", "nothing was measured")


def test_rows_are_kept_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    first = Kept(path, CONDITIONS)
    first.read()
    with pytest.raises(HettopError, match="is in use by another hettop") as caught:
        Kept(path, CONDITIONS).read()
    assert caught.value.kind == "usage"
    row = A1.row("CPU_ONLY", Statistics(unit="CPU_ONLY", load="none", n=5, min_ms=2.0))
    first.add(row)
    first.close()
    with path.open("ab") as file:
        file.write(b'{"network": "squeezen')  # killed in the middle of a line
    again = Kept(path, CONDITIONS)
    again.read()
    assert again.ordered([A1, A2], ["CPU_ONLY"]) == [row]
    assert again.missing(A1, ["CPU_ONLY", "ALL"]) == ("ALL",)


@pytest.mark.parametrize(
    "changes",
    [{"min_ms": None}, {"min_ms": 0.0}, {"items_per_s": 0.0}, {"items_per_s": None}, {"macs": 0}, {"n": 0}],
)
def test_a_row_without_its_figures_is_measured_again(changes: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    whole = A1.row("ALL", Statistics(unit="ALL", load="none", n=5, min_ms=2.0))
    failed = A2.row("ALL", None, "out of memory")
    rows = [msgspec.structs.replace(whole, **changes), failed]
    path.write_bytes(b"\n".join(map(msgspec.json.encode, [CONDITIONS, *rows])) + b"\n")
    with closing(Kept(path, CONDITIONS)) as kept:
        kept.read()
    assert kept.missing(A1, ["ALL"]) == ("ALL",)
    assert kept.missing(A2, ["ALL"]) == ()


def test_rows_of_other_conditions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with closing(Kept(path, CONDITIONS)) as kept:
        kept.read()
    other = Conditions(warmup=1, runs=50, rest_ns=0, backend="onnxruntime", chip="M2", hettop="0.2.0")
    with (
        pytest.raises(HettopError, match="measured otherwise: runs 5 instead of 50"),
        closing(Kept(path, other)) as kept,
    ):
        kept.read()
    path.write_text("something else\n")
    with pytest.raises(HettopError, match="holds no rows"), closing(Kept(path, CONDITIONS)) as kept:
        kept.read()
    assert path.read_text() == "something else\n"


def test_a_larger_batch_than_one_that_failed_is_not_tried() -> None:
    kept = Kept(None, CONDITIONS)
    kept.add(A2.row("ALL", None, "out of memory"))
    assert kept.failed(A4, "ALL")
    assert not kept.failed(A1, "ALL")
    assert not kept.failed(A4, "CPU_ONLY")
