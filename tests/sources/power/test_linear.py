"""Reading a capture takes work in proportion to its length, whatever a stranger wrote into it. Work is counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from hettop.sources.power import file, macmon, page, plist, text
from hettop.sources.power.file import CaptureParser, FormatCounter, Recogniser
from hettop.sources.power.macmon import MacmonParser
from hettop.sources.power.page import page as table
from hettop.sources.power.plist import PlistParser
from hettop.sources.power.powermetrics import LiveReading
from hettop.sources.power.sample import ClusterFigures, make_sample
from hettop.sources.power.text import TextParser
from tests.sources.power.captures import CHIPS, macmon_line, truth_of
from tests.sources.power.captures import plist as plist_of
from tests.sources.power.captures import text as text_of
from tests.sources.power.reading import read
from tests.sources.power.work import calls, count_bytes, count_patterns, parts

HEADER = "*** Sampled system activity (x) (5.00ms elapsed) ***\n"
SLACK = 1.15  # of twice the work for twice the length: some is done in steps, as when memory is extended


def assert_linear(work_of: Callable[[int], int], n: int) -> None:
    """What is done once counts in both, so that twice the length may take less than twice the work, but never more."""
    once, twice = work_of(n), work_of(2 * n)
    assert once >= n, "nothing was counted"
    assert twice <= 2 * SLACK * once, f"{once} steps for {n}, {twice} for {2 * n}"


LABELS = (
    "CPU Power: {}",
    "*** Sampled system activity ({}",
    "*** Sampled system activity {}",
    "E-Cluster HW active frequency: {}",
    "E-Cluster HW active residency: {}",
    "E-Cluster HW active residency: 5% ({}",
    "E-Cluster idle residency: {}",
    "CPU 0 idle residency: {}",
    "GPU active frequency: {}",
    "GPU idle residency: {}",
    "Current pressure level: {}",
    "CPU {} idle residency: 5%",
    "{}-Cluster idle residency: 5%",
    "Combined Power {}: 5 mW",
    "**** {} ****",
    "{}: 5",
    "{}",
)
FILLINGS = ("1", " ", "1.", "1e", "+", "nan", "(1", "600 MHz: 1% ", "*** ", "-Cluster", "E-Cluster ", "CPU ")


@pytest.mark.parametrize("label", LABELS)
def test_a_line_of_text(monkeypatch: pytest.MonkeyPatch, label: str) -> None:
    work = count_patterns(monkeypatch, text)

    def steps(filling: str, n: int) -> int:
        before = work.steps
        read(TextParser(), (HEADER + label.format(filling * n) + "\n").encode())
        return work.steps - before + n

    for filling in FILLINGS:
        assert_linear(partial(steps, filling), 150)


LINES = (
    "CPU Power: 5 mW\n",
    "GPU Power: 5 mW\n",
    "GPU Power: 5 mW\nCombined Power (CPU + GPU + ANE): 5 mW\n",
    "CPU 0 idle residency: 5%\n",
    "E-Cluster idle residency: 5%\nP-Cluster idle residency: 5%\n",
    "GPU idle residency: 5%\n",
    "Current pressure level: Nominal\n",
    HEADER,
    "*** Summary system activity (x) ***\n",
    "**** GPU usage ****\n",
    "**** Processor usage ****\n",
    "**** Processor usage ****\nCPU Power: 5 mW\n",
    "x\n",
)


@pytest.mark.parametrize("lines", LINES)
@pytest.mark.parametrize("head", [HEADER, "", "E-Cluster idle residency: 5%\n"])
def test_lines_of_text(head: str, lines: str) -> None:
    assert_linear(lambda n: calls(lambda: read(TextParser(), (head + lines * n).encode())), 200)


@pytest.mark.parametrize("head", [HEADER, ""])
def test_clusters_and_cores_without_number(head: str) -> None:
    def work(n: int) -> int:
        clusters = "".join(f"X{cluster}-Cluster idle residency: 5%\n" for cluster in range(n))
        cores = "".join(f"CPU {core} idle residency: 5%\n" for core in range(n))
        return calls(lambda: read(TextParser(), (head + clusters + cores).encode()))

    assert_linear(work, 500)


UNCLOSED = "<key>dvfm_states</key><array>"
STATE = "<dict><key>freq</key><integer>600</integer></dict>"
PIECES = (
    UNCLOSED,
    UNCLOSED + STATE,
    UNCLOSED + STATE + "</array>",
    UNCLOSED + "<integer>5</integer></array>",
    "<key>dvfm_states</key>",
    "<key>dvfm_states</key> ",
    "<key>dvfm_states</key><array",
    "<array></array>",
    "</array>",
    "<x>",
    "<",
    "1",
    " ",
    "<key>freq</key>",
    "<key>freq</key> <integer>",
)


@pytest.mark.parametrize(
    "around", ["{}", UNCLOSED + "{}", UNCLOSED + "{}</array>", "<key>freq</key><integer>{}</integer>"]
)
def test_residencies_of_a_document(monkeypatch: pytest.MonkeyPatch, around: str) -> None:
    work = count_patterns(monkeypatch, plist)

    def steps(piece: str, n: int) -> int:
        before = work.steps
        read(PlistParser(), f"<plist><dict>{around.format(piece * n)}</dict></plist>".encode())
        return work.steps - before

    for piece in PIECES:
        assert_linear(partial(steps, piece), 25)


CLUSTER = f"<dict><key>name</key><string>E</string><key>cpus</key><array>{STATE}</array></dict>"


@pytest.mark.parametrize(
    "piece", [CLUSTER, "<array></array>", "<x></x>", "<x>", "<key>a</key><real>1</real>", "&amp;<y/>"]
)
def test_elements_of_a_document(piece: str) -> None:
    body = "<plist><dict><key>processor</key><dict><key>clusters</key><array>{}</array></dict></dict></plist>"
    assert_linear(lambda n: calls(lambda: read(PlistParser(), body.format(piece * n).encode())), 300)


@pytest.mark.parametrize(
    "piece", ['{"cpu_power": 1}\n', '{\n  "cpu_power": 1\n}\n', "{\n", "{\n  1,\n", "}\n", "[\n", "  1\n"]
)
def test_lines_of_macmon(piece: str) -> None:
    assert_linear(lambda n: calls(lambda: read(MacmonParser(), (piece * n).encode())), 300)


def test_keys_of_macmon(monkeypatch: pytest.MonkeyPatch) -> None:
    work = count_patterns(monkeypatch, macmon)

    def steps(n: int) -> int:
        before = work.steps
        keys = "".join(f', "{key * n}": 1' for key in ("e", "ecpu", "ecpu_", "_", "ecpu_usage"))
        read(MacmonParser(), f'{{"cpu_power": 1{keys}}}\n'.encode())
        return work.steps - before + n

    assert_linear(steps, 200)


M1 = truth_of(CHIPS["M1"])
STREAMS = {
    "plist": b"\0" + plist_of(M1),
    "text": text_of(M1).encode(),
    "macmon": macmon_line(M1, "2026-01-02T03:04:05Z"),
    "jq": b'{\n  "cpu_power": 1\n}\n',
    "an object that never ends": b"{\n  ",
    "objects that never end": b"{\n",
    "documents that never end": b"<plist><dict>",
    "ends without a beginning": b"</plist>",
    "empty documents": b"<plist></plist>",
    "nearly a mark": b"<plis*** Sampled system activit",
    "blanks": b"\0 \n",
    "one line": b"x",
}
PARSERS: dict[str, Callable[[], CaptureParser]] = {
    "plist": PlistParser,
    "small plist": lambda: PlistParser(limit=500),
    "text": TextParser,
    "macmon": MacmonParser,
}


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize("name", PARSERS)
def test_bytes_in_parts_of_any_size(monkeypatch: pytest.MonkeyPatch, name: str, size: int) -> None:
    work = count_bytes(monkeypatch, plist, text, macmon)

    def steps(piece: bytes, n: int) -> int:
        before = work.steps
        parser = PARSERS[name]()
        for part in parts((piece * (1 + n // len(piece)))[:n], size, work):
            parser.feed(part)
        parser.finish()
        return work.steps - before

    for piece in STREAMS.values():
        assert_linear(partial(steps, piece), max(1_500, 4 * size))


@pytest.mark.parametrize("size", [1, 7, 5000])
def test_what_looks_for_the_kind_of_a_capture(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    work = count_bytes(monkeypatch, file, macmon, plist)

    def steps(piece: bytes, n: int) -> int:
        before = work.steps
        recogniser, counter = Recogniser(), FormatCounter(TextParser())
        live = LiveReading()
        for part in parts((piece * n)[:n], size, work):
            recogniser.feed(part)
            counter.feed(part)
            list(live.samples(part))
        recogniser.finish()
        return work.steps - before

    for piece in (b"x", b"{\n", b"x: 5\n", b"CPU Power: \n", b"\0 \n", b"nearly <plis\n"):
        assert_linear(partial(steps, piece), max(1_500, 4 * size))


@pytest.mark.parametrize("names", [1, 64])
def test_the_table(monkeypatch: pytest.MonkeyPatch, names: int) -> None:
    """A file may name other clusters in each sample: no more columns than the largest chip has are made."""
    cells = 0

    def count(value: object) -> int:
        nonlocal cells
        cells += 1
        return len(value)  # type: ignore[arg-type]

    monkeypatch.setattr(page, "len", count, raising=False)

    def work(n: int) -> int:
        nonlocal cells
        cells = 0
        samples = [
            make_sample("x", 5, {"cpu": 1.0}, clusters=[ClusterFigures(f"{at % n}-{k}", 1, 1) for k in range(names)])
            for at in range(n)
        ]
        made = calls(lambda: table("x", samples, []))
        return made + cells

    assert_linear(work, 300 if names == 1 else 100)
