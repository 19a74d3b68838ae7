"""Cost tables for tests: from the file format's fields, and at random."""

from __future__ import annotations

import json
import math
from itertools import combinations, pairwise
from typing import Any

import hypothesis.strategies as st

from hettop.studies.plan.slicing.cost_file import read_costs
from hettop.studies.plan.slicing.costs import CostTable

Fields = dict[str, Any]


def table_of(fields: Fields) -> CostTable:
    return read_costs(json.dumps(fields))


def fields(layers: int, devices: str, **changed: Any) -> Fields:
    """Layers that cost 10 each on every device, without communication, of 1 MB each."""
    plain = {
        "L": layers,
        "D": list(devices),
        "e": [[10] * len(devices)] * layers,
        "cin": [[0] * len(devices)] * layers,
        "cout": [[0] * len(devices)] * layers,
        "size": [1] * layers,
        "limit": {},
    }
    return {**plain, **changed}


@st.composite
def random_fields(draw: st.DrawFn, most_layers: int = 8, most_devices: int = 4) -> Fields:
    """Whole numbers, so that sums are exact; with unsupported layers, limits, and frequencies among the names."""
    layers, devices = draw(st.integers(1, most_layers)), draw(st.integers(1, most_devices))
    names = draw(st.permutations(["B", "G", "N^480", "N^960"]))[:devices]

    def matrix(cell: st.SearchStrategy[int | None]) -> list[list[int | None]]:
        return draw(st.lists(st.lists(cell, min_size=devices, max_size=devices), min_size=layers, max_size=layers))

    return {
        "L": layers,
        "D": names,
        "e": matrix(st.one_of(st.integers(0, 50), st.integers(0, 50), st.none())),
        "cin": matrix(st.integers(0, 30)),
        "cout": matrix(st.integers(0, 30)),
        "size": draw(st.lists(st.integers(0, 60), min_size=layers, max_size=layers)),
        "limit": draw(st.dictionaries(st.sampled_from(names), st.sampled_from([50, 100]))),
    }


def least_cost(given: Fields) -> float:
    """By trying every way to cut the layers; each slice then takes the device that is cheapest for it."""
    layers = given["L"]
    cuts = (inner for number in range(layers) for inner in combinations(range(1, layers), number))
    return min(_cost_of(given, (0, *inner, layers)) for inner in cuts)


def _cost_of(given: Fields, edges: tuple[int, ...]) -> float:
    spans = pairwise(edges)
    return sum(
        min(part_cost(given, first, after, device) for device in range(len(given["D"]))) for first, after in spans
    )


def part_cost(given: Fields, first: int, after: int, device: int) -> float:
    """Layers first..after-1 in one slice: equation 8, from the file's fields alone."""
    costs = [given["e"][layer][device] for layer in range(first, after)]
    limit = given["limit"].get(given["D"][device], math.inf)
    if None in costs or sum(given["size"][first:after]) > limit:
        return math.inf
    return float(sum(costs) + given["cin"][first][device] + given["cout"][after - 1][device])
