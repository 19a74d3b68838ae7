"""Writes what powermetrics would print for a chip and a macOS, from figures that the tests know.

Schema, labels and quirks as documented in docs/method/power.md; every figure here is made up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import count


@dataclass(frozen=True)
class Core:
    """Shares of a window; the rest was busy. `down` is None on chips that do not report it."""

    idle: float
    down: float | None = None


@dataclass(frozen=True)
class ClusterTruth:
    name: str
    mhz: float
    cores: tuple[Core, ...]
    states: tuple[int, ...] = (600, 1200)
    busy: float = 0.0  # worked out by hand, or by `busy_mean` for whole families of chips


@dataclass(frozen=True)
class Truth:
    """One window: what really happened, and what is therefore to be read."""

    elapsed_ns: int = 500_000_000
    mw: dict[str, float] = field(
        default_factory=lambda: {"cpu": 1500.0, "gpu": 250.0, "ane": 40.0, "dram": 120.0, "package": 2100.0}
    )
    clusters: tuple[ClusterTruth, ...] = ()
    gpu_mhz: float = 720.0
    gpu_busy: float = 0.25
    thermal: str = "Nominal"


@dataclass(frozen=True)
class Chip:
    """Clusters in the order of printing: name, cores, highest MHz. The tests expect `slowest_first`."""

    clusters: tuple[tuple[str, int, int], ...]
    slowest_first: tuple[str, ...]
    tells_down: bool = False


CHIPS = {
    "M1": Chip((("E-Cluster", 4, 2064), ("P-Cluster", 4, 3204)), ("E-Cluster", "P-Cluster")),
    "M2 Pro": Chip(
        (("E-Cluster", 4, 2424), ("P0-Cluster", 4, 3504), ("P1-Cluster", 4, 3504)),
        ("E-Cluster", "P0-Cluster", "P1-Cluster"),
    ),
    "M1 Ultra": Chip(
        (
            ("E0-Cluster", 2, 2064),
            ("P0-Cluster", 4, 3228),
            ("P1-Cluster", 4, 3228),
            ("E1-Cluster", 2, 2064),
            ("P2-Cluster", 4, 3228),
            ("P3-Cluster", 4, 3228),
        ),
        ("E0-Cluster", "E1-Cluster", "P0-Cluster", "P1-Cluster", "P2-Cluster", "P3-Cluster"),
    ),
    "M3 Max": Chip(
        (("E-Cluster", 4, 2748), ("P0-Cluster", 6, 4056), ("P1-Cluster", 6, 4056)),
        ("E-Cluster", "P0-Cluster", "P1-Cluster"),
        tells_down=True,
    ),
    "M5": Chip((("E-Cluster", 6, 2900), ("S-Cluster", 4, 4600)), ("E-Cluster", "S-Cluster"), tells_down=True),
    "M5 Max before 26.4": Chip(
        (("M0-Cluster", 6, 4380), ("M1-Cluster", 6, 4380), ("P-Cluster", 6, 4608)),
        ("M0-Cluster", "M1-Cluster", "P-Cluster"),
        tells_down=True,
    ),
    # Here P is the slow tier, and the fast one happens to be printed first.
    "M5 Max": Chip(
        (("S-Cluster", 6, 4608), ("P0-Cluster", 6, 4380), ("P1-Cluster", 6, 4380)),
        ("P0-Cluster", "P1-Cluster", "S-Cluster"),
        tells_down=True,
    ),
}
SYSTEMS = (11, 12, 13, 14, 15, 26, 27)


def truth_of(chip: Chip, **changes: object) -> Truth:
    """A window on a chip: core i of cluster c was busy for (i + c + 1) % of it; on newer chips 20 % was down."""
    down = 0.2 if chip.tells_down else None
    clusters = []
    for c, (name, cores, top) in enumerate(chip.clusters):
        parts = [(i + c + 1) / 100 for i in range(cores)]
        clusters.append(
            ClusterTruth(
                name,
                mhz=1000.0 + 10 * c,
                cores=tuple(Core(round(1 - part - (down or 0.0), 6), down) for part in parts),
                states=(600, 1200, top, 1800),  # not in order, as on some chips
                busy=sum(parts) / cores,
            )
        )
    return replace(Truth(clusters=tuple(clusters)), **changes)  # type: ignore[arg-type]


def plist(truth: Truth, system: int = 15) -> bytes:
    """One document as that macOS writes it, without the NUL that comes before the next one."""
    seconds = truth.elapsed_ns / 1e9
    figures = [f"{real('inst_retired', 7.4e8)}{real('inst_per_clk', 1.04)}"] if system <= 13 else []
    figures += [integer(f"{rail}_energy", round(truth.mw[rail] * seconds)) for rail in ("cpu", "gpu", "ane")]
    if system <= 12:
        figures += [integer(f"{rail}_energy", round(truth.mw[rail] * seconds)) for rail in ("dram", "package")]
    if system >= 12:
        figures += [real(f"{rail}_power", truth.mw[rail]) for rail in ("cpu", "gpu", "ane")]
    if system >= 13:
        figures.append(real("combined_power", combined(truth)))
    numbers = count()
    clusters = "".join(_plist_cluster(cluster, numbers, system) for cluster in truth.clusters)
    processor = f"<key>clusters</key><array>\n{clusters}</array>\n" + "".join(figures)
    gpu = (
        real("freq_hz", truth.gpu_mhz)
        + real("idle_ratio", 1 - truth.gpu_busy)
        + states("dvfm_states", (396, 1278))
        + (states("requested_freq", (396, 1278)) if system <= 13 else states("sw_state", (396, 1278)))
        + real("idle_ratio", 1 - truth.gpu_busy)  # reported twice
        + integer("gpu_energy", round(truth.mw["gpu"] * seconds))
    )
    return document(
        integer("elapsed_ns", truth.elapsed_ns)
        + "<key>timestamp</key><date>2026-01-02T03:04:05Z</date>\n"
        + f"<key>processor</key>\n<dict>\n{processor}</dict>\n"
        + f"<key>thermal_pressure</key><string>{truth.thermal}</string>\n"
        + f"<key>gpu</key>\n<dict>\n{gpu}</dict>\n"
    )


def document(body: str) -> bytes:
    """A property list whose root is a dictionary with this in it."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        f'<plist version="1.0">\n<dict>\n<key>is_delta</key><true/>\n{body}</dict>\n</plist>\n'
    ).encode()


