"""Frequencies of a folder like the kernel's are set, and put back whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.sources.cpufreq import CpuFrequency

FILES = {
    "cpuinfo_min_freq": "600000",
    "cpuinfo_max_freq": "1800000",
    "scaling_min_freq": "600000",
    "scaling_max_freq": "1500000",
    "scaling_available_frequencies": "600000 1200000 1800000 2400000",
    "scaling_governor": "schedutil",
    "scaling_available_governors": "ondemand performance schedutil",
}


def machine(folder: Path, *, cores: int = 2, **changed: str) -> Path:
    """`cpu0`, `cpu1`, and what else the kernel has there."""
    (folder / "cpuidle").mkdir()
    for core in range(cores):
        (place := folder / f"cpu{core}" / "cpufreq").mkdir(parents=True)
        for name, text in {**FILES, **changed}.items():
            (place / name).write_text(f"{text}\n")
    return folder


def limits(folder: Path, core: int = 1) -> tuple[int, int]:
    place = folder / f"cpu{core}" / "cpufreq"
    low, high = ((place / name).read_text() for name in ("scaling_min_freq", "scaling_max_freq"))
    return int(low), int(high)


def as_the_kernel(path: Path, text: str) -> None:
    """Refuses a lowest frequency above the highest, and the reverse."""
    path.write_text(text)
    low, high = limits(path.parent.parent.parent, int(path.parent.parent.name[3:]))
    if low > high:
        raise OSError(22, "Invalid argument")


def test_levels_are_those_that_the_cores_can_have(tmp_path: Path) -> None:
    """2.4 GHz is listed, and above the hardware's highest."""
    assert CpuFrequency(machine(tmp_path)).levels_mhz() == (600, 1200, 1800)


def test_without_a_list_there_are_two(tmp_path: Path) -> None:
    assert CpuFrequency(machine(tmp_path, scaling_available_frequencies="")).levels_mhz() == (600, 1800)


@pytest.mark.parametrize("mhz", [600, 1800])
def test_a_frequency_is_set_on_all_cores_in_an_order_that_the_kernel_takes_and_put_back(
    mhz: int, tmp_path: Path
) -> None:
    cpu = CpuFrequency(machine(tmp_path), as_the_kernel)
    with cpu.fixed(mhz):
        assert limits(tmp_path, 0) == limits(tmp_path, 1) == (mhz * 1000, mhz * 1000)
    assert limits(tmp_path, 0) == limits(tmp_path, 1) == (600_000, 1_500_000)


def test_it_is_put_back_when_the_measuring_fails(tmp_path: Path) -> None:
    cpu = CpuFrequency(machine(tmp_path))

    def fail() -> None:
        with cpu.fixed(1200):
            assert limits(tmp_path) == (1_200_000, 1_200_000)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert limits(tmp_path) == (600_000, 1_500_000)


def test_a_core_that_takes_no_frequency_is_an_error_and_the_others_are_put_back(tmp_path: Path) -> None:
    def write(path: Path, text: str) -> None:
        if "cpu1" not in str(path):
            path.write_text(text)

    cpu = CpuFrequency(machine(tmp_path), write)
    with pytest.raises(HettopError, match="stays 600000: 1800000 was set"), cpu.fixed(1800):
        pytest.fail("it was not set")
    assert limits(tmp_path, 0) == (600_000, 1_500_000)


def test_a_governor_is_set_and_put_back(tmp_path: Path) -> None:
    cpu = CpuFrequency(machine(tmp_path))
    assert cpu.governors() == ("ondemand", "performance", "schedutil")
    with cpu.governed("ondemand"):
        assert (tmp_path / "cpu1/cpufreq/scaling_governor").read_text() == "ondemand"
    assert (tmp_path / "cpu1/cpufreq/scaling_governor").read_text() == "schedutil"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"cores": 0}, "lets no program set frequencies"),
        ({"cpuinfo_max_freq": "600000"}, "a single frequency"),
        ({"cpuinfo_max_freq": "fast"}, "a single frequency"),
    ],
)
def test_where_frequencies_cannot_be_set_the_reason_is_reported(
    changed: dict[str, str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(HettopError, match=words):
        CpuFrequency(machine(tmp_path, **changed)).levels_mhz()  # type: ignore[arg-type]


def test_cores_of_two_kinds_are_refused(tmp_path: Path) -> None:
    (machine(tmp_path) / "cpu1/cpufreq/cpuinfo_max_freq").write_text("2400000")
    with pytest.raises(HettopError, match="different frequencies"):
        CpuFrequency(tmp_path).levels_mhz()


def test_files_that_cannot_be_written_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, _mode: "scaling_max_freq" not in str(path))
    with pytest.raises(HettopError, match=r"cpu0/cpufreq/scaling_max_freq cannot be written: only root"):
        CpuFrequency(machine(tmp_path)).levels_mhz()
    assert CpuFrequency(tmp_path / "nowhere").governors() == ()
