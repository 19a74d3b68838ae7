"""Every result says why there is no power, whose power it is, and what it shows of placement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hettop import events
from hettop.analysis.unit_samples import in_order_of
from hettop.analysis.verdict import Question, verdict
from hettop.report.conditions import conditions_blocks
from hettop.report.document import session_document
from hettop.report.markdown_page import markdown_page
from hettop.report.recording_report import RecordingReport, page_of
from hettop.report.terminal.blocks import block_text
from hettop.report.verdict import verdict_document, verdict_markdown, verdict_text
from hettop.session.session import Session
from tests.report.sessions import session_of, session_table
from tests.streams import MS, S, window

EVIDENCE = "CPU_ONLY: plan: 100% Neural Engine; ANE 0 mW while running: probably on the CPU"
NO_EVIDENCE = "CPU_ONLY: plan: 100% Neural Engine; ANE power reading not validated on this machine, so no evidence"


def judged(session: Session) -> Any:
    return verdict(session, Question(), in_order_of(session), np.random.default_rng(0))


def everywhere(session: Session) -> dict[str, str]:
    """Every text that a result is printed as, in one line each."""
    found = {
        "bench": session_table(session, 400),
        "decide": verdict_text(judged(session), session, 400),
        "decide --markdown": verdict_markdown(judged(session), session),
        "sweep": block_text(list(conditions_blocks(session, {})), 400),
        "report": markdown_page(page_of([RecordingReport("a", session)])),
    }
    return {name: " ".join(text.replace("\\", "").split()) for name, text in found.items()}


def measured(source: str = "powermetrics", power_ns: int = 3 * S, validated: tuple[str, ...] = ("ane",)) -> Session:
    plan = events.Plan(
        t=0,
        unit="CPU_ONLY",
        accelerator="Neural Engine",
        ops=10,
        devices=[events.PlannedDevice(device="Neural Engine", ops=10, cost=1.0)],
    )
    return session_of(
        events.Engine(t=0, unit="CPU_ONLY", state="running"),
        plan,
        events.PowerStatus(t=0, source=source, state="running", resolution_mj=1.0, validated=list(validated)),
        window([10 * MS] * 399, gap=1000),
        events.Power(t=7 * S // 2, source=source, elapsed_ns=power_ns, mw={"cpu": 900.0, "ane": 0.0}),
    )


@pytest.mark.parametrize(("validated", "words"), [(("ane",), EVIDENCE), ((), NO_EVIDENCE)])
def test_the_evidence_stands_in_every_result(validated: tuple[str, ...], words: str) -> None:
    session = measured(validated=validated)
    for name, text in everywhere(session).items():
        assert words in text, name
        assert ("probably on the CPU" in text) is bool(validated), name
    document = verdict_document(judged(session), session)
    assert document["conditions"][0]["evidence"] == words.removeprefix("CPU_ONLY: ")
    assert document["units"]["CPU_ONLY"]["evidence"] == words.removeprefix("CPU_ONLY: ")


def test_power_that_was_reported_twice_is_counted_in_every_result() -> None:
    session = measured()
    assert session.power is not None
    for _ in range(3):
        session.fold(session.power)
    for name, text in everywhere(session).items():
        assert "3 power samples overlap others: each moment is counted once" in text, name


def test_a_capture_is_called_one_in_every_result_and_never_gives_a_figure() -> None:
    for name, text in everywhere(measured("file")).items():
        assert "power is from a capture, not from this run" in text, name
        assert "mJ" not in text, name
    document = session_document(measured("file"))
    assert document["power"]["capture"] is True
    assert "from a capture" in document["power"]["reason"]


def test_the_lack_of_power_is_said_with_its_remedy_in_every_result() -> None:
    status = events.PowerStatus(t=0, source="none", state="unavailable", reason="root only", fix="sudo -v")
    session = session_of(status, window([10 * MS] * 40))
    for name, text in everywhere(session).items():
        assert "ower n/a: root only; sudo -v" in text, name
    assert session_document(session)["power"] == {
        "source": "none",
        "state": "unavailable",
        "reason": "root only",
        "fix": "sudo -v",
        "coverage": None,
        "capture": False,
    }


def test_a_coverage_that_is_too_low_prints_no_energy_but_why() -> None:
    session = measured(power_ns=S)
    table = session_table(session, 400)
    assert "mJ/inf n/a of CPU_ONLY: power samples cover 25% of its running time, 50%" in table
    assert "estimate" not in table
    assert session_document(session)["power"]["coverage"] == pytest.approx(0.25, rel=1e-2)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (None, "CPU_AND_NE: no plan: not read before the end"),
        (
            events.Plan(t=0, unit="CPU_AND_NE", error=events.Failure(kind="crashed", message="killed by SIGABRT")),
            "CPU_AND_NE: no plan: killed by SIGABRT",
        ),
    ],
)
def test_a_plan_and_native_times_that_are_missing_are_missed(plan: events.Plan | None, words: str) -> None:
    engine = events.Engine(t=0, unit="CPU_AND_NE", state="running", backend="coreml")
    session = session_of(engine, *([plan] if plan else []), window([MS] * 30, unit="CPU_AND_NE"))
    table = session_table(session, 400)
    assert words in table
    assert "native times of CPU_AND_NE are missing" in table
    told = session_of(engine, window([MS] * 30, unit="CPU_AND_NE", native=[MS // 2] * 30))
    assert "native times" not in session_table(told, 400)


def test_what_other_engines_never_report_is_not_missed() -> None:
    table = session_table(session_of(window([MS] * 30)), 400)
    assert "no plan" not in table
    assert "native times" not in table


def test_too_few_samples_for_spikes_are_said() -> None:
    assert "spike detection needs 65 samples: CPU_ONLY" in session_table(session_of(window([MS] * 64)), 400)


def test_the_report_reports_what_compiling_took() -> None:
    engine = events.Engine(
        t=0, unit="ALL", state="running", load_ns=90 * MS, first_ns=MS, compile_ns=4100 * MS, cached=False
    )
    text = markdown_page(page_of([RecordingReport("a", session_of(engine, window([MS] * 30, unit="ALL")))]))
    assert "| unit | compiling | loading |" in text
    assert "compiling" not in markdown_page(page_of([RecordingReport("a", session_of(window([MS] * 30)))]))
