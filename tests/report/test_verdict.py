"""The verdict in words, in Markdown and as a document."""

from __future__ import annotations

import json
import re
import zlib

import msgspec
import numpy as np
import pytest

from hettop import events
from hettop.analysis.budget import Budget
from hettop.analysis.start_up import StartUp
from hettop.analysis.unit_samples import in_order_of
from hettop.analysis.verdict import Question, Verdict, verdict
from hettop.report.anonymize import anonymous, anonymous_data, anonymous_document, anonymous_file
from hettop.report.document import to_json
from hettop.report.page import Paragraph, Toned
from hettop.report.verdict import NOTHING, verdict_document, verdict_markdown, verdict_text
from hettop.session.session import Session
from tests.analysis.material import powered, session_of, stream_of
from tests.analysis.table_4 import TABLE_4
from tests.report.sessions import failure, named, widest
from tests.streams import MS, header, window

TABLE = session_of(stream_of(TABLE_4, turns=10))
HOSTILE = "evil\x1b[31m|`<b>`@octocat\n# heading"


def judged(session: Session, question: Question = Question()) -> Verdict:  # noqa: B008 (immutable)
    return verdict(session, question, in_order_of(session), np.random.default_rng(0))


def test_the_page_says_what_to_use_and_why_that_is_weak() -> None:
    text = verdict_text(judged(TABLE), TABLE, 100)
    assert "real time    CPU_AND_NE   lowest mean, 0.640 ms" in text
    assert "avoid        CPU_AND_GPU" in text
    assert "! 1 sample decides the order of CPU_AND_NE and ALL: without it, ALL averages 0.617 ms" in text
    assert "by stability (max/min): CPU_ONLY, CPU_AND_NE, ALL, CPU_AND_GPU" in text
    assert text.count("best first") == 1
    assert "1/fastest call, as energy is not known for all units" in text


def test_it_is_as_wide_as_asked() -> None:
    for width in (50, 72, 100, 140):
        text = verdict_text(judged(TABLE, Question(budget=Budget(1.0, 0.9))), TABLE, width)
        assert widest(text.splitlines()) <= width


def test_the_lowest_median_is_named_with_a_higher_rate_of_another_unit() -> None:
    """Means 3.25 and 2 ms: 308 and 500 per second."""
    session = session_of(stream_of({"A": [1.0] * 15 + [10.0] * 5, "B": [2.0] * 20}))
    text = verdict_text(judged(session), session, 200)
    assert "A  lowest median, 1.00 ms (~ P50 ignores outliers); higher rate: B, 500 against 308 inf/s" in text
    alike = session_of(stream_of({"A": [1.0] * 20, "B": [2.0] * 20}))
    assert "higher rate" not in verdict_text(judged(alike), alike, 200)


@pytest.mark.parametrize(("n", "words"), [(1, "1 sample is missing"), (1_200, "1,200 samples are missing")])
def test_missing_samples_are_named(n: int, words: str) -> None:
    session = session_of(stream_of({"A": [1.0] * 20}), [events.Dropped(t=10**9, n=n, why="repair")])
    assert f"· {words} in the recording and not included" in verdict_text(judged(session), session, 200)


def test_a_budget_is_answered_unit_by_unit_with_its_interval() -> None:
    text = verdict_text(judged(TABLE, Question(budget=Budget(16.0, 0.99))), TABLE, 200)
    assert "budget: P99 at most 16.0 ms, at 95% confidence" in text
    assert "CPU_ONLY: not proven" in text
    assert "to n/a ms" in text, "no upper bound of a P99 from 100 samples"


def test_a_budget_at_a_rate_names_what_was_not_served_and_what_the_run_cannot_show() -> None:
    control = events.Control(t=0, action="start", mode="paced", rate_hz=100.0)
    stopped = events.Engine(t=10**10, unit="CPU_ONLY", state="stopped", unfinished=2000)
    session = session_of([control, window([2 * MS] * 9000, late=[0] * 8999 + [7 * MS]), stopped])
    found = judged(session, Question(budget=Budget(5.0, 0.9, 100.0)))
    text = verdict_text(found, session, 400)
    assert "CPU_ONLY: not proven: 2,000 of 11,000 arrivals were not served" in text
    assert "; longest response 9.00 ms; stalls rarer than one in 3,000 calls cannot be excluded" in text
    evidence = verdict_document(found, session)["budget"]["evidence"]["CPU_ONLY"]
    assert (evidence["unserved"], evidence["longest_ms"], evidence["seen_one_in"]) == (2000, 9.0, 3000)
    back_to_back = judged(TABLE, Question(budget=Budget(16.0, 0.99)))
    assert "stalls rarer" not in verdict_text(back_to_back, TABLE, 400)
    assert verdict_document(back_to_back, TABLE)["budget"]["evidence"]["ALL"]["unserved"] is None


