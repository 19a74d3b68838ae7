"""Networks whose times lie on known lines, and what a test of predictors finds of them."""

from __future__ import annotations

from collections.abc import Mapping

from hettop.studies.predict.estimators import Work
from hettop.studies.predict.findings import Measured, predict_result
from hettop.studies.predict.result import PredictResult

G = 10**9


def net(name: str, gmacs: int, layers: list[Work], ms: Mapping[str, float], failed: str = "") -> Measured:
    return Measured(name, gmacs * G, layers, ms, {"cpu:2": failed} if failed else {})


def conv(gmacs: int) -> Work:
    """10 ms for each GMAC."""
    return Work("Conv", gmacs * G, 0, 10.0 * gmacs)


def add(gbytes: int) -> Work:
    """1 ms for each GB."""
    return Work("Add", 0, gbytes * G, 1.0 * gbytes)


NETWORKS = [
    net("a", 1, [conv(1), add(2)], {"none": 12.0, "cpu:2": 24.0}),
    net("b", 2, [conv(2), add(10)], {"none": 30.0, "cpu:2": 60.0}),
    net("c", 3, [conv(1), conv(2), add(3)], {"none": 33.0, "cpu:2": 99.0}),
    net("d", 4, [conv(4), add(20)], {"none": 60.0, "cpu:2": 60.0}),
]
"""The layers of each add up to its time without load, and lie on a line by type; under load it takes 2, 2, 3 and 1
times as long."""

FOUND: PredictResult = predict_result("CPU_ONLY@1", 8, NETWORKS, ["none", "cpu:2"])
FAILED: PredictResult = predict_result(
    "CPU_ONLY@1",
    8,
    [net("a", 1, [conv(1)], {"none": 10.0}, "the load did not start"), *NETWORKS[1:]],
    ["none", "cpu:2"],
)
FEW: PredictResult = predict_result("CPU_ONLY@1", 8, NETWORKS[:3], ["none", "cpu:2"])
NOTHING: PredictResult = predict_result("CPU_ONLY@1", 8, [], ["none"])
