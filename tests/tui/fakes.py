"""A feed that plays nothing and remembers what it was asked, and views with known numbers to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hettop.analysis.budget import Budget
from hettop.errors import HettopError
from hettop.events import Failure, Study
from hettop.report.page import Block, Code, Facts, Items, Paragraph, Table, Toned
from hettop.session.session import Session
from hettop.session.views.machine import ClusterRow, HostView, MachineReading, PowerView, RailRow
from hettop.session.views.replay import Band
from hettop.session.views.structs import (
    HeaderView,
    LatencyView,
    LogLine,
    SessionView,
    TimelineLane,
    TimelineLoad,
    TimelineMark,
    TimelineSlot,
    TimelineView,
    UnitRow,
    UnitsView,
    ViewRequest,
)
from hettop.studies.registry import page_of
from hettop.tui.feed import (
    AccessRequest,
    LiveControls,
    LoadDial,
    Notice,
    RecordingStatus,
    ReplayControls,
    ReplayStatus,
    StudyOffer,
    VerdictPage,
)
from hettop.tui.frame_state import FrameState

SECOND = 10**9

# A bell around 2.1 ms and a thin tail: 40 columns from 2.0 to 4.0 ms, 1,000 samples in all.
COUNTS = (20, 90, 200, 240, 180, 110, 60, 35, 20, 12, 8, 5, 4, 3, 2, 2, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, *[0] * 12, 3)
NE_VIOLIN = (0.0, 0.2, 0.7, 1.0, 0.6, 0.3, 0.1, 0.05, 0.02, 0.0, *[0.0] * 20)
GPU_VIOLIN = (*[0.0] * 6, 0.1, 0.5, 1.0, 0.6, 0.2, 0.1, 0.4, 0.7, 0.3, 0.1, *[0.0] * 14)
CPU_VIOLIN = (*[0.0] * 18, 0.1, 0.3, 0.6, 0.9, 1.0, 0.8, 0.5, 0.3, 0.2, 0.1, 0.05, 0.0)

HEADER = HeaderView(
    model="mobilenetv2",
    backend="simulated",
    chip="Apple M2 Pro",
    simulated=True,
    units=("CPU_AND_NE",),
    mode="single",
    paused=False,
    elapsed_ns=83 * SECOND,
    rate_per_s=482.1,
    samples=39_914,
    dropped=0,
    load="none",
    rate_hz=None,
)

LATENCY = LatencyView(
    unit="CPU_AND_NE",
    window_ns=30 * SECOND,
    n=1_000,
    counts=COUNTS,
    low_ms=2.0,
    high_ms=4.0,
    above=2,
    p50_ms=2.19,
    p90_ms=2.37,
    p99_ms=2.84,
    max_ms=6.54,
    p99_needs=None,
)


def slot(p90_ms: float, max_ms: float, *, spikes: int = 0) -> TimelineSlot:
    return TimelineSlot(p50_ms=0.9 * p90_ms, p90_ms=p90_ms, max_ms=max_ms, spikes=spikes)


SLOTS = (
    *[None] * 4,
    *[slot(2.3 + 0.1 * (i % 3), 2.6 + 0.2 * (i % 4)) for i in range(16)],
    slot(2.4, 6.5, spikes=1),
    *[slot(2.3 + 0.1 * (i % 3), 2.6 + 0.2 * (i % 4)) for i in range(20)],
    slot(2.5, 7.8, spikes=1),
    *[slot(2.3 + 0.1 * (i % 3), 2.7 + 0.1 * (i % 4)) for i in range(18)],
)

LANE = TimelineLane(unit="CPU_AND_NE", slots=SLOTS, p90_ms=2.37, threshold_ms=4.0, spikes=2)
TIMELINE = TimelineView(
    window_ns=30 * SECOND,
    slot_ns=SECOND // 2,
    lanes=(LANE,),
    spikes=2,
    marks=(TimelineMark(30, "mark"), TimelineMark(44, "control", "CPU_AND_NE")),
)


def row(unit: str, mean_ms: float | None = None, *, state: str = "paused", **changes: object) -> UnitRow:
    """A unit's row with plausible numbers around its mean; None: no samples yet."""
    known = mean_ms is not None
    mean = mean_ms or 0.0
    built = UnitRow(
        unit=unit,
        state=state,
        active=False,
        n=4_210 if known else 0,
        mean_ms=mean_ms,
        std_ms=0.19 if known else None,
        min_ms=mean * 0.95 if known else None,
        p50_ms=mean * 0.99 if known else None,
        p90_ms=mean * 1.06 if known else None,
        max_ms=mean * 2.7 if known else None,
        throughput_per_s=1000 / mean if known else None,
        difference=mean / 2.2 - 1 if known else None,
        spikes=3 if known else 0,
        placed=None,
        error=None,
        energy_mj=None,
        warning=None,
        details=(),
        violin=(),
        p99_ms=mean * 1.3 if known else None,
    )
    return replace(built, **changes)  # type: ignore[arg-type]


