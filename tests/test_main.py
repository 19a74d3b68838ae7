"""What the program settles before it runs anything: the size of what it prints to."""

from __future__ import annotations

import pytest

from hettop.__main__ import forget_odd_sizes
from tests.cli.running import hettop

TABLE = ("bench", "--backend", "simulated", "--units", "ALL", "--warmup", "0", "--runs", "3")


@pytest.mark.parametrize("told", ["20", "80", "1000", " 80 "])
def test_a_width_that_is_one_is_left_active(told: str) -> None:
    environ = {"COLUMNS": told, "LINES": "24", "TERM": "xterm"}
    forget_odd_sizes(environ)
    assert environ == {"COLUMNS": told, "LINES": "24", "TERM": "xterm"}


@pytest.mark.parametrize("told", ["", "0", "-80", "abc", "8e1", "80.5", "1", "19", "1001", "9" * 5000, "٨٠", "²"])
def test_what_is_no_size_is_as_if_it_were_not_set(told: str) -> None:
    environ = {"COLUMNS": told, "LINES": told, "TERM": "xterm"}
    forget_odd_sizes(environ)
    assert set(environ) - {"LINES"} == {"TERM"}
    assert environ.get("LINES") in (None, "19")


@pytest.mark.parametrize("told", ["0", "abc", "1", "1000000000"])
def test_a_table_has_its_usual_width_then(told: str) -> None:
    done = hettop(*TABLE, COLUMNS=told, LINES=told)
    assert (done.returncode, done.stderr) == (0, "")
    assert 60 < max(map(len, done.stdout.splitlines())) <= 100
