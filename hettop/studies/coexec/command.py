"""`hettop coexec`: one stream of inputs, served by several units at once."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hettop.console.signals import stop_descriptors
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
from hettop.measurement.arguments import (
    model_options,
)
from hettop.measurement.setup import Setup
from hettop.processes.cpus import usable_threads
from hettop.report.document import head
from hettop.studies.coexec.measure import coexec_result
from hettop.studies.coexec.messages import CoexecJob
from hettop.studies.coexec.options import COEXEC_DEPTH
from hettop.studies.coexec.rates import Result
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.coexec.setup import Listener, make_job, measure, prepare_units
from hettop.studies.granularities.measure import compare_under, granularities_result, parse_loads, prepare_model
from hettop.studies.granularities.result import GranularitiesResult
from hettop.studies.output import StudyOutput, model_document, model_title

FEWEST_THREADS = 2
COEXECUTING = ("units", "depth", "power", "block", "until_ended", "live")
COMPARING = ("threads", "loads")


def run(arguments: argparse.Namespace) -> int:
    refuse_mixtures(arguments)
    return _compare(arguments) if arguments.granularities else _coexecute(arguments)


def refuse_mixtures(arguments: argparse.Namespace) -> None:
    """Raises HettopError (`usage`) for an option that has no effect with, or without, `--granularities`."""
    there, how = (COEXECUTING, "with") if arguments.granularities else (COMPARING, "without")
    wrong = next((arguments.given[name] for name in there if name in arguments.given), None)
    if wrong is not None:
        raise HettopError("usage", f"{wrong} has no effect {how} --granularities", f"leave out {wrong}")


def _coexecute(arguments: argparse.Namespace) -> int:
    with (
        StudyOutput("coexec", arguments) as output,
        stop_descriptors(sys.stdin if arguments.until_ended else None) as ends,
    ):
        setup, job = _prepared(arguments)
        output.begin(setup)
        listener = Listener(
            output.progress.show,
            lambda some, energy: output.progress.partial(lambda: _document(setup, some, coexec_result(some, energy))),
        )
        measured, energy = measure(setup, job, arguments.power, listener, ends)
        result = coexec_result(measured, energy)
        title = [model_title(setup), setup.backend, *(["SIMULATED"] if measured.simulated else [])]
        output.finish(result, lambda: _document(setup, measured, result), " · ".join(title))
    return EXIT_INTERRUPTED if measured.interrupted else 0


def _document(setup: Setup, measured: Result, result: CoexecResult) -> dict[str, Any]:
    return {
        **head("coexec"),
        "simulated": measured.simulated,
        "model": {"name": setup.model.name, "sha256": setup.model.sha256, "note": setup.model.note or None},
        "backend": setup.backend,
        **result.document(),
    }


def _prepared(arguments: argparse.Namespace) -> tuple[Setup, CoexecJob]:
    options = model_options(arguments)
    setup = prepare_units(options, arguments.units, usable_threads())
    return setup, make_job(
        setup,
        options,
        duration_ns=None if arguments.until_ended else arguments.duration,
        warmup=arguments.warmup,
        depth=arguments.depth or COEXEC_DEPTH,
        powered=arguments.power is not None,
        block_ns=arguments.block,
    )


def _compare(arguments: argparse.Namespace) -> int:
    loads = parse_loads(arguments.loads or "none")
    threads = arguments.threads or max(FEWEST_THREADS, usable_threads())
    with StudyOutput("granularities", arguments) as output:
        setup = prepare_model(model_options(arguments), threads)
        output.begin(setup)
        model = model_document(setup)

        def document(result: GranularitiesResult) -> dict[str, Any]:
            return {**head("granularities"), "model": model, **result.document()}

        found, interrupted = compare_under(
            setup,
            arguments.model,
            loads,
            threads=threads,
            duration_ns=arguments.duration,
            warmup=arguments.warmup,
            say=output.progress.show,
            known=lambda some: output.progress.partial(lambda: document(granularities_result(threads, some))),
        )
        result = granularities_result(threads, found, interrupted=interrupted)
        title = f"{model_title(setup)} · ONNX Runtime, CPU · {threads} threads"
        output.finish(result, lambda: document(result), title)
    if interrupted:
        return EXIT_INTERRUPTED
    return 0 if any(each.compared is not None for each in found) else EXIT_FAILED
