"""What a slicing plan comes to: its gain as predicted and as measured, and whether it answers right, in sentences.

Pure: what was found in, sentences out, for the screen and for reports alike. Names in them are as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.format import UNKNOWN, count, percent, significant

if TYPE_CHECKING:  # the screen is painted before numpy and msgspec are imported
    from hettop.studies.plan.result import PlanResult, PlanRun

GOOD, BAD, PLAIN = "good", "bad", "plain"
"""What a sentence means to whoever wants it fast and right."""

NOT_RUN = "Not run: use --run to measure the plan."

ESTIMATED = "layer times are ESTIMATED from the framework's plan; cuts were measured"

NOTHING = 5e-4
"""A gain that percents with one decimal show as none."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """`means`: `good`, `bad` or `plain`."""

    text: str
    means: str = PLAIN


def plan_sentences(found: PlanResult) -> Iterator[Sentence]:
    """What is predicted, what was measured, and whether the outputs are right; the most important first."""
    if found.contradiction is not None:
        yield Sentence(f"{found.contradiction[:1].upper()}{found.contradiction[1:]}.", BAD)
    yield _predicted(found)
    if found.run is None:
        yield Sentence("Not run: costs come from a file." if found.from_file else NOT_RUN)
        return
    yield _against_itself(found.run) if _is_best_single(found) else _gained(found.run)
    yield from _contradicted(found.run)
    yield _took(found.run, adjusted=found.contradiction is None, several=found.slices_n > 1)
    if found.run.measured_mj is not None:
        energy = f"{significant(found.run.measured_mj)} mJ, predicted {significant(found.run.predicted_mj)} mJ"
        error = percent(found.run.energy_estimation_error)
        yield Sentence(f"An inference took {energy}: slices are off by {error} on average.")
    yield from _others(found.run)
    yield _outputs(found.run)


def begins(found: PlanResult) -> dict[int, int]:
    """Entries of the strip in which slices begin, with the number of the first such layer."""
    entries: dict[int, int] = {}
    for each in found.slices:
        if found.strip and 1 <= each.first <= found.layers_n:
            entries.setdefault((each.first * len(found.strip) - 1) // found.layers_n, each.first)
    return entries


def gain_words(gain: float | None) -> str:
    """`+7.2%`."""
    return "none" if gain is not None and abs(gain) < NOTHING else percent(gain, signed=True)


def _predicted(found: PlanResult) -> Sentence:
    used = list(dict.fromkeys(each.device for each in found.slices))
    first = used[0] if used else ""
    if found.slices_n == 1 and not found.given:
        if found.layers_n == 1:
            return Sentence(f"The model is a single layer and runs on {first}.")
        if len(found.devices) == 1:
            return Sentence(f"The plan uses the only device, {first}.")
        return Sentence(f"The plan uses one device, {first}: a cut costs more than it saves.")
    whose = "Your plan" if found.given else "The plan"
    where = f"all on {first}" if len(used) == 1 else f"on {count(len(used))} devices"
    slices = "one slice" if found.slices_n == 1 else f"{count(found.slices_n)} slices, {where}"
    gain, best = found.gain, found.best_single
    if gain is None or best is None:
        return Sentence(f"{whose}: {slices}; no device can run the whole model alone.")
    costs = f"{significant(found.cost)} {found.cost_unit} against {significant(found.singles[best])}"
    if abs(gain) < NOTHING:
        return Sentence(f"{whose}: {slices}; no gain over {best} alone is predicted ({costs}).")
    text = f"{whose}: {slices}; predicted gain {percent(gain, signed=True)} over {best} alone ({costs})."
    return Sentence(text, PLAIN if found.contradiction is not None else GOOD if gain > 0 else BAD)


def _is_best_single(found: PlanResult) -> bool:
    """Whether the plan is that device alone which it is compared with."""
    return found.run is not None and [each.device for each in found.slices] == [found.run.best_single]


def _against_itself(run: PlanRun) -> Sentence:
    """One and the same, measured twice: what differs is not a gain."""
    text = f"The plan is the best device alone; measured against itself it differs by {percent(run.gain, signed=True)}"
    interval = ""
    if run.gain_ci is not None:
        interval = f" ({percent(run.gain_ci[0], signed=True)} to {percent(run.gain_ci[1], signed=True)}, 95%)"
    return Sentence(f"{text}{interval}: measurement noise, not a gain.")


def _gained(run: PlanRun) -> Sentence:
    best = run.best_single or "the best device"
    gain = f"Measured gain {percent(run.gain, signed=True)} over {best} alone"
    if run.gain is None or run.gain_ci is None:
        return Sentence(f"{gain}.")
    low, high = run.gain_ci
    if high < 0:
        loss = f"Measured loss {percent(-run.gain)} against {best} alone"
        return Sentence(f"{loss} ({percent(-high)} to {percent(-low)}, 95%).", BAD)
    text = f"{gain} ({percent(low, signed=True)} to {percent(high, signed=True)}, 95%)"
    if low > 0:
        return Sentence(f"{text}.", GOOD)
    return Sentence(f"{text}: not significant.")


def _contradicted(run: PlanRun) -> Iterator[Sentence]:
    """Two ways to report the same gain that differ even in its sign."""
    alone = None if run.best_single is None else run.alone_ms.get(run.best_single)
    if run.gain is None or alone is None or run.measured_ms <= 0:
        return
    by_medians = alone / run.measured_ms - 1
    if by_medians * run.gain < 0:
        by_pairs = "The gain is the median over pairs of calls; from the two medians it is"
        doubt = f"{percent(by_medians, signed=True)}: the two contradict each other, so neither is reliable"
        yield Sentence(f"{by_pairs} {doubt}.", BAD)


def _took(run: PlanRun, *, adjusted: bool, several: bool) -> Sentence:
    """`adjusted`: whether the machine's speed then and now is known well enough to adjust to."""
    off = _off_by(run.error)
    if adjusted and run.adjusted_error is not None:
        adjusted_ms = "" if run.adjusted_ms is None else f" ({significant(run.adjusted_ms)} ms)"
        off += f", {_off_by(run.adjusted_error)} after adjusting for the machine's speed{adjusted_ms}"
    took, predicted = significant(run.measured_ms), significant(run.predicted_ms)
    if run.estimation_error is not None and several:
        off += f"; slices are off by {percent(run.estimation_error)} on average"
    return Sentence(f"The plan took {took} ms, predicted {predicted} ms: {off}.")


