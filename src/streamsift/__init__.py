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
    "Screener": "streamsift.rows.screener",
    "load": "streamsift.persist",
    "save": "streamsift.persist",
}

__all__ = ["ABFS", "Screener", "__version__", "load", "save"]  # noqa: F822 - resolved by __getattr__


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'streamsift' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