def stream(*documents: bytes) -> bytes:
    """Documents as they come out of the pipe: a NUL before each but the first."""
    return b"\0".join(documents)


def real(key: str, value: float) -> str:
    return f"<key>{key}</key><real>{value:g}</real>\n"


def integer(key: str, value: int) -> str:
    return f"<key>{key}</key><integer>{value}</integer>\n"


def states(key: str, frequencies: tuple[int, ...]) -> str:
    items = "".join(
        f"<dict>\n{integer('freq', mhz)}{integer('used_ns', 5)}{real('used_ratio', 0.01)}</dict>\n"
        for mhz in frequencies
    )
    return f"<key>{key}</key>\n<array>\n{items}</array>\n"


def _plist_cluster(cluster: ClusterTruth, numbers: count[int], system: int) -> str:
    cores = "".join(
        f"<dict>\n{integer('cpu', next(numbers))}{real('freq_hz', 3e9)}{real('idle_ratio', core.idle)}"
        + ("" if core.down is None else real("down_ratio", core.down))
        + f"{states('dvfm_states', cluster.states)}</dict>\n"
        for core in cluster.cores
    )
    return (
        f"<dict>\n<key>name</key><string>{cluster.name}</string>\n{real('freq_hz', cluster.mhz * 1e6)}"
        + real("idle_ratio", 0.001)  # wrong, as on some chips: the cores' figures must win
        + (real("online_ratio", 1) if system >= 14 else "")
        + f"{states('dvfm_states', cluster.states)}<key>cpus</key>\n<array>\n{cores}</array>\n</dict>\n"
    )


def text(truth: Truth, system: int = 15) -> str:
    """One sample as that macOS prints it for people."""
    lines = [
        f"*** Sampled system activity (Fri Jan  2 03:04:05 2026 +0100) ({truth.elapsed_ns / 1e6:.2f}ms elapsed) ***",
        *("", "", "**** Processor usage ****", ""),
    ]
    numbers = count()
    for cluster in truth.clusters:
        lines += [*_text_cluster(cluster, numbers, system), ""]
    lines += _text_rails(truth, system)
    hardware = "" if system <= 11 else "HW "
    listed = " ".join(f"{mhz} MHz: 5.0%" for mhz in (396, 1278))
    lines += [
        *("", "**** Thermal pressure ****", "", f"Current pressure level: {truth.thermal}"),
        *("", "**** GPU usage ****", ""),
        f"GPU {hardware}active frequency: {truth.gpu_mhz:.0f} MHz",
        f"GPU {hardware}active residency: {percent(truth.gpu_busy)} ({listed})",
        f"GPU idle residency: {percent(1 - truth.gpu_busy)}",
        f"GPU Power: {truth.mw['gpu'] + 1:.0f} mW",  # repeated a little later: the first one counts
        *("", "", ""),
    ]
    return "\n".join(lines)


