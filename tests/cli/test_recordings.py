"""`hettop verify`, `repair`, `export` and `report`: exit codes, words, files, and nothing uncleaned."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from hettop.cli.export import default_output
from hettop.cli.main import run
from hettop.record.verify import verify
from tests.cli.running import assert_refused, called, hettop, hettop_process, one_document
from tests.export.recordings import everything, hostile, simulated
from tests.record.stories import record, story


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return everything(tmp_path).path


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    path = tmp_path / "torn.jsonl"
    record(tmp_path / "a.jsonl", story(1, 30))
    path.write_bytes((tmp_path / "a.jsonl").read_bytes()[:20_000])
    return path


def test_verify_says_that_a_recording_is_whole(whole: Path) -> None:
    done = called("verify", str(whole))
    assert done.returncode == 0
    assert ": valid" in done.stdout.splitlines()[0]


def test_verify_ends_with_1_on_damage_and_says_how_to_repair_it(torn: Path) -> None:
    done = called("verify", str(torn))
    assert done.returncode == 1
    assert "DAMAGED" in done.stdout
    assert "incomplete last line" in done.stdout
    assert "hettop repair" in done.stdout


def test_verify_prints_one_document(torn: Path) -> None:
    done = called("verify", str(torn), "--json")
    document = one_document(done.stdout)
    wanted = {"ok", "lines", "samples", "torn_bytes", "bad_lines", "crc_errors", "keyframe_errors", "unknown_kinds"}
    assert wanted <= set(document)
    assert document["ok"] is False
    assert all(set(defect) == {"byte", "what"} for defect in document["defects"])


@pytest.mark.parametrize(
    "command", [("verify",), ("repair", "-o", "out.jsonl"), ("export", "--to", "csv"), ("report",)]
)
def test_what_is_no_recording_is_refused_in_words(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert_refused(called(command[0], "empty.jsonl", *command[1:], cwd=tmp_path), "is empty")
    assert_refused(called(command[0], "none.jsonl", *command[1:], cwd=tmp_path), "file not found")
    assert [path.name for path in tmp_path.iterdir()] == ["empty.jsonl"]


def test_repair_writes_a_whole_recording_and_says_what_it_did(torn: Path, tmp_path: Path) -> None:
    done = called("repair", str(torn), "-o", str(tmp_path / "b.jsonl"))
    assert done.returncode == 0, done.stderr
    assert "the incomplete last line had" in done.stdout
    assert "the end was added" in done.stdout
    assert verify(tmp_path / "b.jsonl").ok
    assert_refused(called("repair", str(torn), "-o", str(tmp_path / "b.jsonl")), "already exists")
    document = one_document(called("repair", str(torn), "-o", str(tmp_path / "b.jsonl"), "--force", "--json").stdout)
    assert document["end_added"] is True


def test_one_is_not_plural_and_a_repaired_recording_reports_what_is_missing(whole: Path, tmp_path: Path) -> None:
    one = called("verify", "recordings/decide-simulated-m2.jsonl").stdout
    assert ", 1 keyframe\n" in one
    lines = whole.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith(b'{"k":"s"') or b'"k":"samples"' in line)
    lines[at] = b"{" + lines[at][2:]
    (tmp_path / "bad.jsonl").write_bytes(b"".join(lines))
    assert "  1 invalid line\n" in called("verify", str(tmp_path / "bad.jsonl")).stdout
    assert called("repair", str(tmp_path / "bad.jsonl"), "-o", str(tmp_path / "good.jsonl")).returncode == 0
    missing = "declared in the file: dropped while recording, or in lines that repair removed (not a defect)"
    assert missing in called("verify", str(tmp_path / "good.jsonl")).stdout


def test_repair_needs_a_name_and_never_takes_the_file_itself(torn: Path) -> None:
    assert_refused(called("repair", str(torn)), "-o")
    assert_refused(called("repair", str(torn), "-o", str(torn), "--force"), "never overwritten")


def test_a_joined_recording_is_reported_with_the_command_that_gets_it(whole: Path, tmp_path: Path) -> None:
    first = whole.read_bytes()
    joined = tmp_path / "joined.jsonl"
    joined.write_bytes(first + first)
    done = called("repair", str(joined), "-o", str(tmp_path / "b.jsonl"))
    assert f"tail -c +{len(first) + 1}" in done.stdout
    assert joined.read_bytes()[len(first) :] == first


def test_export_writes_beside_the_recording_and_reports_the_names(whole: Path) -> None:
    done = called("export", str(whole), "--to", "csv")
    assert done.returncode == 0, done.stderr
    names = [Path(line).name for line in done.stdout.splitlines()]
    assert names == ["everything.csv", "everything.power.csv"]
    assert all((whole.parent / name).exists() for name in names)
    assert_refused(called("export", str(whole), "--to", "csv"), "already exists")
    assert called("export", str(whole), "--to", "csv", "--force").returncode == 0


def test_export_into_a_pipe_is_one_table_and_nothing_else(whole: Path) -> None:
    done = hettop_process("export", str(whole), "--to", "csv", "-o", "-")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 10
    assert_refused(called("export", str(whole), "--to", "svg", "-o", "-"), "cannot be written to a pipe: svg")


def test_the_names_of_exports() -> None:
    for name in ("a/run.jsonl", "a/run.jsonl.zst", "a/run.zst", "a/run"):
        assert default_output(Path(name), ".csv") == Path("a/run.csv")


def test_export_never_writes_to_the_recording(whole: Path) -> None:
    before = whole.read_bytes()
    assert_refused(
        called("export", str(whole), "--to", "csv", "-o", str(whole), "--force"), "OUT is the recording itself"
    )
    assert whole.read_bytes() == before


def test_export_to_zst_keeps_the_original_and_every_command_reads_the_result(whole: Path) -> None:
    pytest.importorskip("zstandard")
    assert called("export", str(whole), "--to", "zst").returncode == 0
    packed = whole.with_name("everything.jsonl.zst")
    assert whole.exists()
    for command in (("verify",), ("replay", "--headless", "--json"), ("export", "--to", "html"), ("report",)):
        done = called(command[0], str(packed), *command[1:])
        assert done.returncode == 0, done.stderr
    one, other = (one_document(called("replay", str(p), "--headless", "--json").stdout) for p in (whole, packed))
    assert one == other


def test_the_picture_is_the_screen_at_that_moment(tmp_path: Path) -> None:
    path = simulated(tmp_path).path
    for at, shown in (("1500ms", "00:01"), ("13s", "00:13")):
        out = tmp_path / f"{at}.svg"
        done = called("export", str(path), "--to", "svg", "--at", at, "--size", "100x30", "-o", str(out))
        assert done.returncode == 0, done.stderr
        svg = out.read_text()
        assert "SIMULATED" in svg
        assert shown in svg
        assert "http" not in svg.replace("http://www.w3.org", "").replace("https://www.textualize.io", "")
        assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~umask()


def umask() -> int:
    os.umask(mask := os.umask(0o077))
    return mask


def test_an_export_has_the_format_of_its_name(whole: Path, tmp_path: Path) -> None:
    for name, beginning in (("a.csv", "unit,"), ("a.html", "<!doctype html>"), ("a.prom", "# TYPE hettop")):
        assert called("export", str(whole), "-o", str(tmp_path / name)).returncode == 0
        assert (tmp_path / name).read_text().startswith(beginning)
    assert_refused(called("export", str(whole), "-o", "a.docx"), "no export format for this file name")
    assert_refused(called("export", str(whole)), "missing option: --to or -o")


def test_options_of_the_picture_are_for_the_picture(whole: Path) -> None:
    assert_refused(called("export", str(whole), "--to", "csv", "--at", "5s"), "--to svg")
    assert_refused(called("export", str(whole), "--to", "csv", "--refold"), "--to svg")
    assert_refused(called("export", str(whole), "--to", "svg", "--size", "9x9"), "invalid size")
    assert_refused(called("export", str(whole), "--to", "svg", "--theme", "none"), "unknown theme")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_report_on_a_terminal_is_text(whole: Path) -> None:
    with redirect_stdout(Terminal()) as printed:
        assert run(["report", str(whole)]) == 0
    assert "\nVERDICT\n" in printed.getvalue()
    assert not re.search(r"&#64;|&lt;|\\_|^#|\*\*", printed.getvalue(), flags=re.M)


def test_a_report_is_markdown_on_stdout_and_html_by_its_suffix(whole: Path, tmp_path: Path) -> None:
    other = simulated(tmp_path).path
    done = called("report", str(whole), str(other))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# SIMULATED: 2 recordings")
    assert "## Side by side" in done.stdout
    out = tmp_path / "report.html"
    assert called("report", str(whole), str(other), "-o", str(out)).returncode == 0
    assert out.read_text().startswith("<!doctype html>")
    assert called("report", str(whole), str(other), "--format", "html").stdout == out.read_text()
    assert_refused(called("report", str(whole), "-o", str(tmp_path / "report.pdf")), ".md, .markdown, .html, .htm")


def test_a_report_replaces_a_file_with_force_alone_and_never_a_recording(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.notes"
    out.write_text("an earlier report")
    assert called("report", str(whole), "-o", str(out), "--format", "md").returncode == 2
    assert called("report", str(whole), "-o", str(out), "--format", "md", "--force").returncode == 0
    assert out.read_text().startswith("# ")
    before = whole.read_bytes()
    assert_refused(called("report", str(whole), "-o", str(whole), "--format", "md", "--force"), "not replaced")
    assert whole.read_bytes() == before


@pytest.mark.parametrize("command", [("verify",), ("report",), ("verify", "--json")])
def test_nothing_of_a_hostile_recording_reaches_the_terminal_uncleaned(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    done = hettop(command[0], str(hostile(tmp_path).path), *command[1:])
    for text in (done.stdout, done.stderr):
        assert not {c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c == "\u202e"}
    assert "onerror" in done.stdout or command[0] == "verify"


def test_bench_compresses_its_recording_after_the_close(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    path = tmp_path / "run.jsonl.zst"
    options = ("--backend", "simulated", "--units", "CPU_AND_NE", "--warmup", "2", "--runs", "80")
    done = hettop("bench", *options, "--record", str(path), "--json")
    assert done.returncode == 0, done.stderr
    assert [found.name for found in tmp_path.iterdir()] == ["run.jsonl.zst"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    live = json.loads(done.stdout)["conditions"][0]
    again = one_document(called("replay", str(path), "--headless", "--json").stdout)["conditions"][0]
    assert (again["n"], again["p90_ms"]) == (live["n"], live["p90_ms"])
    assert_refused(hettop("bench", *options, "--record", str(path)), "already exists")


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "--headless"),
        ("decide",),
        ("report",),
        ("compare", "SAME"),
        ("export", "--to", "csv", "-o", "out"),
        ("pareto",),
        ("layers", "--units", "ne"),
    ],
)
def test_a_recording_that_was_changed_is_read_with_a_warning(command: tuple[str, ...], tmp_path: Path) -> None:
    """One digit of a latency is another: all still parses, and only the checksum of the end knows."""
    changed, same = tmp_path / "changed.jsonl", tmp_path / "same.jsonl"
    record(same, story(1, 30))
    head, found, tail = same.read_bytes().rpartition(b'"lat_ns":[')
    assert found
    changed.write_bytes(head + found + (b"2" if tail[:1] == b"1" else b"1") + tail[1:])
    name, *options = [str(same) if each == "SAME" else each for each in command]
    done = called(name, str(changed), *options, cwd=tmp_path)
    assert done.returncode in (0, 1, 2)
    assert "checksums do not match: the recording was changed" in done.stderr
