"""The page: complete without a network, valid, and unmoved by what a recording holds."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hettop.app.recording_page import read_story
from hettop.record.opened import Recording, open_recording
from hettop.report.html_page import html_page
from hettop.report.story import page_of
from hettop.resources import recordings_folder
from tests.export.recordings import empty, everything, hostile, simulated

VOID = {"meta", "img", "br", "hr", "link", "input"}
# Of HTML and SVG, what the page is made of; anything else came from somewhere else.
KNOWN = {
    "html", "head", "meta", "title", "style", "body", "section", "h1", "h2", "h3", "p", "span", "ul", "ol",
    "li", "dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "pre",
    "code", "footer", "svg", "path", "rect", "text",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects texts, and complains about tags that do not close or are not ours."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN, tag
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(recording: Recording) -> tuple[str, Reader]:
    page = html_page(page_of([read_story(recording)]))
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return page, reader


@pytest.mark.parametrize("make", [everything, empty, hostile, simulated])
def test_it_is_well_formed_and_made_of_our_tags_alone(make: object, tmp_path: Path) -> None:
    read(make(tmp_path))  # type: ignore[operator]


def test_nothing_is_loaded_and_nothing_runs(tmp_path: Path) -> None:
    page, reader = read(hostile(tmp_path))
    assert "default-src 'none'" in page
    names = {name for _, name, _ in reader.attributes}
    assert not names & {"src", "href", "onerror", "onload", "srcset", "xlink:href", "action"}
    assert "url(" not in page
    assert "@import" not in page
    assert "<img" not in page
    assert "&lt;img src=x onerror" in page


def test_it_has_tables_figures_course_power_conditions_method_and_versions(tmp_path: Path) -> None:
    _, reader = read(everything(tmp_path))
    text = " ".join(reader.texts)
    for word in ("Verdict", "Latency", "Course", "Power and energy", "What was measured", "Method", "Apple M2",
                 "coremltools 9.0", "opened the browser", "cpu:1", "Made by hettop"):  # fmt: skip
        assert word in text
    assert reader.counts["svg"] == 5, "violins, two histograms, the course, power"
    assert "n/a" in text


def test_its_figures_are_those_of_the_statistics(tmp_path: Path) -> None:
    recording = everything(tmp_path)
    page, _ = read(recording)
    row = re.search(r"<tr><td class=\"word\">CPU_AND_NE</td>.*?</tr>", page[page.index(">Latency<") :], re.DOTALL)
    assert row is not None
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", row[0])
    # n 2; mean and P50 of 4 and 8 ms are 6, P90 by numpy 7.6
    assert cells[:6] == ["CPU_AND_NE", "cpu:1", "Fair", "2", "6.00", "2.00"]
    assert cells[7:9] == ["6.00", "7.60"]


def test_simulated_is_said_in_title_heading_and_at_every_figure(tmp_path: Path) -> None:
    page, reader = read(simulated(tmp_path))
    assert "<title>SIMULATED" in page
    assert page.count("<figcaption>SIMULATED: ") == reader.counts["figure"]
    assert "nothing was measured" in page
    assert "SIMULATED" not in read(everything(tmp_path))[0]


def test_an_empty_recording_says_that_it_is_empty(tmp_path: Path) -> None:
    page, _ = read(empty(tmp_path))
    assert "No steady sample was taken" in page


def test_what_was_skipped_and_dropped_is_said(tmp_path: Path) -> None:
    page, _ = read(hostile(tmp_path))
    assert "bad line: 1" in page
    assert "3 samples were dropped" in page


def test_it_stays_small() -> None:
    recording = open_recording(recordings_folder() / "simulated-m2.jsonl")
    assert len(read(recording)[0]) < 250_000
