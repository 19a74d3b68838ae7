"""Models of features, as they stand in pipelines: linear models, tree ensembles, scaling; computed in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hettop.models.mil.blob import Array
from hettop.models.mil.call import Call
from hettop.models.mil.graph import FLOAT32, Tensor
from hettop.models.mil.proto import Message

FLOAT64 = np.dtype(np.float64)

Rows = Mapping[str, Tensor]
"""The inputs of a model by name, each a matrix of one row."""

# TreeNodeBehavior -> the operator's name of a branch.
_BRANCHES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "LEAF")
_NONE, _SOFTMAX, _LOGISTIC, _SOFTMAX_WITH_ZERO = range(4)
_NO_LINK, _LOGIT, _PROBIT = range(3)
_REFERENCE = 0
"""ClassEncoding: the first class is the reference."""

_MAX_NORM, _L1_NORM = range(2)


def _single_row(rows: Rows) -> Tensor:
    """The only input of a model that has one."""
    (row,) = rows.values()
    return row


def vectorize(call: Call, given: Message, rows: Rows) -> Tensor:
    """All inputs in one row, in the order of its list."""
    ordered = [rows[column.inputColumn] for column in given.inputList]
    return call.emit("Concat", *ordered, axis=1, shape=(1, None))


def scale(call: Call, given: Message, rows: Rows) -> Tensor:
    """scale * (x + shift)."""
    row = _single_row(rows)
    if given.shiftValue:
        row = call.emit("Add", row, call.graph.constant(list(given.shiftValue), FLOAT64), shape=row.shape)
    if given.scaleValue:
        row = call.emit("Mul", row, call.graph.constant(list(given.scaleValue), FLOAT64), shape=row.shape)
    return row


def normalize(call: Call, given: Message, rows: Rows) -> Tensor:
    """x divided by its norm: the largest element, the sum of magnitudes, or the length."""
    row = _single_row(rows)
    operator = {_MAX_NORM: "ReduceMax", _L1_NORM: "ReduceL1"}.get(given.normType, "ReduceL2")
    return call.emit("Div", row, call.emit(operator, row, call.ints([1]), keepdims=1), shape=row.shape)


def identity(_call: Call, _given: Message, rows: Rows) -> Tensor:
    return _single_row(rows)


def _linear(call: Call, given: Message, row: Tensor) -> Tensor:
    """One sum of weighted features per row of weights, plus its offset."""
    weights = np.array([list(each.value) for each in given.weights], np.float64)
    offset = np.array(list(given.offset) or [0.0] * len(weights), np.float64)
    product = call.emit("MatMul", row, call.graph.constant(weights.T), shape=(1, len(weights)))
    return call.emit("Add", product, call.graph.constant(offset), shape=(1, len(weights)))


def _logistic(call: Call, value: Tensor) -> Tensor:
    return call.emit("Sigmoid", value, shape=value.shape)


def _normal(call: Call, value: Tensor) -> Tensor:
    """The cumulative normal distribution: (1 + erf(x / sqrt 2)) / 2. ONNX Runtime has erf in float32."""
    narrow = call.cast(value, FLOAT32)
    bell = call.emit("Erf", call.emit("Mul", narrow, call.like(narrow, math.sqrt(0.5))), shape=value.shape)
    return call.emit("Mul", call.emit("Add", bell, call.like(narrow, 1)), call.like(narrow, 0.5), shape=value.shape)


def linear_regressor(call: Call, given: Message, rows: Rows) -> Tensor:
    value = _linear(call, given, _single_row(rows))
    if given.postEvaluationTransform == _NO_LINK:
        return value
    return _logistic(call, value) if given.postEvaluationTransform == _LOGIT else _normal(call, value)


def linear_classifier(call: Call, given: Message, rows: Rows) -> Tensor:
    """The probability of each class; the first one is the reference of the others."""
    value, logit = _linear(call, given, _single_row(rows)), given.postEvaluationTransform == 0
    if len(given.weights) == 1:
        return _two_classes(call, _logistic(call, value) if logit else _normal(call, value))
    if given.classEncoding != _REFERENCE or not logit:
        raise call.unsupported("combines more than two classes in a way that the format does not define")
    return _softmax_with_zero(call, value)


def _two_classes(call: Call, second: Tensor) -> Tensor:
    first = call.emit("Sub", call.like(second, 1), second, shape=second.shape)
    return call.emit("Concat", first, second, axis=1, shape=(1, 2))


def _softmax_with_zero(call: Call, value: Tensor) -> Tensor:
    zero = call.graph.constant(np.zeros((1, 1), value.dtype))
    whole = call.emit("Concat", zero, value, axis=1, shape=(1, None))
    return call.emit("Softmax", whole, axis=1, shape=(1, None))


def tree_regressor(call: Call, given: Message, rows: Rows) -> Tensor:
    value = _trees(call, given.treeEnsemble, _single_row(rows))
    if given.postEvaluationTransform == _LOGISTIC:
        return _logistic(call, value)
    if given.postEvaluationTransform != _NONE:
        raise call.unsupported("applies a transform of classes to a regression")
    return value


def tree_classifier(call: Call, given: Message, rows: Rows) -> Tensor:
    """The probability of each class; of two classes that have one value it is that of the second."""
    value, how = _trees(call, given.treeEnsemble, _single_row(rows)), given.postEvaluationTransform
    if how == _LOGISTIC:
        return _two_classes(call, _logistic(call, value))
    if how == _SOFTMAX:
        return call.emit("Softmax", value, axis=1, shape=value.shape)
    return _softmax_with_zero(call, value) if how == _SOFTMAX_WITH_ZERO else value


DEEPEST = 1_000
"""Levels of a tree: ONNX Runtime follows them by recursion, and ends the process where there are ten thousands."""


def _check_trees(nodes: Sequence[Message], features: int | None) -> None:
    """Raise ValueError unless all nodes are in trees: no node twice, no loop, leaves at all ends, known features."""
    known = {(int(node.treeId), int(node.nodeId)): node for node in nodes}
    if not nodes or len(known) < len(nodes):
        raise ValueError("it has no trees" if not nodes else "two nodes of a tree have one number")
    children = {key: [] if _is_leaf(node) else _children(node) for key, node in known.items()}
    below = [child for found in children.values() for child in found]
    inner = set(below)
    if missing := [child for child in below if child not in known]:
        raise ValueError(f"tree {missing[0][0]} has no node {missing[0][1]}")
    if len(inner) < len(below):
        raise ValueError("a node of a tree has two parents")
    level, reached = [key for key in known if key not in inner], 0
    for _ in range(DEEPEST):
        reached += len(level)
        level = [child for key in level for child in children[key]]
    if level:
        raise ValueError(f"a tree is deeper than {DEEPEST:,} nodes")
    if reached < len(known):
        raise ValueError("a tree has a loop")
    branches = [int(node.branchFeatureIndex) for node in nodes if not _is_leaf(node)]
    if features is not None and branches and max(branches) >= features:
        raise ValueError(f"a tree asks for feature {max(branches)} of {features}")


def _children(node: Message) -> list[tuple[int, int]]:
    return [(int(node.treeId), int(child)) for child in (node.trueChildNodeId, node.falseChildNodeId)]


def _trees(call: Call, ensemble: Message, row: Tensor) -> Tensor:
    """The sums of leaves and base values, by ONNX's own operator for tree ensembles."""
    nodes = list(ensemble.nodes)
    _check_trees(nodes, None if row.shape is None else row.shape[-1])
    leaves = [(node, each) for node in nodes for each in node.evaluationInfo if _is_leaf(node)]
    count = int(ensemble.numPredictionDimensions)
    if not leaves or max(each.evaluationIndex for _, each in leaves) >= count:
        raise ValueError(f"its leaves have other values than the {count} that it computes")
    attributes = {
        "n_targets": count,
        "nodes_treeids": [int(node.treeId) for node in nodes],
        "nodes_nodeids": [int(node.nodeId) for node in nodes],
        "nodes_featureids": [int(node.branchFeatureIndex) for node in nodes],
        "nodes_values_as_tensor": _doubles([node.branchFeatureValue for node in nodes]),
        "nodes_modes": [_BRANCHES[node.nodeBehavior] for node in nodes],
        "nodes_truenodeids": [int(node.trueChildNodeId) for node in nodes],
        "nodes_falsenodeids": [int(node.falseChildNodeId) for node in nodes],
        "nodes_missing_value_tracks_true": [int(node.missingValueTracksTrueChild) for node in nodes],
        "target_treeids": [int(node.treeId) for node, _ in leaves],
        "target_nodeids": [int(node.nodeId) for node, _ in leaves],
        "target_ids": [int(each.evaluationIndex) for _, each in leaves],
        "target_weights_as_tensor": _doubles([each.evaluationValue for _, each in leaves]),
    }
    sums = call.emit("TreeEnsembleRegressor", row, dtype=FLOAT32, shape=(1, count), **attributes)
    # not by the operator itself: ONNX Runtime 1.32 leaves the base value out where no leaf adds anything
    return call.emit("Add", sums, call.graph.constant(list(ensemble.basePredictionValue), FLOAT32), shape=(1, count))


def _is_leaf(node: Message) -> bool:
    return _BRANCHES[node.nodeBehavior] == "LEAF"


def _doubles(values: Sequence[float]) -> Array:
    return np.array(list(values), np.float64)


KINDS: Mapping[str, Callable[[Call, Message, Rows], Tensor]] = {
    "featureVectorizer": vectorize,
    "scaler": scale,
    "normalizer": normalize,
    "identity": identity,
    "glmRegressor": linear_regressor,
    "glmClassifier": linear_classifier,
    "treeEnsembleRegressor": tree_regressor,
    "treeEnsembleClassifier": tree_classifier,
}
"""By the kind of model in the specification."""
