"""What a session's header says: the machine, the model, and the settings in force.

Asks the host once; starts nothing.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from hettop import events
from hettop.host import describe_host
from hettop.text import clean
from hettop.wiring.options import MeasureOptions
from hettop.wiring.recorder import rfc3339
from hettop.wiring.setup import Setup

SIMULATED_CHIP = "simulated Apple M2"


def make_header(setup: Setup, options: MeasureOptions, wall: datetime) -> events.Header:
    """The first event of a measurement that begins at `wall`."""
    host = describe_host()
    if setup.simulated:
        host = msgspec.structs.replace(host, chip=SIMULATED_CHIP)
    return events.Header(
        t=0,
        format=events.FORMAT,
        version=events.VERSION,
        wall=rfc3339(wall),
        simulated=setup.simulated,
        host=host,
        model=_model(setup),
        settings={
            "units": list(setup.units),
            "absent": dict(setup.absent),
            "warmup": options.warmup,
            "runs": options.runs,
            "duration_ns": options.duration_ns,
            "rate_hz": options.rate_hz,
            "function": setup.function,
            "hints": dict(setup.hints),
            "seed": setup.inputs.seed,
            "shapes": {name: list(shape) for name, shape in setup.inputs.shapes.items()},
            "quantiles": "numpy linear (type 7); std is population std",
        },
    )


def _model(setup: Setup) -> events.ModelInfo:
    model = setup.model
    name = model.name if model.path is None or model.synthetic else clean(model.path.name)
    return events.ModelInfo(
        name=name[: events.TEXT_LIMIT],
        sha256=model.sha256,
        parameters=model.parameters,
        macs=model.macs,
        backend=setup.backend,
        note=model.note or None,
    )
