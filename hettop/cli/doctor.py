"""`hettop doctor`: what works on this machine and fixes for what does not; `--report` packs it for a bug report."""

from __future__ import annotations

import argparse
import getpass
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hettop.app.doctor import Finding, Findings, Providers, Terminal, ask_devices, clear, examine, kept_in_use
from hettop.app.doctor_report import ReportInputs, build_archive, package_versions, read_log
from hettop.app.rail_control import MODEL, Checked, check_rails, control_options, keep, prepare_control
from hettop.cli.anonymize import identity_here, names_here
from hettop.cli.commands import refuse
from hettop.cli.config import config_document
from hettop.console.measuring import measure
from hettop.console.messages import print_warning, shown_while_slow
from hettop.console.progress import completed, progress_line, unit_states
from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.events import Host
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
from hettop.format import size
from hettop.measurement.headless import Headless
from hettop.measurement.options import MeasureOptions
from hettop.measurement.power import PowerHere, power_here
from hettop.measurement.setup import Setup
from hettop.measurement.user_files import user_places
from hettop.measurement.validated_rails import ValidatedRails, my_validated_rails
from hettop.models.cache import default_cache
from hettop.models.compiled import default_compiled_models
from hettop.models.system_caches import own_folders
from hettop.record.disk import NewFile
from hettop.report.anonymize import anonymous_data, anonymous_document
from hettop.report.doctor import WIDTH, doctor_document, doctor_page, report_page
from hettop.report.document import head, to_json
from hettop.session.session import Session
from hettop.sources.engine.providers.known import this_hardware
from hettop.sources.engine.providers.probe import allowed_providers, find_providers
from hettop.sources.host import describe_host
from hettop.sources.power.powermetrics import sudoers_rules
from hettop.sources.power.source import this_machine
from hettop.text import clean

ZIP_BEGINNING = b"PK\x03\x04"


def run(arguments: argparse.Namespace) -> int:
    if arguments.sudoers or arguments.clear_cache:
        refuse(arguments, ("format", "anonymize"), f"with {'--sudoers' if arguments.sudoers else '--clear-cache'}")
    if arguments.report is None:
        refuse(arguments, ("include",), "without --report", "add --report")
    if arguments.sudoers:
        sys.stdout.write(sudoers_rules(_user()))
        return 0
    if arguments.clear_cache:
        return _clear()
    if arguments.control:
        return run_control(as_json=arguments.as_json, hidden=names_here() if arguments.anonymize else None)
    if arguments.report is not None:
        return _report(arguments)
    return _check(as_json=arguments.as_json, anonymize=arguments.anonymize)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        raise HettopError("usage", "this user has no name, which a sudoers rule needs", "export USER=NAME") from None


def _check(*, as_json: bool, anonymize: bool) -> int:
    found = _examined(describe_host())
    groups = anonymous_data(dict(found.groups), names_here()) if anonymize else found.groups
    if as_json:
        sys.stdout.write(to_json(doctor_document(groups, measures=found.measures)) + "\n")
    else:
        width = shutil.get_terminal_size((WIDTH, 24)).columns
        sys.stdout.write(doctor_page(groups, width=width, ascii_only=not _terminal().speaks_unicode))
    return 0 if found.measures else EXIT_FAILED


def _terminal() -> Terminal:
    return Terminal(_size(), sys.stdout.encoding or "ascii", os.environ)


def _examined(host: Host) -> Findings:
    """What works on this machine; a terminal shows that it is being checked."""
    with shown_while_slow("checking this machine"):
        return examine(
            host=host,
            machine=this_machine(chip=host.chip),
            cache=default_cache(),
            compiled=default_compiled_models(),
            folder=Path.cwd(),
            terminal=_terminal(),
            folders=own_folders(),
            ask=lambda: ask_devices(os.environ),
            rails=my_validated_rails(),
            providers=Providers(find_providers(anew=True), this_hardware(), allowed_providers()),
        )


def _report(arguments: argparse.Namespace) -> int:
    path = Path(arguments.report)
    log = None if arguments.include is None else read_log(Path(arguments.include))
    with NewFile(path, force=arguments.force, beginnings=(ZIP_BEGINNING,)) as made:
        host = describe_host()
        inputs = ReportInputs(
            host=host,
            findings=_examined(host),
            packages=package_versions() or host.frameworks,
            config=config_document(),
            internal_error=_internal_error(),
            log=log,
        )
        archive = build_archive(inputs, identity_here(), datetime.now(UTC).date())
        made.file.write(archive.data)
    if kinds := archive.in_paths_only:
        what = " and ".join(f"your {kind}" for kind in kinds)
        one = len(kinds) == 1
        print_warning(
            f"{what} {'is also a word' if one else 'are also words'} of hettop:"
            f" {'it was' if one else 'they were'} removed from paths only"
        )
    if arguments.as_json:
        written = {"archive": path.name, "bytes": len(archive.data)}
        sys.stdout.write(to_json({**archive.document, **written}) + "\n")
    else:
        sys.stdout.write(report_page(archive.document, clean(str(path)), len(archive.data)))
    return 0