UNITS = UnitsView(
    rows=(
        row("CPU_AND_NE", 2.2, state="running", active=True, runs_now=True, placed="NE", violin=NE_VIOLIN),
        row("CPU_AND_GPU", 3.16, placed="GPU", violin=GPU_VIOLIN),
        row("CPU_ONLY", 4.98, placed="CPU", violin=CPU_VIOLIN),
        row("ALL", state="loading"),
    ),
    violin_low_ms=1.9,
    violin_high_ms=6.1,
    absent=(),
)

LOG = (
    LogLine(t=0, level="info", words="measuring CPU_AND_NE"),
    LogLine(t=1_240_000_000, level="info", words="CPU_AND_NE loaded in 412 ms, first call 9.8 ms"),
    LogLine(t=31_120_000_000, level="warning", words="spike 6.50 ms CPU_AND_NE"),
    LogLine(t=40_010_000_000, level="info", words="load cpu:2 confirmed"),
    LogLine(t=52_770_000_000, level="error", words="ALL failed: the plan could not be compiled for this device"),
)

NO_POWER = PowerView(
    rails=(),
    estimate=None,
    top_w=None,
    source="none",
    state="unavailable",
    reason="powermetrics: macOS tells power to root only",
    fix="sudo -v, in this very terminal",
    needs_access=True,
    interval_ns=None,
    thermal=None,
    flags=(),
    clusters=(),
    baseline_w=None,
    energy_mj=None,
    net_mj=None,
)


def rail(name: str, now_w: float | None, mean_w: float, peak_w: float) -> RailRow:
    """A rail that was measured for half of the window: a little around its mean, up to its peak once."""
    wave = [mean_w * (0.9 + 0.1 * (i % 3)) for i in range(29)]
    return RailRow(name, now_w, mean_w, peak_w, (*[None] * 30, peak_w, *wave))


POWER = PowerView(
    rails=(rail("cpu", 1.31, 1.2, 2.4), rail("gpu", 6.23, 6.1, 7.9), rail("ane", 0.03, 0.02, 0.1)),
    estimate=rail("sum", 7.57, 7.3, 9.8),
    top_w=9.8,
    source="powermetrics",
    state="running",
    reason="",
    fix="",
    interval_ns=SECOND // 2,
    thermal="Nominal",
    flags=(),
    clusters=(
        ClusterRow("E-Cluster", 1_210.0, 0.17, (0.17,) * 60, (1_210.0,) * 60),
        ClusterRow("P-Cluster", 3_300.0, 0.62, (0.62,) * 60, (3_300.0,) * 60),
        ClusterRow("GPU", 1_398.0, 0.9, (0.9,) * 60, (1_398.0,) * 60),
    ),
    baseline_w=0.2,
    energy_mj=17.8,
    net_mj=16.9,
)
HOST = HostView(
    cores=(0.1, 0.35, 0.9, 0.05, 0.6, 0.2, 0.0, 0.4),
    memory=0.61,
    swap_mb=1_234.0,
    battery=0.8,
    on_battery=True,
    canary_missed=6,
    canary_due=600,
    pressure=0.0,
    mhz=2_793.0,
    temperature_c=47.0,
    own_cpu=0.062,
    own_memory_mb=82.0,
    engine_cpu=0.24,
    engine_memory_mb=310.0,
    history=tuple(
        MachineReading(at * 5 * SECOND, tuple(0.05 * (at % 8) + 0.08 * core for core in range(8)), 0.062, 0.24)
        for at in range(17)
    ),
)