@pytest.mark.parametrize(
    ("limit_ms", "answer"),
    [
        (16.0, "in budget    FAST  proven to meet the budget"),
        (0.5, "in budget    none  no unit is proven to meet the budget"),
    ],
)
def test_what_was_asked_for_is_answered_before_all_other_advice(limit_ms: float, answer: str) -> None:
    session = session_of(stream_of({"FAST": [1.0] * 80_000, "SLOW": [20.0] * 700}))
    text = verdict_text(judged(session, Question(budget=Budget(limit_ms, 0.9))), session, 200)
    assert answer in text
    assert text.index("in budget") < text.index("real time")
    assert "in budget" not in verdict_text(judged(session), session, 200)


def test_no_samples_make_no_verdict() -> None:
    empty = session_of([])
    assert NOTHING in verdict_text(judged(empty), empty, 80)
    assert NOTHING in verdict_markdown(judged(empty), empty)


def test_simulated_comes_first() -> None:
    session = session_of(stream_of({"ALL": [1.0] * 20}), opening=header(simulated=True))
    assert verdict_text(judged(session), session, 80).startswith("SIMULATED")
    assert "SIMULATED" in verdict_markdown(judged(session), session)
    assert verdict_document(judged(session), session)["simulated"] is True


def test_text_from_a_file_is_shown_as_text_everywhere() -> None:
    opening = named(header(), model=HOSTILE, chip=HOSTILE)
    session = session_of(stream_of({HOSTILE: [1.0] * 20}), [failure("ALL", HOSTILE)], opening=opening)
    found = judged(session)
    page, markdown = verdict_text(found, session, 100), verdict_markdown(found, session)
    assert not [c for c in page + markdown if ord(c) < 32 and c != "\n"]
    assert "<b>" not in markdown
    assert "@octocat" not in markdown
    assert "\n# heading" not in markdown
    (row,) = [line for line in markdown.splitlines() if line.startswith("| evil")]
    assert row.count("\\|") == 1


def test_the_document_has_what_programs_rely_on() -> None:
    document = json.loads(to_json(verdict_document(judged(TABLE, Question(budget=Budget(1.0, 0.9))), TABLE)))
    assert set(document["ranks"]) == {"latency", "stability", "efficiency", "consistency", "robust_stability"}
    assert document["advice"] == {
        "real_time": "CPU_AND_NE",
        "predictable": "CPU_ONLY",
        "predictable_ties": ["CPU_AND_NE", "ALL", "CPU_AND_GPU"],  # 100 samples of each
        "batch": "ALL",
        "avoid": ["CPU_AND_GPU"],
    }
    assert [(pair["better"], pair["worse"], pair["samples"]) for pair in document["decided_by_few_samples"]] == [
        ("CPU_AND_NE", "ALL", 1),
        ("CPU_ONLY", "CPU_AND_GPU", 1),
    ]
    assert (document["budget"]["limit_ms"], document["budget"]["quantile"]) == (1.0, 0.9)
    assert document["budget"]["met"]["CPU_ONLY"] is False
    assert (document["needs_samples"], document["failed"], len(document["conditions"])) == ({}, {}, 4)
    assert "real time" in document["text"]
    assert verdict_document(judged(TABLE), TABLE)["budget"] is None


def ran_by(backend: str, **settings: object) -> Session:
    opening = msgspec.structs.replace(header(), model=events.ModelInfo(backend=backend), settings=settings)
    return session_of(stream_of(TABLE_4, turns=10), opening=opening)


