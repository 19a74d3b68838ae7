"""What a session's header says: the machine, the model, and the settings in force.

Asks the host once; starts nothing.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import msgspec

from hettop import events
from hettop.measurement.options import MeasureOptions
from hettop.measurement.recorder import rfc3339
from hettop.measurement.setup import RowVariant, Setup
from hettop.session.tokens import SETTING
from hettop.sources.host import describe_host

SIMULATED_CHIP = "simulated Apple M2"


def make_header(setup: Setup, options: MeasureOptions, wall: datetime) -> events.Header:
    """The first event of a measurement that begins at `wall`."""
    host = describe_host()
    host = msgspec.structs.replace(host, warnings=[*host.warnings, *setup.warnings])
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
            "variants": {name: _variant(variant) for name, variant in setup.variants.items()} or None,
            SETTING: None if setup.tokens is None else asdict(setup.tokens),
            "warmup": "auto" if options.until_steady else options.warmup,
            "runs": options.runs,
            "duration_ns": options.duration_ns,
            "least_runs": options.least_runs or None,
            "rest_ns": options.rest_ns or None,
            "rate_hz": options.rate_hz,
            "protocol": options.protocol,
            "budget": options.budget,
            "energy": options.energy,
            "function": setup.function,
            "hints": dict(setup.hints),
            "seed": setup.inputs.seed,
            "shapes": {name: list(shape) for name, shape in setup.inputs.shapes.items()},
            "quantiles": "numpy linear (type 7); std is population std",
        },
    )


def _variant(variant: RowVariant) -> dict[str, str | None]:
    """What a variant is, and its model if that is another one."""
    model = variant.model
    told = {} if model is None else {"model": model.name[: events.TEXT_LIMIT], "sha256": model.sha256}
    return {"words": variant.words, **told}


def _model(setup: Setup) -> events.ModelInfo:
    model = setup.model
    return events.ModelInfo(
        name=model.name[: events.TEXT_LIMIT],
        sha256=model.sha256,
        parameters=model.parameters,
        macs=model.macs,
        backend=setup.backend,
        note=model.note or None,
    )
