"""`hettop plan` from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import assert_refused, called, one_document
from tests.slicing.tables import fields

# Two layers that A runs in 7 and 1, B in 3 and 9; a slice costs 1 at each end.
CASE = fields(2, "AB", e=[[7, 3], [1, 9]], cin=[[1, 1]] * 2, cout=[[1, 1]] * 2)


def written(folder: Path, **changed: Any) -> str:
    path = folder / "costs.json"
    path.write_text(json.dumps({**CASE, **changed}))
    return str(path)


def test_the_document_is_the_cheapest_plan(tmp_path: Path) -> None:
    done = called("plan", "--costs", written(tmp_path), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert (document["plan"], document["cost"], document["objective"]) == ("B_1, A_2", 8.0, "latency")
    assert document["baselines"] == {"A preferred": 10.0, "B preferred": 14.0, "without communication": 8.0}
    assert document["planner_ms"] > 0


def test_watts_change_the_plan_for_energy(tmp_path: Path) -> None:
    """B at 10 W: 10 mJ on A against (3 + 2) x 10 + 3."""
    document = one_document(
        called("plan", "--costs", written(tmp_path, P=[1, 10]), "--objective", "energy", "--json").stdout
    )
    assert (document["plan"], document["cost"], document["unit"]) == ("A_1", 10.0, "mJ")
    assert document["unit_told"] is True


def test_the_page_says_the_same(tmp_path: Path) -> None:
    done = called("plan", "--costs", written(tmp_path))
    assert done.stdout.startswith("B_1, A_2\nlatency 8.00 ms\n")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"e": [[1, 1], [None, None]]}, "layer 2 runs on no device"),
        ({"e": [[1, 1]]}, "e has 1 entries for 2 layers"),
        ({"limit": {"Z\x1b[31m": 3}}, "no device"),
        ({"unit": "mJ"}, "tells no latency"),
    ],
)
def test_a_table_without_a_plan_is_refused(changed: dict[str, Any], words: str, tmp_path: Path) -> None:
    assert_refused(called("plan", "--costs", written(tmp_path, **changed)), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--costs"),
        (("--costs", "nowhere.json"), "no file nowhere.json"),
        (("--costs", "."), "not a regular file"),
        (("--costs", "x", "--objective", "beauty"), "invalid choice"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(called("plan", *arguments), words)
