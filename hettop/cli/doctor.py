"""`hettop doctor`: what works on this machine, what does not, why, and what mends it."""

from __future__ import annotations

import argparse
import getpass
import os
import shutil
import sys
from pathlib import Path

from hettop.cli.names import names_here
from hettop.cli.options import make_parser
from hettop.errors import HettopError
from hettop.format import size
from hettop.text import clean

SUMMARY = "Tell what works on this machine, what does not, why, and the command that mends it."
EXAMPLE = """\
  hettop doctor
  hettop doctor --json
  hettop doctor --anonymize                    for a bug report: without names and paths
  hettop doctor --sudoers > hettop.sudoers     rules that let you read power figures; installs nothing
  hettop doctor --clear-cache                  forget built, translated and compiled models
  hettop doctor --control                      check that the ANE and GPU power rails rise when their unit works"""
NOTES = """\
--control takes half a minute on a Mac. It runs mobilenetv2 on CPU_AND_NE, CPU_AND_GPU and CPU_ONLY and compares what
the rails read, because an energy counter can read 0 while its device works. A rail that rises is remembered as
validated for this machine model, macOS build and power source; only then is a zero of it evidence.
Exit codes: 0 something real can be measured here (--control: some rail was tried), 3 nothing can (none could be), 2
--control cannot run here, 130 interrupted."""


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.control and (arguments.sudoers or arguments.clear_cache):
        raise HettopError(
            "usage",
            "--control cannot be combined with --sudoers or --clear-cache",
            "leave out --sudoers and --clear-cache",
        )
    if arguments.sudoers:
        from hettop.sources.power.access import sudoers_rules

        sys.stdout.write(sudoers_rules(_user()))
        return 0
    if arguments.clear_cache:
        return _clear()
    if arguments.control:
        from hettop.cli.doctor_control import run_control

        return run_control(as_json=arguments.as_json, hidden=names_here() if arguments.anonymize else None)
    return _look(as_json=arguments.as_json, anonymize=arguments.anonymize)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        raise HettopError("usage", "this user has no name, which a rule needs", "export USER=its-name") from None


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("doctor", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument("--anonymize", action="store_true", help="leave out host and user names, paths and ids")
    parser.add_argument(
        "--control", action="store_true", help="check the power rails, and remember which are validated"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    choice.add_argument("--sudoers", action="store_true", help="print sudoers rules for power figures")
    choice.add_argument("--clear-cache", action="store_true", help="remove all models that hettop keeps")
    return parser


def _look(*, as_json: bool, anonymize: bool) -> int:
    from hettop.app.devices import ask_devices
    from hettop.app.doctor import look
    from hettop.app.terminal import Terminal
    from hettop.exits import EXIT_FAILED
    from hettop.measurement.validated_rails import my_validated_rails
    from hettop.models.cache import default_cache
    from hettop.models.compiled import default_compiled_models
    from hettop.models.system_caches import own_folders
    from hettop.report.anonymize import anonymous, anonymous_document
    from hettop.report.doctor import WIDTH, doctor_document, doctor_page
    from hettop.report.document import to_json
    from hettop.sources.host import describe_host
    from hettop.sources.power.machine import this_machine

    host = describe_host()
    terminal = Terminal(_size(), sys.stdout.encoding or "ascii", os.environ)
    found = look(
        host=host,
        machine=this_machine(chip=host.chip),
        cache=default_cache(),
        compiled=default_compiled_models(),
        folder=Path.cwd(),
        terminal=terminal,
        folders=own_folders(),
        ask=lambda: ask_devices(os.environ),
        rails=my_validated_rails(),
    )
    names = names_here() if anonymize else []
    if as_json:
        document = doctor_document(found.groups, measures=found.measures)
        sys.stdout.write(to_json(anonymous_document(document, names) if anonymize else document) + "\n")
    else:
        width = shutil.get_terminal_size((WIDTH, 24)).columns
        page = doctor_page(found.groups, width=width, ascii_only=not terminal.speaks_unicode)
        sys.stdout.write(anonymous(page, names) if anonymize else page)
    return 0 if found.measures else EXIT_FAILED


def _size() -> tuple[int, int] | None:
    if not sys.stdout.isatty():
        return None
    found = os.get_terminal_size(sys.stdout.fileno())
    return found.columns, found.lines  # zeros where nobody told the terminal its size


def _clear() -> int:
    from hettop.app.doctor import clear, kept_in_use
    from hettop.models.cache import default_cache
    from hettop.models.compiled import default_compiled_models
    from hettop.models.system_caches import own_folders

    compiled = default_compiled_models()
    cleared = clear(default_cache(), compiled, own_folders().temporary)
    sys.stdout.write(f"removed {cleared.models} model{'' if cleared.models == 1 else 's'}, {size(cleared.nbytes)}\n")
    if left := cleared.scratch_folders:
        sys.stdout.write(f"removed {left} scratch folder{'' if left == 1 else 's'} of killed processes\n")
    kept = kept_in_use(compiled)
    if kept:
        names = ", ".join(clean(entry.name, 60) for entry in kept)
        nbytes = sum(entry.nbytes for entry in kept)
        sys.stdout.write(f"kept {len(kept)} that are in use, {size(nbytes)}: {names}\n")
    return 0
