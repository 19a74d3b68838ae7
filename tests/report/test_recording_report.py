"""The report on recordings, one and several, as Markdown and as HTML, with everything escaped."""

from __future__ import annotations

import msgspec

from hettop import events
from hettop.events import AnyEvent
from hettop.report.html_page import html_page
from hettop.report.markdown_page import markdown_page
from hettop.report.page import Items, Page, Paragraph, Section, Table
from hettop.report.recording_report import RecordingReport, page_of
from hettop.session.session import Session
from tests.analysis.material import powered
from tests.streams import MS, S, header, window


def told(name: str, *stream: AnyEvent, simulated: bool = False) -> RecordingReport:
    made = RecordingReport(name, Session())
    for event in (header(simulated=simulated), *stream):
        made.session.fold(event)
        made.history.add(event)
    return made


FAST = told("fast.jsonl", window([2 * MS] * 10, t0=S), window([3 * MS] * 10, t0=S, unit="ALL"))
SLOW = told("slow.jsonl", window([4 * MS] * 10, t0=S, load="cpu:1"), window([5 * MS] * 10, t0=S, unit="ALL"))


def test_several_stand_side_by_side_with_na_where_one_has_no_samples() -> None:
    page = page_of([FAST, SLOW])
    table = next(block for block in page.sections[0].blocks if isinstance(block, Table))
    assert table.heading[:4] == ["unit", "load", "P50 of A", "P50 of B"]
    assert [row[:4] for row in table.rows] == [
        ["CPU_ONLY", "none", "2.00", "n/a"],
        ["ALL", "none", "3.00", "5.00"],
        ["CPU_ONLY", "cpu:1", "n/a", "4.00"],
    ]


def test_a_simulated_one_among_others_is_distinguished_from_them() -> None:
    text = markdown_page(page_of([FAST, told("demo.jsonl", window([MS] * 9), simulated=True)]))
    assert "B: SIMULATED: demo.jsonl" in text
    assert "A: fast.jsonl" in text
    assert "not comparable" in text


def test_what_is_unknown_is_na_and_power_says_why() -> None:
    session = told("a", window([MS] * 9), events.PowerStatus(t=S, source="none", state="unavailable", reason="no sudo"))
    text = markdown_page(page_of([session]))
    assert "Power n/a: no sudo." in text


def test_a_failed_unit_is_named_with_its_reason() -> None:
    failure = events.Failure(kind="load", message="no memory", hint="use a smaller batch")
    text = markdown_page(page_of([told("a", events.Engine(t=S, unit="ALL", state="failed", error=failure))]))
    assert "⚠️ ALL: no memory (use a smaller batch)" in text


def test_what_distorts_measurements_on_this_machine_is_a_warning() -> None:
    distorted = told("a", window([MS] * 9))
    opening = distorted.session.header
    assert opening is not None
    host = msgspec.structs.replace(opening.host, warnings=["running under Rosetta"])
    distorted.session.fold(msgspec.structs.replace(opening, host=host))
    assert "⚠️ running under Rosetta" in markdown_page(page_of([distorted]))


def test_a_verdict_comes_first_where_there_is_one() -> None:
    judged = told("a", window([MS] * 9))
    judged.verdict = Section("Verdict", [Paragraph("take ALL")])
    page = page_of([judged])
    assert page.sections[0] == judged.verdict
    assert page_of([FAST]).sections[0].title == "Latency"


def test_markdown_shows_what_would_be_markup() -> None:
    page = Page("a | b", False, [Section("<b>", [Items(["# no", "@you"]), Table(["x"], [["1|2 *"]])])])
    text = markdown_page(page)
    assert "# a \\| b" in text
    assert "## &lt;b&gt;" in text
    assert "- \\# no" in text
    assert "@you" not in text
    assert "1\\|2 \\*" in text


def test_html_escapes_every_kind_of_block() -> None:
    nasty = "<script>alert(1)</script>"
    page = Page(nasty, True, [Section(nasty, [Paragraph(nasty), Items([nasty]), Table([nasty], [[nasty]])])])
    text = html_page(page)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") == 7


def test_energy_has_its_interval_or_how_many_windows_it_lacks() -> None:
    six = [9000.0, 11000.0, 10000.0, 11000.0, 9000.0, 10000.0]
    page = markdown_page(page_of([told("one", *powered("A", six), *powered("B", six[:4], t0=100 * S))]))
    assert "| unit | load | mJ/inference | 95% interval |" in page
    assert "| 90.6 to 109 |" in page
    assert "| n/a (4 of 6 power windows) |" in page


def test_samples_that_are_all_zero_have_a_report() -> None:
    page = page_of([told("a", window([0] * 120))])
    assert "| CPU\\_ONLY | 120 | 0 |" in markdown_page(page)
    assert "histogram of latency" in html_page(page)
