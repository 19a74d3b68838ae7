"""`hettop roofline`: the roofs of this machine, or published ones, and what limits each layer of a model."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.format import UNKNOWN, short_count, significant, size
from hettop.models.core_ai import is_core_ai
from hettop.report.document import head
from hettop.report.formats import result_text
from hettop.report.page import Block, Items, Paragraph, Table
from hettop.studies.layers.command import PROFILED_BACKENDS, measure, read_work, result_title
from hettop.studies.layers.notes import MOST_ROWS, noted
from hettop.studies.layers.published import Chip, PublishedRoof, Work, find_chip, least_ms, read_chips
from hettop.studies.layers.result import FLOPS_PER_MAC, LayersResult
from hettop.studies.output import StudyOutput, model_document, model_title
from hettop.text import clean

FOR_MEASURING = ("units", "runs", "warmup", "stream", "record")


def run(arguments: argparse.Namespace) -> int:
    if arguments.chip is not None:
        wrong = next((arguments.given[name] for name in FOR_MEASURING if name in arguments.given), None)
        if wrong is not None:
            raise HettopError(
                "usage", f"{wrong} has no effect with --chip, which measures nothing", f"leave out {wrong}"
            )
        return _published(arguments)
    if arguments.device is not None:
        raise HettopError("usage", "--device needs --chip", "add --chip CHIP")
    if arguments.backend not in PROFILED_BACKENDS:
        hint = "leave out --backend: Core ML files are translated"
        raise HettopError("usage", f"only onnxruntime has a measured roofline: --backend {arguments.backend}", hint)
    with StudyOutput("roofline", arguments) as output:
        if is_core_ai(Path(arguments.model)):
            message = "rooflines need MACs, which Core AI does not report"
            raise HettopError("format", message, f"hettop layers {clean(arguments.model)}")
        setup, measured = measure(arguments, output)
        if measured.roofs is None:
            raise HettopError("crashed", "the measuring process returned no roofs")
        result = noted(measured).with_whole(setup.model.name)
        title = result_title(model_title(setup), result)
        output.finish(result, lambda: roofline_document(model_document(setup), result), title)
    return 0


def roofline_document(model: dict[str, Any], result: LayersResult) -> dict[str, Any]:
    """`roofline --json`: `model` has what is found of the whole model, too."""
    found = result.document()
    return {**head("roofline"), **found, "model": {**model, **found["whole"], "name": model["name"]}}


def _published(arguments: argparse.Namespace) -> int:
    """Layers under the published roofs of a chip. Raises HettopError."""
    chip = find_chip(arguments.chip, read_chips())
    roof = chip.device(arguments.device)
    setup, work = read_work(arguments)
    width = shutil.get_terminal_size((100, 24)).columns
    title = f"{model_title(setup)} · {chip.name} ({chip.kind}) · {LABEL}"
    blocks = [Paragraph(title, "muted"), *published_blocks(chip, roof, work)]
    model = model_document(setup)
    sys.stdout.write(result_text(arguments.format, lambda: published_document(model, chip, roof, work), blocks, width))
    return 0


HEADING = ("device", "GFLOP/s", "GB/s", "of", "ridge, MACs/B", "model, minimum ms", "")
LAYER_HEADING = ("layer", "op", "MACs", "bytes", "MACs/B", "roof", "bound")
LEFT = ("device", "of", "", "layer", "op", "bound")
LABEL = "published, not measured"


def published_blocks(chip: Chip, chosen: PublishedRoof, work: Sequence[Work]) -> Iterator[Block]:
    """The chip's devices, the layers under the roofs of one, and the sources."""
    devices = [_device(each, work, each is chosen) for each in chip.devices]
    yield Table(HEADING, devices, LEFT, drop=("of", ""))
    layers = [_layer(each, chosen) for each in work[:MOST_ROWS]]
    yield Table(LAYER_HEADING, layers, LEFT, drop=("bytes", "op", "MACs"))
    yield Items(list(_notes(chip, chosen, work)))


def published_document(
    model: dict[str, Any], chip: Chip, chosen: PublishedRoof, work: Sequence[Work]
) -> dict[str, Any]:
    """As `roofline --json` has it, but for `measured`, which is false, and for times, which nobody took."""
    total = _whole(work)
    return {
        **head("roofline-published"),
        "chip": chip.name,
        "roofs": _roof(chosen),
        "devices": [{**_roof(each), "model_least_ms": least_ms(each, work)} for each in chip.devices],
        "layers": [_work(each, chosen) for each in work],
        "model": {**model, **_work(total, chosen), "name": model["name"], "least_ms": least_ms(chosen, work)},
        "notes": list(_notes(chip, chosen, work)),
    }


def _roof(roof: PublishedRoof) -> dict[str, Any]:
    return {
        "device": roof.device,
        "gflops": roof.gflops,
        "gbytes_per_s": roof.gbytes_per_s,
        "threads": None,
        "measured": False,
        "published": True,
        "precision": roof.precision or None,
        "ridge": roof.ridge,
        "source": roof.source,
        "where": roof.where,
        "doubt": roof.doubt or None,
    }


def _work(work: Work, roof: PublishedRoof) -> dict[str, Any]:
    return {
        "name": work.name,
        "op": work.op,
        "ms": None,
        "macs": work.macs,
        "bytes": work.nbytes,
        "oi": work.oi,
        "bound": roof.bound(work.oi),
        "gflops": None,
        "attainable_gflops": roof.attainable(work.oi),
    }


def _whole(work: Sequence[Work]) -> Work:
    sizes = [each.nbytes for each in work]
    known = [each for each in sizes if each is not None]
    return Work("model", "", sum(each.macs for each in work), sum(known) if len(known) == len(sizes) else None)


def _device(roof: PublishedRoof, work: Sequence[Work], chosen: bool) -> tuple[str, ...]:
    ridge = roof.ridge
    return (
        roof.device,
        significant(roof.gflops) + ("?" if roof.doubt and roof.gflops is not None else ""),
        significant(roof.gbytes_per_s) + ("?" if roof.doubt and roof.gbytes_per_s is not None else ""),
        roof.precision or UNKNOWN,
        significant(None if ridge is None else ridge / FLOPS_PER_MAC),
        significant(least_ms(roof, work)),
        "layers below" if chosen else "",
    )


def _layer(work: Work, roof: PublishedRoof) -> tuple[str, ...]:
    return (
        work.name,
        work.op,
        short_count(work.macs),
        size(work.nbytes),
        significant(work.oi),
        significant(roof.attainable(work.oi)),
        roof.bound(work.oi) or UNKNOWN,
    )


def _notes(chip: Chip, chosen: PublishedRoof, work: Sequence[Work]) -> Iterator[str]:
    yield (
        f"{LABEL}: peak rates from publications; 2 FLOP per MAC; minimum time: all layers with MACs "
        "in sequence, under both roofs"
    )
    for each in chip.devices:
        yield f"{each.device}: {each.source}; {each.where}"
        if each.doubt:
            yield f"{each.device}: not used as a roof: {each.doubt}"
    if chosen.ridge is None and not chosen.doubt:
        yield f"{chosen.device}: what bounds a layer is unknown without both roofs"
    if chosen.precision == "fp16":
        yield "bytes are for the model's own precision; half precision halves them"
    if len(work) > MOST_ROWS:
        yield f"the table ends after {MOST_ROWS} of {len(work)} layers; --json has all"
