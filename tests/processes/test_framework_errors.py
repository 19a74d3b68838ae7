"""What frameworks say when they fail, in one line that a person can read."""

from __future__ import annotations

import errno
import re
import shutil
import sys
import unicodedata
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.processes import framework_errors, nserror
from hettop.processes.child_log import ChildLog
from hettop.processes.framework_errors import full_disk, named_reason, readable, reason
from hettop.text import UNSAFE_CATEGORIES
from tests.coreml.error_texts import (
    FROM_COREMLTOOLS,
    FROM_MACMON,
    FROM_ONNX_RUNTIME,
    FROM_POWERMETRICS,
    FROM_SUDO,
    IN_LOGS,
    TEMPORARY,
    ErrorText,
    user_info,
)

COPYING = shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'"), ("c", "d", "[Errno 28] No space left")])
HOLDS_NSERROR = re.compile(r"\bNS[A-Z]\w+ = |Error Domain=")
ALL_TEXTS = (*FROM_COREMLTOOLS, *FROM_ONNX_RUNTIME, *IN_LOGS, *FROM_SUDO, *FROM_POWERMETRICS, *FROM_MACMON)


def named(texts: tuple[ErrorText, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("text", [pytest.param(text, id=text.name) for text in texts])


def is_shown(words: str) -> bool:
    """Something to read, in it nothing that a terminal would act upon."""
    controls = any(unicodedata.category(character) in UNSAFE_CATEGORIES for character in words)
    return any(map(str.isalnum, words)) and not controls


def is_readable(words: str) -> bool:
    """No braces and no escapes either."""
    return is_shown(words) and not re.search(r"[{}]|\\U[0-9a-fA-F]{4}", words)


@named((*FROM_COREMLTOOLS, *FROM_ONNX_RUNTIME))
def test_what_a_framework_raises_is_worded(text: ErrorText) -> None:
    assert reason(RuntimeError(text.raw)) == text.said


@named(IN_LOGS)
def test_the_last_line_of_a_log_is_worded(text: ErrorText) -> None:
    log = ChildLog()
    log.receive(text.raw.encode() + b"\n")
    assert log.lines()[-1] == text.said


@named(tuple(text for text in ALL_TEXTS if HOLDS_NSERROR.search(text.raw)))
def test_no_known_nserror_leaves_a_brace_or_an_escape(text: ErrorText) -> None:
    error = RuntimeError(text.raw)
    assert all(map(is_readable, (reason(error), named_reason(error))))


@given(
    st.lists(
        st.one_of(
            st.sampled_from([text.raw for text in ALL_TEXTS]),
            st.sampled_from(
                ["{", "}", "(", ")", '"', "\\", "\\U2019", "\\U005c", "U2019", ";", "=", " = ", "\n", "\x1b[2J"]
            ),
            st.sampled_from(
                ["NSLocalizedDescription", "{\n    a = ", 'Error Domain=a Code=1 "', '" UserInfo={', "\ud83d"]
            ),
            st.text(max_size=8),
        ),
        max_size=12,
    ).map("".join)
)
def test_whatever_is_raised_something_of_it_can_be_shown(raw: str) -> None:
    """Known texts, parts of them, and anything else, in any order and cut anywhere."""
    for error in (RuntimeError(raw), RuntimeError(raw[: len(raw) // 2]), RuntimeError(user_info(f'a = "{raw}"'))):
        assert is_shown(reason(error))
        assert is_shown(named_reason(error))


WORDS_CHARACTERS = st.characters(exclude_characters="{}\\", exclude_categories=["C", "Z"])
WORDS = st.text(WORDS_CHARACTERS, max_size=8)


@given(
    st.lists(
        st.one_of(
            WORDS,
            st.text(max_size=8).map(lambda said: user_info(f'NSLocalizedDescription = "{escaped(said)}"')),
            st.sampled_from([text.raw for text in (*FROM_COREMLTOOLS, *IN_LOGS) if HOLDS_NSERROR.search(text.raw)]),
        ),
        max_size=6,
    )
)
def test_no_notation_is_left_of_nserrors_in_a_text_without_its_own(parts: list[str]) -> None:
    assert is_readable(reason(RuntimeError("\n".join(parts))))


@given(st.lists(st.one_of(WORDS, st.sampled_from(["{", "}", "\\", "=", "{i = ", "\\d+", '"', "(", ")"]))).map("".join))
def test_a_text_without_an_nserror_keeps_its_characters(raw: str) -> None:
    if any(map(str.isalnum, raw)) and len(raw) <= 200 and not re.search(r"\\U[0-9a-fA-F]", raw):
        assert readable(raw) == raw.strip()


@pytest.mark.parametrize(
    "raw",
    [
        "node block{1}/mm failed",
        "node block{i = 1}/mm failed",
        "node block{i = 1/mm failed",
        "node blk\\mm failed",
        "{'input': 'x', 'shape': [1, 3]}",
        "cannot open /models/{a = b}/net.onnx",
        r"no name matches \d+\.weight",
        r"cannot open C:\new\unit\user.onnx",
        "not an emoji: '\\U0001f600'",
        'opts { threads = 4, device = "gpu" } loaded in 3 s',
    ],
)
def test_names_and_patterns_in_ordinary_errors_keep_their_characters(raw: str) -> None:
    assert readable(raw) == raw
    assert reason(RuntimeError(raw)) == raw
    assert named_reason(RuntimeError(raw)) == f"RuntimeError: {raw}"


@pytest.mark.parametrize("raw", ["{", "{\n", "{\n}", "(\n{\n  \n", '"{'])
def test_of_lines_of_brackets_alone_nobody_learns_anything(raw: str) -> None:
    assert reason(RuntimeError(raw)) == "no reason given (RuntimeError)"
    assert readable(f"{raw}\nout of memory") == "out of memory"


def test_braces_in_the_quoted_values_of_an_nserror_neither_open_nor_close_it() -> None:
    info = user_info('NSFilePath = "/a/}.bin"', "NSLocalizedDescription = \"Expected '{' in line 1\"")
    assert readable(f"load failed: {info}, retrying") == "load failed: Expected '(' in line 1, retrying"


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (
            "MPSGraph options {level = 1\nloaded 3 kernels\nfatal error in kernel 4\nout of memory on device 0",
            ["MPSGraph options {level = 1", "loaded 3 kernels", "fatal error in kernel 4", "out of memory on device 0"],
        ),
        (
            'opts { threads = 4, device = "gpu" } loaded in 3 s',
            ['opts { threads = 4, device = "gpu" } loaded in 3 s'],
        ),
        (
            "options {level = 1\nfailed: " + user_info("NSLocalizedDescription = Unsupported") + "\nexit",
            ["options {level = 1", "failed: Unsupported", "exit"],
        ),
        (
            "{\n    NSLocalizedDescription = Unsupported;\nout of memory",
            ["    NSLocalizedDescription = Unsupported;", "out of memory"],
        ),
        (
            'wrapped { error = { NSLocalizedDescription = "Unsupported"; }; }',
            ["wrapped { error = Unsupported; }"],
        ),
        (
            'wrapped { error = Error Domain=com.apple.CoreML Code=1 "(null)"; }',
            ["wrapped { error = com.apple.CoreML error 1; }"],
        ),
    ],
)
def test_only_nserrors_are_replaced_in_a_log(raw: str, lines: list[str]) -> None:
    log = ChildLog()
    log.receive(raw.encode() + b"\n")
    assert log.lines() == lines


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (user_info('NSLocalizedDescription = "It can\\u2019t be read."'), "It can’t be read."),
        (user_info('NSLocalizedDescription = "It couldn\\U20"'), "It couldn"),
        (user_info('NSLocalizedDescription = "It couldn\\u"'), "It couldn"),
        ('{\n    NSLocalizedDescription = "It couldn\\U20', 'NSLocalizedDescription = "It couldn'),
        ('Error Domain=a Code=1 "It can\\u2019t be read."', "It can’t be read."),
        ('Error Domain=a Code=1 "It couldn\\U201', "It couldn"),
        ('failed: Error Domain=a Code=1 "(null)" UserInfo={NSDebugDescription=It couldn\\u20', "failed: It couldn"),
        (user_info('NSUnderlyingError = "Error Domain=a Code=1 \\"It couldn\\\\U20"'), "It couldn"),
        ("It couldn\\U2019t be read, in C:\\u2019", "It couldn’t be read, in C:\\u2019"),
    ],
)
def test_escapes_in_nserrors_are_read_in_either_case_and_dropped_where_they_break_off(raw: str, said: str) -> None:
    assert readable(raw) == said


@given(st.text(WORDS_CHARACTERS, min_size=1).filter(lambda text: readable(text) == text))
def test_a_description_comes_through_foundations_escapes(said: str) -> None:
    """As NSDictionary prints it: quotation marks and backslashes escaped, other than ASCII as UTF-16."""
    assert reason(RuntimeError(user_info(f'NSLocalizedDescription = "{escaped(said)}"'))) == said


def escaped(text: str) -> str:
    units = text.encode("utf-16-be")
    pairs = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(f"\\{chr(u)}" if chr(u) in '"\\' else chr(u) if u < 128 else f"\\U{u:04x}" for u in pairs)


@pytest.mark.parametrize(
    "part",
    [
        "{\n    a = ",
        '{\n    a = "b";\n}',
        '{\n    NSa = "b";\n}',
        '{ NSa = "};b = "',
        "(",
        "a b ",
        'Error Domain=a Code=1 "',
        'Error Domain=a Code=1 "(null)" UserInfo={NSUnderlyingError=0x1 {',
        '"\\"',
        "{",
    ],
)
def test_work_grows_as_the_text_does(part: str) -> None:
    """Every call that reading makes is counted, and twice the text may cost about twice as many."""
    begin = "{\n    NSUnderlyingError = "
    for end in ("", "}"):
        few, many = (_calls(begin + part * n + end * 2 * n) for n in (200, 400))
        assert many <= 2.2 * few + 100


def _calls(raw: str) -> int:
    """How many functions of the parser are entered, and how many of Python's own they call."""
    calls = 0
    inside = nserror.__file__

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"} and frame.f_code.co_filename == inside

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        readable(raw)
    finally:
        sys.setprofile(before)
    return calls


def test_errors_that_are_nested_without_end_are_read_as_far_as_anybody_would() -> None:
    assert reason(RuntimeError("{\n    NSUnderlyingError = " * 100_000)) == "NSUnderlyingError = {"
    nested = "{\n    NSUnderlyingError = " * 100 + "x" + ";\n}" * 100
    assert reason(RuntimeError(f"load failed: {nested}")) == "load failed"
    deep = 'Error Domain=a Code=1 "(null)" UserInfo={NSUnderlyingError=0x1 {' * 1000
    assert reason(RuntimeError(deep)) == "a error 1"


def test_of_many_files_that_cannot_be_copied_the_first_is_reported() -> None:
    assert reason(shutil.Error([("a", "b", "Permission denied: 'b'"), ("c", "d", "x")])) == "Permission denied: 'b'"


def test_an_exception_that_nobody_expected_is_named() -> None:
    assert named_reason(KeyError("x")) == "KeyError: 'x'"
    assert named_reason(MemoryError()) == "MemoryError"


def test_folders_of_temporary_files_are_left_out_and_others_not() -> None:
    assert readable(f"cannot open {TEMPORARY}/a/b.bin of /Users/ada/net") == "cannot open b.bin of /Users/ada/net"


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (OSError(errno.ENOSPC, "full"), errno.ENOSPC),
        (COPYING, errno.ENOSPC),
        (RuntimeError("cannot copy: Disk quota exceeded"), errno.EDQUOT),
        (RuntimeError("The file couldn't be saved because the volume is out of space."), errno.ENOSPC),
        (RuntimeError("The file couldn\\U2019t be saved because there isn\\U2019t enough space."), errno.ENOSPC),
        (RuntimeError("unknown opset"), None),
    ],
)
def test_a_full_disk_is_known_in_any_words(error: Exception, number: int | None) -> None:
    assert full_disk(error) == number


def test_a_full_disk_is_known_from_an_nserror() -> None:
    [full] = [text for text in FROM_COREMLTOOLS if text.name == "a full disk"]
    assert framework_errors.full_disk(RuntimeError(full.raw)) == errno.ENOSPC