@pytest.mark.parametrize("backend", ["coreml", "simulated"])
def test_the_unit_that_is_advised_comes_with_its_code(backend: str) -> None:
    session = ran_by(backend, function="small")
    found = judged(session)
    text = verdict_text(found, session, 100)
    assert (
        "\n\nCPU_AND_NE in Swift, and with coremltools:\n\n"
        "  let configuration = MLModelConfiguration()\n"
        "  configuration.computeUnits = .cpuAndNeuralEngine\n"
        '  configuration.functionName = "small"\n'
        "\n"
        '  model = ct.models.MLModel(path, compute_units=ct.ComputeUnit.CPU_AND_NE, function_name="small")\n'
    ) in text
    markdown = verdict_markdown(found, session)
    assert "```swift\nlet configuration = MLModelConfiguration()\n" in markdown
    assert "```python\nmodel = ct.models.MLModel(" in markdown
    document = verdict_document(found, session)
    assert "cpuAndNeuralEngine" in document["swift"]
    assert document["python"] in document["text"].replace("\n  ", "\n")


def test_the_code_has_the_hints_that_were_measured_with() -> None:
    session = ran_by("coreml", hints={"reshapeFrequency": "Infrequent", "specializationStrategy": 3})
    text = verdict_text(judged(session), session, 100)
    assert "  configuration.optimizationHints.reshapeFrequency = .infrequent\n" in text
    assert "specializationStrategy" not in text
    odd = ran_by("coreml", hints="reshapeFrequency")
    assert "optimizationHints" not in verdict_text(judged(odd), odd, 100)


def test_code_is_of_a_unit_that_is_proven_to_meet_a_budget_or_there_is_none() -> None:
    session = ran_by("coreml")
    met = judged(session, Question(budget=Budget(1000.0, 0.5)))
    assert f"{met.meeting[0]} in Swift, " in verdict_text(met, session, 100)
    missed = judged(session, Question(budget=Budget(0.001, 0.5)))
    assert "in Swift" not in verdict_text(missed, session, 100)
    assert verdict_document(missed, session)["swift"] is None


def test_what_onnx_runtime_ran_has_no_code_for_core_ml() -> None:
    session = ran_by("onnxruntime")
    assert "Swift" not in verdict_text(judged(session), session, 100)
    assert "```" not in verdict_markdown(judged(session), session)


def test_paths_ids_and_names_go_and_what_judges_need_stays() -> None:
    text = (
        "ann on ann-mac.local: /Users/ann/My.mlpackage failed, id 0123456789abcdef0123, Apple M2, max/min 3, n/a, 1/s"
    )
    assert (
        anonymous(text, ["ann-mac.local", "ann"]) == "… on …: My.mlpackage failed, id …, Apple M2, max/min 3, n/a, 1/s"
    )
    assert anonymous(r"C:\Users\ann\m.onnx, ~/m.onnx and file:///tmp/x.onnx") == "m.onnx, m.onnx and x.onnx"
    assert anonymous("CPU_ONLY 12.5 ms at 2026", ["me"]) == "CPU_ONLY 12.5 ms at 2026"


def test_a_name_goes_also_where_an_underscore_joins_it_to_others() -> None:
    assert anonymous("john_doe.onnx, by_ann_2, Joanna, ann", ["john_doe", "ann"]) == "….onnx, by_…_2, Joanna, …"
    assert anonymous("CPU_AND_GPU on gpu and my_gpu", ["gpu"]) == "CPU_AND_GPU on … and my_…"


def test_an_anonymous_page_hides_names_with_marks_and_stays_escaped() -> None:
    stream = stream_of({"ALL": [1.0] * 20})
    name = "![x](http://evil/x.png)_john_doe"
    session = session_of(stream, opening=named(header(), model=name, chip="www.example.org *"))
    text = verdict_markdown(judged(session), session, ["john_doe"])
    assert "!\\[x\\](http&#58;//…/x.png)\\_…" in text
    assert "www&#46;example.org \\*" in text
    assert "doe" not in text
    assert "![x](" not in text
    assert "://" not in text
    assert "john_doe" in verdict_text(judged(session), session, 100)
    assert "doe" not in verdict_text(judged(session), session, 20, ["john_doe"])


def test_the_tone_of_an_anonymous_block_is_not_a_text() -> None:
    assert anonymous_data([Paragraph("by text", "text"), Toned("good", "good")], ["text", "good"]) == [
        Paragraph("by …", "text"),
        Toned("…", "good"),
    ]


