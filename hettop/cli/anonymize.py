"""Rewrites files in place without names of users and machines, paths and ids.

`python -m hettop.cli.anonymize FILE…`, for packaging/mac-check.sh, whose archive is sent to other people.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hettop.cli.names import names_here
from hettop.report.anonymize import anonymous_file


def main(paths: list[str]) -> None:
    names = names_here()
    for path in map(Path, paths):
        text = path.read_text(encoding="utf-8", errors="replace")
        path.write_text(anonymous_file(text, names), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
