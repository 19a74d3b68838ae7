"""What an engine process says, as bytes: frames of samples in columns, outputs, and small reports as JSON.

Times are nanoseconds of the machine's monotonic clock.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import numpy.typing as npt

from hettop.events import LARGEST_EXACT, PHASES, ProviderNodes
from hettop.sources.engine.published import OutputSet, decode_outputs, encode_outputs

Column = npt.NDArray[np.int64]

HEADER = struct.Struct("<cI")  # tag, bytes that follow
WINDOW = struct.Struct("<BBI")  # phase, column mask, number of samples
SAMPLES_TAG = b"S"
REPORT_TAG = b"R"
OUTPUTS_TAG = b"O"
TOKENS_TAG = b"T"

TOKENS = struct.Struct("<?QQ")
"""Before the samples of one answer: whether they are its first token, its number, and the position of the first one."""

NATIVE = 1
LATE = 2
MASKS = frozenset({0, NATIVE, LATE, NATIVE | LATE})

# 50 ms of a 100 ns inference, four columns, is 16 MB: what is longer is not a frame but a broken stream.
LARGEST_FRAME = 1 << 26


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="k"):
    """Anything an engine process says of itself."""


class StateReport(Report, frozen=True, kw_only=True, tag="state"):
    """It is now `loading`, `compiling`, `warming`, `running`, `paused` or `stopped`.

    `at_ns`: when, on the clock of the samples; for what is said before a long call. `done`: it pauses for its limit is
    reached. `unfinished`: paced arrivals that were due by then and were not started; after a pause they come first.
    """

    state: str
    at_ns: int | None = None
    done: bool = False
    unfinished: int | None = None
    peak_memory_mb: float | None = None


class ReadyReport(Report, frozen=True, kw_only=True, tag="ready"):
    """The model is loaded and its first call made.

    `qos` is the quality of service its worker thread runs with; `compiled` where the model lies of which a plan can be
    made.
    """

    backend: str
    simulated: bool
    pid: int
    load_ns: int | None
    first_ns: int
    placed: str | None
    note: str
    inputs: list[str]
    peak_memory_mb: float | None = None
    compile_ns: int | None = None
    cached: bool | None = None
    compiled: str | None = None
    qos: str | None = None
    provider_nodes: list[ProviderNodes] | None = None


class ErrorReport(Report, frozen=True, kw_only=True, tag="error"):
    """It cannot go on, in the words of `HettopError`; the process ends after this."""

    kind: str
    message: str
    hint: str = ""


class LostReport(Report, frozen=True, kw_only=True, tag="lost"):
    """`n` samples found no room in the backlog, at this place in the stream."""

    n: int


class DoubtReport(Report, frozen=True, kw_only=True, tag="doubt"):
    """`n` native times of the samples before this were longer than the call, or negative: they are not among them."""

    n: int


class RetireReport(Report, frozen=True, kw_only=True, tag="retire"):
    """It ends, its last words said, so that a new process goes on: after so many predictions and steady running."""

    predictions: int
    steady_ns: int
    unfinished: int | None = None
    peak_memory_mb: float | None = None


class UsageReport(Report, frozen=True, kw_only=True, tag="usage"):
    """What the operating system charged the process since the last such report.

    `resident_mb` is the memory it has now, in MB (10^6 bytes); reported at a low rate. `since_ns` and `until_ns` are
    the readings, on the clock of the samples, between which it was charged.
    """

    minor_faults: int = 0
    major_faults: int = 0
    voluntary_switches: int = 0
    involuntary_switches: int = 0
    collections: int = 0
    resident_mb: float | None = None
    since_ns: int | None = None
    until_ns: int | None = None


class AnswerReport(Report, frozen=True, kw_only=True, tag="answer"):
    """An answer has ended. Times are on the clock of the samples; see `hettop.events.Answer`."""

    answer: int
    phase: str
    start_ns: int
    end_ns: int
    chunks: int
    several: int = 0
    gaps_counted: bool = True
    tokens: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    first_ns: int | None = None
    late_ns: int | None = None
    longest_ns: int | None = None
    finish: str = ""
    error: str = ""


class InterruptedReport(Report, frozen=True, kw_only=True, tag="interrupted"):
    """The process was `stopped` or the machine `asleep` for about `ns` (0: not known); it has run again since."""

    why: str
    ns: int = 0


AnyReport = (
    AnswerReport
    | StateReport
    | ReadyReport
    | ErrorReport
    | LostReport
    | DoubtReport
    | RetireReport
    | UsageReport
    | InterruptedReport
)


@dataclass(frozen=True, slots=True)
class SampleFrame:
    """Consecutive samples of one phase: starts and latencies, and native time and lateness where there are any.

    Of an answer: its number, the position of the first of these tokens, and whether it is the answer's `first_token`.
    """

    phase: str
    start: Column
    latency: Column
    native: Column | None = None
    late: Column | None = None
    first_token: bool = False
    answer: int | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class OutputsFrame:
    """What the model answered to the first sets of seeded inputs, in the order of their seeds."""

    sets: tuple[OutputSet, ...]


AnyFrame = SampleFrame | OutputsFrame | AnyReport


class BrokenStreamError(Exception):
    """The bytes are not frames: nothing after this place can be understood."""


def encode_samples(
    phase: str, start: array[int], latency: array[int], native: array[int] | None, late: array[int] | None
) -> bytes:
    """One sample frame from equally long columns of 64-bit integers."""
    mask = (NATIVE if native is not None else 0) | (LATE if late is not None else 0)
    columns = [column for column in (start, latency, native, late) if column is not None]
    length = WINDOW.size + sum(len(column) * column.itemsize for column in columns)
    head = HEADER.pack(SAMPLES_TAG, length) + WINDOW.pack(PHASES.index(phase), mask, len(start))
    return b"".join((head, *columns))


def encode_tokens(samples: bytes, *, first_token: bool, answer: int, position: int) -> bytes:
    """A frame of `encode_samples` as samples of one answer."""
    body = TOKENS.pack(first_token, answer, position) + samples[HEADER.size :]
    return HEADER.pack(TOKENS_TAG, len(body)) + body


def encode_report(report: AnyReport) -> bytes:
    body = _encoder.encode(report)
    return HEADER.pack(REPORT_TAG, len(body)) + body


def encode_outputs_frame(sets: tuple[OutputSet, ...]) -> bytes:
    body = encode_outputs(sets)
    return HEADER.pack(OUTPUTS_TAG, len(body)) + body


class FrameReader:
    """Cuts a stream of bytes, fed in pieces of any size, into frames."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[AnyFrame]:
        """The frames that `data` completes, in order. Raises BrokenStreamError where the bytes make no frame."""
        self._pending += data
        while len(self._pending) >= HEADER.size:
            tag, length = HEADER.unpack_from(self._pending)
            if tag not in _decoders or length > LARGEST_FRAME:
                raise BrokenStreamError(f"no frame begins with {tag!r}")
            end = HEADER.size + length
            if len(self._pending) < end:
                return
            body = bytes(self._pending[HEADER.size : end])
            del self._pending[:end]
            yield _decoders[tag](body)


