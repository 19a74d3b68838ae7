"""Advice while a session runs: given when another unit is proven to do better, and steady while nothing changes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.signal import lfilter

from hettop import events
from hettop.analysis.advice import Adviser
from hettop.session.session import Session
from tests.streams import MS, S, header, window

LOOK_NS = 2 * S
A, B = "CPU_ONLY", "ALL"


@dataclass
class Watched:
    """A session whose units deliver a hundred samples a second, looked at every two seconds."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))
    session: Session = field(default_factory=lambda: Session(raw_limit=0))
    adviser: Adviser = field(default_factory=Adviser)
    said: list[str | None] = field(default_factory=list)
    t: int = 0
    stickiness: float = 0.0
    spread: float = 0.05
    states: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.session.fold(header())

    def steer(self, *units: str, paused: bool = False) -> None:
        mode = "single" if len(units) == 1 else "interleave"
        self.session.fold(events.Control(t=self.t, action="switch", units=list(units), mode=mode, paused=paused))

    def load(self, condition: str) -> None:
        self.session.fold(events.Load(t=self.t, what="all", state="confirmed", condition=condition))

    def latencies(self, unit: str, mean_ms: float, n: int) -> list[int]:
        """Log-normal, each sample's deviation partly the one before it (AR(1))."""
        noise = self.rng.normal(0, 1, n) * (1 - self.stickiness**2) ** 0.5
        last = self.states.get(unit, 0.0)
        states, _ = lfilter([1.0], [1.0, -self.stickiness], noise, zi=[self.stickiness * last])
        self.states[unit] = states[-1]
        found: list[int] = (mean_ms * MS * np.exp(self.spread * states)).astype(int).tolist()
        return found

    def run(self, looks: int, **means_ms: float) -> None:
        """That many looks, before each of which the units have been measured at these means."""
        for _ in range(looks):
            for unit, mean_ms in means_ms.items():
                n = 200 // len(means_ms)
                each = window(self.latencies(unit, mean_ms, n), t0=self.t, unit=unit, load=self.session.load)
                self.session.fold(each)
            self.t += LOOK_NS
            if (advice := self.adviser.poll(self.session, self.t)) is not None:
                self.session.fold(advice)
                self.said.append(advice.unit)


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_a_unit_that_is_proven_to_be_faster_is_advised_once_and_with_both_figures(watched: Watched) -> None:
    watched.steer(A, B)
    watched.run(10, CPU_ONLY=4.0, ALL=2.0)
    assert watched.said == [B]
    advice = watched.session.advice
    assert advice is not None
    assert (advice.unit, advice.over, advice.load) == (B, A, "none")
    # the P90 of a log-normal with sigma .05 is exp(1.2816 * .05) = 1.066 times its median
    assert advice.p90_ns == pytest.approx(2.0 * MS * 1.066, rel=0.02)
    assert advice.over_p90_ns == pytest.approx(4.0 * MS * 1.066, rel=0.02)


def test_nothing_is_said_before_three_looks_agree(watched: Watched) -> None:
    watched.steer(A, B)
    watched.run(2, CPU_ONLY=4.0, ALL=2.0)
    assert watched.said == []


def test_a_gain_of_less_than_five_percent_is_not_worth_a_word(watched: Watched) -> None:
    watched.steer(A, B)
    watched.run(30, CPU_ONLY=4.0, ALL=3.9)
    assert watched.said == []


def test_doing_what_was_advised_ends_the_advice(watched: Watched) -> None:
    watched.steer(A, B)
    watched.run(5, CPU_ONLY=4.0, ALL=2.0)
    watched.steer(B)
    watched.run(5, ALL=2.0)
    assert watched.said == [B, None]


def test_a_unit_that_ran_earlier_under_the_same_load_is_advised_while_another_runs(watched: Watched) -> None:
    watched.steer(B)
    watched.run(2, ALL=2.0)
    watched.steer(A)
    watched.run(5, CPU_ONLY=4.0)
    assert watched.said == [B]


def test_what_was_measured_under_another_load_is_no_reason(watched: Watched) -> None:
    watched.steer(B)
    watched.run(3, ALL=2.0)
    watched.load("cpu:2")
    watched.steer(A)
    watched.run(10, CPU_ONLY=4.0)
    assert watched.said == []


def test_another_load_takes_the_advice_back_and_may_give_another(watched: Watched) -> None:
    watched.steer(A, B)
    watched.run(6, CPU_ONLY=4.0, ALL=2.0)
    watched.load("cpu:2")
    watched.run(8, CPU_ONLY=4.0, ALL=9.0)
    assert watched.said == [B, None, A]


def test_advice_is_taken_back_when_the_unit_is_no_better_any_more(watched: Watched) -> None:
    watched.steer(A, B)
    watched.run(6, CPU_ONLY=4.0, ALL=2.0)
    watched.run(12, CPU_ONLY=4.0, ALL=4.15)
    assert watched.said == [B, None]


def test_a_unit_that_failed_or_answers_wrongly_is_never_advised(watched: Watched) -> None:
    watched.steer(A, B)
    failure = events.Failure(kind="crashed", message="killed by SIGSEGV")
    watched.session.fold(events.Engine(t=0, unit=B, state="failed", error=failure))
    watched.run(10, CPU_ONLY=4.0, ALL=2.0)
    assert watched.said == []


def test_nothing_is_said_while_inference_is_paused(watched: Watched) -> None:
    watched.steer(A, B)
    watched.run(2, CPU_ONLY=4.0, ALL=2.0)
    watched.steer(A, B, paused=True)
    watched.run(9, CPU_ONLY=4.0, ALL=2.0)
    assert watched.said == []


@pytest.mark.parametrize(("stickiness", "spread", "seeds"), [(0.0, 0.05, 25), (0.6, 0.1, 50), (0.95, 0.1, 25)])
def test_stationary_units_alike_are_never_advised_and_nothing_flaps(
    stickiness: float, spread: float, seeds: int
) -> None:
    """A minute of looks each. Did 5 in 100 speak at autocorrelation .6, 1 - .95**50 = 92% of sets would show it."""
    spoken = 0
    for seed in range(seeds):
        watched = Watched(rng=np.random.default_rng(seed), stickiness=stickiness, spread=spread)
        watched.steer(A, B)
        watched.run(30, CPU_ONLY=4.0, ALL=4.0)
        spoken += bool(watched.said)
    assert spoken == 0


def test_stationary_units_apart_are_advised_once_and_the_advice_stays_over_25_seeds() -> None:
    """A minute of looks each: did one in ten flap, 1 - .9**25 = 93% of such sets would show it."""
    for seed in range(25):
        watched = Watched(rng=np.random.default_rng(seed), stickiness=0.6, spread=0.1)
        watched.steer(A, B)
        watched.run(30, CPU_ONLY=4.0, ALL=3.0)
        assert watched.said == [B], seed
