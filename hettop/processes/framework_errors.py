"""What a framework's exception says, in one line that a person can read.

Any exception may come here: coremltools raises whole property lists, others text of several lines.
"""

from __future__ import annotations

import errno
import os
import re
import shutil

from hettop.processes.nserror import flatten
from hettop.text import clean

SCRATCH = re.compile(r"(?:/private)?/var/folders/(?:[^/\s]++/)+")
"""The folders of macOS's temporary files: long, random, and of no use to anybody."""

LONGEST = 64 << 10
"""Characters of a message that are read: more than any that is meant for people has."""

FULL = re.compile(r"out of space|enough space")
"""Foundation's words for a full disk."""


def readable(text: str) -> str:
    """The first line that has words in it: NSErrors as sentences, no control characters; names keep theirs.

    "" where no line has any.
    """
    for line in flatten(text[:LONGEST]).splitlines():
        words = " ".join(SCRATCH.sub("", line).split())
        if any(map(str.isalnum, words)):
            return clean(words)
    return ""


ONNX_CODE = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : (?:Load model from .*? failed:)?")
CPP_PLACE = re.compile(r"\S+\.(?:h|cc|cpp):\d+ (?:[^()]*\([^()]*\) )?")
ONNX_NODE = re.compile(r"(\S+) node\. Name:'(.*?)' Status Message: ")


IN_NODE = re.compile(r'In Node, \("(.*?)", ([^,]+), .*?(?:Status Message: |, ?Error:? |\bError )(.+)', re.DOTALL)
"""An invalid node: its name, its type, all types of its inputs and outputs, and last what is wrong with it."""


def reason(error: BaseException) -> str:
    """What the error says. Never empty.

    Of many files that cannot be copied, what is said of the first; of ONNX Runtime's errors, without its codes, source
    files and function signatures, and where one went through nested graphs, what is said of the innermost node.
    """
    text = str(error)
    if "[ONNXRuntimeError]" in text:
        text = _without_places(text)
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list) and error.args[0]:
        text = str(error.args[0][0][-1])
    return readable(text) or f"no reason given ({type(error).__name__})"


def _without_places(text: str) -> str:
    text = CPP_PLACE.sub("", ONNX_CODE.sub("", text))
    *_, innermost = text.split("while running ")
    if found := ONNX_NODE.match(innermost):
        return f"node {found[2]} ({found[1]}): {innermost[found.end() :]}"
    if found := IN_NODE.search(text):
        return f"node {found[1]} ({found[2]}): {found[3]}"
    return text


def named_reason(error: BaseException) -> str:
    """`RuntimeError: what it says`, for an exception that nobody expected there."""
    said = readable(str(error))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def full_disk(error: Exception) -> int | None:
    """The number of the error if it says, in whatever words, that a disk or a share of it is full; else None."""
    text = str(error)
    for number in (errno.ENOSPC, errno.EDQUOT):
        if getattr(error, "errno", None) == number or os.strerror(number) in text:
            return number
    return errno.ENOSPC if FULL.search(text) else None
