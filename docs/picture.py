"""Makes docs/screen.svg, the picture in the README, from a recording: `python docs/picture.py FILE --at 25s -o OUT`.

As `hettop export FILE --to svg` does.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from hettop.commands.options import duration_ns
from hettop.wiring.picture import picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recording", type=Path)
    parser.add_argument("--at", type=duration_ns, default=20 * 10**9)
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--theme")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("screen.svg"))
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    svg = picture(arguments.recording, arguments.at, (width, height), arguments.theme)
    arguments.output.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
