"""Ways to run in parallel as a measurement leaves them: three under no load, and a load that failed."""

from __future__ import annotations

from hettop.studies.granularities.measure import UnderLoad
from hettop.studies.plan.cutting.result import Compared, Granularity

ROWS = (
    Granularity("single", 100.0, 10.0, 12.0, 300, (90.0, 110.0, 100.0)),
    Granularity("intra-operator", 150.0, 6.5, 8.0, 400, (135.0, 176.0, 150.0)),
    Granularity("task", 180.0, 11.0, 14.0, 500, (180.0, 187.0, 180.0)),
)
COMPARED = Compared(ROWS, (26, 29), 250.0, ("a note",))
FOUND = [UnderLoad("none", COMPARED), UnderLoad("cpu:1", None, "1 load worker ended unasked")]
