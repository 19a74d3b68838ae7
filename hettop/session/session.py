"""The fold: one reducer that turns the event stream into a session, live and in replay alike.

Does no I/O, reads no clock and starts nothing: the state is a function of the events folded so far. It is changed in
place, because copying histograms for every window would cost more than folding it.
"""

from __future__ import annotations

from collections import deque
from functools import singledispatchmethod

from hettop import events
from hettop.events import AnyEvent, Keyframe, LevelDrift, PowerOverlap, WorkerLeft
from hettop.session.answers import Answers
from hettop.session.beside import RecentComparisons
from hettop.session.canary import CanaryFold
from hettop.session.causes import Causes
from hettop.session.condition import LONGEST_WINDOW_NS, Condition, ConditionKey, PowerHistory, TurnNumbers
from hettop.session.energy import Energy
from hettop.session.event_log import EventLog
from hettop.session.history import LONGEST_TEXT, History
from hettop.session.log import log_event
from hettop.session.studies import Studies
from hettop.session.unit import Unit, new_unit, restored_unit

__all__ = ["LONGEST_WINDOW_NS", "RAW_LIMIT", "Session"]

RAW_LIMIT = 100_000  # 800 kB a condition; up to here quantiles are exact
# A machine has a dozen units and a session a few loads; a damaged or hostile recording can name a million. Each costs
# about 120 kB, so the rest of them is counted as dropped.
MOST_CONDITIONS = 512
MOST_BASELINES = 32  # one for each load
FOLD = 5
"""Which fold this is: raise it whenever folding the same lines gives another state than before, in any field that a
keyframe holds (a threshold, an energy, a drift found elsewhere), so that a reader knows that a keyframe's state is not
what it would have made of the lines. Words are not part of the state. Keyframes of format [1,0] are of the first."""

FIRST_FOLD = 1
HOST_HISTORY = 240
"""Readings of the machine, one every five seconds: the last twenty minutes. No keyframe has them."""


