"""`hettop doctor`: what works on this machine, what does not, why, and what mends it."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path

from hettop.commands.options import make_parser

SUMMARY = "Tell what works on this machine, what does not, why, and the command that mends it."
EXAMPLE = """\
  hettop doctor
  hettop doctor --json
  hettop doctor --sudoers > hettop.sudoers     rules that let you read power figures; installs nothing
  hettop doctor --clear-cache                  forget built, translated and compiled models"""
NOTES = "Exit codes: 0 something real can be measured here, 3 nothing can."


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.sudoers:
        from hettop.power.access import sudoers_rules

        sys.stdout.write(sudoers_rules(getpass.getuser()))
        return 0
    return _clear() if arguments.clear_cache else _look(as_json=arguments.as_json)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("doctor", SUMMARY, EXAMPLE, NOTES)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    choice.add_argument("--sudoers", action="store_true", help="print sudoers rules for power figures")
    choice.add_argument("--clear-cache", action="store_true", help="remove all models that hettop keeps")
    return parser


def _look(*, as_json: bool) -> int:
    from hettop.cli import EXIT_FAILED
    from hettop.host import describe_host
    from hettop.models.cache import default_cache
    from hettop.models.compiled import default_compiled_models
    from hettop.power.machine import this_machine
    from hettop.report.doctor import doctor_document, doctor_page
    from hettop.report.document import to_json
    from hettop.wiring.doctor import look

    host = describe_host()
    found = look(
        host=host,
        machine=this_machine(chip=host.chip),
        cache=default_cache(),
        compiled=default_compiled_models(),
        folder=Path.cwd(),
    )
    if as_json:
        sys.stdout.write(to_json(doctor_document(found.groups, measures=found.measures)) + "\n")
    else:
        speaks_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        sys.stdout.write(doctor_page(found.groups, ascii_only=not speaks_unicode))
    return 0 if found.measures else EXIT_FAILED


def _clear() -> int:
    from hettop.models.cache import default_cache
    from hettop.models.compiled import default_compiled_models
    from hettop.wiring.doctor import clear

    models, freed = clear(default_cache(), default_compiled_models())
    sys.stdout.write(f"removed {models} models, {freed / 1e6:.1f} MB\n")
    return 0
