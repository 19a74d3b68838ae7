"""`hettop models`: the networks that can be measured by name."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from typing import Any

from hettop.format import UNKNOWN, significant
from hettop.models.networks.catalogue import ARCHITECTURES, Network, network, parse_variant
from hettop.report.document import head
from hettop.report.formats import result_text
from hettop.report.page import Block, Items, Table

NOTES = (
    "weights are synthetic: the speed is the network's, its answers mean nothing",
    "tinydecoder, which gives answers token by token, is built by its name, too",
    "MACs of one image; parameters with batch norm's scale and shift; top-1 accuracy as published (EmBench, table 1)",
)


def run(arguments: argparse.Namespace) -> int:
    networks = [network(parse_variant(name)) for name in ARCHITECTURES]
    width = shutil.get_terminal_size((100, 24)).columns
    sys.stdout.write(result_text(arguments.format, lambda: models_document(networks), _blocks(networks), width))
    return 0


def models_document(networks: list[Network]) -> dict[str, Any]:
    """`models --json`: each network with its counts, and what was published of it."""
    return {**head("models"), "models": [_described(net) for net in networks]}


def _described(net: Network) -> dict[str, Any]:
    architecture = ARCHITECTURES[net.variant.family]
    published = architecture.published
    return {
        "name": net.variant.family,
        "title": architecture.title,
        "height": net.variant.height,
        "width": net.variant.width,
        "parameters": net.published_parameters,
        "stored_parameters": net.parameters,
        "macs": net.macs,
        "layers": len(net.layers),
        "resizable": architecture.resizable,
        "top1_percent": None if published is None else published.top1_percent,
        "top5_percent": None if published is None else published.top5_percent,
    }


def _blocks(networks: list[Network]) -> Iterator[Block]:
    rows = []
    for net in networks:
        each = _described(net)
        top1 = UNKNOWN if each["top1_percent"] is None else f"{each['top1_percent']:.2f}"
        size = f"{each['height']}x{each['width']}"
        counts = (significant(each["parameters"] / 1e6), significant(each["macs"] / 1e6))
        rows.append((each["name"], each["title"], size, *counts, top1))
    heading = ("name", "network", "pixels", "parameters M", "MACs M", "top-1 %")
    yield Table(heading, rows, ("name", "network", "pixels"))
    yield Items(NOTES)