def _internal_error() -> str:
    """The text of the last internal error, empty where there is none."""
    path = user_places().internal_error
    try:
        return "" if path is None else path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _size() -> tuple[int, int] | None:
    if not sys.stdout.isatty():
        return None
    found = os.get_terminal_size(sys.stdout.fileno())
    return found.columns, found.lines  # zeros where the terminal has no size


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
        sys.stdout.write(f"kept {len(kept)} in use, {size(nbytes)}: {names}\n")
    return 0


def run_control(
    *,
    as_json: bool,
    hidden: Sequence[str] | None,
    here: PowerHere | None = None,
    options: MeasureOptions | None = None,
    model: str | None = None,
) -> int:
    """Measure, print and remember; `hidden` are the names to remove from the output, None to remove none.

    By default on this machine, for the duration of the control, with the control's model.

    Raises HettopError (exit 2) where there is no Core ML or no source of power.
    """
    here, options = here or power_here(describe_host().chip), options or control_options()
    setup = prepare_control(here.machine, model or MODEL)
    # The session neither reads nor writes what is remembered: the control decides by what it measures itself.
    alone = replace(here, rails=ValidatedRails())
    headless = Headless(setup, options, raw_limit=0, here=alone)
    return measure_and_keep(headless, setup, options, here.rails, as_json=as_json, hidden=hidden)


def measure_and_keep(
    headless: Headless,
    setup: Setup,
    options: MeasureOptions,
    rails: ValidatedRails,
    *,
    as_json: bool,
    hidden: Sequence[str] | None = None,
) -> int:
    """The exit code: 0 if some rail could be tried, 3 if none, 130 when interrupted, which keeps and prints nothing."""
    progress = progress_line()

    def show() -> bool:
        progress.show(unit_states(headless.session), completed(headless.session, options, setup.units))
        return False

    if measure(headless, show, progress.clear).interrupted:
        return EXIT_INTERRUPTED
    checked = check_rails(headless.session, setup.absent)
    with stop_signals_ignored():
        keep(checked, headless.session, rails, datetime.now(UTC))
        _print(checked, headless.session, rails, as_json=as_json, hidden=hidden)
    return 0 if any(each.validated is not None for each in checked) else EXIT_FAILED


def _print(
    checked: Sequence[Checked],
    session: Session,
    rails: ValidatedRails,
    *,
    as_json: bool,
    hidden: Sequence[str] | None,
) -> None:
    document = control_document(checked, session, rails)
    if hidden is not None:
        document, checked = anonymous_document(document, hidden), anonymous_data(list(checked), hidden)
    sys.stdout.write(to_json(document) + "\n" if as_json else _page(checked, document))


def control_document(checked: Sequence[Checked], session: Session, rails: ValidatedRails) -> dict[str, Any]:
    """The result as plain values; `remembered` names the rails that later sessions will know as validated."""
    source = session.power.source if session.power is not None else None
    return {
        **head("doctor-control"),
        "source": source,
        "model": session.header.model.name if session.header is not None else None,
        "machine": rails.machine,
        "build": rails.build,
        "rails": [
            {
                "rail": each.rail,
                "unit": each.unit,
                "validated": each.validated,
                "mw": each.mw,
                "cpu_only_mw": each.without_mw,
                "explanation": each.words,
            }
            for each in checked
        ],
        "remembered": sorted(rails.of(source)) if source is not None else [],
    }


def _page(checked: Sequence[Checked], document: dict[str, Any]) -> str:
    what = f"power rails, by {document['source'] or 'no source'}, while {document['model']} ran"
    findings = [Finding(f"{each.rail.upper()} rail", each.validated, each.words) for each in checked]
    kept = ", ".join(rail.upper() for rail in document["remembered"])
    machine = f"{document['machine']}, macOS build {document['build']}"
    kept_line = f"validated rails of {machine}: {kept}" if kept else "no validated rails"
    terminal = Terminal(None, sys.stdout.encoding or "ascii", os.environ)
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    page = doctor_page({clean(what): findings}, width=width, ascii_only=not terminal.speaks_unicode)
    return f"{page}{clean(kept_line)}\n"
