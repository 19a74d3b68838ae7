"""Builds the archive of `hettop doctor --report`: what a bug report needs, made anonymous and then checked."""

from __future__ import annotations

import ast
import io
import platform
import re
import zipfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from hettop import events
from hettop.app.doctor import Finding, Findings
from hettop.errors import HettopError
from hettop.record.defects import Report
from hettop.record.reader import open_recording, read_events
from hettop.report.anonymize import ANCHORS, anonymous, anonymous_data, anonymous_document, anonymous_file
from hettop.report.doctor import doctor_document, doctor_page
from hettop.report.document import head, to_json
from hettop.report.leaks import Leak, find_leaks

REPORT_FILE = "report.json"
LOG_FILE = "log.jsonl"
ERROR_FILE = "internal-error.txt"
CONTENTS = {
    REPORT_FILE: "platform, versions of packages, settings, and this list",
    "doctor.json": "what works on this machine",
    "doctor.txt": "the same as text",
    ERROR_FILE: "traceback of the last internal error",
    LOG_FILE: "header and last events of the recording, without samples",
}
"""Every file of an archive, with what it is."""

LOG_LINES = 500
_NOT_LOGGED = (
    events.Header,  # kept, as the first line
    events.Samples,
    events.Keyframe,
    events.Power,
    events.HostLoad,
    events.Canary,
    events.Usage,
    events.Frame,
    events.Answer,
)
"""Kinds of lines that are left out of the log of a recording."""

YOUR_NAME = "YOUR NAME"
_KERNEL = re.compile(r" \([^()]*[0-9]\.[0-9][^()]*\)$")
"""The kernel's version behind the name of a Linux; some kernels are named after those who built them."""


@dataclass(frozen=True, slots=True)
class Log:
    """The log of a recording: its header, the last lines, and the units that have samples."""

    header: events.Header
    lines: tuple[bytes, ...] = ()
    units: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """What the archive is made of, before it is made anonymous.

    config: the document of `hettop config`. internal_error: the text of the last one, empty where there is none.
    log: of the recording that the user named, if any.
    """

    host: events.Host
    findings: Findings
    packages: Mapping[str, str]
    config: Mapping[str, Any]
    internal_error: str = ""
    log: Log | None = None


@dataclass(frozen=True, slots=True)
class Archive:
    """The bytes of the archive, and the document that is `report.json` in it.

    in_paths_only: what was removed from paths only, such as `user name`, for hettop uses the same word.
    """

    data: bytes
    document: Mapping[str, Any]
    in_paths_only: tuple[str, ...] = ()


def build_archive(inputs: ReportInputs, identity: Mapping[str, Sequence[str]], today: date) -> Archive:
    """The archive without the names in `identity`: names of the user and the machine by what they are (`host name`).

    Raises HettopError (`leak`) if the finished archive still holds one of them, or what has the form of a secret.
    """
    try:
        return _checked_archive(inputs, identity, today)
    except HettopError:
        changed, kinds = apart_from(own_words(), identity)
        if not kinds:
            raise
    return replace(_checked_archive(inputs, changed, today), in_paths_only=kinds)


def _checked_archive(inputs: ReportInputs, identity: Mapping[str, Sequence[str]], today: date) -> Archive:
    names = sorted((name for each in identity.values() for name in each), key=len, reverse=True)
    groups: Mapping[str, Sequence[Finding]] = anonymous_data(dict(inputs.findings.groups), names)
    doctor = doctor_document(groups, measures=inputs.findings.measures)
    document = _document(inputs, today)
    texts = {
        REPORT_FILE: to_json(anonymous_document(document, names)) + "\n",
        "doctor.json": to_json(anonymous_document(doctor, names)) + "\n",
        "doctor.txt": doctor_page(groups),
        ERROR_FILE: anonymous(inputs.internal_error, names),
        LOG_FILE: anonymous_file(b"\n".join(inputs.log.lines).decode() + "\n", names) if inputs.log is not None else "",
    }
    data = _zipped({name: text.encode() for name, text in texts.items() if text})
    settings = _field_names(inputs.log.header.settings) if inputs.log is not None else frozenset[str]()
    check_archive(data, identity, _field_names(document) | _field_names(doctor) | EVENT_FIELDS | settings)
    return Archive(data, anonymous_document(document, names))


