from __future__ import annotations

import subprocess
import sys


def test_importing_stats_loads_neither_scipy_nor_diptest_nor_the_rest_of_hettop() -> None:
    code = (
        "import sys, hettop.stats.bandwidth, hettop.stats.resampling, hettop.stats.histogram, hettop.stats.modes, "
        "hettop.stats.moments, hettop.stats.quantiles, hettop.stats.spikes; "
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('scipy', 'diptest') "
        "or name.startswith('hettop.') and not name.startswith(('hettop.stats', 'hettop.units', 'hettop.version'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
