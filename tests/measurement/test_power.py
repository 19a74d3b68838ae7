"""Power of a live session: which source there is, whether a password would help, and what a simulated machine draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.events import Baseline, Power, PowerStatus
from hettop.measurement.power import INTERVALS_A_BLOCK, LivePower, PowerHere
from hettop.sources.power.source import Machine, this_machine
from tests.clocks import FakeClock
from tests.processes.waiting import wait_for
from tests.sources.power.captures import CHIPS, plist, stream, truth_of
from tests.sources.power.machines import Bench, mac, pc
from tests.streams import MS, window


class Session:
    """A session's power, drained until something holds; keeps what came."""

    def __init__(self, power: LivePower, clock: FakeClock) -> None:
        self.power, self.clock = power, clock
        self.events: list[Power | PowerStatus | Baseline] = []

    def until(self, condition: Callable[[], bool], what: str, step_ns: int = 0) -> None:
        def holds() -> bool:
            self.clock.pass_time(step_ns)
            self.events += self.power.drain(self.clock.now())
            return condition()

        wait_for(holds, what)


@contextmanager
def begun(name: str | None, machine: Machine | None = None, *, simulated: bool = False) -> Iterator[Session]:
    clock = FakeClock(0)
    here = PowerHere(machine or this_machine())
    power = LivePower(name, simulated=simulated, here=here, now=clock.now, origin_ns=0)
    try:
        yield Session(power, clock)
    finally:
        power.close()


def test_a_mac_that_lacks_the_password_alone_could_ask() -> None:
    bench = mac(sudo="password")
    bench.missing.add("macmon")
    with begun(None, bench.machine) as session:
        assert not session.power.settled, "nobody knows yet"
        assert not session.power.could_ask
        session.until(lambda: session.power.settled, "no source works")
        assert not session.power.running
        assert session.power.could_ask
        assert session.power.shortest_block_ns is None


def test_it_could_ask_for_the_better_source_while_another_runs() -> None:
    with begun(None, mac(sudo="password").machine) as session:
        session.until(lambda: session.power.running, "macmon runs")
        assert session.power.status is not None
        assert session.power.status.source == "macmon"
        assert session.power.could_ask


@pytest.mark.parametrize("mode", ["ticket", "forbidden"])
def test_a_password_changes_nothing_where_access_is_there_or_forbidden(mode: str) -> None:
    with begun("powermetrics", mac(sudo=mode).machine) as session:
        session.until(lambda: session.power.settled, "it is known if there is power")
        assert session.power.running is (mode == "ticket")
        assert not session.power.could_ask


def test_a_pc_has_nothing_to_ask_for() -> None:
    with begun(None, pc(Path("/nowhere")).machine) as session:
        session.until(lambda: session.power.settled, "no source works")
        assert not session.power.could_ask


def test_power_that_was_not_asked_for_is_settled_and_asks_for_nothing() -> None:
    with begun("none", mac(sudo="password").machine) as session:
        session.until(lambda: session.power.settled, "it is known that there is none")
        assert session.power.status is not None
        assert session.power.status.state == "stopped"
        assert not session.power.could_ask


def test_after_access_was_given_the_source_is_chosen_again() -> None:
    bench = mac(sudo="password")
    bench.missing.add("macmon")
    with begun(None, bench.machine) as session:
        session.until(lambda: session.power.settled, "no source works")
        asked = len(bench.started)
        bench.machine.environment["STAND_IN_SUDO"] = "ticket"  # type: ignore[index]
        session.power.retry()
        session.until(lambda: session.power.running, "powermetrics runs")
        assert not session.power.could_ask
        assert len(bench.started) > asked


def test_blocks_are_long_enough_for_samples_that_lie_within_one_unit() -> None:
    with begun("powermetrics", mac().machine) as session:
        session.until(lambda: session.power.running, "powermetrics runs")
        assert session.power.shortest_block_ns == INTERVALS_A_BLOCK * 500 * MS


def drawn(session: Session, rail: str, n: int) -> list[float]:
    return [mw for event in session.events if isinstance(event, Power) and (mw := event.mw[rail]) is not None][:n]


def test_a_simulated_machine_draws_what_its_unit_draws_for_the_share_of_time_it_is_busy() -> None:
    with begun(None, simulated=True) as session:
        # 3 ms of inference, 1 ms of rest between: the rest before the first sample is none of the window's.
        session.power.on_samples(window([3 * MS, 3 * MS], gap=2 * MS, unit="CPU_AND_NE"))
        session.until(lambda: len(drawn(session, "ane", 3)) == 3, "there are samples", step_ns=100 * MS)
        busy = 6 / 8
        for mw in drawn(session, "ane", 3)[1:]:
            assert mw == pytest.approx(1_450 * busy, rel=0.04)  # 3 % of noise, whole mJ
        assert not session.power.could_ask


def test_a_simulated_machine_at_rest_draws_its_idle_power() -> None:
    with begun(None, simulated=True) as session:
        session.power.on_samples(window([3 * MS], unit="CPU_AND_NE"))
        session.power.on_rest("none")
        session.until(lambda: len(drawn(session, "ane", 3)) == 3, "there are samples", step_ns=100 * MS)
        assert drawn(session, "ane", 3)[1:] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "machine", "words"),
    [
        ("macmon", pc(Path("/nowhere")), "no power from macmon: macOS only"),
        ("rapl", mac(), "no power from rapl: Linux only"),
        ("rapl", pc(Path("/nowhere")), "no power from rapl: no energy counters"),
        ("file:/nowhere/capture.plist", mac(), "no power from file: file not found: capture.plist"),
    ],
)
def test_a_source_that_was_named_and_can_never_be_had_is_refused_at_once(name: str, machine: Bench, words: str) -> None:
    with pytest.raises(HettopError, match=words), begun(name, machine.machine):
        pass


def test_a_source_that_lacks_the_password_alone_is_waited_for() -> None:
    with begun("powermetrics", mac(sudo="password").machine) as session:
        session.until(lambda: session.power.settled, "it has no access")
        assert session.power.could_ask


def test_a_capture_is_known_as_one_and_makes_no_block_longer(tmp_path: Path) -> None:
    path = tmp_path / "capture.plist"
    path.write_bytes(stream(*[plist(truth_of(CHIPS["M1"], elapsed_ns=50 * MS))] * 20))
    with begun(f"file:{path}", pc(tmp_path).machine) as session:
        session.until(lambda: session.power.running, "it plays")
        assert session.power.captured
        assert session.power.shortest_block_ns is None
