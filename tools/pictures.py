"""Makes every picture of the docs from the recordings: `python tools/pictures.py`. None is made by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hettop.app.picture import DEFAULT_SIZE, picture

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
RECORDINGS = REPOSITORY / "recordings"
S = 10**9


@dataclass(frozen=True, slots=True)
class Picture:
    """A screen: where it is put below docs/, of which recording, at which moment (None: the end), after which keys.

    theme: None is the usual one.
    """

    path: str
    recording: str
    at_ns: int | None
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = DEFAULT_SIZE
    theme: str | None = None

    def draw(self) -> str:
        return picture(RECORDINGS / self.recording, self.at_ns, self.size, self.theme, self.keys)


SMALL = (80, 24)
THEMES = ("light", "high-contrast", "okabe-ito", "mono", "phosphor", "aurora")
STUDIES = ("layers", "roofline", "sweep", "variants", "coexec", "plan", "granularities")
"""In the order in which the sample session has them."""

PICTURES = (
    Picture("pictures/screen.svg", "simulated-m2.jsonl", round(13.5 * S)),
    Picture("pictures/verdict.svg", "simulated-m2.jsonl", None, ("v",)),
    Picture("pictures/loads.svg", "simulated-m2.jsonl", None, ("l",)),
    Picture("pictures/story-idle.svg", "linux-x86-two-cores.jsonl", round(19.5 * S)),
    Picture("pictures/story-loaded.svg", "linux-x86-two-cores.jsonl", round(45.5 * S)),
    Picture("pictures/story-loads.svg", "linux-x86-two-cores.jsonl", None, ("l",), (100, 24)),
    Picture("pictures/story-spikes.svg", "linux-x86-two-cores.jsonl", None, ("s",), (100, 30)),
    Picture("pictures/narrow.svg", "simulated-m2.jsonl", round(13.5 * S), (), SMALL),
    Picture("pictures/help.svg", "simulated-m2.jsonl", round(13.5 * S), ("2", "question_mark"), SMALL),
    Picture("pictures/one-unit.svg", "simulated-m2.jsonl", round(24.5 * S), ("1", "z"), SMALL),
    Picture("pictures/units.svg", "simulated-m2.jsonl", round(13.5 * S), ("3", "z"), SMALL),
    Picture("pictures/spike.svg", "simulated-m2.jsonl", round(13.5 * S), ("shift+left", "2", "z"), SMALL),
    Picture("pictures/spikes.svg", "simulated-m2.jsonl", round(13.5 * S), ("s",), SMALL),
    Picture("pictures/sixty-fps.svg", "simulated-m2-60hz.jsonl", round(20 * S), (), (100, 30)),
    *(
        Picture(f"pictures/study-{name}.svg", "inside-mobilenetv2.jsonl", None, ("y", *["right"] * place))
        for place, name in enumerate(STUDIES)
    ),
    Picture("pictures/study-embench.svg", "embench-linux.jsonl", None, (), (110, 82)),
    Picture("pictures/study-predict.svg", "predict-linux.jsonl", None, (), (110, 60)),
    *(
        Picture(f"pictures/theme-{name}.svg", "simulated-m2.jsonl", round(13.5 * S), (), SMALL, f"hettop-{name}")
        for name in THEMES
    ),
)


def main() -> None:
    for each in PICTURES:
        (DOCS / each.path).write_text(each.draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