def test_a_folder_with_a_space_in_its_name_goes_as_a_word() -> None:
    home = "/Users/Ann Other"
    assert anonymous(f"{home}/models/m.onnx beside {home}", [home]) == "m.onnx beside …"


def test_a_recording_that_is_made_anonymous_stays_one() -> None:
    lines = [
        '{"k":"header","t":0,"id":"7f3c","model":{"note":"by mark"}}',
        '{"k":"mark","t":1,"text":"Mark"}',
        "torn /Users/mark/x",
    ]
    expected = ['{"k":"header","t":0,"model":{"note":"by …"}}', '{"k":"mark","t":1,"text":"…"}', "torn x"]
    assert anonymous_file("\n".join(lines), ["mark"]) == "\n".join(expected)
    assert anonymous_file(lines[0], ["mark"]) == expected[0], "of one line, too"


def test_the_checksums_of_a_recording_fit_what_was_made_of_it() -> None:
    first, key, second = '{"k":"mark","t":1,"text":"%s"}', '{"k":"keyframe","t":1,"crc32":%d}', '{"k":"mark","t":2}'
    made = anonymous_file("\n".join([first % "ann", key % 1, second, key % 2]) + "\n", ["ann"])
    sums = [zlib.crc32(f"{line}\n".encode()) for line in (first % "…", second)]
    assert made == "\n".join([first % "…", key % sums[0], second, key % sums[1]]) + "\n"


def test_a_keyframe_keeps_a_right_checksum_of_its_own_line() -> None:
    line = events.with_line_crc32(b'{"k":"keyframe","t":1,"crc32":0,"name":"ann"}')
    made = anonymous_file(f"{line.decode()}\n", ["ann"])
    assert "ann" not in made
    assert events.line_crc32_holds(made.encode())


def test_the_exact_sums_of_a_keyframe_are_no_ids() -> None:
    assert anonymous("12345678901234567890") == "12345678901234567890"
    assert anonymous("1234567890123456789f and 01234567-89ab-cdef-0123-456789abcdef") == "… and …"


def test_files_of_other_kinds_are_made_anonymous_as_what_they_are() -> None:
    assert anonymous_file('{\n "text": "couldn\\u2019t read /Users/ann/m.onnx", "pid": 7\n}\n', ["ann"]) == (
        '{\n  "text": "couldn\\u2019t read m.onnx",\n  "pid": null\n}\n'
    )
    assert anonymous_file("by ann\n\nin /Users/ann\n", ["ann"]) == "by …\n\nin …\n"
    assert anonymous_file("") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/Users/bob/x y/secret project/m.onnx", "m.onnx"),
        ("in /Users/bob/x y/m.onnx on CPU at 3 inf/s", "in m.onnx on CPU at 3 inf/s"),
        ("~bob/file", "file"),
        ("cc -I/Users/bob/inc -c", "cc -Iinc -c"),
        ("PATH=/opt/a:/Users/bob/lib", "PATH=a:lib"),
        ("at 192.168.1.23, a4:83:e7:00:11:2f", "at …, …"),
        ("macOS 15.3.1, https://example.org/a, max/min", "macOS 15.3.1, https://example.org/a, max/min"),
        ("http://ada:pw@box.local:11434/v1, http://gpu:80 or http://box/v1", "http://…/v1, http://… or http://…/v1"),
        (
            "http://localhost:8000/v1, CPU_ONLY@2, 2ms@p99, m@2.onnx",
            "http://localhost:8000/v1, CPU_ONLY@2, 2ms@p99, m@2.onnx",
        ),
        ("by ada.l@mail.example.org", "by …"),
        ("C02XL0GTJGH5, XK2V9H4QJL, RTX4090, ABCDEFGHIJ, 1234567890", "…, …, RTX4090, ABCDEFGHIJ, 1234567890"),
        ("HETTOP_API_KEY=abcd1234 -v, Bearer abc.def123", "HETTOP_API_KEY… -v, Bearer …"),
        ("first token: 41.0 ms, tokens: 128, sk-abcdefghijklmnop", "first token: 41.0 ms, tokens: 128, …"),
    ],
)
def test_paths_and_addresses_of_every_form_go(text: str, expected: str) -> None:
    assert anonymous(text) == expected


