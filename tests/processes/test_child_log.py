"""Lines that say that a model may not run where it was asked to are found anywhere in a log; others say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.processes.child_log import LOG_LINE_BYTES, LOG_LINES, ChildLog, LogWarnings, sentences

COMPILER, RUN, PLAN, E5RT = (
    "the Neural Engine's compiler failed: the model, or part of it, may run elsewhere",
    "the Neural Engine failed to run a part of the model, which may run elsewhere",
    "Core ML could not prepare the model for one of its devices, and may use another",
    "Core ML met an error while it prepared the model, and may use another device",
)
ANEF = (
    "E5RT encountered an STL exception. msg = MILCompilerForANE error: failed to compile ANE model using ANEF. "
    "Error=_ANECompiler : ANECCompile() FAILED."
)
ESPRESSO = "2026-01-02 03:04:05.678901+0000 Python[123:456] [espresso] [Espresso::handle_ex_plan] exception="


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        (ANEF, COMPILER),
        ("E5RT: MILCompileForANE error: the graph was refused (11)", COMPILER),
        (f"{ESPRESSO}ANECF error: ANECCompile(/Library/Caches/com.apple.aned/tmp/app/ABC/) FAILED: err=(", COMPILER),
        (f"{ESPRESSO}ANECF error: ", PLAN),
        ("2026-01-02 03:04:05.678 Python[123:456] [coreml] Error plan build: -1.", PLAN),
        (
            "E5RT encountered an STL exception. msg = Input: tokens has unbounded dimension which is not supported.",
            E5RT,
        ),
        ("E5RT encountered an STL exception. msg = std::bad_cast", E5RT),
        (
            'ANE Evaluation Error = Error Domain=com.apple.appleneuralengine Code=8 "processRequest:model:qos:: '
            'ANEProgramProcessRequestDirect() Failed with status=0x16 : statusType=0x9: Program Inference error"',
            RUN,
        ),
        ("Context leak detected, CoreAnalytics returned false", None),
        ("Running MIL default pipeline: 100%|##########| 89/89 [00:00<00:00, 7628.32 passes/s]", None),
        ("falling back to the default locale", None),
        ("not falling back to CPU", None),
        ("Falling back to CPU was never needed", None),
        ("loading falling back to CPU_detector.onnx", None),
        ("ANECCompile ok; 0 FAILED", None),
        ("ANECCompile() ok; 0 FAILED", None),
        ("reading /data/ANECCompile_FAILED_cases/net.mlpackage", None),
        ("reading /data/ANECCompile() FAILED_cases/net.mlpackage", None),
        ("E5RT encountered no errors", None),
        ("MILCompilerForANE error: none", None),
        ("ForANE error: none", None),
        ("never failed to compile ANE model", None),
        ("ANE Evaluation Error = 0", None),
        ("ANEProgramProcessRequestDirect() Failed 0 times", None),
        (f"{ESPRESSO}none", None),
        ("Error plan build: -0", None),
        ("", None),
    ],
)
def test_what_a_line_means(line: str, meaning: str | None) -> None:
    log = LogWarnings()
    assert log.add(line.encode()) is (meaning is not None)
    assert list(log.found) == ([] if meaning is None else [meaning])


def test_of_each_meaning_the_first_line_is_shown_cleaned_and_short() -> None:
    log = LogWarnings()
    assert log.add(b"  E5RT encountered an error \x1b[31m\xffnonsense\xe2\x80\xae\r")
    assert not log.add(b"E5RT encountered an error")
    assert log.add(ANEF.encode())
    assert sentences(log.found) == [
        f"{E5RT} (log: E5RT encountered an error \ufffd[31m\ufffdnonsense\ufffd)",
        f"{COMPILER} (log: {ANEF[:99]}…)",
    ]


def test_a_line_is_found_however_much_is_printed_after_it() -> None:
    log = ChildLog()
    assert log.receive(ANEF.encode() + b"\n")
    for number in range(100 * LOG_LINES):
        assert not log.receive(b"line %d\n" % number)
    assert log.lines()[0] == f"line {99 * LOG_LINES}"
    assert list(log.warnings.found) == [COMPILER]


def test_a_last_line_without_its_end_counts_once_the_log_has_ended() -> None:
    log = ChildLog()
    assert not log.receive(ANEF.encode())
    assert log.receive(b"")
    assert log.lines() == [ANEF]


class Counting(LogWarnings):
    """Counts the lines and bytes that it is asked to look at."""

    def __init__(self) -> None:
        super().__init__()
        self.lines, self.nbytes = 0, 0

    def add(self, line: bytes) -> bool:
        self.lines += 1
        self.nbytes += len(line)
        return super().add(line)


@given(st.lists(st.sampled_from([ANEF, f"{ESPRESSO}x", "something else", "", "x" * (3 * LOG_LINE_BYTES)]), max_size=9),
       st.lists(st.integers(1, 5000), max_size=40))  # fmt: skip
def test_pieces_of_any_size_have_the_same_warnings_and_no_byte_is_looked_at_twice(
    lines: list[str], sizes: list[int]
) -> None:
    printed, log, whole = "\n".join(lines).encode(), ChildLog(), ChildLog()
    log.warnings = counting = Counting()
    at = 0
    for size in [*sizes, len(printed)]:
        if piece := printed[at : at + size]:
            log.receive(piece)
        at += size
    log.receive(b"")
    whole.receive(printed or b"\n")
    whole.receive(b"")
    assert log.warnings.found == whole.warnings.found
    assert log.lines() == whole.lines()
    assert counting.lines == sum(1 for line in lines if line)
    assert counting.nbytes <= len(printed)
