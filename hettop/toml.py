"""Reads TOML files that people write by hand, and reports in which line a key stands."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.text import clean

LARGEST_BYTES = 100_000
"""No hand writes more; looking for lines parses the beginning of a file once per line."""
_LONG_NUMBER = re.compile(r"(?<![\w.])[0-9][0-9_]{4000,}(?![\w.])")
"""Python converts at most 4,300 digits."""
_WHERE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column \d+|end of document)\)")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """What a file says. `path` is where it lies, `text` as it is written."""

    path: Path
    text: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def line_of(self, *keys: str) -> int | None:
        """The line, from 1, on which the value under these keys, one for each level, begins; None if there is none.

        A value begins after the last line up to which the file can be parsed without it.
        """
        lines = self.text.splitlines(keepends=True)
        begins = 1
        for number in range(1, len(lines) + 1):
            try:
                known = _loads("".join(lines[:number]))
            except tomllib.TOMLDecodeError:  # in the midst of a value of several lines
                continue
            if _has(known, keys):
                return begins
            begins = number + 1
        return None

    def place(self, *keys: str) -> str:
        """`config.toml, line 3`, for messages."""
        line = self.line_of(*keys)
        name = clean(self.path.name)
        return name if line is None else f"{name}, line {line}"


def _has(known: Any, keys: tuple[str, ...]) -> bool:
    for key in keys:
        if not isinstance(known, dict) or key not in known:
            return False
        known = known[key]
    return True


def _loads(text: str) -> dict[str, Any]:
    """The values; a whole number that is too long to be read is `inf`, which no setting accepts."""
    return tomllib.loads(_LONG_NUMBER.sub("inf", text))


def read_toml(path: Path) -> TomlFile:
    """The file. Raises HettopError (`missing`, `io`, `format`) that names it and, where it can, the line."""
    name = clean(path.name)
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise HettopError("io", f"{name} is not a file")
        with path.open("rb") as file:
            raw = file.read(LARGEST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise HettopError("missing", f"there is no {name}") from None
    except OSError as error:
        raise HettopError("io", f"{name} cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST_BYTES:
        raise HettopError("format", f"{name} is larger than {LARGEST_BYTES // 1000} kB")
    try:
        text = raw.decode("utf-8")
        return TomlFile(path, text, _loads(text))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise HettopError("format", f"{name}, line {line}: not TOML: bytes that are no UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise HettopError("format", _complaint(name, str(error), text)) from None


def _complaint(name: str, message: str, text: str) -> str:
    found = _WHERE.search(message)
    if found is None:
        return f"{name}: not TOML: {clean(message)}"
    line = found["line"] or str(max(1, len(text.splitlines())))
    return f"{name}, line {line}: not TOML: {clean(_WHERE.sub('', message))}"
