"""Counts the work of parsing: characters that a pattern tests, bytes that are searched or copied, calls that are made.

Work is counted and not timed, so that a test of it says the same on every machine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType, ModuleType
from typing import Any

import pytest


class Work:
    """What has been done so far: `steps` of any kind."""

    def __init__(self) -> None:
        self.steps = 0


class CountingPattern:
    """A pattern that is also matched by a plain backtracking matcher, which counts the characters it tests.

    Covers what the patterns of hettop.sources.power use. Each result is compared with that of `re`.
    """

    def __init__(self, pattern: re.Pattern[Any], work: Work) -> None:
        self._pattern, self._work = pattern, work
        self._tree = list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))

    def match(self, text: Any) -> re.Match[Any] | None:
        return self._checked(self._pattern.match(text), self._first(text, 0))

    def fullmatch(self, text: Any) -> re.Match[Any] | None:
        ends = self._ends(self._tree, text, 0)
        end = next((end for end in ends if end == len(text)), None)
        return self._checked(self._pattern.fullmatch(text), None if end is None else (0, end))

    def search(self, text: Any) -> re.Match[Any] | None:
        found = next(self._all(text), None)
        return self._checked(self._pattern.search(text), found)

    def findall(self, text: Any) -> list[Any]:
        assert [found.span() for found in self._pattern.finditer(text)] == list(self._all(text))
        return self._pattern.findall(text)

    def sub(self, replacement: Any, text: Any) -> Any:
        assert [found.span() for found in self._pattern.finditer(text)] == list(self._all(text))
        return self._pattern.sub(replacement, text)

    @staticmethod
    def _checked(real: re.Match[Any] | None, counted: tuple[int, int] | None) -> re.Match[Any] | None:
        assert (real and real.span()) == counted
        return real

    def _all(self, text: Any) -> Iterator[tuple[int, int]]:
        at = 0
        while at <= len(text):
            found = self._first(text, at)
            if found is not None:
                yield found
            at = at + 1 if found is None else max(found[1], at + 1)

    def _first(self, text: Any, start: int) -> tuple[int, int] | None:
        end = next(self._ends(self._tree, text, start), None)
        return None if end is None else (start, end)

    def _ends(self, tree: list[Any], text: Any, at: int) -> Iterator[int]:
        """Where a match of `tree` that begins at `at` may end, in the order in which they are tried."""
        if not tree:
            yield at
            return
        (op, argument), rest = tree[0], tree[1:]
        for end in self._one(op, argument, text, at):
            yield from self._ends(rest, text, end)

    def _one(self, op: Any, argument: Any, text: Any, at: int) -> Iterator[int]:
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY):
            if self._tests(op, argument, text, at):
                yield at + 1
        elif op is ops.SUBPATTERN:
            yield from self._ends(list(argument[3]), text, at)
        elif op is ops.BRANCH:
            for branch in argument[1]:
                yield from self._ends(list(branch), text, at)
        elif op is ops.ASSERT_NOT:
            if next(self._ends(list(argument[1]), text, at), None) is None:
                yield at
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            yield from self._repeat(op, argument, text, at)
        else:
            raise NotImplementedError(op)

    def _repeat(self, op: Any, argument: tuple[int, int, Any], text: Any, at: int) -> Iterator[int]:
        least, most, body = argument[0], argument[1], list(argument[2])
        if op is ops.MIN_REPEAT:
            yield from self._shortest_first(body, least, text, at)
        elif op is ops.MAX_REPEAT and len(body) > 1:
            yield from self._longest_first(body, least, most, text, at)
        else:
            ends = [at]
            while len(ends) <= most:
                end = next(self._ends(body, text, ends[-1]), None)
                if end is None or end == ends[-1]:
                    break
                ends.append(end)
            possible = ends[least:]
            yield from possible[-1:] if op is ops.POSSESSIVE_REPEAT else reversed(possible)

    def _longest_first(self, body: list[Any], least: int, most: int, text: Any, at: int) -> Iterator[int]:
        for end in self._ends(body, text, at) if most else ():
            if end != at:
                yield from self._longest_first(body, least - 1, most - 1, text, end)
        if least <= 0:
            yield at

    def _shortest_first(self, body: list[Any], least: int, text: Any, at: int) -> Iterator[int]:
        assert len(body) == 1
        assert not least
        yield at
        while next(self._ends(body, text, at), None) is not None:
            at += 1
            yield at

    def _tests(self, op: Any, argument: Any, text: Any, at: int) -> bool:
        self._work.steps += 1
        if at >= len(text):
            return False
        code = text[at] if isinstance(text, bytes) else ord(text[at])
        codes = {code}
        if self._pattern.flags & re.IGNORECASE:
            codes |= {ord(chr(code).lower()), ord(chr(code).upper())}
        return any(_is(op, argument, code) for code in codes)


def _is(op: Any, argument: Any, code: int) -> bool:
    if op is ops.ANY:
        return True
    if op is ops.LITERAL:
        return bool(code == argument)
    if op is ops.NOT_LITERAL:
        return bool(code != argument)
    negated = argument[0][0] is ops.NEGATE
    return negated != any(_in(kind, value, code) for kind, value in argument[negated:])


def _in(kind: Any, value: Any, code: int) -> bool:
    if kind is ops.LITERAL:
        return bool(code == value)
    if kind is ops.RANGE:
        return bool(value[0] <= code <= value[1])
    blank = chr(code).isspace()
    return bool(blank if value is ops.CATEGORY_SPACE else not blank)


class CountingBytes(bytes):
    """Bytes that count what is searched, counted or copied of them."""

    work: Work

    def split(self, *args: Any) -> Any:
        self.work.steps += len(self)
        return super().split(*args)

    def count(self, *args: Any) -> int:
        self.work.steps += len(self) - (args[1] if len(args) > 1 else 0)
        return super().count(*args)

    def find(self, mark: Any, start: Any = 0, *args: Any) -> int:
        at = super().find(mark, start, *args)
        self.work.steps += (len(self) if at < 0 else at) - start
        return at

    def lstrip(self, *args: Any) -> Any:
        self.work.steps += len(self)
        return self._of(super().lstrip(*args))

    def __radd__(self, other: bytes) -> CountingBytes:
        if isinstance(other, bytearray):  # which adds by itself
            return NotImplemented
        self.work.steps += len(other) + len(self)
        return self._of(other + bytes(self))

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        self.work.steps += len(part) if isinstance(part, bytes) else 1
        return self._of(part) if isinstance(part, bytes) else part

    def _of(self, data: bytes) -> CountingBytes:
        return type(self)(data)


class CountingBytearray(bytearray):
    """An array of bytes that counts what is searched, copied or added; its beginning is dropped at no cost."""

    work: Work

    def find(self, mark: Any, start: Any = 0, *args: Any) -> int:
        at = super().find(mark, start, *args)
        self.work.steps += (len(self) if at < 0 else at) - start
        return at

    def __iadd__(self, other: Any) -> Any:  # type: ignore[misc]
        self.work.steps += len(other)
        return super().__iadd__(other)

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        self.work.steps += len(part) if isinstance(part, bytearray) else 1
        return part

    def __bytes__(self) -> bytes:
        self.work.steps += len(self)
        return bytes(memoryview(self))


def count_patterns(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> Work:
    """Makes the patterns of a module count the characters they test."""
    work = Work()
    for name, value in vars(module).copy().items():
        if isinstance(value, re.Pattern):
            monkeypatch.setattr(module, name, CountingPattern(value, work))
    return work


def count_bytes(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> Work:
    """Makes the byte arrays of these modules count what is searched, copied and added."""
    work = Work()
    array = type("Array", (CountingBytearray,), {"work": work})
    for module in modules:
        monkeypatch.setattr(module, "bytearray", array, raising=False)
    return work


def parts(data: bytes, size: int, work: Work) -> list[bytes]:
    """The data in parts of this size, each of which counts."""
    kind = type("Part", (CountingBytes,), {"work": work})
    return [kind(data[at : at + size]) for at in range(0, len(data), size)]


def calls(run: Callable[[], object]) -> int:
    """How many functions are called while it runs, of Python or built in."""
    n = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal n
        n += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return n
