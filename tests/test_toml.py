"""TOML that people write: read, refused in words, and every value found again in its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.toml import LARGEST_BYTES, read_toml

TEXT = """\
# a comment
theme = "dark"

[layout]
hidden = [
  "power",
]
keep = true
text = '''
keep = "not this"
'''
[a.b]
"c.d" = 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("theme",), 2),
        (("layout",), 4),
        (("layout", "hidden"), 5),
        (("layout", "keep"), 8),
        (("layout", "text"), 9),
        (("a", "b", "c.d"), 13),
        (("a", "b", "c"), None),
        (("theme", "more"), None),
    ],
)
def test_a_value_is_found_where_it_begins(file: Path, keys: tuple[str, ...], line: int | None) -> None:
    read = read_toml(file)
    assert read.line_of(*keys) == line
    assert read.place(*keys) == ("mine.toml" if line is None else f"mine.toml, line {line}")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"a = 1\nb = \n", "mine.toml, line 2: not TOML"),
        (b"a = [1,\n2\n", "mine.toml, line 2: not TOML"),
        (b"a = 1\n\na = 2\n", "line 3: not TOML: Cannot overwrite a value"),
        (b"a = 1\nb = '\xff'\n", "mine.toml, line 2: not TOML: bytes that are no UTF-8"),
        (b"#" * (LARGEST_BYTES + 1), "mine.toml is larger than 100 kB"),
        (b"a = " + b"[" * 40_000, "not TOML"),
    ],
)
def test_what_is_no_toml_is_refused_with_its_line(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(raw)
    with pytest.raises(HettopError, match=words) as caught:
        read_toml(path)
    assert caught.value.kind == "format"


def test_what_is_not_there_and_what_cannot_be_read_differ(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "none.toml", "missing"), (Path("/dev/null/x.toml"), "missing"), (tmp_path, "io")):
        with pytest.raises(HettopError) as caught:
            read_toml(path)
        assert caught.value.kind == kind


@pytest.mark.parametrize("number", ["9" * 5000, "-1" + "_000" * 1500])
def test_a_number_too_long_to_read_is_infinite_and_the_rest_is_read(tmp_path: Path, number: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"a = 1\nb = {number}\nc = 2\n")
    read = read_toml(path)
    assert {name: abs(value) for name, value in read.values.items()} == {"a": 1, "b": float("inf"), "c": 2}
    assert read.place("c") == "mine.toml, line 3"
