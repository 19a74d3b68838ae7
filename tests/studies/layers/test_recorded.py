"""Layers out of a recording that has a plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.report.terminal.blocks import block_text
from hettop.resources import recordings_folder
from hettop.sources.engine.placement import OpFacts, make_plan
from hettop.studies.layers.command import layers_of_recording, result_title
from hettop.studies.layers.notes import noted
from hettop.studies.layers.page import blocks
from hettop.studies.layers.planned import by_event

NE = "Neural Engine"
FACTS = [OpFacts("conv_1", "conv", NE, (NE,), 3.0), OpFacts("soft", "softmax", "CPU", ("CPU",), 1.0)]

STOPPED = events.Engine(t=0, unit="CPU_AND_NE", state="stopped")


def recorded(folder: Path, *lines: events.AnyEvent) -> Path:
    path = folder / "plan.jsonl"
    source = (recordings_folder() / "linux-x86-two-cores.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(source[0] + b"".join(events.encode(line) + b"\n" for line in lines))
    return path


def samples(unit: str) -> events.Samples:
    return events.Samples(
        t=10,
        unit=unit,
        condition="none",
        phase="steady",
        t0=0,
        n=3,
        gap_ns=np.zeros(3, np.int64),
        lat_ns=np.full(3, 4 * 10**6),
    )


def test_shares_of_the_plan_are_shared_out_of_the_mean(tmp_path: Path) -> None:
    plan = make_plan("CPU_AND_NE", FACTS)
    file = recorded(tmp_path, STOPPED, plan, samples("CPU_AND_NE"))
    title, model, measured = layers_of_recording(file, "CPU_AND_NE")
    assert title == "mobilenetv2:224x224:b1"
    assert model["simulated"] is False
    assert [(row.name, row.ms) for row in measured.layers] == [("soft", 1.0), ("1 operation on Neural Engine", 3.0)]
    assert measured.runs == 3


def test_without_a_plan_or_samples_it_says_which_units_have_one(tmp_path: Path) -> None:
    file = recorded(tmp_path, STOPPED, make_plan("CPU_AND_NE", FACTS), samples("ALL"))
    with pytest.raises(HettopError, match="has no plan of ALL") as refused:
        layers_of_recording(file, "ALL")
    assert refused.value.hint == "it has plans of CPU_AND_NE"
    with pytest.raises(HettopError, match="has no samples of CPU_AND_NE"):
        layers_of_recording(file, "CPU_AND_NE")


def test_estimates_are_labelled_in_every_form() -> None:
    measured = noted(by_event(make_plan("CPU_AND_NE", FACTS), 4.0, 100))
    document = measured.document()
    assert (document["estimated"], document["threads"], document["roofs"]) == (True, None, None)
    assert [layer["bound"] for layer in document["layers"]] == [None, None]
    assert [layer["device"] for layer in document["layers"]] == ["CPU", NE]
    assert result_title("net", measured) == "ESTIMATED · net · CPU_AND_NE"
    text = block_text(list(blocks(measured)), 120)
    assert text.startswith("! ESTIMATED from ")
    assert "no layer was timed" in text
    assert "fallback" in text
