"""What ONNX Runtime has to say when it refuses a model, in the user's words.

Knows its classes of exception by name only, and imports nothing of it.
"""

from __future__ import annotations

import re
from pathlib import Path

from hettop.errors import HettopError
from hettop.processes.framework_errors import reason
from hettop.text import clean

UNSUPPORTED_OP = (
    r"No Op registered for (\S+)",
    r"(\S+?)\(-?\d+\) is not a registered function/op",
    r"Could not find an implementation for (\S+?)\(",
)
MISSING_WEIGHTS = (
    r'does not exist: "(?:[^"]*/)?([^"/]+)"',
    r'filesystem error: .*No such file or directory \["?(?:[^"\]]*/)?([^"/\]]+)',  # ONNX Runtime 1.21
)
NOT_A_MODEL = frozenset({"InvalidProtobuf", "InvalidGraph", "InvalidArgument", "NoModel"})


def load_error(path: Path, error: Exception) -> HettopError:
    """The error in the user's words, told apart by the runtime's class of exception and, where it must be, its text."""
    text, name, kind = str(error), clean(path.name), type(error).__name__
    for pattern in UNSUPPORTED_OP:
        if found := re.search(pattern, text):
            return HettopError("unsupported-op", f"{name}: ONNX Runtime cannot run the operator {clean(found[1])}")
    file = next(filter(None, (re.search(pattern, text) for pattern in MISSING_WEIGHTS)), None)
    if file is not None or "external data" in text.lower():
        what = clean(file[1]) if file else reason(error)
        hint = "the model keeps them in a file beside it: copy that, too"
        return HettopError("missing", f"{name}: its weights are missing: {what}", hint)
    if "Unsupported model IR version" in text or "released onnx opset" in text:
        hint = "update onnxruntime, or export the model for an older opset"
        return HettopError("format", f"{name} is too new: {reason(error)}", hint)
    if kind in NOT_A_MODEL:
        return HettopError("format", f"{name} is no valid ONNX model: {reason(error)}", "copy or export it again")
    return HettopError("load", f"{name} cannot be loaded: {reason(error)}")
