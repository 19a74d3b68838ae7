"""`hettop variants`: one model in several precisions, in turns: speed, size, and how far off the answers are."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.cli.options import add_model_options, duration_ns, make_parser, model_options, not_negative, positive
from hettop.cli.output import Answer, add_result_options
from hettop.measurement.options import DEFAULT_WARMUP

if TYPE_CHECKING:
    from hettop.analysis.variants import VariantResult
    from hettop.measurement.rounds import Rounds, Trial
    from hettop.measurement.setup import Setup
    from hettop.models.precision import VariantJob
    from hettop.studies.variants.setup import Variant

SUMMARY = "Write a model in other precisions and measure them in turns: speed, size, and how far off the answers are."
EXAMPLE = """\
  hettop variants                                          MobileNetV2 in fp32, fp16 and int8
  hettop variants model.onnx --precisions fp16,int8,int8-dynamic --units CPU_ONLY@1 --out variants/
  hettop variants Model.mlpackage --precisions int8,palette4 --units CPU_AND_NE --json"""
NOTES = """\
ONNX models: fp16, int8 (static, calibrated on made-up inputs) and int8-dynamic, by ONNX Runtime's own tools. Core ML
packages: int8 (linear) and palette8, palette6, palette4 (k-means) of the weights, by coremltools. The model as it is
comes first and is what the others are held against. --record v.jsonl keeps what was found; the samples of each are
recorded beside it, such as v-int8-CPU_ONLY.jsonl. docs/VARIANTS.md tells more. Exit codes: 0 measured, 2 wrong use, 3
everything failed while running, 130 interrupted (what was measured is printed)."""
DEFAULT_PRECISIONS = "fp32,fp16,int8"
DEFAULT_RUNS = 200


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    from hettop.cli.rounds import make_rounds, study_options
    from hettop.models.cache import default_cache
    from hettop.studies.variants.setup import copy_to, file_stem, make_variants, write_in_child

    precisions = list(dict.fromkeys(part.strip() for part in arguments.precisions.split(",")))
    units = tuple(unit.strip() for unit in arguments.units.split(","))
    with Answer("variants", ["variants", *argv], _without_idle_force(study_options(arguments))) as answer:

        def write(job: VariantJob) -> None:
            answer.doing(f"writing the model in {job.precision} …")
            write_in_child(job)

        cores, cache = os.cpu_count() or 1, default_cache()
        setup, variants = make_variants(model_options(arguments), units, cores, precisions, cache, write=write)
        answer.begin(setup)
        if arguments.out is not None:
            copies = copy_to(Path(arguments.out), file_stem(setup.model), variants, force=arguments.force)
            answer.doing("")
            sys.stderr.write("".join(f"wrote {path}\n" for path in copies))
        rounds = make_rounds([each.candidate for each in variants], setup.units, arguments, DEFAULT_RUNS)
        return _measure(setup, variants, rounds, answer, streamed=arguments.stream)


def _without_idle_force(arguments: argparse.Namespace) -> argparse.Namespace:
    """`--force` is for the copies, too, and may come without a recording."""
    force = arguments.force and (arguments.record is not None or arguments.out is None)
    return argparse.Namespace(**{**vars(arguments), "force": force})


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("variants", SUMMARY, EXAMPLE, NOTES)
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument(
        "--precisions", default=DEFAULT_PRECISIONS, metavar="P,Q", help=f"precisions ({DEFAULT_PRECISIONS})"
    )
    parser.add_argument("--out", metavar="FOLDER", help="copy the variants there (--force replaces those there)")
    parser.add_argument(
        "--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls that do not count (10)"
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit and variant (200)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit and variant")
    add_result_options(parser)
    return parser


def _measure(setup: Setup, variants: list[Variant], rounds: Rounds, answer: Answer, *, streamed: bool) -> int:
    from hettop.cli.closing import undisturbed
    from hettop.cli.rounds import INTERRUPTED, exit_code, follow, heading, say_recordings
    from hettop.studies.variants.page import variants_document, variants_text

    def so_far() -> dict[str, Any]:
        begun = [trial for trial in rounds.trials if trial.error is not None or trial.steady[0]]
        return {
            **heading(setup, rounds.trials)[1],
            **variants_document(results_of(setup, variants, begun, modes=False), quick=True),
        }

    interrupted = follow(rounds, answer, so_far, streamed=streamed)
    with undisturbed():
        results, notes = results_of(setup, variants, rounds.trials), [INTERRUPTED] if interrupted else []
        title, head = heading(setup, rounds.trials)
        answer.give(
            lambda: {**head, **variants_document(results, notes)},
            lambda width: variants_text(title, results, width, notes),
            interrupted=interrupted,
        )
        sys.stdout.flush()
        say_recordings(rounds.trials)
    return exit_code([result.statistics for result in results], interrupted)


def results_of(
    setup: Setup, variants: list[Variant], trials: list[Trial], *, modes: bool = True
) -> list[VariantResult]:
    """What was measured, unit by unit, with differences to the model as it is on the CPU, or on the first unit."""
    from hettop.analysis.variants import VariantResult
    from hettop.measurement.trials import samples_of, statistics_of
    from hettop.studies.variants.setup import compared

    by_name = {variant.candidate.name: variant for variant in variants}
    expected = compared([(by_name[trial.candidate.name], trial) for trial in trials])
    found = []
    for trial in trials:
        variant = by_name[trial.candidate.name]
        result = VariantResult(
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
