"""Views of the machine: power per rail over time, and the load of the rest of it.

Pure data and the functions that make it from a session; in watts, while the stream has milliwatts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The screen imports this module before its first paint, which must not wait for the codec's libraries.
    from hettop.events import Accelerator, Cluster, Gpu, HostLoad, Power
    from hettop.session.session import Session
    from hettop.session.views.structs import ViewRequest

MW_PER_W = 1000.0
MJ_PER_J = 1000.0
STALE_NS = 3 * 10**9
"""A sample that ended this long ago, beyond its own window, is not current."""


@dataclass(frozen=True, slots=True)
class RailRow:
    """One rail in W: the newest sample, mean and peak of the session, and a value per slot of the window, oldest first.

    None is what was not measured. energy_j is what the samples of the session add up to, over `covered_ns`.
    """

    rail: str
    now_w: float | None
    mean_w: float | None
    peak_w: float | None
    slots: tuple[float | None, ...]
    energy_j: float | None = None
    covered_ns: int = 0


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A CPU cluster or the GPU: its frequency and busy share (0..1) now, and per slot of the window, oldest first."""

    name: str
    mhz: float | None
    busy: float | None
    busy_slots: tuple[float | None, ...] = ()
    mhz_slots: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class PowerView:
    """The rails that were measured, and the estimate of CPU+GPU+ANE (`rail` names its parts).

    top_w: the highest value of any of them, to which bars are scaled. span_ns: how long a time the curves show.
    state, reason, fix: as the source reports them.
    needs_access: the user could grant the access that the source lacks. clusters: of the CPU, then the GPU.
    energy_mj, net_mj: per inference of the viewed unit; net only above a baseline (`baseline_w`). capture: it is played
    from a file and unrelated to this run. made_of: the rails of the estimate. accelerators: what GPUs and NPUs
    beside the CPU did in the newest sample.
    """

    rails: tuple[RailRow, ...]
    estimate: RailRow | None
    top_w: float | None
    source: str | None
    state: str | None
    reason: str
    fix: str
    interval_ns: int | None
    thermal: str | None
    flags: tuple[str, ...]
    clusters: tuple[ClusterRow, ...]
    baseline_w: float | None
    energy_mj: float | None
    net_mj: float | None
    capture: bool = False
    needs_access: bool = False
    made_of: tuple[str, ...] = ()
    accelerators: tuple[Accelerator, ...] = ()
    span_ns: int = 30_000_000_000


@dataclass(frozen=True, slots=True)
class MachineReading:
    """How busy each core was (0..1) before `t`, and how many cores the drawing process and the engines took."""

    t: int
    cores: tuple[float, ...]
    own_cpu: float | None = None
    engine_cpu: float | None = None


@dataclass(frozen=True, slots=True)
class HostView:
    """The last readings of psutil: busy share per core (0..1), memory, swap, battery; None or empty if unknown.

    pressure: share of the last ten seconds in which some process waited for memory. own_cpu, own_memory_mb: of the
    process that draws; engine_cpu, engine_memory_mb: of the engine processes together; 1.0 is one core.
    history: the readings of the last minutes, oldest first, the last one included. kinds: of each core, `P` or `E`;
    empty where they are not known.

    canary_missed, canary_due: frames of the 60 Hz canary since the session began. clock_loss: the share by which the
    clock is slower than when the same units were first measured under the same load; None while it is not.
    """

    cores: tuple[float, ...]
    memory: float | None
    swap_mb: float | None
    battery: float | None
    on_battery: bool | None
    canary_missed: int | None
    canary_due: int | None
    clock_loss: float | None = None
    pressure: float | None = None
    mhz: float | None = None
    temperature_c: float | None = None
    own_cpu: float | None = None
    own_memory_mb: float | None = None
    engine_cpu: float | None = None
    engine_memory_mb: float | None = None
    history: tuple[MachineReading, ...] = ()
    kinds: tuple[str, ...] = ()


def power(session: Session, unit: str | None, request: ViewRequest) -> PowerView:
    """Power at `request.now_ns`, over the last minute at most."""
    from hettop.session.condition import LONGEST_WINDOW_NS
    from hettop.session.rails import SUM, estimate_rails

    newest = _newest(session, request.now_ns)
    status = session.power_status
    total = session.energy.total
    means = {rail: total[rail].mean_mw for rail in total.rails}
    shown = [rail for rail in means if means[rail] is not None and rail != "combined"]
    history = _slots(session, request)
    made_of = estimate_rails(means)
    whole = _row(SUM, newest, session, history) if made_of else None
    peaks = [row.peak_w for row in (whole,) if row is not None and row.peak_w is not None]
    rails = tuple(_row(rail, newest, session, history) for rail in shown)
    peaks += [row.peak_w for row in rails if row.peak_w is not None]
    return PowerView(
        rails=rails,
        estimate=whole,
        top_w=max(peaks, default=None),
        span_ns=min(request.span_ns, LONGEST_WINDOW_NS),
        source=status.source if status else (newest.source if newest else None),
        state=status.state if status else None,
        reason=status.reason if status else "",
        fix=status.fix if status else "",
        interval_ns=status.interval_ns if status else None,
        thermal=newest.thermal if newest else None,
        flags=tuple(newest.flags) if newest else (),
        clusters=_clusters(newest, history) if newest else (),
        capture=session.captured,
        needs_access=status is not None and status.needs_access,
        made_of=made_of,
        accelerators=tuple(newest.accelerators) if newest else (),
        **_energy(session, unit, made_of),
    )