LIVE = SessionView(header=HEADER, latency=LATENCY, timeline=TIMELINE, units=UNITS, power=NO_POWER, host=None, log=LOG)
ENERGIES_MJ = (5.5, 17.8, 31.0, None)
POWERED = replace(
    LIVE,
    power=POWER,
    host=HOST,
    units=replace(
        UNITS, rows=tuple(replace(row, energy_mj=mj) for row, mj in zip(UNITS.rows, ENERGIES_MJ, strict=True))
    ),
)
OUTPUTS_DETAIL = "outputs compared with CPU_ONLY on 8 inputs, logits: max difference 3.1 of 12, same top 1 in 62%"
DOUBTFUL = replace(
    POWERED,
    units=replace(
        UNITS,
        rows=(
            replace(
                UNITS.rows[0],
                warning="top 1 differs",
                warning_detail=OUTPUTS_DETAIL,
                details=(
                    "compiled in 41.2 s, loaded in 412 ms, first call 9.8 ms",
                    "plan: 98 % Neural Engine; ANE drew 1,240 mW while it ran",
                    OUTPUTS_DETAIL,
                ),
            ),
            *UNITS.rows[1:],
        ),
    ),
)
EMPTY = SessionView(
    header=replace(HEADER, model="", units=(), rate_per_s=None, samples=0, elapsed_ns=0, chip=None, simulated=False),
    latency=LatencyView(None, 30 * SECOND, 0, (0,) * 60, 0.0, 1.0, 0, None, None, None, None, None),
    timeline=TimelineView(30 * SECOND, SECOND // 2, (), None),
    units=UnitsView((), 0.0, 1.0, ()),
    power=replace(NO_POWER, state=None, reason="", fix=""),
    host=None,
    log=(),
)
PAUSED = replace(LIVE, header=replace(HEADER, paused=True, rate_per_s=None))
FAILED = replace(
    LIVE,
    units=replace(
        UNITS,
        rows=(
            *UNITS.rows[:3],
            row(
                "ALL",
                state="failed",
                error=Failure(kind="load", message="the plan could not be compiled", hint="try CPU_ONLY"),
            ),
        ),
    ),
)

HOSTILE = "[/bold][red]x\x1b]52;c;ZXZpbA==\x07\u202egnp.exe\x9b31m"


def hostile_view() -> SessionView:
    """Every text of a view as an attacker would write it."""
    failure = Failure(kind=HOSTILE, message=HOSTILE, hint=HOSTILE)
    rows = (
        replace(
            row(HOSTILE, 2.2, state=HOSTILE, active=True, runs_now=True, placed=HOSTILE, violin=NE_VIOLIN),
            warning=HOSTILE,
            details=(HOSTILE, HOSTILE),
        ),
        row("CPU_ONLY", state="failed", error=failure),
    )
    return SessionView(
        header=replace(HEADER, model=HOSTILE, chip=HOSTILE, units=(HOSTILE,), mode=HOSTILE, load=HOSTILE),
        latency=replace(LATENCY, unit=HOSTILE),
        timeline=replace(
            TIMELINE,
            lanes=(replace(LANE, unit=HOSTILE, slots=(slot(2.0, 3.0),) * 60), replace(LANE, unit="\x1b")),
            marks=(TimelineMark(30, "\x1b", "\x1b"), TimelineMark(31, HOSTILE, HOSTILE)),
            loads=(TimelineLoad(3, 20, HOSTILE, begins=True, ends=True),),
        ),
        units=replace(UNITS, rows=rows, absent=((HOSTILE, HOSTILE),)),
        power=replace(
            POWER,
            rails=(rail(HOSTILE, 1.0, 1.0, 1.0),),
            source=HOSTILE,
            state=HOSTILE,
            reason=HOSTILE,
            fix=HOSTILE,
            thermal=HOSTILE,
            flags=(HOSTILE,),
            clusters=(ClusterRow(HOSTILE, 1.0, 1.0),),
        ),
        host=HOST,
        log=(LogLine(t=0, level=HOSTILE, words=HOSTILE), LogLine(t=1, level="error", words=HOSTILE)),
    )


RECORDING = RecordingStatus(path="run.jsonl", size_bytes=1_234_567)
REPLAY = ReplayStatus(
    path="run.jsonl",
    position_ns=27_500_000_000,
    duration_ns=60 * SECOND,
    speed=1.0,
    playing=True,
    marks_ns=(15 * SECOND, 45 * SECOND),
)


def frame_state(
    session: SessionView = LIVE,
    *,
    recording: RecordingStatus | None = None,
    replay: ReplayStatus | None = None,
    frozen: bool = False,
) -> FrameState:
    return FrameState(session=session, recording=recording, replay=replay, frozen=frozen, fps=4.0)


VERDICT = VerdictPage(
    judged_ns=80 * SECOND,
    blocks=(
        Paragraph("load none; thermal state Nominal; wall time", "muted"),
        Facts(
            [
                (
                    Toned("real time    CPU_AND_NE", "strong"),
                    "lowest mean, 2.20 ms; 0.960 ms ahead of CPU_AND_GPU (95 % interval 0.91 to 1.02)",
                ),
                (Toned("predictable  CPU_ONLY", "strong"), "lowest P99/P50, 1.31 (95% interval 1.25 to 1.38)"),
                (Toned("batch        CPU_AND_NE", "strong"), "lowest median, 2.19 ms: rare spikes forgiven"),
                (Toned("avoid        ALL", "error"), "highest mean, 6.10 ms, and highest max/min, 12.2"),
            ]
        ),
        Paragraph("1 sample decides that CPU_ONLY comes before ALL", "warning"),
        Table(("unit", "n", "mean", "P90"), [("CPU_AND_NE", "4,210", "2.20", "2.33")], ("unit",)),
        Items(["latency (mean): CPU_AND_NE < CPU_AND_GPU < CPU_ONLY < ALL"]),
        Paragraph("CPU_AND_GPU: the model could not be compiled", "error"),
        Code("let configuration = MLModelConfiguration()\nconfiguration.computeUnits = .cpuAndNeuralEngine", "swift"),
        Items(["times in ms"]),
    ),
)


@dataclass
class Told:
    """Stands in for live and replay controls alike: writes down every call."""

    calls: list[tuple[object, ...]] = field(default_factory=list)
    fault: HettopError | None = None
    dials: tuple[LoadDial, ...] = (
        LoadDial("cpu", 1, 100, 4),
        LoadDial("memory", 0, 100, 4),
        LoadDial("gpu", 0, 100, 4, "Core ML needs macOS"),
    )
    asked: tuple[StudyOffer, ...] = (
        StudyOffer("layers", "time by layer"),
        StudyOffer("sweep", "what larger batches give"),
    )
    left_ns: int | None = None
    asking: AccessRequest = field(default_factory=lambda: AccessRequest(("true",), "access to power figures"))

    def _note(self, *call: object) -> None:
        self.calls.append(call)
        if self.fault is not None:
            raise self.fault

    def switch(self, unit: str) -> None:
        self._note("switch", unit)

    def interleave(self) -> None:
        self._note("interleave")

    def toggle_pause(self) -> None:
        self._note("toggle_pause")

    def reset(self) -> None:
        self._note("reset")

    def mark(self, text: str) -> None:
        self._note("mark", text)

    def toggle_recording(self) -> None:
        self._note("toggle_recording")

    def restart(self, unit: str) -> None:
        self._note("restart", unit)

    def loads(self) -> tuple[LoadDial, ...]:
        return self.dials

    def change_load(self, what: str, level: int, duty_percent: int) -> None:
        self._note("change_load", what, level, duty_percent)

    def end_load(self) -> None:
        self._note("end_load")

    def measure_without_load(self) -> None:
        self._note("measure_without_load")

    def without_load_left_ns(self) -> int | None:
        return self.left_ns

    def studies(self) -> tuple[StudyOffer, ...]:
        return self.asked

    def study(self, name: str) -> None:
        self._note("study", name)

    def end_study(self) -> None:
        self._note("end_study")

    def take_baseline(self) -> None:
        self._note("take_baseline")

    def power_access(self) -> AccessRequest:
        self._note("power_access")
        return self.asking

    def retry_power(self) -> None:
        self._note("retry_power")

    def toggle_play(self) -> None:
        self._note("toggle_play")

    def seek(self, position_ns: int) -> None:
        self._note("seek", position_ns)

    def step_window(self, direction: int) -> None:
        self._note("step_window", direction)

    def change_speed(self, direction: int) -> None:
        self._note("change_speed", direction)

    def next_mark(self, direction: int) -> None:
        self._note("next_mark", direction)

    def next_spike(self, direction: int) -> None:
        self._note("next_spike", direction)

    def read_earlier_log(self) -> None:
        self._note("read_earlier_log")

    def select(self, direction: int) -> None:
        self._note("select", direction)

    def toggle_loop(self) -> None:
        self._note("toggle_loop")

    def overview(self, columns: int) -> tuple[Band | None, ...]:
        """A course with a slow stretch in its middle and one spike."""
        slow = range(columns // 3, columns // 2)
        usual, spiky, slowed = (
            Band("CPU_AND_NE", 900, 2.2, 2.4, 3.1),
            Band("CPU_AND_NE", 900, 2.2, 2.5, 40.0),
            Band("CPU_AND_NE", 900, 4.1, 4.9, 6.5),
        )
        return tuple(
            None if column < 2 else spiky if column == columns * 3 // 4 else slowed if column in slow else usual
            for column in range(columns)
        )


class FakeFeed:
    """A feed whose views are given; `told` holds what its controls were asked."""

    def __init__(
        self,
        shown: SessionView = LIVE,
        *,
        replay: ReplayStatus | None = None,
        recording: RecordingStatus | None = None,
        notices: tuple[Notice, ...] = (),
        fault: HettopError | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.shown = shown
        self.told = Told(fault=fault)
        self.requests: list[ViewRequest] = []
        self.frames: list[int] = []
        self.pumped = 0
        self.page = VERDICT
        self.verdicts_asked = 0
        self._budget = budget
        self._replay = replay
        self._recording = recording
        self._notices = list(notices)

    def look(self, _: Session, request: ViewRequest) -> SessionView:
        """The view function to give to the app."""
        self.requests.append(request)
        return self.shown

    @property
    def live(self) -> LiveControls | None:
        return None if self._replay is not None else self.told

    @property
    def replay(self) -> ReplayControls | None:
        return self.told if self._replay is not None else None

    def pump(self) -> None:
        self.pumped += 1

    @property
    def session(self) -> Session:
        return Session()

    @property
    def now_ns(self) -> int:
        return self.shown.header.elapsed_ns

    def recording_status(self) -> RecordingStatus | None:
        return self._recording

    def replay_status(self) -> ReplayStatus | None:
        return self._replay

    def verdict(self) -> VerdictPage:
        self.verdicts_asked += 1
        return self.page

    def budget(self) -> Budget | None:
        return self._budget

    def study_page(self, study: Study) -> Sequence[Block]:
        return page_of(study)

    def notices(self) -> list[Notice]:
        taken, self._notices = self._notices, []
        return taken

    def drew_frame(self, duration_ns: int) -> None:
        self.frames.append(duration_ns)

    def close(self) -> None:
        """Nothing is open."""
