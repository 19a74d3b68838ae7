"""`hettop pareto` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hettop.resources import recordings_folder
from tests.commands.running import assert_refused, called, one_document

RECORDING = str(recordings_folder() / "simulated-m2.jsonl")


def test_of_the_simulated_m2_the_neural_engine_units_are_on_the_front(tmp_path: Path) -> None:
    document = one_document(called("pareto", RECORDING, "--json", cwd=tmp_path).stdout)
    assert [each["name"] for each in document["objectives"]] == ["latency", "energy"]
    assert document["simulated"] is True
    front = {document["choices"][place]["unit"] for place in document["front"]}
    assert front <= {"ALL", "CPU_AND_NE"}
    assert {each["load"] for each in document["choices"]} == {"none"}


def test_the_page_has_a_plot_and_a_table(tmp_path: Path) -> None:
    done = called("pareto", RECORDING, cwd=tmp_path)
    assert done.returncode == 0
    assert "● on the front" in done.stdout
    assert "CPU_AND_GPU" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((RECORDING, "--by", "beauty"), "no objective"),
        ((RECORDING, "--latency", "p42"), "no latency"),
        ((RECORDING, "--accuracy", "net"), "is no accuracy"),
        ((RECORDING, "--load", "cpu:99"), "nothing to choose from"),
        (("none.json",), "no file none.json here"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("pareto", *arguments, cwd=tmp_path), words)


def test_accuracy_that_is_given_is_an_objective(tmp_path: Path) -> None:
    rows = [{"unit": "ALL", "load": "none", "p50_ms": ms} for ms in (1.0,)]
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"model": {"name": name}, "conditions": rows}))
    done = called("pareto", "a.json", "b.json", "--accuracy", "a=0.7", "--accuracy", "b=0.6", "--json", cwd=tmp_path)
    document = one_document(done.stdout)
    assert document["front"] == [0]
    assert document["choices"][1]["dominated_by"] == 0