def check_archive(data: bytes, identity: Mapping[str, Sequence[str]], fields: frozenset[str]) -> None:
    """Raises HettopError (`leak`) with the places if a name is left in the archive's files, as they are read back."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        leaks = find_leaks({name: archive.read(name) for name in archive.namelist()}, identity, fields)
    if leaks:
        places = "; ".join(f"{leak.place}: {leak.kind}" for leak in leaks[:3])
        more = f", and {len(leaks) - 3} more" if len(leaks) > 3 else ""
        hint = "nothing was written; open an issue that names this place, and attach what you choose of hettop doctor"
        raise HettopError("leak", f"the report would still identify you or this machine: {places}{more}", hint)


_WORD = re.compile(r"[^\W\d_]{3,}")
_PARTS_IN_REPORT = ("app", "measurement", "models", "processes", "report", "sources")


def own_words(package: Path = Path(__file__).parents[1]) -> frozenset[str]:
    """Words in the texts of those parts of hettop from which a report gets texts; without docstrings."""
    files = (path for part in _PARTS_IN_REPORT for path in sorted((package / part).rglob("*.py")))
    words: set[str] = set()
    for path in (package / "events.py", *files):
        tree = ast.parse(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])
        nodes = list(ast.walk(tree))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        texts = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings)
        words.update(word for text in texts if isinstance(text, str) for word in _WORD.findall(text.casefold()))
    return frozenset(words)


def apart_from(
    words: frozenset[str], identity: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """`identity`, in which names that are also `words` are looked for in paths and behind `@` only; and their kinds.

    Such a name cannot be distinguished from hettop's own texts, in which it may also be part of a longer word.
    """
    made: dict[str, list[str]] = {}
    kinds: list[str] = []
    text = {"hettop": " ".join(sorted(words)).encode()}
    for kind, names in identity.items():
        made[kind] = []
        for name in names:
            same = bool(_WORD.fullmatch(name)) and Leak("hettop, line 1", kind) in find_leaks(text, {kind: [name]})
            made[kind] += [anchor + name for anchor in ANCHORS] if same else [name]
            if same and kind not in kinds:
                kinds.append(kind)
    return made, tuple(kinds)


def _document(inputs: ReportInputs, today: date) -> dict[str, Any]:
    why_missing = {
        ERROR_FILE: "" if inputs.internal_error else "no internal error is on record",
        LOG_FILE: "" if inputs.log is not None else "name a recording: --include RECORDING",
    }
    return {
        **head("doctor-report"),
        "platform": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": platform.python_version(),
        },
        "packages": dict(inputs.packages),
        "config": {name: inputs.config[name] for name in ("settings", "keys", "faults", "notes")},
        "files": [
            {"name": name, "content": words} for name, words in CONTENTS.items() if not why_missing.get(name, "")
        ],
        "missing": [{"name": name, "why": why} for name, why in why_missing.items() if why],
        "row": tried_row(inputs.host, inputs.log, today),
    }


def tried_row(host: events.Host, log: Log | None, today: date) -> str:
    """A row for the table in docs/reference/tried.md. The recording counts only if it is of this very machine."""
    what = "`hettop doctor`"
    if log is not None and (log.header.host.chip, log.header.host.os) == (host.chip, host.os):
        simulated = "SIMULATED, " if log.header.simulated else ""
        model = log.header.model
        what += f", {model.name} on {', '.join(log.units) or 'no unit'} ({simulated}{model.backend or 'n/a'})"
    runtimes = ", ".join(f"{name} {version}" for name, version in host.frameworks.items() if name != "numpy")
    system = _KERNEL.sub("", host.os or "")
    cells = (host.chip, system, host.python, runtimes, what, YOUR_NAME, today.isoformat())
    return f"| {' | '.join((cell or 'n/a').replace('|', '/') for cell in cells)} |"


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip archive of these files, with neither times nor owners."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _field_names(value: Any) -> frozenset[str]:
    """The keys of a document that the program made: names of fields, settings, packages and findings."""
    match value:
        case dict():
            return frozenset(value).union(*map(_field_names, value.values()))
        case list():
            return frozenset[str]().union(*map(_field_names, value))
    return frozenset()


EVENT_FIELDS = frozenset({"k"}).union(
    *(
        (field.encode_name for field in msgspec.structs.fields(struct))
        for struct in vars(events).values()
        if isinstance(struct, type) and issubclass(struct, msgspec.Struct)
    )
)
"""Keys in lines of recordings."""


def read_log(path: Path) -> Log:
    """The log of a recording. Raises HettopError (`recording`) if it is not one that can be read."""
    file, header = open_recording(path)
    lines: deque[bytes] = deque(maxlen=LOG_LINES)
    units: dict[str, None] = {}
    with file:
        for event in read_events(file, Report()):
            if isinstance(event, events.Samples):
                units[event.unit.partition("~")[0]] = None
            elif not isinstance(event, _NOT_LOGGED):
                lines.append(events.encode(event))
    return Log(header, (events.encode(header), *lines), tuple(units))


_REQUIRED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def package_versions(
    requires: Callable[[str], list[str] | None] = metadata.requires, version: Callable[[str], str] = metadata.version
) -> dict[str, str]:
    """The installed packages that hettop names, required and optional, with their versions.

    Empty where hettop runs from its sources without being installed.
    """
    try:
        named = {found[0] for line in requires("hettop") or [] if (found := _REQUIRED.match(line))}
    except metadata.PackageNotFoundError:
        return {}
    versions: dict[str, str] = {}
    for name in sorted(named - {"hettop"}):
        try:
            versions[name] = version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
