"""What goes from a cache, and in which order."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.models.cache import CacheEntry, kept, mark_used, remove, surplus

SIZES = st.lists(st.integers(0, 1000), max_size=20)


def entries(sizes: list[int]) -> list[CacheEntry]:
    """The first was used least recently."""
    return [CacheEntry(Path(f"/{index}"), size, index) for index, size in enumerate(sizes)]


def test_the_least_recently_used_goes_first_and_no_more_than_must() -> None:
    given_entries = entries([100, 200, 300, 400])
    assert surplus(reversed(given_entries), 1000) == []
    assert surplus(reversed(given_entries), 999) == given_entries[:1]
    assert surplus(given_entries, 899) == given_entries[:2]
    assert surplus(given_entries, 0) == given_entries


def test_what_is_spared_stays_however_little_room_there_is() -> None:
    assert [entry.path for entry in surplus(entries([1, 2, 3]), 0, {Path("/1")})] == [Path("/0"), Path("/2")]


@given(SIZES, st.integers(0, 10_000))
def test_the_rest_fits_and_the_last_that_went_was_needed(sizes: list[int], limit: int) -> None:
    going = surplus(entries(sizes), limit)
    rest = sum(sizes) - sum(entry.size_bytes for entry in going)
    assert rest <= limit
    assert not going or rest + going[-1].size_bytes > limit


def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    assert kept(tmp_path / "gone") is None
    mark_used(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "precious")
    assert [entry.path for entry in remove([CacheEntry(link, 1, 0)])] == [link]
    assert (tmp_path / "precious" / "file").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that nobody can remove, not even root")
def test_what_cannot_be_removed_is_not_said_to_be_gone(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    forgotten: list[Path] = []
    there, not_there = CacheEntry(Path("/proc/version"), 1, 0), CacheEntry(tmp_path / "file", 1, 0)
    assert remove([there, not_there], forgotten.append) == (not_there,)
    assert forgotten == [there.path, not_there.path]
