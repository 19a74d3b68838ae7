"""A pytest plugin: the fixture `latency` measures a model, and a limit fails a test only if it is proven to be missed.

Light to import, because every run of pytest loads it: what measures is imported by the first test that measures.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import warnings
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hettop.errors import HettopError
    from hettop.measurement.options import MeasureOptions
    from hettop.measurement.setup import Setup
    from hettop.session.session import Session
    from hettop.session.statistics import Statistics

FAILED = pytest.StashKey[bool]()
LONGEST_NAME = 150
WORKERS_VARIABLE = "PYTEST_XDIST_WORKER_COUNT"


class UndecidedWarning(UserWarning):
    """A latency limit that the samples prove neither met nor missed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hettop", "latency tests (the fixture `latency`)")
    group.addoption("--hettop-require-proof", action="store_true", help="also fail tests with an undecided limit")
    group.addoption(
        "--hettop-recordings",
        metavar="DIR",
        default=".hettop",
        help="where recordings of failed and undecided tests are kept (.hettop in the root folder)",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture
def latency(request: pytest.FixtureRequest) -> Iterator[Latency]:
    """Measure a model: `latency("model.onnx", units="cpu", duration="10s").check("p90<8ms")`.

    Only one test of this user measures at a time, also with pytest-xdist.
    """
    options = request.config.option
    name = re.sub(r"[^\w.-]+", "-", request.node.nodeid).strip("-")[-LONGEST_NAME:]
    folder = request.config.rootpath / options.hettop_recordings
    measure = Latency(folder, name, require_proof=options.hettop_require_proof)
    with _only_measurement():
        yield measure
    if not request.node.stash.get(FAILED, False):
        measure.discard_decided()


@contextlib.contextmanager
def _only_measurement() -> Iterator[None]:
    """Wait until no other test of this user measures on this machine, in whatever process."""
    import fcntl

    folder = Path(tempfile.gettempdir()) / f"hettop-measuring-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@dataclass(slots=True, repr=False)
class Latency:
    """Measures models for one test; its recordings are `folder/name.jsonl`, `folder/name-2.jsonl` and so on."""

    folder: Path
    name: str
    require_proof: bool
    measurements: list[LatencyMeasurement] = field(default_factory=list)
    recordings: int = 0

    def __call__(
        self,
        model: str | os.PathLike[str],
        *,
        units: str | None = None,
        duration: str | None = None,
        samples: int | None = None,
        batch: int | None = None,
        backend: str | None = None,
    ) -> LatencyMeasurement:
        """Measure a model: a path, or a name that `hettop models` lists.

        units: as `hettop bench --units` has them, several in turns; None: the first that this machine has.
        duration: of each unit, such as `10s`, which is the default; or `samples` of each unit instead.
        batch: items per call, for a model that can have them. Raises HettopError.
        """
        __tracebackhide__ = True
        from hettop.errors import HettopError

        try:
            setup = _setup(os.fsdecode(model), units, batch, backend)
            recording = self._new_recording()
            session = _measure(setup, _options(duration, samples, recording, interleave=len(setup.units) > 1))
            measurement = LatencyMeasurement(recording, session, self.require_proof)
        except HettopError as error:
            raise _brief(error) from None
        self.measurements.append(measurement)
        return measurement

    def _new_recording(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        ignored = self.folder / ".gitignore"
        if not ignored.exists() and self.folder.name == ".hettop":
            ignored.write_text("*\n", encoding="utf-8")
        number = self.recordings = self.recordings + 1
        return self.folder / (f"{self.name}.jsonl" if number == 1 else f"{self.name}-{number}.jsonl")

    def discard_decided(self) -> None:
        """Remove the recordings of measurements whose limits are all met."""
        for measurement in self.measurements:
            if not measurement.kept:
                measurement.recording.unlink(missing_ok=True)


@dataclass(slots=True, repr=False)
class LatencyMeasurement:
    """One measurement. `kept`: whether its recording stays, because a limit is missed or undecided."""

    recording: Path
    session: Session
    require_proof: bool
    kept: bool = False

    @property
    def statistics(self) -> list[Statistics]:
        """One object per unit, with the fields of `hettop replay --json`."""
        from hettop.session.statistics import statistics

        return statistics(self.session)

    def check(self, *limits: str) -> None:
        """Fail the test if a limit is proven to be missed, warn if it is undecided.

        A limit is `p90<8ms` for every unit measured, or `CPU_ONLY.p90<8ms`; of p50, p90, p99 and p999. All limits of
        one call are judged together, at 95% confidence.
        """
        __tracebackhide__ = True
        from hettop.analysis.unit_samples import in_order_of
        from hettop.errors import HettopError
        from hettop.events import NO_LOAD
        from hettop.report.threshold import check_measured, check_provable, parse_threshold, prove

        try:
            thresholds = [parse_threshold(text) for limit in limits for text in self._for_units(limit)]
            check_measured(thresholds, tuple(self.session.units), NO_LOAD)
            check_provable(thresholds)
        except HettopError as error:
            raise _brief(error) from None
        judged = prove(thresholds, self.session, in_order_of(self.session))
        missed = [f"latency limit not met: {each.why}" for each in judged if each.met is False]
        undecided = [f"latency limit undecided: {each.why}" for each in judged if each.met is None]
        self.kept = self.kept or bool(missed or undecided)
        if missed or (undecided and self.require_proof):
            raise AssertionError("\n".join([*missed, *undecided, *self._circumstances()]))
        if undecided:
            warnings.warn(UndecidedWarning("\n".join([*undecided, *self._circumstances()])), stacklevel=2)

    def _for_units(self, limit: str) -> list[str]:
        """The limit, or one for every unit measured where it names none."""
        if re.match(r"\s*[a-z0-9_]+\s*[<>]", limit):
            return [f"{unit}.{limit.strip()}" for unit in self.session.units]
        return [limit]

    def _circumstances(self) -> Iterator[str]:
        """What a reader of a failure needs beside the evidence, line by line."""
        if self.session.simulated:
            yield "SIMULATED"
        yield f"recording: {self.recording}"
        workers = os.environ.get(WORKERS_VARIABLE, "1")
        if workers != "1":
            yield f"{workers} pytest workers shared the machine; to measure alone, run these tests with -n 0"


def _brief(error: HettopError) -> HettopError:
    """The error with its hint and without the lines of hettop, so that pytest shows the line of the test."""
    if error.hint:
        error.add_note(f"hint: {error.hint}")
    return error.with_traceback(None)


def _setup(model: str, units: str | None, batch: int | None, backend: str | None) -> Setup:
    """What is measured. Raises HettopError."""
    from hettop.compute_units import parse_units
    from hettop.measurement.options import ModelOptions
    from hettop.measurement.setup import prepare
    from hettop.processes.cpus import usable_threads

    options = ModelOptions(model=model, backend=backend)
    names = None if units is None else parse_units(units)
    setup = prepare(options, names, usable_threads())
    if batch is None:
        return setup
    from hettop.studies.sweep.measure import make_points

    _, (point,) = make_points(options, setup.units, usable_threads(), batches=[batch], sizes=[])
    return point.candidate.setup or setup  # there is one, else `make_points` raises


def _options(duration: str | None, samples: int | None, recording: Path, *, interleave: bool) -> MeasureOptions:
    import argparse

    from hettop.errors import HettopError
    from hettop.measurement.arguments import duration_ns
    from hettop.measurement.options import MeasureOptions
    from hettop.report.threshold import KEPT_FOR_PROOF

    if samples is not None and duration is not None:
        raise HettopError("usage", "options exclude each other: duration, samples", "use one of them")
    if samples is not None and (type(samples) is not int or not 1 <= samples <= KEPT_FOR_PROOF):
        raise HettopError("usage", f"invalid number of samples: {samples!r}", f"use 1 to {KEPT_FOR_PROOF:,}")
    try:
        lasting_ns = None if samples is not None else duration_ns("10s" if duration is None else duration)
    except (argparse.ArgumentTypeError, AttributeError) as error:  # the latter of what is no text
        raise HettopError("usage", f"invalid duration: {duration!r}", "write it as '10s'") from error
    return MeasureOptions(
        runs=samples,
        duration_ns=lasting_ns,
        interleave=interleave,
        power="none",
        record=os.fspath(recording),
        force=True,
    )


def _measure(setup: Setup, options: MeasureOptions) -> Session:
    """Measure without printing. Raises HettopError if a unit fails, KeyboardInterrupt if it is interrupted."""
    from hettop.console.measuring import measure
    from hettop.errors import HettopError
    from hettop.measurement.headless import Headless
    from hettop.report.threshold import KEPT_FOR_PROOF

    headless = Headless(setup, options, raw_limit=KEPT_FOR_PROOF)
    if measure(headless, lambda: False, lambda: None).interrupted:
        raise KeyboardInterrupt
    for unit in headless.session.units.values():
        if unit.error is not None:
            raise HettopError(unit.error.kind, f"{unit.name} failed: {unit.error.message}", unit.error.hint)
    return headless.session
