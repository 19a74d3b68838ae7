"""What is known of one unit's engine: its state, first call, warm-up, failure, and where its clock stands."""

from __future__ import annotations

import msgspec

from hettop.events import LARGEST_EXACT, Engine, Interrupted, Samples, UnitState

ENGINE_FIELDS = (
    "backend",
    "load_ns",
    "first_ns",
    "compile_ns",
    "cached",
    "qos",
    "placed",
    "provider_nodes",
    "note",
    "peak_memory_mb",
    "unfinished",
)
"""What an engine describes itself once, and what then stays until it reports something else."""

WARMUPS_KEPT = 1000
SEVERAL_TURNS = 3
"""With fewer, which are a switch or two by hand, what the machine does meanwhile is taken for what the units do."""


class Unit(UnitState):
    """One row of the units panel: what a keyframe holds of it, and how events change that."""

    @property
    def name(self) -> str:
        return self.unit

    @property
    def last_condition(self) -> tuple[str, str, str | None] | None:
        """Phase, load and thermal state of the last sample; None where something is missing since."""
        if self.last_phase is None or self.last_load is None:
            return None
        return self.last_phase, self.last_load, self.last_thermal

    def engine(self, event: Engine) -> None:
        """Take in a change of state; what the event does not mention stays. A new start forgets the old failure."""
        if event.state != self.state:
            self.since_ns = event.t
        self.state = event.state
        if event.state == "spawning":
            self.warmup_ns = []
            self.load_ns = self.first_ns = self.compile_ns = self.cached = None
        if event.state == "running":
            self.unfinished = None  # what waited during a pause is being served
        self.error = event.error
        for name in ENGINE_FIELDS:
            value = getattr(event, name)
            if value is not None:
                setattr(self, name, value)

    def interrupted(self, event: Interrupted) -> None:
        """Its process did not run for a while; up to what a line can hold, as all that a damaged recording claims."""
        if event.why == "asleep":
            self.sleeps, self.slept_ns = self.sleeps + 1, min(self.slept_ns + event.ns, LARGEST_EXACT)
        else:
            self.stops, self.stopped_ns = self.stops + 1, min(self.stopped_ns + event.ns, LARGEST_EXACT)

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

    def wait_before(self, window: Samples) -> int:
        """The wait for a paced window's first arrival, which is part of its running time.

        After a call of another phase, too: so n paced calls span n periods. Not after the first call of a process,
        which may be followed by other work.
        """
        if window.late_ns is None or self.last_phase == "first":
            return 0
        return self.gap_before(window) or 0

    def moved_on(self, window: Samples, last_end_ns: int) -> int | None:
        """The pause before this window if it directly continues the last one (same condition and phase)."""
        here = (window.phase, window.condition, window.thermal)
        continues = here == self.last_condition and self.last_end_ns is not None
        pause = max(0, window.t0 - self.last_end_ns) if continues and self.last_end_ns is not None else None
        if window.phase != "steady":
            self.stretch_ns = None
        elif pause is None or self.stretch_ns is None:
            self.stretch_ns = window.t0
        self.last_phase, self.last_load, self.last_thermal = here
        self.last_end_ns = last_end_ns
        return pause

    def broke_off(self) -> None:
        """What comes next does not directly continue what is known: samples between them were lost or forgotten."""
        self.last_phase = self.last_load = self.last_thermal = self.stretch_ns = None

    def copy(self) -> Unit:
        """As it is now, for a keyframe."""
        return msgspec.structs.replace(self, warmup_ns=list(self.warmup_ns), apart=dict(self.apart))


def new_unit(name: str) -> Unit:
    """A unit of which nothing but the name is known."""
    return Unit(unit=name, state="spawning")


def restored_unit(state: UnitState) -> Unit:
    """The unit that a keyframe describes."""
    return Unit(**msgspec.structs.asdict(state)).copy()