def host(session: Session) -> HostView | None:
    """The machine's last readings; None before the first."""
    from hettop.stats.clock import has_lost

    readings = session.host
    if readings is None:
        return None
    return HostView(
        cores=_cores(readings),
        memory=_share(readings.memory_percent),
        swap_mb=readings.swap_mb,
        battery=_share(readings.battery_percent),
        on_battery=readings.on_battery,
        canary_missed=session.canary.missed,
        canary_due=session.canary.due,
        clock_loss=session.canary.loss if has_lost(session.canary.loss) else None,
        pressure=_share(readings.pressure_percent),
        mhz=readings.mhz,
        temperature_c=readings.temperature_c,
        own_cpu=_share(readings.own_cpu_percent),
        own_memory_mb=readings.own_memory_mb,
        engine_cpu=_share(readings.engine_cpu_percent),
        engine_memory_mb=readings.engine_memory_mb,
        history=tuple(
            MachineReading(each.t, _cores(each), _share(each.own_cpu_percent), _share(each.engine_cpu_percent))
            for each in session.host_history
        ),
        kinds=tuple(session.header.host.core_kinds) if session.header is not None else (),
    )


def _cores(readings: HostLoad) -> tuple[float, ...]:
    return tuple(percent / 100 for percent in readings.cpu_percent)


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _newest(session: Session, now_ns: int) -> Power | None:
    """The last sample, unless it is too old."""
    sample = session.power
    return None if sample is None or now_ns - sample.t > STALE_NS + sample.elapsed_ns else sample


def _row(rail: str, newest: Power | None, session: Session, history: list[Power | None]) -> RailRow:
    total = session.energy.total[rail]
    return RailRow(
        rail=rail,
        now_w=None if newest is None else _watts(newest, rail),
        mean_w=None if total.mean_mw is None else total.mean_mw / MW_PER_W,
        peak_w=total.peak_mw / MW_PER_W if total.windows else None,
        slots=tuple(None if sample is None else _watts(sample, rail) for sample in history),
        energy_j=total.energy_mj / MJ_PER_J if total.windows else None,
        covered_ns=total.covered_ns,
    )


GPU = "GPU"


def _clusters(newest: Power, history: list[Power | None]) -> tuple[ClusterRow, ...]:
    """Those of the newest sample, each with its course in the window."""
    past = [{} if sample is None else _parts(sample) for sample in history]
    rows = []
    for name, part in _parts(newest).items():
        course = [each.get(name) for each in past]
        rows.append(
            ClusterRow(
                name=name,
                mhz=part.mhz,
                busy=part.busy,
                busy_slots=tuple(None if each is None else each.busy for each in course),
                mhz_slots=tuple(None if each is None else each.mhz for each in course),
            )
        )
    return tuple(rows)


def _parts(sample: Power) -> dict[str, Cluster | Gpu]:
    found: dict[str, Cluster | Gpu] = {cluster.name: cluster for cluster in sample.clusters}
    return found if sample.gpu is None else {**found, GPU: sample.gpu}


def _watts(sample: Power, rail: str) -> float | None:
    from hettop.session.rails import NOT_MEASURED, SUM, estimate, rails_of

    if not NOT_MEASURED.isdisjoint(sample.flags):
        return None
    mw = estimate(rails_of(sample)) if rail == SUM else sample.mw.get(rail)
    return None if mw is None else mw / MW_PER_W


def _slots(session: Session, request: ViewRequest) -> list[Power | None]:
    """For each slot of the window the sample that its middle lies in; None where there is none."""
    from hettop.session.condition import LONGEST_WINDOW_NS

    count = max(1, request.power_slots)
    slot_ns = max(1, min(request.span_ns, LONGEST_WINDOW_NS) // count)
    first = request.now_ns // slot_ns - count + 1
    samples = session.power_history.between(first * slot_ns, request.now_ns)
    found: list[Power | None] = []
    at = 0
    for slot in range(first, first + count):
        middle = slot * slot_ns + slot_ns // 2
        while at < len(samples) and samples[at].t < middle:
            at += 1
        holds = at < len(samples) and samples[at].t - samples[at].elapsed_ns <= middle
        found.append(samples[at] if holds else None)
    return found


def _energy(session: Session, unit: str | None, made_of: tuple[str, ...]) -> dict[str, float | None]:
    from hettop.session.rails import sum_of
    from hettop.session.session import current_condition
    from hettop.session.statistics import energy_of

    baseline = session.baselines.get(session.load)
    idle = None if baseline is None else sum_of(baseline.mw, made_of)
    condition = current_condition(session, unit) if unit else None
    figures = energy_of(session, condition) if condition is not None else None
    return {
        "baseline_w": None if idle is None else idle / MW_PER_W,
        "energy_mj": figures.mj if figures else None,
        "net_mj": figures.net_mj if figures else None,
    }
