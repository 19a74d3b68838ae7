"""What is known of one unit's engine: its state, first call, warm-up, failure, and where its clock stands.

Knows nothing of the distributions of its samples; those belong to conditions.
"""

from __future__ import annotations

from hettop.events import Engine, Failure, Outputs, Plan, Samples, UnitState

TOLD = (
    "backend",
    "load_ns",
    "first_ns",
    "compile_ns",
    "cached",
    "qos",
    "placed",
    "note",
    "peak_memory_mb",
    "unfinished",
)
"""What an engine tells of itself once, and what then stays until it tells something else."""

WARMUPS_KEPT = 1000
SEVERAL_TURNS = 3
"""With fewer, which are a switch or two by hand, what the machine does meanwhile is taken for what the units do."""


class Unit:
    """One row of the units panel, folded."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = "spawning"
        self.since_ns = 0
        self.backend: str | None = None
        self.load_ns: int | None = None
        self.first_ns: int | None = None
        self.compile_ns: int | None = None
        self.cached: bool | None = None
        self.qos: str | None = None
        self.warmup_ns: list[int] = []
        self.placed: str | None = None
        self.note: str | None = None
        self.peak_memory_mb: float | None = None
        self.unfinished: int | None = None
        self.error: Failure | None = None
        self.plan: Plan | None = None
        self.outputs: Outputs | None = None
        self.apart: dict[str, int] = {}
        self.last_end_ns: int | None = None
        self.last_condition: tuple[str, str, str | None] | None = None
        self.stretch_ns: int | None = None

    def engine(self, event: Engine) -> None:
        """Take in a change of state; what the event does not mention stays. A new start forgets the old failure."""
        if event.state != self.state:
            self.since_ns = event.t
        self.state = event.state
        if event.state == "spawning":
            self.warmup_ns = []
            self.load_ns = self.first_ns = self.compile_ns = self.cached = None
        self.error = event.error
        for name in TOLD:
            value = getattr(event, name)
            if value is not None:
                setattr(self, name, value)

    def apart_from_steady(self, window: Samples) -> None:
        """Keep the samples of a phase that does not enter the distribution."""
        self.apart[window.phase] = self.apart.get(window.phase, 0) + window.n
        if window.phase == "first":
            self.first_ns = int(window.lat_ns[0])
        elif window.phase == "warmup":
            room = WARMUPS_KEPT - len(self.warmup_ns)
            self.warmup_ns.extend(window.lat_ns[:room].tolist())

    @property
    def turns(self) -> int:
        """How often it had its turn, since the statistics began: each turn begins with a sample of phase `resume`."""
        return self.apart.get("resume", 0)

    def gap_before(self, window: Samples) -> int | None:
        """The time between the sample before this window and its first one; None where something is missing between."""
        if self.last_condition is None or self.last_end_ns is None:
            return None
        return max(0, window.t0 - self.last_end_ns)

    def moved_on(self, window: Samples, last_end_ns: int) -> int | None:
        """The pause before this window if it directly continues the last one (same condition and phase)."""
        here = (window.phase, window.condition, window.thermal)
        continues = here == self.last_condition and self.last_end_ns is not None
        pause = max(0, window.t0 - self.last_end_ns) if continues and self.last_end_ns is not None else None
        if window.phase != "steady":
            self.stretch_ns = None
        elif pause is None or self.stretch_ns is None:
            self.stretch_ns = window.t0
        self.last_condition, self.last_end_ns = here, last_end_ns
        return pause

    def broke_off(self) -> None:
        """What comes next does not directly continue what is known: samples between them were lost or forgotten."""
        self.last_condition = self.stretch_ns = None

    def snapshot(self) -> UnitState:
        phase, load, thermal = self.last_condition or (None, None, None)
        return UnitState(
            unit=self.name,
            state=self.state,
            since_ns=self.since_ns,
            backend=self.backend,
            load_ns=self.load_ns,
            first_ns=self.first_ns,
            compile_ns=self.compile_ns,
            cached=self.cached,
            qos=self.qos,
            warmup_ns=list(self.warmup_ns),
            placed=self.placed,
            note=self.note,
            peak_memory_mb=self.peak_memory_mb,
            unfinished=self.unfinished,
            error=self.error,
            plan=self.plan,
            outputs=self.outputs,
            apart=dict(self.apart),
            last_end_ns=self.last_end_ns,
            last_phase=phase,
            last_load=load,
            last_thermal=thermal,
            stretch_ns=self.stretch_ns,
        )

    @classmethod
    def restored(cls, state: UnitState) -> Unit:
        unit = cls(state.unit)
        for name in ("state", "since_ns", *TOLD, "error", "plan", "outputs"):
            setattr(unit, name, getattr(state, name))
        unit.warmup_ns = list(state.warmup_ns)
        unit.apart = dict(state.apart)
        unit.last_end_ns = state.last_end_ns
        unit.stretch_ns = state.stretch_ns
        if state.last_phase is not None and state.last_load is not None:
            unit.last_condition = (state.last_phase, state.last_load, state.last_thermal)
        return unit
