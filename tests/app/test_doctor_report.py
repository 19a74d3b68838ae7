"""The archive for a bug report: what is in it, and that nothing that names its sender is."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import date
from importlib import metadata
from pathlib import Path

import pytest

from hettop.app.doctor import Finding, Findings
from hettop.app.doctor_report import (
    CONTENTS,
    Log,
    ReportInputs,
    apart_from,
    build_archive,
    check_archive,
    own_words,
    package_versions,
    read_log,
    tried_row,
)
from hettop.errors import HettopError
from hettop.events import FORMAT, VERSION, Header, Host, ModelInfo, encode
from tests.processes.waiting import REPOSITORY

TODAY = date(2026, 11, 29)
HOST = Host(
    chip="Apple M2",
    os="macOS 15.3",
    python="3.13.1",
    frameworks={"onnxruntime": "1.32.0", "coremltools": "9.0", "numpy": "2.4.6"},
)
IDENTITY = {
    "user name": ["ada", "Ada Lovelace"],
    "home folder": ["/Users/ada", "ada"],
    "host name": ["ada-mbp.local", "ada-mbp"],
    "serial number": ["XK2V9H4QJL"],
}
FINDINGS = Findings({"files": [Finding("recordings here", False, "/Users/ada/x y is not writable", "by Ada Lovelace")]})
CONFIG = {
    "settings": {"power": {"value": "file:/Users/ada/c.plist"}},
    "keys": {},
    "faults": ["on ada-mbp"],
    "notes": [],
}
ERROR = (
    'hettop 0.2.0\n\n  File "/Users/ada/hettop/cli/main.py", line 3\nOSError: ada-mbp.local, HETTOP_API_KEY=abcd1234\n'
)


def header(chip: str = "Apple M2", *, simulated: bool = False) -> Header:
    host = Host(chip=chip, os="macOS 15.3")
    model = ModelInfo(name="m.onnx", backend="onnxruntime")
    at = "2026-11-29T00:00:00Z"
    return Header(
        t=0,
        format=FORMAT,
        version=VERSION,
        id="7f3c",
        wall=at,
        simulated=simulated,
        host=host,
        model=model,
        settings={"answers": {"max": 1}},
    )


def files_of(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def gathered(log: Log | None = None, error: str = ERROR, findings: Findings = FINDINGS) -> ReportInputs:
    return ReportInputs(HOST, findings, {"numpy": "2.4.6"}, CONFIG, error, log)


def test_every_file_is_there_and_names_nobody() -> None:
    log = Log(header(), (b'{"k":"mark","t":1,"text":"ada on XK2V9H4QJL, sk-abcdefghijklmnop"}',), ("CPU_ONLY",))
    made = build_archive(gathered(log), IDENTITY, TODAY)
    files = files_of(made.data)
    assert list(files) == list(CONTENTS)
    text = "".join(files.values())
    for name in ("ada", "Lovelace", "/Users", "XK2V9H4QJL", "abcd1234", "sk-"):
        assert name not in text
    assert 'File "main.py", line 3\nOSError: …, HETTOP_API_KEY…' in files["internal-error.txt"]
    assert json.loads(files["log.jsonl"])["text"] == "… on …, …"
    assert json.loads(files["doctor.json"])["findings"]["files"][0]["words"] == "x y is not writable"
    report = json.loads(files["report.json"])
    assert report == made.document
    assert report["config"]["settings"] == {"power": {"value": "file:…c.plist"}}
    assert report["packages"] == {"numpy": "2.4.6"}
    assert report["missing"] == []
    assert b"2026" not in made.data[:30]  # no time of the machine in the archive's own fields


def test_what_is_missing_is_named_with_its_reason() -> None:
    made = build_archive(gathered(error=""), IDENTITY, TODAY)
    assert set(files_of(made.data)) == {"report.json", "doctor.json", "doctor.txt"}
    assert [each["name"] for each in made.document["missing"]] == ["internal-error.txt", "log.jsonl"]


def test_a_name_that_is_left_stops_the_report_and_its_place_is_named() -> None:
    inside = Findings({"files": [Finding("model", None, "lovelacemodel2.onnx")]})
    with pytest.raises(HettopError, match=r"doctor.json, findings, files\[0\], words: user name") as refused:
        build_archive(gathered(findings=inside), {"user name": ["lovelace"]}, TODAY)
    assert refused.value.kind == "leak"
    assert "lovelace" not in refused.value.message


def test_the_check_reads_the_archive_back() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.txt", "by ada\n" * 5)
    with pytest.raises(HettopError, match=r"a.txt, line 1: user name; .*, and 2 more"):
        check_archive(made.getvalue(), {"user name": ["ada"]}, frozenset())
    check_archive(made.getvalue(), {"user name": ["bob"]}, frozenset())


@pytest.mark.parametrize("name", ["mark", "rich", "power", "python", "hettop", "max", "gpu", "dev"])
def test_a_user_who_is_called_like_a_field_can_send_a_report(name: str) -> None:
    log = Log(header(), (encode(header()), b'{"k":"mark","t":1,"text":"x"}'))
    units = Findings({"units": [Finding("CPU_AND_GPU", True, "")]})
    found = ReportInputs(HOST, units, {"rich": "13.7"}, CONFIG, "", log)
    build_archive(found, {"user name": [name], "home folder": [f"/home/{name}", name]}, TODAY)


@pytest.mark.parametrize("name", ["server", "version", "mobile", "runtime", "recording", "decoder"])
def test_a_user_who_is_called_like_a_word_of_hettop_can_send_a_report(name: str) -> None:
    texts = Findings({"files": [Finding("servers and recordings", None, f"/srv/{name}/x, bob@{name}, tinydecoders")]})
    log = Log(header(), (encode(header()), b'{"k":"mark","t":1,"text":"MobileNet"}'))
    identity = {"user name": [name, "Ada Lovelace"], "home folder": [f"/home/{name}", name], "host name": ["box7"]}
    made = build_archive(ReportInputs(HOST, texts, {"onnxruntime": "1"}, CONFIG, ERROR, log), identity, TODAY)
    text = "".join(files_of(made.data).values())
    assert made.in_paths_only == ("user name", "home folder")
    assert "servers and recordings" in text
    assert f"/{name}" not in text
    assert f"@{name}" not in text
    assert "Lovelace" not in text


def test_only_a_name_that_hettop_s_texts_have_is_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "x.py").write_text('"""Ada."""\nX = f"servers of {1} max"\n')
    words = own_words(tmp_path)
    assert words == {"servers", "max"}
    identity = {"user name": ["Server", "ada"], "host name": ["axe", "max", "serv"]}
    assert apart_from(words, identity) == (
        {"user name": ["/Server", "\\Server", "@Server", "ada"], "host name": ["axe", "/max", "\\max", "@max", "serv"]},
        ("user name", "host name"),
    )
    assert {"ada", "ann", "bob", "lovelace", "acme"} & own_words() == set()


def test_the_row_names_the_session_of_this_machine_only() -> None:
    beginning = "| Apple M2 | macOS 15.3 | 3.13.1 | onnxruntime 1.32.0, coremltools 9.0 | `hettop doctor`"
    end = " | YOUR NAME | 2026-11-29 |"
    assert tried_row(HOST, None, TODAY) == beginning + end
    here = Log(header(), (), ("CPU_ONLY", "ALL"))
    assert tried_row(HOST, here, TODAY) == f"{beginning}, m.onnx on CPU_ONLY, ALL (onnxruntime){end}"
    simulated = Log(header(simulated=True), (), ("ALL",))
    assert tried_row(HOST, simulated, TODAY) == f"{beginning}, m.onnx on ALL (SIMULATED, onnxruntime){end}"
    assert tried_row(HOST, Log(header("Apple M4")), TODAY) == beginning + end
    linux = Host(chip="A|B", os="Debian GNU/Linux 12 (bookworm) (6.1.0-acme)")
    assert tried_row(linux, None, TODAY).startswith("| A/B | Debian GNU/Linux 12 (bookworm) | n/a | n/a |")


def test_the_log_of_a_recording_has_its_header_and_events_without_samples() -> None:
    log = read_log(REPOSITORY / "recordings/tokens-tinydecoder.jsonl")
    kinds = [json.loads(line)["k"] for line in log.lines]
    assert kinds[0] == "header"
    assert kinds[-1] == "end"
    assert {"samples", "keyframe", "host", "answer"} & set(kinds) == set()
    assert "engine" in kinds
    assert log.units == ("CPU_ONLY@1", "CPU_ONLY@2")


def test_the_log_of_what_is_not_a_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n")
    with pytest.raises(HettopError):
        read_log(tmp_path / "x.jsonl")


def test_only_packages_that_hettop_names_are_listed() -> None:
    def version(name: str) -> str:
        if name == "zeus":
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    def missing(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    requires = ["numpy>=1.26", "coremltools>=9.0; python_version < '3.14'", "zeus>=1; extra == 'zeus'", "hettop[test]"]
    assert package_versions(lambda _: requires, version) == {"coremltools": "1.0", "numpy": "1.0"}
    assert package_versions(missing, version) == {}
