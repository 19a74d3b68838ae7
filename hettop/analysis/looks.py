"""Answers that may be looked at any number of times while samples come: the error of all looks together stays at 5%.

Pure. A look is a chance to be wrong, so each has a confidence of its own, and what was proven at one look stays
proven while the samples do not speak against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hettop.analysis.budget import Judgement
from hettop.analysis.ranking import Neighbours
from hettop.analysis.verdict import Question, Verdict
from hettop.stats.quantiles import confidence_of_look


@dataclass(slots=True)
class Looks:
    """How often a question was asked of a session that grows, and what was proven so far.

    `met`: unit to answer; `order`: pairs (better, worse). Ask anew (another instance) under another load.
    """

    number: int = 0
    met: dict[str, bool] = field(default_factory=dict)
    order: set[tuple[str, str]] = field(default_factory=set)

    def asked(self, question: Question) -> Question:
        """The question as the next look is to ask it."""
        self.number += 1
        return replace(question, confidence=confidence_of_look(self.number))

    def keep(self, strict: Verdict, usual: Verdict) -> Verdict:
        """The verdict with what was proven before, where `usual`, at the usual confidence, still bears it out."""
        kept = replace(
            strict,
            judgements=_kept(strict.judgements, usual.judgements, self.met),
            order=tuple(
                ours if ours.proven or not self._still(theirs) else theirs
                for ours, theirs in zip(strict.order, usual.order, strict=True)
            ),
        )
        self.met = {unit: judged.met for unit, judged in kept.judgements.items() if judged.met is not None}
        self.order = {(pair.better, pair.worse) for pair in kept.order if pair.proven}
        return kept

    def _still(self, pair: Neighbours) -> bool:
        return pair.proven and (pair.better, pair.worse) in self.order


def _kept(
    strict: Mapping[str, Judgement], usual: Mapping[str, Judgement], met: Mapping[str, bool]
) -> dict[str, Judgement]:
    return {
        unit: usual[unit]
        if judged.met is None and usual[unit].met is not None and usual[unit].met == met.get(unit)
        else judged
        for unit, judged in strict.items()
    }