def test_keys_of_a_document_are_made_anonymous_and_stay_apart() -> None:
    found = anonymous_file('{"/Users/ann/m.onnx": 1, "/tmp/m.onnx": 2, "by ann": 3}', ["ann"])
    assert json.loads(found) == {"m.onnx": 1, "m.onnx (2)": 2, "by …": 3}
    line = '{"k":"mark","t":1,"text":{"%s":1,"note":2}}'
    assert anonymous_file(line % "/Users/ann/x", ["text", "note"]) == line % "x"


def test_json_that_cannot_be_written_again_is_made_anonymous_too() -> None:
    assert anonymous_file("[" * 100_000 + "/Users/ann/x") == "[" * 100_000 + "x"
    deep = "[" * 100_000 + '"/Users/ann/x"' + "]" * 100_000
    assert anonymous_file(deep) == deep.replace("/Users/ann/", "")
    assert json.loads(anonymous_file("[1e400, -Infinity, 1.5]")) == [None, None, 1.5]


def test_a_document_is_made_anonymous_to_its_last_text() -> None:
    opening = msgspec.structs.replace(
        header(), model=events.ModelInfo(name="/home/ann/secret.onnx", sha256="ab" * 32, note="by ann")
    )
    session = session_of(
        stream_of({"ALL": [1.0] * 20}), [failure("CPU_ONLY", "cannot read /home/ann/x")], opening=opening
    )
    document = anonymous_document(verdict_document(judged(session), session), ["ann"])
    whole = to_json(document)
    assert "/home" not in whole
    assert '"ann' not in whole
    assert "ab" * 8 not in whole
    assert document["model"]["name"] == "secret.onnx"
    assert document["host"]["chip"] == "Test chip"


def started(question: Question, *starts: StartUp) -> Verdict:
    return verdict(TABLE, question, in_order_of(TABLE), np.random.default_rng(0), starts=starts)


CPU = StartUp("CPU_ONLY", (4_000,) * 7, (20,) * 7)
NE = StartUp("CPU_AND_NE", (12_000,) * 7, (10,) * 7, cached=True)


def test_start_up_is_answered_unit_by_unit_and_advised_by_its_calls() -> None:
    text = verdict_text(started(Question(cold_ms=5_000, calls=802), CPU, NE), TABLE, 200)
    asked, calls = (line.split(maxsplit=3) for line in text.splitlines() if line.startswith(("in budget", "802 calls")))
    assert asked == ["in", "budget", "CPU_ONLY", "proven to meet the budget"]
    assert calls[:3] == ["802", "calls", "CPU_AND_NE"]
    assert calls[3].startswith("lowest total time, start-up included, 20.0 s; 10.0 ms ahead of CPU_ONLY (95% interval")
    assert "start-up budget: median time to the first output at most 5.00 s, at 95% confidence" in text
    assert "CPU_ONLY: yes (median 4,000 ms, interval 4,000 to 4,000 ms, 7 starts)" in text
    assert "CPU_AND_NE: no (median 12,000 ms" in text
    assert "7 starts, compiled before)" in text
    assert "total time of one start and 802 calls" in text


def test_start_up_that_nobody_asked_for_is_not_reported() -> None:
    asked = json.loads(to_json(verdict_document(started(Question(cold_ms=5_000, calls=802), CPU, NE), TABLE)))
    assert asked["start_up"]["met"] == {"CPU_ONLY": True, "CPU_AND_NE": False}
    assert asked["start_up"]["limit_ms"] == 5_000
    assert [(each["unit"], each["ms"]) for each in asked["totals"]["units"]] == [
        ("CPU_AND_NE", 20_010),
        ("CPU_ONLY", 20_020),
    ]
    assert (asked["totals"]["lead_ms"], asked["totals"]["proven"]) == (10, True)
    plain = verdict_document(started(Question(), CPU, NE), TABLE)
    assert not {"start_up", "totals"} & plain.keys()


def test_hostile_names_of_starts_are_no_markup() -> None:
    evil = StartUp(HOSTILE, (1,) * 6, (1,) * 6, error=HOSTILE)
    alive = StartUp(HOSTILE * 2, (1,) * 6, (1,) * 6)
    found = started(Question(cold_ms=5, calls=2), evil, alive)
    text, markdown = verdict_text(found, TABLE, 100), verdict_markdown(found, TABLE)
    assert "no total, because a start failed" in " ".join(text.split())
    for shown in (text, markdown):
        assert "\x1b" not in shown
    assert "<b>" not in markdown.replace("`<b>`", "")


