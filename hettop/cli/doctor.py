"""`hettop doctor`: what works on this machine, what does not, why, and what mends it."""

from __future__ import annotations

import argparse
import getpass
import os
import shutil
import sys
from pathlib import Path

from hettop.app.devices import ask_devices
from hettop.app.doctor import clear, kept_in_use, look
from hettop.app.terminal import Terminal
from hettop.cli.doctor_control import run_control
from hettop.cli.names import names_here
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED
from hettop.format import size
from hettop.measurement.validated_rails import my_validated_rails
from hettop.models.cache import default_cache
from hettop.models.compiled import default_compiled_models
from hettop.models.system_caches import own_folders
from hettop.report.anonymize import anonymous, anonymous_document
from hettop.report.doctor import WIDTH, doctor_document, doctor_page
from hettop.report.document import to_json
from hettop.sources.host import describe_host
from hettop.sources.power.access import sudoers_rules
from hettop.sources.power.machine import this_machine
from hettop.text import clean


def run(arguments: argparse.Namespace) -> int:
    if arguments.control and (arguments.sudoers or arguments.clear_cache):
        raise HettopError(
            "usage",
            "--control cannot be combined with --sudoers or --clear-cache",
            "leave out --sudoers and --clear-cache",
        )
    if arguments.sudoers:
        sys.stdout.write(sudoers_rules(_user()))
        return 0
    if arguments.clear_cache:
        return _clear()
    if arguments.control:
        return run_control(as_json=arguments.as_json, hidden=names_here() if arguments.anonymize else None)
    return _look(as_json=arguments.as_json, anonymize=arguments.anonymize)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        raise HettopError("usage", "this user has no name, which a rule needs", "export USER=its-name") from None


def _look(*, as_json: bool, anonymize: bool) -> int:
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