def _others(run: PlanRun) -> Iterator[Sentence]:
    """Random plans and baselines that were run."""
    others = run.others
    if others is None:
        return
    best = f"{others.best_of} plan" if others.best_of == "random" else others.best_of
    took = f"{significant(others.best_ms)} ms, the plan {significant(others.plan_ms)} ms"
    yield Sentence(
        f"Of {count(others.n)} other plans ({count(others.random_n)} random) the fastest took {took} ({best}); "
        f"their predictions are off by {percent(others.estimation_error)} on average."
    )


def _off_by(error: float | None) -> str:
    """A prediction's relative error in words, as a sign alone does not say which of the two is larger."""
    if error is None:
        return UNKNOWN
    return f"{percent(abs(error))} too {'low' if error < 0 else 'high'}" if error else "exact"


def output_notes(run: PlanRun) -> Iterator[str]:
    """How far apart the devices themselves are, and what the cutting alone changes."""
    if run.reference is None:
        return
    changed = "other shapes or integers" if run.cut_difference is None else f"{run.cut_difference:.1e}"
    yield (
        f"outputs are compared with the whole model on {run.reference}; the cut model run there "
        f"differs by {changed} of the largest element ({run.cut_tolerance or 0.0:.0e} is rounding)"
    )
    others = [
        f"{device} {apart:.1e}" for device, apart in run.apart.items() if device != run.reference and apart is not None
    ]
    if others:
        yield f"the whole model on other units differs by: {', '.join(others)}; twice that is allowed"


def _outputs(run: PlanRun) -> Sentence:
    allowed = "" if run.tolerance is None else f" ({run.tolerance:.0e} allowed)"
    if run.outputs_equal:
        if not run.output_difference:
            return Sentence("Outputs are identical to those of the whole model.", GOOD)
        return Sentence(f"Outputs match the whole model: difference {run.output_difference:.1e}{allowed}.", GOOD)
    if run.output_difference is None:
        return Sentence("Outputs DO NOT match the whole model: they cannot be compared.", BAD)
    return Sentence(f"Outputs DO NOT match the whole model: difference {run.output_difference:.1e}{allowed}.", BAD)
