"""streamsift: feature selection while the data is still arriving.

Everything public is importable from here. Names resolve on first use, so `import streamsift` loads neither numba nor
scikit-learn nor any optional package.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it.
_HOME = {
    "ABFS": "streamsift.rows.abfs",
    "Comparison": "streamsift.comparison.comparison",
    "EFS": "streamsift.rows.efs",
    "ETANA": "streamsift.instances.etana",
    "FETANA": "streamsift.instances.f_etana",
    "FIRES": "streamsift.rows.fires.fires",
    "FSDS": "streamsift.rows.fsds",
    "FastOSFS": "streamsift.columns.fast_osfs",
    "Investing": "streamsift.columns.investing",
    "OFS": "streamsift.rows.ofs",
    "OFSA3M": "streamsift.columns.ofs_a3m",
    "OFSDensity": "streamsift.columns.ofs_density",
    "OSFS": "streamsift.columns.osfs",
    "Penalised": "streamsift.columns.penalised",
    "SAOLA": "streamsift.columns.saola",
    "Screener": "streamsift.rows.screener",
    "Stepwise": "streamsift.columns.stepwise",
    "Trace": "streamsift.runs.trace",
    "compare": "streamsift.comparison.compare",
    "load": "streamsift.persist",
    "prequential": "streamsift.evaluate.prequential",
    "save": "streamsift.persist",
}

__all__ = [
    "ABFS",
    "EFS",
    "ETANA",
    "FETANA",
    "FIRES",
    "FSDS",
    "OFS",
    "OFSA3M",
    "OSFS",
    "SAOLA",
    "Comparison",
    "FastOSFS",
    "Investing",
    "OFSDensity",
    "Penalised",
    "Screener",
    "Stepwise",
    "Trace",
    "__version__",
    "compare",
    "load",
    "prequential",
    "save",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'streamsift' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
