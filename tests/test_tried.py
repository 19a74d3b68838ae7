"""The table of machines that hettop was run on: each row is complete, and so is the one that doctor prints."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from hettop.app.doctor_report import YOUR_NAME, tried_row
from hettop.sources.host import describe_host

PAGE = (Path(__file__).parents[1] / "docs/reference/tried.md").read_text(encoding="utf-8")
COLUMNS = ["machine", "system", "Python", "runtimes", "what was run", "by", "date"]


def cells(row: str) -> list[str]:
    """The cells of a row of a Markdown table. Raises ValueError for what is none."""
    if not (row.startswith("| ") and row.endswith(" |")):
        raise ValueError(row)
    return [cell.strip() for cell in row[2:-2].split(" | ")]


def checked(row: str) -> dict[str, str]:
    """The row's cells by column. Raises ValueError if it does not fit the table."""
    found = dict(zip(COLUMNS, cells(row), strict=True))
    date.fromisoformat(found["date"])
    if not all(found.values()):
        raise ValueError(row)
    return found


def table() -> list[str]:
    lines = PAGE.split("## Tried on\n", 1)[1].split("\n### ", 1)[0].splitlines()
    head, line, *rows = [each for each in lines if each.startswith("|")]
    assert cells(head) == COLUMNS
    assert set(line) == {"|", "-"}
    return rows


def test_each_row_is_complete_and_has_a_name_and_a_day_that_was() -> None:
    rows = [checked(row) for row in table()]
    assert rows
    for row in rows:
        assert row["by"] != YOUR_NAME
        assert date(2026, 1, 1) <= date.fromisoformat(row["date"])


def test_the_page_says_that_there_is_no_mac_for_as_long_as_that_is_so() -> None:
    has_mac = any("macOS" in checked(row)["system"] for row in table())
    assert ("No Mac is in this table yet" in PAGE) == (not has_mac)


def test_the_row_that_doctor_prints_fits_the_table() -> None:
    row = checked(tried_row(describe_host(), None, date(2026, 11, 29)))
    assert row["what was run"] == "`hettop doctor`"
    assert (row["by"], row["date"]) == (YOUR_NAME, "2026-11-29")


@pytest.mark.parametrize("row", ["| a | b |", "| a | b | c | d | e | f | yesterday |", "a | b"])
def test_other_rows_do_not(row: str) -> None:
    with pytest.raises(ValueError):
        checked(row)