@pytest.mark.parametrize(
    ("turns", "mode", "warning"),
    [
        (1, "alone", "! units were not interleaved: background activity may confound this; hint: interleave them"),
        (1, "interleave", "! SLOW had only 1 turn: background activity may confound this; hint: measure longer"),
        (2, "alone", "! SLOW had only 2 turns: background activity may confound this; hint: measure longer"),
        (3, "interleave", None),
    ],
)
def test_a_warning_of_few_turns_says_what_helps(turns: int, mode: str, warning: str | None) -> None:
    """SLOW has so many turns, FAST one more: a turn begins with a sample of phase `resume`."""
    control = events.Control(t=0, action=mode, mode=mode)
    beginnings = [
        window([2 * MS], unit=unit, phase="resume", t0=(turn + 1) * 10**9)
        for unit, n in (("FAST", turns + 1), ("SLOW", turns))
        for turn in range(n)
    ]
    session = session_of([control], beginnings, stream_of({"FAST": [1.0] * 30, "SLOW": [2.0] * 30}, t0=10**10))
    text = verdict_text(judged(session), session, 200)
    assert warning in text if warning else "! " not in text


def test_back_to_back_samples_are_not_called_paced_and_must_be_measured_again() -> None:
    text = verdict_text(judged(TABLE, Question(budget=Budget(1000 / 60, 0.9, 60.0))), TABLE, 200)
    assert "wall time; measured back to back" in text
    assert "paced at" not in text
    assert "ALL: not proven: it was not measured at 60 inf/s; measure again with --rate 60 (interval" in text
    assert "more samples" not in text


def test_the_rate_of_paced_samples_is_named() -> None:
    control = events.Control(t=0, action="start", mode="paced", rate_hz=100.0)
    session = session_of([control, window([2 * MS] * 70, late=[0] * 70)])
    assert "wall time; paced at 100 inf/s" in verdict_text(judged(session), session, 200)


def test_the_reason_is_given_why_more_samples_than_usual_are_needed() -> None:
    """Two levels of 50 calls each, twice: 200 calls, more than the 64 that independent ones would need."""
    waves = session_of(stream_of({"ALL": np.repeat([1.0, 2.0, 1.1, 2.1], 50)}))
    text = verdict_text(judged(waves), waves, 200)
    (line,) = [line for line in text.splitlines() if line.startswith("· ALL:")]
    found = re.fullmatch(r"· ALL: [0-9,]+ \(samples depend on each other: effective sample size ([0-9]+) of 64\)", line)
    assert found is not None, line
    assert int(found[1]) < 64
    few = session_of(stream_of({"ALL": [1.0] * 20}))
    assert "\n· ALL: 44\n" in verdict_text(judged(few), few, 200), "64 - 20"


def test_an_energy_budget_is_answered_with_its_interval_or_the_reason() -> None:
    six = [9000.0, 11000.0, 10000.0, 11000.0, 9000.0, 10000.0]
    session = session_of(powered("A", six), powered("B", six[:3], t0=10**11))
    found = judged(session, Question(energy_mj=150.0))
    text = " ".join(verdict_text(found, session, 200).split())
    assert "energy budget: at most 150 mJ/inference, at 95% confidence for all units" in text
    assert "A: yes (100 mJ, interval 88.4 to 112, 6 power windows, power known for 100% of the time)" in text
    assert "B: not proven: too few power windows: 3 of 6 (100 mJ, 3 power windows, power known for 100%" in text
    document = verdict_document(found, session)["energy_budget"]
    assert document["met"] == {"A": True, "B": None}
    assert document["confidence"] == 0.95
    assert document["evidence"]["A"]["ci_mj"] == pytest.approx([88.45, 111.55], rel=1e-3)
    assert document["evidence"]["B"] == {
        "mj": pytest.approx(100.0),
        "ci_mj": [None, None],
        "windows": 3,
        "coverage": 1.0,
        "why": "too few power windows: 3 of 6",
    }
