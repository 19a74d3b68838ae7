"""`hettop variants`: one model in several precisions, in turns: speed, size, and how far off the answers are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hettop.console.messages import print_note
from hettop.console.signals import stop_signals_ignored
from hettop.measurement.arguments import (
    model_options,
)
from hettop.measurement.rounds import Rounds, Trial, samples_of, statistics_of
from hettop.measurement.setup import Setup
from hettop.models.cache import default_cache
from hettop.models.precision import VariantJob
from hettop.processes.cpus import usable_threads
from hettop.studies.output import StudyOutput
from hettop.studies.rounds import (
    INTERRUPTED,
    exit_code,
    heading,
    make_rounds,
    measure_rounds,
    print_recordings,
    study_options,
)
from hettop.studies.variants.measure import MeasuredVariant, variants_result
from hettop.studies.variants.options import DEFAULT_RUNS
from hettop.studies.variants.setup import Variant, compared, copy_to, file_stem, make_variants, write_in_child


def run(arguments: argparse.Namespace) -> int:
    precisions = list(dict.fromkeys(part.strip() for part in arguments.precisions.split(",")))
    with StudyOutput("variants", study_options(arguments)) as output:

        def write(job: VariantJob) -> None:
            output.progress.show(f"writing the model in {job.precision} …")
            write_in_child(job)

        cores, cache = usable_threads(), default_cache()
        setup, variants = make_variants(
            model_options(arguments), arguments.units, cores, precisions, cache, write=write
        )
        output.begin(setup)
        if arguments.out is not None:
            copies = copy_to(Path(arguments.out), file_stem(setup.model), variants, force=arguments.force)
            output.progress.clear()
            for path in copies:
                print_note(f"wrote {path}")
        rounds = make_rounds([each.candidate for each in variants], setup.units, arguments, DEFAULT_RUNS)
        return _measure(setup, variants, rounds, output)


def _measure(setup: Setup, variants: list[Variant], rounds: Rounds, output: StudyOutput) -> int:
    def so_far() -> dict[str, Any]:
        begun = [trial for trial in rounds.trials if trial.error is not None or trial.steady[0]]
        result = variants_result(measured_variants(setup, variants, begun, modes=False), quick=True)
        return {**heading(setup, rounds.trials, "variants")[1], **result.document()}

    interrupted = measure_rounds(rounds, output, so_far)
    with stop_signals_ignored():
        measured = measured_variants(setup, variants, rounds.trials)
        result = variants_result(measured, [INTERRUPTED] if interrupted else [])
        title, head = heading(setup, rounds.trials, "variants")
        output.finish(result, lambda: {**head, **result.document()}, title, interrupted=interrupted)
        sys.stdout.flush()
        print_recordings(rounds.trials)
    made = [each.statistics for each in measured if not each.reference]
    return exit_code(made or [each.statistics for each in measured], interrupted, output)


def measured_variants(
    setup: Setup, variants: list[Variant], trials: list[Trial], *, modes: bool = True
) -> list[MeasuredVariant]:
    """What was measured, unit by unit, with differences to the model as it is on the CPU, or on the first unit."""
    by_name = {variant.candidate.name: variant for variant in variants}
    expected = compared([(by_name[trial.candidate.name], trial) for trial in trials])
    found = []
    for trial in trials:
        variant = by_name[trial.candidate.name]
        result = MeasuredVariant(
            precision=variant.precision,
            statistics=statistics_of(trial, setup.backend, modes=modes),
            reference=variant.reference,
            size_bytes=variant.size_bytes,
            note=variant.note,
            outputs=expected.get((variant.precision, trial.unit)),
            measured=samples_of(trial),
        )
        found.append(result)
    return found