def summary(truth: Truth, system: int = 15) -> str:
    """What powermetrics prints last with --show-usage-summary: the same figures for the whole run."""
    return text(truth, system).replace("*** Sampled system activity", "*** Summary system activity")


def pasted(truth: Truth, system: int = 15) -> str:
    """A sample as people copy it into a report: from the first section on, without the line above it."""
    return text(truth, system).partition("\n")[2].lstrip("\n")


def text_head() -> str:
    return "Machine model: Mac99,9\nOS version: 99Z99\nBoot arguments: \nBoot time: Thu Jan  1 00:00:00 2026\n\n\n\n"


def combined(truth: Truth) -> float:
    return truth.mw["cpu"] + truth.mw["gpu"] + truth.mw["ane"]


def percent(share: float) -> str:
    """As printed: two decimals in six columns, no zero before the point."""
    written = f"{share * 100:.2f}"
    return f"{written.removeprefix('0') if written.startswith('0.') else written:>6}%"


def _text_rails(truth: Truth, system: int) -> list[str]:
    mw = truth.mw
    cpu = "Clusters Total Power" if system <= 11 else "CPU Power"
    rails = {"ANE Power": mw["ane"], cpu: mw["cpu"], "GPU Power": mw["gpu"]}
    if system <= 12:
        rails |= {"DRAM Power": mw["dram"], "Package Power": mw["package"]}
    else:
        rails["Combined Power (CPU + GPU + ANE)"] = combined(truth)
    return [f"{label}: {value:.0f} mW" for label, value in rails.items()]


def _text_cluster(cluster: ClusterTruth, numbers: count[int], system: int) -> list[str]:
    listed = " ".join(f"{mhz} MHz: 1.0%" for mhz in cluster.states)
    lines = [
        f"{cluster.name} Power: 105 mW" if system <= 12 else "",
        f"{cluster.name} HW active frequency: {cluster.mhz:.0f} MHz",
        f"{cluster.name} HW active residency: {percent(0.999)} ({listed})",
        f"{cluster.name} idle residency: {percent(0.001)}",
    ]
    for core in cluster.cores:
        name = f"{'cpu' if system <= 11 else 'CPU'} {next(numbers)}"
        idle = f"{name} idle residency: {percent(core.idle)}"
        active = f"{name} active residency: {percent(1 - core.idle - (core.down or 0))} ({listed})"
        down = [] if core.down is None else [f"{name} down residency: {percent(core.down)}"]
        lines += [f"{name} frequency: 3000 MHz", *([idle, active] if system <= 12 else [active, idle]), *down]
    return lines


def virtual_machine(thermal: str = "Nominal") -> bytes:
    """One document of a virtual machine: no processor, and no GPU of its own."""
    return document(integer("elapsed_ns", 500_000_000) + f"<key>thermal_pressure</key><string>{thermal}</string>\n")


def intel_text(watts: float = 8.5) -> str:
    """One sample of an Intel Mac, which knows the power of its package only."""
    return (
        "\n*** Sampled system activity (Fri Jan  2 03:04:05 2026 +0100) (500.00ms elapsed) ***\n\n"
        "**** Processor usage ****\n\n"
        f"Intel energy model derived package power (CPUs+GT+SA): {watts:.2f}W\n\n"
    )


def macmon_line(truth: Truth, timestamp: str, *, new: bool = True) -> bytes:
    """One line of `macmon pipe`, with the names of 0.8 or those before; the first and last cluster are its two."""
    slow, fast = truth.clusters[0], truth.clusters[-1]
    told: dict[str, object] = {f"{rail}_power": truth.mw[rail] / 1000 for rail in ("cpu", "gpu", "ane")}
    told |= {"timestamp": timestamp, "all_power": combined(truth) / 1000, "ram_power": truth.mw["dram"] / 1000}
    for name, mhz, busy in (
        ("ecpu", slow.mhz, slow.busy),
        ("pcpu", fast.mhz, fast.busy),
        ("gpu", truth.gpu_mhz, truth.gpu_busy),
    ):
        if new:
            told |= {f"{name}_freq_mhz": mhz, f"{name}_scaled_ratio": busy / 2, f"{name}_active_ratio": busy}
        else:
            told[f"{name}_usage"] = [mhz, busy / 2]
    return json.dumps(told).encode() + b"\n"