class Session:
    """Everything known at a moment of the stream.

    raw_limit: up to how many samples of a condition are kept. trailing: whether those of the last minute are, which
    views are made of; no keyframe has them.
    """

    def __init__(self, raw_limit: int = RAW_LIMIT, *, trailing: bool = True) -> None:
        self.header: events.Header | None = None
        self.t = 0
        self.units: dict[str, Unit] = {}
        self.conditions: dict[ConditionKey, Condition] = {}
        self.control: events.Control | None = None
        self.advice: events.Advice | None = None
        self.load = events.NO_LOAD
        self.thermal: str | None = None
        self.power: events.Power | None = None
        self.power_history = PowerHistory()
        self.power_status: events.PowerStatus | None = None
        self.energy = Energy()
        self.baselines: dict[str, events.Baseline] = {}
        self.causes = Causes()
        self.host: events.HostLoad | None = None
        self.host_history: deque[events.HostLoad] = deque(maxlen=HOST_HISTORY)
        self.canary = CanaryFold()
        self.comparisons = RecentComparisons()
        self.studies = Studies()
        self.history = History()
        self.answers: dict[tuple[str, str], Answers] = {}
        """By unit and load, where units give answers token by token."""
        self.log = EventLog()
        self.reset_ns: int | None = None
        self.samples = 0
        self.dropped = 0
        self.ended: events.End | None = None
        self.inputs: list[str] = []
        self._turns = TurnNumbers()
        self._raw_limit = raw_limit
        self._trailing = trailing

    @property
    def simulated(self) -> bool:
        return self.header is not None and self.header.simulated

    @property
    def captured(self) -> bool:
        """Whether the power was played from a capture, and so does not belong to this session."""
        latest = self.power or self.power_status
        return latest is not None and events.is_capture(latest.source)

    @property
    def paused(self) -> bool:
        return self.control is not None and self.control.paused

    @property
    def limit_ns(self) -> int | None:
        """The active latency budget: the one that was set, else the period of the rate."""
        control = self.control
        if control is None:
            return None
        if control.limit_ns is not None:
            return control.limit_ns
        slowest = 1e9 / events.LARGEST_EXACT  # below it a period is not a number of nanoseconds that a line can hold
        return round(1e9 / control.rate_hz) if control.rate_hz and control.rate_hz > slowest else None

    def fold(self, event: AnyEvent) -> None:
        """Take in one event. Events of one unit must come in their order; units commute."""
        self.t = max(self.t, event.t)
        self._settle_causes()
        # Looked up by hand: the bound form of a singledispatchmethod is made anew for each call, for 4 µs.
        self._folds.dispatch(type(event))(self, event)
        logged = log_event(event)
        if logged is not None:
            self.log.add(logged)

    def _settle_causes(self) -> None:
        """Count what was present at spikes and at other moments, as soon as all that was present is known."""
        until = self.causes.due(self.t)
        if until is not None:
            for condition in self.conditions.values():
                condition.found.settle(until, self.causes.of(condition.key.unit))
            self.causes.forget_before(until)

    @singledispatchmethod
    def _fold(self, event: AnyEvent) -> None:
        """Kinds without a part in the folded state (keyframes among them: they repeat it) change nothing."""

    @_fold.register
    def _(self, event: events.Header) -> None:
        self.header = event

    @_fold.register
    def _(self, event: events.Samples) -> None:
        if self._is_one_too_many(event):
            self._count_dropped(event.n)
            return
        self.samples += event.n
        unit = self._unit(event.unit)
        ends = event.starts_ns() + event.lat_ns
        gap = unit.gap_before(event)
        wait = unit.wait_before(event)
        pause = unit.moved_on(event, int(ends[-1]))
        self.energy.samples(event, ends, pause is not None, wait)
        if event.phase != "steady":
            unit.apart_from_steady(event)
            condition = self.conditions.get(ConditionKey(event.unit, event.condition, event.thermal))
            if event.phase == "resume":
                self._turns.resumed(event)
                if gap is not None and condition is not None:
                    condition.gaps.resumed(gap, event.lat_ns)
            return
        condition = self._condition(event)
        turn = self._turns.of(event, int(ends[-1]))
        condition.turns.begin(turn if event.answer is None else event.answer, condition.wall.n, event.t0)
        if event.position and (answers := self._answers(event.unit, event.condition)) is not None:
            answers.tokens_came(event)
        spikes = condition.add(event, ends, pause, self.limit_ns, self.causes.settled, wait_ns=wait)
        for end_ns, latency_ns in spikes:
            self.log.spike(event.unit, end_ns, latency_ns)
        self.history.unit(event.unit).add(
            ends, event.lat_ns, len(spikes), lambda: condition.thresholds.exceeded(ends, event.lat_ns)
        )
        if (news := condition.drift.news()) is not None:
            self.history.mark(news.known_ns, "drift", event.unit)
            self.log.add(
                LevelDrift(
                    t=news.known_ns,
                    unit=event.unit,
                    since_ns=news.from_ns,
                    before_ns=news.before_ns,
                    after_ns=news.after_ns,
                )
            )
        condition.gaps.steady(event.gap_ns, event.lat_ns, gap)

    @_fold.register
    def _(self, event: events.Answer) -> None:
        if event.phase == "steady" and (answers := self._answers(event.unit, event.condition)) is not None:
            answers.ended(event)

    @_fold.register
    def _(self, event: events.Engine) -> None:
        if event.unit not in self.units and len(self.units) >= MOST_CONDITIONS:
            return
        self._unit(event.unit).engine(event)
        self.inputs = event.inputs or self.inputs

    @_fold.register
    def _(self, event: events.Plan) -> None:
        if event.unit in self.units:
            self.units[event.unit].plan = event

    @_fold.register
    def _(self, event: events.Outputs) -> None:
        if event.unit in self.units:
            self.units[event.unit].outputs = event

    @_fold.register
    def _(self, event: events.Control) -> None:
        self.control = event
        self.history.mark(event.t, "control", event.units[0] if event.action == "switch" and event.units else "")
        if event.action == "reset":
            self.reset_ns = event.t
            self.conditions.clear()
            self.answers.clear()
            self.history.reset()
            self.canary.reset()
            for unit in self.units.values():
                unit.broke_off()
            self.energy.reset(self.units.values())

    @_fold.register
    def _(self, event: events.Advice) -> None:
        self.advice = event if event.unit is not None else None

    @_fold.register
    def _(self, event: events.Load) -> None:
        if event.condition != self.load:
            self.history.loads.append((event.t, event.condition[:LONGEST_TEXT]))
        self.load = event.condition
        self.canary.load(event)
        self.causes.load(event)

    @_fold.register
    def _(self, event: events.Usage) -> None:
        if event.unit in self.units:
            self.causes.usage(event)

    @_fold.register
    def _(self, event: events.Frame) -> None:
        self.causes.frame(event)

    @_fold.register
    def _(self, event: events.Power) -> None:
        if not events.is_capture(event.source):
            self.causes.power(event, self.power)
        self.thermal = None if events.is_capture(event.source) else event.thermal
        before, self.power = self.power, event
        self.power_history.add(event)
        known = self.energy.overlapping
        self.energy.power(event, self.units.values(), self.conditions, before)
        if not known and self.energy.overlapping:
            self.log.add(PowerOverlap(t=event.t, source=event.source))

    @_fold.register
    def _(self, event: events.PowerStatus) -> None:
        self.power_status = event
        self.energy.status(event)

    @_fold.register
    def _(self, event: events.Baseline) -> None:
        if events.is_capture(event.source):
            return
        self.baselines.pop(event.load, None)
        self.baselines[event.load] = event
        if len(self.baselines) > MOST_BASELINES:
            del self.baselines[next(iter(self.baselines))]

    @_fold.register
    def _(self, event: events.HostLoad) -> None:
        self.host = event
        self.host_history.append(event)

    @_fold.register
    def _(self, event: events.Canary) -> None:
        self.canary.add(event, self.units.values(), self.control, self.thermal)
        self.causes.canary(event)

    @_fold.register
    def _(self, event: events.Study) -> None:
        for name, why in self.studies.add(event).items():
            self.log.add(WorkerLeft(t=event.t, unit=name, error=why))

    @_fold.register
    def _(self, event: events.Mark) -> None:
        self.history.mark(event.t, "mark", event.text)

    @_fold.register
    def _(self, event: events.Dropped) -> None:
        self._count_dropped(event.n)
        for unit in self.units.values():
            if event.unit is None or event.unit == unit.name:
                unit.broke_off()

    @_fold.register
    def _(self, event: events.Interrupted) -> None:
        if event.unit in self.units:
            self.units[event.unit].interrupted(event)

    @_fold.register
    def _(self, event: events.End) -> None:
        self.ended = event

    _folds = _fold.dispatcher

    def _count_dropped(self, n: int) -> None:
        """Up to what a line can hold: a damaged recording can claim to have lost any number."""
        self.dropped = min(self.dropped + n, events.LARGEST_EXACT)

    def _is_one_too_many(self, window: events.Samples) -> bool:
        """Whether this window's unit or condition would be one more than a session may have."""
        if window.unit not in self.units and len(self.units) >= MOST_CONDITIONS:
            return True
        key = ConditionKey(window.unit, window.condition, window.thermal)
        return window.phase == "steady" and key not in self.conditions and len(self.conditions) >= MOST_CONDITIONS

    def _unit(self, name: str) -> Unit:
        if name not in self.units:
            self.units[name] = new_unit(name)
        return self.units[name]

    def _answers(self, unit: str, load: str) -> Answers | None:
        """Those of the unit under the load; None for one too many."""
        if (unit, load) not in self.answers:
            if len(self.answers) >= MOST_CONDITIONS:
                return None
            self.answers[unit, load] = Answers(unit, load)
        return self.answers[unit, load]

    def _condition(self, window: events.Samples) -> Condition:
        key = ConditionKey(window.unit, window.condition, window.thermal)
        if key not in self.conditions:
            self.conditions[key] = Condition(key, self._raw_limit, trailing=self._trailing)
        return self.conditions[key]

    def keyframe(self, t: int, crc32: int) -> Keyframe:
        """The whole folded state at `t`; `crc32` is the writer's, of the bytes before it."""
        log = self.log.tail()
        return Keyframe(
            t=t,
            crc32=crc32,
            samples=self.samples,
            dropped=self.dropped,
            load=self.load,
            thermal=self.thermal,
            units=[unit.copy() for unit in self.units.values()],
            conditions=[condition.state(self.causes.settled) for condition in self.conditions.values()],
            control=self.control,
            advice=self.advice,
            power=self.power,
            power_status=self.power_status,
            energy=self.energy.state(),
            baselines=list(self.baselines.values()),
            host=self.host,
            canary=None if self.canary.due is None else (self.canary.due, self.canary.missed or 0),
            canary_state=self.canary.state(),
            causes=self.causes.state(),
            studies=self.studies.state(),
            log=log.entries,
            log_events=log.events,
            log_state=log.state,
            reset_ns=self.reset_ns,
            history=self.history.state(),
            answers=[answers.state() for answers in self.answers.values()],
            fold=FOLD,
        )

    @classmethod
    def restored(cls, header: events.Header, keyframe: Keyframe) -> Session:
        """The session a keyframe describes, without raw samples and trailing window.

        ValueError when the keyframe contradicts itself.
        """
        if max(len(keyframe.units), len(keyframe.conditions), len(keyframe.answers)) > MOST_CONDITIONS:
            raise ValueError("a keyframe has more conditions than a session may have")
        session = cls(raw_limit=0)
        session.header = header
        session.t = keyframe.t
        session.samples = keyframe.samples
        session.dropped = keyframe.dropped
        session.load = keyframe.load
        session.reset_ns = keyframe.reset_ns
        session.thermal = keyframe.thermal
        session.control = keyframe.control
        session.advice = keyframe.advice
        session.power = keyframe.power
        session.power_status = keyframe.power_status
        latest = [each for each in (keyframe.power, keyframe.power_status) if each is not None]
        real = [each.source for each in latest if not events.is_capture(each.source)]
        session.energy = Energy.restored(keyframe.energy, next(iter(real), None))
        session.baselines = {baseline.load: baseline for baseline in keyframe.baselines}
        session.host = keyframe.host
        session.host_history.extend([] if keyframe.host is None else [keyframe.host])
        session.canary = CanaryFold.restored(keyframe.canary, keyframe.canary_state, keyframe.load)
        session.studies = Studies(keyframe.studies)
        session.answers = {(state.unit, state.load): Answers.restored(state) for state in keyframe.answers}
        session.log = EventLog.restored([*keyframe.log, *keyframe.log_events], keyframe.log_state)
        session.units = {state.unit: restored_unit(state) for state in keyframe.units}
        session.causes = Causes.restored(keyframe.causes)
        session.history = History.restored(keyframe.history)
        restored = [Condition.restored(state, session.causes.settled) for state in keyframe.conditions]
        session.conditions = {condition.key: condition for condition in restored}
        return session


def current_condition(session: Session, unit: str) -> Condition | None:
    """The unit's condition under the active load (and thermal state); else its latest under that load."""
    found = session.conditions.get(ConditionKey(unit, session.load, session.thermal))
    if found is not None:
        return found
    same_load = [c for key, c in session.conditions.items() if key.unit == unit and key.load == session.load]
    return same_load[-1] if same_load else None