def _decode_samples(body: bytes) -> SampleFrame:
    if len(body) < WINDOW.size:
        raise BrokenStreamError("sample frame shorter than its header")
    phase, mask, n = WINDOW.unpack_from(body)
    columns = 2 + bool(mask & NATIVE) + bool(mask & LATE)
    if phase >= len(PHASES) or mask not in MASKS or n < 1 or len(body) != WINDOW.size + n * columns * 8:
        raise BrokenStreamError(f"sample frame of phase {phase}, columns {mask}, {n} samples in {len(body)} bytes")
    table = np.frombuffer(body, dtype=np.int64, offset=WINDOW.size).reshape(columns, n)
    return SampleFrame(
        phase=PHASES[phase],
        start=table[0],
        latency=table[1],
        native=table[2] if mask & NATIVE else None,
        late=table[-1] if mask & LATE else None,
    )


def _decode_tokens(body: bytes) -> SampleFrame:
    if len(body) < TOKENS.size:
        raise BrokenStreamError("frame of tokens shorter than its header")
    first_token, answer, position = TOKENS.unpack_from(body)
    if max(answer, position) > LARGEST_EXACT:
        raise BrokenStreamError(f"answer {answer}, position {position}")
    samples = _decode_samples(body[TOKENS.size :])
    return replace(samples, first_token=first_token, answer=answer, position=position)


def _decode_report(body: bytes) -> AnyReport:
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BrokenStreamError(f"unreadable report: {error}") from None


def _decode_outputs(body: bytes) -> OutputsFrame:
    try:
        return OutputsFrame(decode_outputs(body))
    except (ValueError, UnicodeDecodeError) as error:  # msgspec's are ValueErrors
        raise BrokenStreamError(f"unreadable outputs: {error}") from None


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyReport] = msgspec.json.Decoder(AnyReport)
_decoders: dict[bytes, Callable[[bytes], AnyFrame]] = {
    SAMPLES_TAG: _decode_samples,
    REPORT_TAG: _decode_report,
    OUTPUTS_TAG: _decode_outputs,
    TOKENS_TAG: _decode_tokens,
}
