"""A recording for programs: typed, read-only, with numpy arrays; what `hettop.open_recording` returns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hettop.events import AnyEvent, Column, Mark, Power, Samples
from hettop.record.dataframe_columns import columns_of, pandas_frame, polars_frame
from hettop.record.defects import Report
from hettop.record.reader import fold, read_events
from hettop.record.reader import open_recording as open_file
from hettop.session.session import RAW_LIMIT, Session
from hettop.session.statistics import Statistics, statistics

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, slots=True)
class ConditionSamples:
    """All samples of one unit under one load, in one thermal state and phase, in order of arrival.

    Columns are int64 of the same length: starts since the session began, and latencies, in ns. `native_ns` and
    `late_ns` are None unless every sample has one.
    """

    unit: str
    load: str
    thermal: str | None
    phase: str
    start_ns: Column
    latency_ns: Column
    native_ns: Column | None
    late_ns: Column | None


@dataclass(frozen=True, slots=True)
class PowerSeries:
    """Power samples over time. `mw[rail]`, float64 in mW, has NaN where a rail was not measured.

    A sample is the mean over the `elapsed_ns` before `end_ns`.
    """

    end_ns: Column
    elapsed_ns: Column
    mw: dict[str, npt.NDArray[np.float64]]
    sources: tuple[str, ...]


class Recording:
    """One recording. Nothing but its header is read before it is asked for, and what was asked for is kept.

    Arrays hold all samples in the file (24 bytes each); of a long one, `events()` gives one window at a time. Texts are
    as they stand in the file: clean them (`hettop.text.clean`) before they reach a terminal.
    """

    def __init__(self, path: Path) -> None:
        """Raises HettopError `recording` when it is not a recording that this hettop can read."""
        self.path = path
        file, self.header = open_file(path)
        file.close()
        self.report = Report()
        """What was skipped when the file was last read."""

    def __repr__(self) -> str:
        simulated = ", SIMULATED" if self.simulated else ""
        return f"<Recording {os.fspath(self.path)!r}, {self.session.samples} samples{simulated}>"

    @property
    def simulated(self) -> bool:
        """Whether the samples were drawn by a model of a machine, and measured nowhere."""
        return self.header.simulated

    def events(self, report: Report | None = None) -> Iterator[AnyEvent]:
        """Every sound event, the header first, in bounded memory; what is skipped is counted in `report`."""
        self.report = report or Report()
        file, _ = open_file(self.path)
        with file:
            yield from read_events(file, self.report, check_crc=True)

    @cached_property
    def session(self) -> Session:
        """Everything folded, as it stood at the end. Quantiles of up to 100,000 samples a condition are exact."""
        session = Session(RAW_LIMIT)
        for event in self.events():
            fold(session, event, self.report)
        return session

    @property
    def statistics(self) -> list[Statistics]:
        """The statistics of every unit and condition, as `hettop replay --json` prints them."""
        return statistics(self.session)

    @property
    def conditions(self) -> list[ConditionSamples]:
        """The steady samples, by condition, in order of first appearance.

        All of them, also those before the statistics were reset.
        """
        return [found for found in self.samples if found.phase == "steady"]

    @cached_property
    def samples(self) -> list[ConditionSamples]:
        """The samples of every condition and phase."""
        held: dict[tuple[str, str, str | None, str], list[Samples]] = {}
        for event in self.events():
            if isinstance(event, Samples):
                held.setdefault((event.unit, event.condition, event.thermal, event.phase), []).append(event)
        return [_gathered(*key, windows) for key, windows in held.items()]

    @cached_property
    def power(self) -> PowerSeries:
        """All power samples."""
        found = [event for event in self.events() if isinstance(event, Power)]
        rails = list(dict.fromkeys(rail for event in found for rail in event.mw))
        return PowerSeries(
            end_ns=np.array([event.t for event in found], dtype=np.int64),
            elapsed_ns=np.array([event.elapsed_ns for event in found], dtype=np.int64),
            mw={rail: np.array([event.mw.get(rail) for event in found], dtype=np.float64) for rail in rails},
            sources=tuple(dict.fromkeys(event.source for event in found)),
        )

    @property
    def marks(self) -> list[tuple[int, str]]:
        """The user's notes: (ns since the session began, text)."""
        return [(event.t, event.text) for event in self.events() if isinstance(event, Mark)]

    def to_pandas(self, table: str = "samples") -> pd.DataFrame:
        """The table `samples` or `power` as a pandas data frame. Raises HettopError `missing` without pandas."""
        return pandas_frame(columns_of(table, self.events(), simulated=self.simulated))

    def to_polars(self, table: str = "samples") -> pl.DataFrame:
        """The table `samples` or `power` as a polars data frame. Raises HettopError `missing` without polars."""
        return polars_frame(columns_of(table, self.events(), simulated=self.simulated))


def open_recording(path: str | os.PathLike[str]) -> Recording:
    """Open a recording, plain (.jsonl) or compressed (.jsonl.zst).

    Raises HettopError `recording` when there is no file, or it is not a recording that this hettop can read.
    """
    return Recording(Path(path))


def _gathered(unit: str, load: str, thermal: str | None, phase: str, windows: list[Samples]) -> ConditionSamples:
    return ConditionSamples(
        unit=unit,
        load=load,
        thermal=thermal,
        phase=phase,
        start_ns=np.concatenate([window.starts_ns() for window in windows]),
        latency_ns=np.concatenate([window.lat_ns for window in windows]),
        native_ns=_if_all([window.native_ns for window in windows]),
        late_ns=_if_all([window.late_ns for window in windows]),
    )


def _if_all(columns: list[Column | None]) -> Column | None:
    known = [column for column in columns if column is not None]
    return np.concatenate(known) if len(known) == len(columns) else None
