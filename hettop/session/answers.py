"""What is known of the answers of a unit under a load: how many, how long, and the time of a token by its position.

Answers are the unit of evidence: the tokens of one depend on each other and on their position in it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hettop.events import Answer, AnswersState, Samples, row_name
from hettop.session.tokens import ANSWERS, PREFILL
from hettop.stats.histogram import Histogram
from hettop.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from hettop.session.session import Session

KEPT = 500
"""Latest answers of which each one's times are known; the others are counted."""

MOST_OCTAVES = 40
"""Positions 1, 2 to 3, 4 to 7, … have a distribution each; no answer has 2^40 tokens."""

CUT, FAILED = "cut", "failed"
COUNTED = (
    "n", "failed", "cut", "several", "chunks", "tokens", "uncounted", "without_gaps", "last_error", "overlapping",
    "last_end_ns", "prompt_tokens", "cached_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OneAnswer:
    """Times in ns from the planned start. `tokens` is None where nobody counted them."""

    t0: int
    first_ns: int
    end_ns: int
    tokens: int | None
    longest_ns: int | None

    @property
    def per_token_ns(self) -> float | None:
        """Mean time per token after the first (TPOT); None for a single token, or an unknown number."""
        if self.tokens is None or self.tokens < 2:
            return None
        return (self.end_ns - self.first_ns) / (self.tokens - 1)

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens over the whole answer, the wait for the first one included."""
        return None if self.tokens is None or not self.end_ns else self.tokens * NS_PER_S / self.end_ns


@dataclass(frozen=True, slots=True)
class Octave:
    """Inter-token latencies at positions `low` to `high` in the answer; 0 is the first token, which is none of them."""

    low: int
    high: int
    n: int
    p50_ms: float
    p90_ms: float


class Answers:
    """The folded steady answers of one unit under one load."""

    def __init__(self, unit: str, load: str) -> None:
        self.unit, self.load = unit, load
        self.n = self.failed = self.cut = self.several = self.chunks = self.tokens = 0
        self.uncounted = 0
        """Answers whose number of tokens nobody knows."""
        self.without_gaps = 0
        """Answers no gap of which is a sample."""
        self.last_error = ""
        self.prompt_tokens, self.cached_tokens = 0, 0
        """Of the prompts, and how many of them the server had read before, by its own count."""
        self.overlapping, self.last_end_ns = 0, 0
        """Answers that began before another had ended, and the latest end of all."""
        self.recent: deque[OneAnswer] = deque(maxlen=KEPT)
        self._by_position: dict[int, Histogram] = {}

    def ended(self, event: Answer) -> None:
        self.overlapping += event.t0 < self.last_end_ns
        self.last_end_ns = max(self.last_end_ns, event.end_ns)
        if event.finish == FAILED or event.first_ns is None:
            self.failed += 1
            self.last_error = event.error or self.last_error
            return
        if event.finish == CUT:
            self.cut += 1
            return
        self.n += 1
        self.chunks += event.chunks
        self.several += event.several
        self.without_gaps += not event.gaps_counted
        self.tokens += event.tokens or 0
        self.uncounted += event.tokens is None
        self.prompt_tokens += event.prompt_tokens or 0
        self.cached_tokens += event.cached_tokens or 0
        late = max(0, event.late_ns or 0)
        one = OneAnswer(event.t0, event.first_ns + late, event.end_ns - event.t0 + late, event.tokens, event.longest_ns)
        self.recent.append(one)

    def tokens_came(self, window: Samples) -> None:
        """Takes in the times of tokens after the first."""
        positions = np.arange(window.position or 0, (window.position or 0) + window.n)
        octaves = np.minimum(np.frexp(np.maximum(positions, 1))[1], MOST_OCTAVES)
        for octave in np.unique(octaves).tolist():
            self._by_position.setdefault(octave, Histogram()).add(window.lat_ns[octaves == octave])

    def by_position(self) -> Iterator[Octave]:
        for octave, histogram in sorted(self._by_position.items()):
            p50, p90 = histogram.quantiles((0.5, 0.9))
            if p50 is not None and p90 is not None:
                low = 1 << (octave - 1)
                yield Octave(low, 2 * low - 1, histogram.total, p50 / NS_PER_MS, p90 / NS_PER_MS)

    def within(self, first_ms: float | None, per_token_ms: float | None) -> tuple[int, int]:
        """How many answers kept both limits, and of how many; a failed one kept none.

        Goodput as in Zhong et al., DistServe, OSDI 2024, section 2: an answer keeps its limits if its time to the first
        token and its mean time per later token do. Answers without a later token are judged by the first alone.
        """
        kept = sum(_within(each, first_ms, per_token_ms) for each in self.recent)
        failed = round(self.failed * len(self.recent) / self.n) if self.n else self.failed
        return kept, len(self.recent) + failed

    @property
    def why_no_energy(self) -> str:
        """Why the energy of a token is not its time at the mean power, if so."""
        if self.overlapping:
            return "answers overlap: the energy of a token cannot be told from that of the others at the same time"
        if self.several or self.without_gaps:
            return "chunks held several tokens"
        return ""

    def state(self) -> AnswersState:
        return AnswersState(
            unit=self.unit,
            load=self.load,
            n=self.n,
            failed=self.failed,
            cut=self.cut,
            several=self.several,
            chunks=self.chunks,
            tokens=self.tokens,
            uncounted=self.uncounted,
            without_gaps=self.without_gaps,
            last_error=self.last_error,
            overlapping=self.overlapping,
            last_end_ns=self.last_end_ns,
            prompt_tokens=self.prompt_tokens,
            cached_tokens=self.cached_tokens,
            recent=[(each.t0, each.first_ns, each.end_ns, each.tokens, each.longest_ns) for each in self.recent],
            by_position={str(octave): histogram.encode() for octave, histogram in self._by_position.items()},
        )

    @classmethod
    def restored(cls, state: AnswersState) -> Answers:
        """As a keyframe describes them. ValueError where it contradicts itself."""
        found = cls(state.unit, state.load)
        for name in COUNTED:
            setattr(found, name, getattr(state, name))
        found.recent.extend(OneAnswer(*each) for each in state.recent)
        for octave, runs in state.by_position.items():
            if not (octave.isdecimal() and 1 <= int(octave) <= MOST_OCTAVES):
                raise ValueError("a keyframe has latencies at no position")
            found._by_position[int(octave)] = Histogram.decode(runs)
        return found


def _within(answer: OneAnswer, first_ms: float | None, per_token_ms: float | None) -> bool:
    per_token = answer.per_token_ns
    return (first_ms is None or answer.first_ns <= first_ms * NS_PER_MS) and (
        per_token_ms is None or per_token is None or per_token <= per_token_ms * NS_PER_MS
    )


def gives_answers(session: Session) -> bool:
    """Whether the units of this session give answers token by token, rather than single calls."""
    return session.header is not None and isinstance(session.header.settings.get(ANSWERS), dict)


def answers_of(session: Session, unit: str, load: str) -> Answers | None:
    """Those that the samples of a row are of: the row of a unit, or that of its first tokens."""
    name = unit.removesuffix(row_name("", PREFILL))
    return session.answers.get((name, load))
