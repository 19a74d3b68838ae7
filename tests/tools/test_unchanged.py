"""The results of the shipped recordings, and what the comparison with them notices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import hettop
from tools import unchanged


def test_the_shipped_recordings_give_the_results_in_golden() -> None:
    found = unchanged.results(unchanged.RECORDINGS, hettop)
    checked, wrong = unchanged.compare(found)
    assert checked == 29
    assert wrong == []


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ({"p50_ms": 1.0}, {"p50_ms": 1.0, "added": 2}, []),
        ({"p50_ms": 1.0}, {"p50_ms": 1.0 + 1e-12}, []),
        ({"p50_ms": 1.0}, {"p50_ms": 1.00001}, ["/p50_ms: 1.0, now 1.00001"]),
        ({"p50_ms": 1.0}, {}, ["/p50_ms: missing"]),
        ({"p50_ms": None}, {"p50_ms": 0}, ["/p50_ms: None, now 0"]),
        ({"met": True}, {"met": 1}, ["/met: True, now 1"]),
        ({"rows": [1, 2]}, {"rows": [1]}, ["/rows: 2 items, now 1"]),
        ({"rows": [{"n": 3}]}, {"rows": [{"n": 4}]}, ["/rows/0/n: 3, now 4"]),
        ({"hint": "do this"}, {"hint": "do that"}, []),
    ],
)
def test_a_changed_or_missing_value_is_noticed_and_an_added_field_is_not(
    old: dict[str, object], new: dict[str, object], noticed: list[str]
) -> None:
    assert unchanged.differences("", old, new) == noticed


def test_a_result_that_is_not_made_any_more_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "verify-gone.json").write_text(json.dumps({"ok": True}))
    assert unchanged.compare({}, tmp_path) == (1, ["verify-gone: no such result now"])


def test_what_was_written_compares_equal(tmp_path: Path) -> None:
    found = {"replay-a": {"n": 1}, "decide-a": {"ranks": [1.5]}}
    unchanged.write(found, tmp_path)
    assert unchanged.compare(found, tmp_path) == (2, [])
