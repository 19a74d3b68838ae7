"""The source that plays a captured file, and what it says of files that are none."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.sources.power.file import FileSource, FormatCounter, Recogniser
from hettop.sources.power.macmon import MacmonParser
from hettop.sources.power.plist import PlistParser
from hettop.sources.power.text import TextParser
from tests.sources.power.captures import CHIPS, Truth, pasted, plist, stream, summary, text, text_head, truth_of

WINDOWS_MS = (250, 500, 1000)
CAPTURE = stream(*(plist(Truth(elapsed_ns=ms * 1_000_000)) for ms in WINDOWS_MS))
MACMON = b'{"cpu_power": 1.25}\n'


BATTERY = text(Truth()).partition("\n")[0] + "\n**** Battery and backlight usage ****\nBattery: percent_charge: 85\n"


def saved(folder: Path, data: bytes) -> Path:
    path = folder / "capture"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "made_by", "n"),
    [
        (CAPTURE, "powermetrics", 3),
        (b"Second underflow occured.\n" + CAPTURE, "powermetrics", 3),
        ((text_head() + text(Truth())).encode(), "powermetrics", 1),
        (text(Truth()).encode(), "powermetrics", 1),
        (MACMON * 4, "macmon", 4),
        (b"\n" + MACMON.rstrip(), "macmon", 1),
        (b" \n" * 100_000 + MACMON * 2, "macmon", 2),
        (bytes(200_000) + CAPTURE, "powermetrics", 3),
        (b'{\n  "cpu_power": 1.25\n}\n' * 2, "macmon", 2),
        (pasted(truth_of(CHIPS["M1"])).encode(), "powermetrics", 1),
        (b"Seen here:\n  CPU Power: 5 mW\n  GPU Power: 7 mW", "powermetrics", 1),
        (b"CPU 0 idle residency: 5%\nANE Power: 5 mW\n", "powermetrics", 1),
        (CAPTURE.replace(b"\n", b""), "powermetrics", 3),
    ],
)
def test_the_kind_of_capture_is_found_by_its_content(tmp_path: Path, data: bytes, made_by: str, n: int) -> None:
    source = FileSource(saved(tmp_path, data))
    assert source.probe().ok
    assert len(list(source.samples())) == n
    assert source.format == made_by


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty capture"),
        (b"\n\0\n", "empty capture"),
        (b" \n" * 100_000, "empty capture"),
        (b"x" * 200_000, "begins with a line of over 64 kB"),
        (bytes(range(32)) * 9, "is binary data"),
        (b"bplist00\xd1", "binary property list"),
        (b"hello\n", "not from powermetrics or macmon"),
        (b"powermetrics must be invoked as the superuser\n", "must be run with sudo"),
        (b"sudo: a password is required\n", "sudo needed a password"),
        (b"unrecognized sampler: ane_power\n", "does not have one of the samplers"),
        (b'{"k":"header","t":0,"format":"hettop"}\n', "is a hettop recording"),
        (b'{"a":1}\n', "JSON, but not macmon's"),
        (plist(Truth())[:-20], ": 1 torn"),
        (b"<plist><dict/></plist>", ": 1 foreign"),
        (text_head().encode(), "no complete sample"),
        ((text_head() + summary(Truth())).encode(), ", only a summary of the whole run"),
        (summary(Truth()).encode(), ", only a summary of the whole run"),
        (CAPTURE.replace(b"<true/>", b"<false/>"), ", only a summary of the whole run"),
        (BATTERY.encode(), ", only battery readings"),
        (b"[\n  {\n" + b'    "cpu_power": 1\n  }\n]\n', "JSON from macmon, but not one object"),
        (b"CPU Power: high\n", "not from powermetrics or macmon"),
    ],
)
def test_what_is_no_capture_is_refused_in_words(tmp_path: Path, data: bytes, words: str) -> None:
    source = FileSource(saved(tmp_path, data))
    with pytest.raises(HettopError) as refused:
        list(source.samples())
    assert refused.value.kind == "format"
    assert words in refused.value.message
    assert refused.value.hint


def test_a_file_that_does_not_begin_like_a_capture_is_not_searched_to_its_end(tmp_path: Path) -> None:
    source = FileSource(saved(tmp_path, b"something else\n" * 20_000 + CAPTURE))
    assert "not from powermetrics or macmon" in source.probe().reason


TEXT = (text_head() + text(Truth())).encode()


@pytest.mark.parametrize(
    ("data", "n", "lost"),
    [
        (TEXT + CAPTURE, 1, {"in another format": 3}),
        (CAPTURE + b"\n" + TEXT * 2, 3, {"in another format": 2}),
        (CAPTURE + b"\n" + MACMON * 2, 3, {"in another format": 2}),
        (TEXT + MACMON, 1, {"in another format": 1}),
        (MACMON + b"\n" + TEXT, 1, {"in another format": 1}),
    ],
)
def test_samples_in_another_format_are_not_lost_silently(
    tmp_path: Path, data: bytes, n: int, lost: dict[str, int]
) -> None:
    source = FileSource(saved(tmp_path, data))
    assert len(list(source.samples())) == n
    assert {reason: count for reason, count in source.lost.items() if reason != "unreadable"} == lost


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_samples_in_another_format_are_counted_however_the_file_is_read(size: int) -> None:
    parser = PlistParser()
    counter = FormatCounter(parser)
    data = CAPTURE + TEXT * 3 + MACMON * 2
    for at in range(0, len(data), size):
        counter.feed(data[at : at + size])
    assert parser.lost == {"in another format": 5}


@pytest.mark.parametrize(
    ("data", "kind"),
    [(CAPTURE, PlistParser), (TEXT, TextParser), (MACMON, MacmonParser), (b" \n" * 9 + TEXT, TextParser)],
)
def test_a_capture_is_recognised_whatever_the_size_of_its_parts(data: bytes, kind: type) -> None:
    for size in (1, 3, 1000):
        recogniser = Recogniser()
        found = [recogniser.feed(data[at : at + size]) for at in range(0, len(data), size)]
        first = next(index for index, parser in enumerate(found) if parser is not None)
        assert isinstance(found[first], kind)
        assert recogniser.head == data.lstrip(b" \n")[: len(recogniser.head)]


@pytest.mark.parametrize(("marks", "kind"), [("{text}{plist}", TextParser), ("{plist}{text}", PlistParser)])
def test_of_two_marks_in_a_line_the_first_one_counts(marks: str, kind: type) -> None:
    line = marks.format(text="*** Sampled system activity", plist="<plist>")
    assert isinstance(Recogniser().feed(line.encode() + b"\n"), kind)


def test_the_hint_for_an_array_of_objects_prints_one_a_line(tmp_path: Path) -> None:
    fix = FileSource(saved(tmp_path, b'[{"cpu_power": 1}]\n')).probe().fix
    assert "jq -c" in fix


def test_the_hint_for_a_recording_is_to_replay_it(tmp_path: Path) -> None:
    availability = FileSource(saved(tmp_path, b'{"k":"header","t":0,"format":"hettop"}\n')).probe()
    assert (availability.ok, availability.fix) == (False, "hettop replay capture")


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        ("nowhere", "missing", "file not found: nowhere"),
        (".", "input", "is not a file"),
        ("/dev/zero", "input", "is not a file"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, path: str, kind: str, words: str) -> None:
    source = FileSource(tmp_path / path)
    with pytest.raises(HettopError) as refused:
        next(source.samples())
    assert (refused.value.kind, words in refused.value.message) == (kind, True)
    assert not source.probe().ok
    assert words in source.probe().reason


def test_a_pipe_that_nobody_writes_to_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    source = FileSource(pipe, pipe_patience_s=0.01)
    with pytest.raises(HettopError, match="for") as caught:
        list(source.samples())
    assert caught.value.kind == "input"


def test_a_pipe_is_read_as_it_comes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb", buffering=0) as file:
            for at in range(0, len(CAPTURE), 700):
                file.write(CAPTURE[at : at + 700])

    writer = threading.Thread(target=write)
    writer.start()
    assert [sample.elapsed_ns for sample in FileSource(pipe).samples()] == [ms * 1_000_000 for ms in WINDOWS_MS]
    writer.join()


def test_what_was_lost_is_counted(tmp_path: Path) -> None:
    source = FileSource(saved(tmp_path, CAPTURE[:-30]))
    assert len(list(source.samples())) == 2
    assert source.lost == {"torn": 1}


@pytest.mark.parametrize(("speed", "waits"), [(1.0, [0.25, 0.5, 1.0]), (4.0, [0.0625, 0.125, 0.25]), (None, [])])
def test_samples_come_at_the_end_of_their_windows_at_the_speed_asked_for(
    tmp_path: Path, speed: float | None, waits: list[float]
) -> None:
    waited: list[float] = []
    source = FileSource(saved(tmp_path, CAPTURE), speed, waited.append)
    assert len(list(source.samples())) == 3
    assert waited == waits


def test_stopping_ends_it_before_the_next_sample_even_while_it_waits(tmp_path: Path) -> None:
    def wait(_seconds: float) -> None:
        if told:
            source.stop()

    told: list[int | None] = []
    source = FileSource(saved(tmp_path, CAPTURE), 1.0, wait)
    for sample in source.samples():
        told.append(sample.elapsed_ns)  # noqa: PERF401 - `wait` looks at it in between
    assert told == [250_000_000]
