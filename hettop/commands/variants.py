"""`hettop variants`: one model in several precisions, in turns: speed, size, and how far off the answers are."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.commands.options import add_model_options, duration_ns, make_parser, model_options, not_negative, positive
from hettop.wiring.options import DEFAULT_WARMUP, MeasureOptions

if TYPE_CHECKING:
    from hettop.analysis.variants import VariantResult
    from hettop.wiring.rounds import Rounds, Trial
    from hettop.wiring.setup import Setup
    from hettop.wiring.variants import Variant

SUMMARY = "Write a model in other precisions and measure them in turns: speed, size, and how far off the answers are."
EXAMPLE = """\
  hettop variants                                          MobileNetV2 in fp32, fp16 and int8
  hettop variants model.onnx --precisions fp16,int8,int8-dynamic --units CPU_ONLY@1 --out variants/
  hettop variants Model.mlpackage --precisions int8,palette4 --units CPU_AND_NE --json"""
NOTES = """\
ONNX models: fp16, int8 (static, calibrated on made-up inputs) and int8-dynamic, by ONNX Runtime's own tools. Core ML
packages: int8 (linear) and palette8, palette6, palette4 (k-means) of the weights, by coremltools. The model as it is
comes first and is what the others are held against. docs/VARIANTS.md tells more. Exit codes: 0 measured, 2 wrong use,
3 everything failed while running, 130 interrupted (what was measured is printed)."""
DEFAULT_PRECISIONS = "fp32,fp16,int8"
DEFAULT_RUNS = 200


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    from hettop.models.cache import default_cache
    from hettop.session.session import RAW_LIMIT
    from hettop.wiring.rounds import Rounds
    from hettop.wiring.variants import copy_to, make_variants, write_in_child

    precisions = list(dict.fromkeys(part.strip() for part in arguments.precisions.split(",")))
    units = tuple(unit.strip() for unit in arguments.units.split(","))
    _say("writing variants …")
    try:
        setup, variants = make_variants(
            model_options(arguments), units, os.cpu_count() or 1, precisions, default_cache(), write=write_in_child
        )
    finally:
        _say("")
    if arguments.out is not None:
        copies = copy_to(Path(arguments.out), _stem(setup), variants, force=arguments.force)
        sys.stderr.write("".join(f"wrote {path}\n" for path in copies))
    measure = MeasureOptions(
        warmup=arguments.warmup,
        runs=arguments.runs if arguments.runs or arguments.duration else DEFAULT_RUNS,
        duration_ns=arguments.duration,
        power="none",
        record=arguments.record,
        force=arguments.force,
    )
    rounds = Rounds([each.candidate for each in variants], setup.units, measure, raw_limit=RAW_LIMIT)
    return _measure(setup, variants, rounds, as_json=arguments.as_json)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("variants", SUMMARY, EXAMPLE, NOTES)
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument(
        "--precisions", default=DEFAULT_PRECISIONS, metavar="P,Q", help=f"precisions ({DEFAULT_PRECISIONS})"
    )
    parser.add_argument("--out", metavar="FOLDER", help="copy the variants there; without, they stay in the cache")
    parser.add_argument(
        "--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls that do not count (10)"
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit and variant (200)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit and variant")
    parser.add_argument("--record", metavar="FILE", help="record each as FILE-PRECISION-UNIT")
    parser.add_argument("--force", action="store_true", help="overwrite what --out or --record would write")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    return parser


def _stem(setup: Setup) -> str:
    if setup.model.synthetic:
        return setup.model.name.replace(":", "-")
    return Path(setup.model.name).stem


def _measure(setup: Setup, variants: list[Variant], rounds: Rounds, *, as_json: bool) -> int:
    from hettop.commands.closing import undisturbed
    from hettop.commands.rounds import exit_code, run_rounds, say_recordings

    interrupted = run_rounds(rounds)
    with undisturbed():
        results = results_of(setup, variants, rounds.trials)
        _print(setup, rounds, results, as_json=as_json)
        say_recordings(rounds.trials)
    return exit_code([result.statistics for result in results], interrupted)


def results_of(setup: Setup, variants: list[Variant], trials: list[Trial]) -> list[VariantResult]:
    """What was measured, unit by unit, with differences to the model as it is on the CPU, or on the first unit."""
    from hettop.analysis.variants import VariantResult
    from hettop.wiring.trials import samples_of, statistics_of
    from hettop.wiring.variants import compared

    by_name = {variant.candidate.name: variant for variant in variants}
    expected = compared([(by_name[trial.candidate.name], trial) for trial in trials])
    found = []
    for trial in trials:
        variant = by_name[trial.candidate.name]
        result = VariantResult(
            precision=variant.precision,
            statistics=statistics_of(trial, setup.backend),
            reference=variant.reference,
            size_bytes=variant.size_bytes,
            note=variant.note,
            outputs=expected.get((variant.precision, trial.unit)),
            measured=samples_of(trial),
        )
        found.append(result)
    return found


def _print(setup: Setup, rounds: Rounds, results: list[VariantResult], *, as_json: bool) -> None:
    from hettop.commands.rounds import heading
    from hettop.report.document import to_json
    from hettop.report.variants import variants_document, variants_text

    title, head = heading(setup, rounds.trials)
    if as_json:
        sys.stdout.write(to_json({**head, **variants_document(results)}) + "\n")
    else:
        sys.stdout.write(variants_text(title, results, shutil.get_terminal_size((100, 24)).columns))
    sys.stdout.flush()


def _say(text: str) -> None:
    """One line of progress, on a terminal only, wiped by the next."""
    from hettop.commands.progress import width_of

    if width_of(sys.stderr, os.environ.get("TERM", "")):
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
