"""`hettop pareto` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hettop.cli.pareto import names_of_files
from hettop.resources import recordings_folder
from tests.cli.running import assert_refused, called, one_document

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
    assert "● on the Pareto front" in done.stdout
    assert "CPU_AND_GPU" in done.stdout
    assert "simulated-m2.jsonl" not in done.stdout, "of one file there is nothing to tell apart"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((RECORDING, "--by", "beauty"), "unknown objective"),
        ((RECORDING, "--latency", "p42"), "unknown latency"),
        ((RECORDING, "--accuracy", "net"), "invalid accuracy"),
        (
            (RECORDING, "--accuracy", "mobilenetv3=0.7", "--accuracy", "mobilenetv2=0.6"),
            "unknown name: 'mobilenetv3'",
        ),
        ((RECORDING, "--load", "cpu:99"), "no measurements under this load"),
        (("none.json",), "file not found: none.json"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("pareto", *arguments, cwd=tmp_path), words)


def test_a_name_that_nothing_has_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    done = called("pareto", RECORDING, "--accuracy", "mobilenetv3=0.7", cwd=tmp_path)
    assert "names: mobilenetv2:224x224:b1;" in done.stderr


def test_each_row_names_its_file_where_there_are_several(tmp_path: Path) -> None:
    for folder, name in (("x", "net"), ("y", "net2")):
        (tmp_path / folder).mkdir()
        rows = [{"unit": "ALL", "load": "none", "p50_ms": 1.0}]
        (tmp_path / folder / "a.json").write_text(json.dumps({"model": {"name": name}, "conditions": rows}))
    done = called("pareto", "x/a.json", "y/a.json", cwd=tmp_path)
    rows_of = {line.split()[2]: line.split()[-1] for line in done.stdout.splitlines() if line.startswith("●  ")}
    assert rows_of == {"net": "x/a.json", "net2": "y/a.json"}


def test_files_are_distinguished_by_as_few_folders_as_it_takes() -> None:
    assert names_of_files(["/a/b/s.json", "/a/c/s.json", "t.json"]) == ["b/s.json", "c/s.json", "t.json"]
    assert names_of_files(["s.json", "s.json"]) == ["s.json", "s.json"]


def test_accuracy_that_is_given_is_an_objective(tmp_path: Path) -> None:
    rows = [{"unit": "ALL", "load": "none", "p50_ms": ms} for ms in (1.0,)]
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"model": {"name": name}, "conditions": rows}))
    done = called("pareto", "a.json", "b.json", "--accuracy", "a=0.7", "--accuracy", "b=0.6", "--json", cwd=tmp_path)
    document = one_document(done.stdout)
    assert document["front"] == [0]
    assert document["choices"][1]["dominated_by"] == 0
