"""Values of options: how they are written, and what is refused."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from hettop.cli.commands import LIVE, parse, parser_of
from hettop.cli.read_options import _speed, tolerance
from hettop.cli.screen import frames_per_second
from hettop.errors import HettopError
from hettop.measurement.arguments import duration_ns, not_negative, positive, rate

S = 10**9


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("10s", 10 * S),
        ("10", 10 * S),
        ("500ms", S // 2),
        ("1.5s", 3 * S // 2),
        ("2m", 120 * S),
        ("2min", 120 * S),
        ("1h", 3600 * S),
        (" 3s ", 3 * S),
    ],
)
def test_durations(text: str, nanoseconds: int) -> None:
    assert duration_ns(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "per_second"), [("30", 30.0), ("59.94", 59.94), ("60hz", 60.0), ("60Hz", 60.0), ("0.5", 0.5)]
)
def test_rates(text: str, per_second: float) -> None:
    assert rate(text) == per_second


@pytest.mark.parametrize(("text", "times"), [("1", 1.0), ("0.25", 0.25), ("4x", 4.0), ("64X", 64.0)])
def test_speeds(text: str, times: float) -> None:
    assert _speed(text) == times


@pytest.mark.parametrize(
    ("read", "texts"),
    [
        (duration_ns, ["", "0", "0s", "-1s", "1d", "s", "10 s", "1e3", "nan", "inf", "8000h", "1s1s"]),
        (rate, ["", "0", "-1", "nan", "inf", "fast", "1e7", "1e-9"]),
        (_speed, ["", "0", "0.1", "65", "nan", "-1", "fast"]),
        (frames_per_second, ["", "0", "0.4", "31", "nan", "inf", "many"]),
        (positive, ["", "0", "-3", "1.5", "1e3", "ten", "10000000000", "9" * 5000]),
        (not_negative, ["", "-1", "1.5", "auto", "9" * 5000]),
    ],
)
def test_what_is_none_of_it_is_refused(read: Callable[[str], object], texts: list[str]) -> None:
    for text in texts:
        with pytest.raises((argparse.ArgumentTypeError, ValueError)):
            read(text)


def test_counts() -> None:
    assert positive("1") == 1
    assert not_negative("0") == 0


def test_complaints_are_short_and_name_the_help() -> None:
    parser = parser_of("bench")
    for arguments, message, hint in (
        (["--zzz"], "unknown option: --zzz", "see hettop bench --help"),
        (["--unts", "cpu"], "unknown option: --unts", "did you mean '--units'? (see hettop bench --help)"),
        (
            ["--protocol", "embnch"],
            "invalid value of --protocol: 'embnch'",
            "did you mean 'embench'? choose from embench, m2, mlperf",
        ),
        (
            ["--rate", "fast"],
            "--rate: invalid rate: 'fast'",
            "write inferences per second, such as 30 (0.001 to 1000000)",
        ),
        (["--runs"], "--runs: expected one argument", "see hettop bench --help"),
        (["-n", "3", "--duration", "3"], "options exclude each other: --duration, --runs", "use one of them"),
        (["--json", "--markdown"], "output formats exclude each other: json, md", "use one of them"),
    ):
        with pytest.raises(HettopError) as caught:
            parser.parse_args(arguments)
        assert (caught.value.kind, caught.value.message, caught.value.hint) == ("usage", message, hint)


def test_the_suffix_of_the_output_selects_the_format() -> None:
    chosen = {name: parse("bench", ["-o", f"r{name}"]).format for name in (".json", ".csv", ".md", ".MARKDOWN", ".txt")}
    assert chosen == {".json": "json", ".csv": "csv", ".md": "md", ".MARKDOWN": "md", ".txt": "table"}
    assert parse("bench", ["-o", "r.out", "--json"]).format == "json"
    assert parse("bench", ["--format", "markdown"]).format == "md"
    with pytest.raises(HettopError, match="--format json does not fit the file name"):
        parse("bench", ["-o", "r.csv", "--json"])
    assert parse("bench", ["-o", "-"]).format == parse("bench", []).format == "table"
    with pytest.raises(HettopError, match="no output format for this file name"):
        parse("verify", ["r.jsonl", "-o", "r.csv"])


def test_options_that_are_given_are_known_whatever_their_values() -> None:
    assert parse("bench", ["--seed", "0", "-n", "100"]).given == {"seed": "--seed", "runs": "--runs"}
    assert parse("layers", ["--unit", "cpu"]).given == {"units": "--units"}


@pytest.mark.parametrize("name", ["bench", "layers", "plan", "config", LIVE])
def test_units_are_named_alike_everywhere(name: str) -> None:
    for flag in ("--units", "--unit"):
        found = parse(name, [flag, "ane"]).units
        assert found in ("CPU_AND_NE", ("CPU_AND_NE",))
    assert "--unit " not in parser_of(name).format_help()


def test_the_power_source_is_named_alike_everywhere() -> None:
    assert parse("power", ["--source", "rapl"]).power == parse("power", ["--power", "rapl"]).power == "rapl"
    assert "--source" not in parser_of("power").format_help()


def test_a_tolerance_that_could_be_a_share_or_a_percentage_is_refused() -> None:
    assert (tolerance("5%"), tolerance("0.05"), tolerance("150%")) == (0.05, 0.05, 1.5)
    for text in ("5", "1", "-1", "lots", "2000%"):
        with pytest.raises(argparse.ArgumentTypeError):
            tolerance(text)


def test_options_cannot_be_cut_short() -> None:
    parser = parser_of(LIVE)
    with pytest.raises(HettopError, match="--rec"):
        parser.parse_args(["--rec", "file"])


@pytest.mark.parametrize(
    ("command", "option", "hint"),
    [
        ("bench", "--time", "did you mean '--duration'?"),
        ("decide", "--time", "did you mean '--time-limit'?"),
        ("bench", "--budget", "did you mean '--assert'?"),
        ("bench", "--html", "hettop report RECORDING -o x.html"),
        ("bench", "--warmpu", "did you mean '--warmup'?"),
    ],
)
def test_what_other_programs_call_an_option_is_understood(command: str, option: str, hint: str) -> None:
    with pytest.raises(HettopError) as caught:
        parse(command, [option, "3"])
    assert caught.value.message == f"unknown option: {option}"
    assert hint in caught.value.hint
