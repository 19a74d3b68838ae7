"""The source that plays a captured file: what powermetrics or macmon printed, at once or as fast as it was made.

Knows no process and no session; time is passed in.
"""

from __future__ import annotations

import os
import select
import stat
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from io import FileIO
from pathlib import Path

from hettop.errors import HettopError
from hettop.sources.power.plist import SOURCE as POWERMETRICS
from hettop.sources.power.reading import (
    CAPTURE,
    HEAD_LIMIT,
    CaptureParser,
    FormatCounter,
    Recogniser,
    nothing_found,
    refusal,
)
from hettop.sources.power.sample import POWERMETRICS_STEP_MJ, PowerSample
from hettop.sources.power.source import Availability
from hettop.text import clean
from hettop.units import NS_PER_S

CHUNK = 64 << 10
PIPE_PATIENCE_S = 10.0
"""Until the first byte: what writes to a pipe was started before, or is by now. Later pauses may be of any length."""


class FileSource:
    """A capture of powermetrics (plist or text) or of macmon, at once or `speed` times as fast as it was made.

    `wait` pauses for so many seconds, or until the source is stopped; by default it really does.
    """

    name = "file"

    def __init__(
        self,
        path: Path,
        speed: float | None = None,
        wait: Callable[[float], object] | None = None,
        pipe_patience_s: float = PIPE_PATIENCE_S,
    ) -> None:
        self._path, self._pipe_patience_s = path, pipe_patience_s
        self._speed = speed
        self._stopped = threading.Event()
        self._wait = wait or self._stopped.wait
        self._lost: Counter[str] = Counter()
        self._format: str | None = None

    @property
    def format(self) -> str | None:
        """What made the capture (`powermetrics`, `macmon`); None before the first sample was asked for."""
        return self._format

    @property
    def resolution_mj(self) -> float | None:
        return POWERMETRICS_STEP_MJ if self._format == POWERMETRICS else None

    @property
    def note(self) -> str:
        made_by = f" of {self._format}" if self._format else ""
        return f"plays the capture{made_by} {clean(self._path.name, 80)}: nothing of this machine now"

    def granted_ns(self, asked_ns: int) -> int | None:  # noqa: ARG002 - its windows are what they are
        return None

    @property
    def lost(self) -> Counter[str]:
        """What gave no sample so far, by reason."""
        return self._lost

    def probe(self) -> Availability:
        """Whether the file can be read and begins like a capture."""
        try:
            with _open(self._path, self._pipe_patience_s) as file:
                _recognise(file, self._path.name)
        except HettopError as error:
            return Availability(False, error.message, error.hint, impossible=True)
        return Availability(True)

    def samples(self, interval_ns: int = 0) -> Generator[PowerSample, None, None]:
        """All samples of the file, in order; its windows are what they are, whatever `interval_ns` asks for.

        Raises HettopError (`missing`, `input`, `io`, `format`) for a file that cannot be read or holds no sample.
        """
        del interval_ns
        self._stopped.clear()
        n = 0
        with _open(self._path, self._pipe_patience_s) as file:
            head, parser = _recognise(file, self._path.name)
            self._format, self._lost = parser.source, parser.lost
            for sample in _parse(file, head, parser):
                self._pace(sample)
                if self._stopped.is_set():
                    return
                n += 1
                yield sample
        if not n:
            raise nothing_found(self._path.name, parser.lost)

    def stop(self) -> None:
        """End `samples` before its next one, also while it waits."""
        self._stopped.set()

    def _pace(self, sample: PowerSample) -> None:
        if self._speed is not None and sample.elapsed_ns is not None:
            self._wait(sample.elapsed_ns / NS_PER_S / self._speed)


def _open(path: Path, pipe_patience_s: float) -> FileIO:
    shown = clean(path.name or str(path), 80)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise HettopError("input", f"{shown} is not a file", "name the file that holds the capture")
        return _open_pipe(path, shown, pipe_patience_s) if stat.S_ISFIFO(mode) else FileIO(path)
    except FileNotFoundError:
        raise HettopError("missing", f"there is no file {shown}", f"a capture is made with: {CAPTURE}") from None
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HettopError("io", f"cannot read {shown}: {words}", "check its permissions") from None


def _open_pipe(path: Path, shown: str, patience_s: float) -> FileIO:
    """Opened at once, where an ordinary open would wait for somebody who writes; but they must soon begin."""
    file = FileIO(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    if not select.select([file], [], [], patience_s)[0]:
        file.close()
        raise HettopError(
            "input", f"{shown} is a pipe, and nobody wrote to it for {patience_s:g} s", "start the writer first"
        )
    os.set_blocking(file.fileno(), True)
    return file


def _recognise(file: FileIO, name: str) -> tuple[bytes, CaptureParser]:
    """What has been read, and the parser it is for."""
    recogniser = Recogniser()
    parser = None
    while parser is None:
        part = _read(file, name)
        parser = recogniser.feed(part)
        if parser is None and (not part or len(recogniser.head) >= HEAD_LIMIT):
            parser = recogniser.finish()
            if parser is None:
                raise refusal(name, bytes(recogniser.head))
    return bytes(recogniser.head), parser


def _parse(file: FileIO, head: bytes, parser: CaptureParser) -> Iterator[PowerSample]:
    part, others = head, FormatCounter(parser)
    while part:
        others.feed(part)
        yield from parser.feed(part)
        part = _read(file, "the capture")
    yield from parser.finish()


def _read(file: FileIO, name: str) -> bytes:
    try:
        return file.read(CHUNK)
    except OSError as error:
        raise HettopError("io", f"cannot read {clean(name, 80)}: {error.strerror}", "copy it again") from None
