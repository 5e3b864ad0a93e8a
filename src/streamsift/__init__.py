"""streamsift: feature selection while the data is still arriving.

Everything public is importable from here. Names resolve on first use, so `import streamsift` loads neither numba nor
scikit-learn nor any optional package. A type checker reads the imports; at run time only the table `_HOME` is read. A
test keeps imports, table and `__all__` in agreement.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from streamsift import catalog as catalog
    from streamsift import datasets as datasets
    from streamsift import drift as drift
    from streamsift import metrics as metrics
    from streamsift.checks import run_checks as run_checks
    from streamsift.columns.fast_osfs import FastOSFS as FastOSFS
    from streamsift.columns.investing import Investing as Investing
    from streamsift.columns.ofs_a3m import OFSA3M as OFSA3M
    from streamsift.columns.ofs_density import OFSDensity as OFSDensity
    from streamsift.columns.osfs import OSFS as OSFS
    from streamsift.columns.penalised import Penalised as Penalised
    from streamsift.columns.saola import SAOLA as SAOLA
    from streamsift.columns.stepwise import Stepwise as Stepwise
    from streamsift.comparison.compare import compare as compare
    from streamsift.comparison.comparison import Comparison as Comparison
    from streamsift.core.exceptions import ConcurrentUseError as ConcurrentUseError
    from streamsift.core.exceptions import EmptySelectionWarning as EmptySelectionWarning
    from streamsift.core.exceptions import InputError as InputError
    from streamsift.core.exceptions import MergeError as MergeError
    from streamsift.core.exceptions import MissingExtraError as MissingExtraError
    from streamsift.core.exceptions import NotEnoughMemoryError as NotEnoughMemoryError
    from streamsift.core.exceptions import OneClassWarning as OneClassWarning
    from streamsift.core.exceptions import ParameterError as ParameterError
    from streamsift.core.exceptions import ReaderError as ReaderError
    from streamsift.core.exceptions import ReadingNotice as ReadingNotice
    from streamsift.core.exceptions import RestartWarning as RestartWarning
    from streamsift.core.exceptions import SavedStateError as SavedStateError
    from streamsift.core.exceptions import StreamsiftError as StreamsiftError
    from streamsift.core.exceptions import StreamsiftWarning as StreamsiftWarning
    from streamsift.core.exceptions import UnknownNameError as UnknownNameError
    from streamsift.core.guarantees import Fdr as Fdr
    from streamsift.core.guarantees import Fpr as Fpr
    from streamsift.core.guarantees import Fwe as Fwe
    from streamsift.core.selection import Decision as Decision
    from streamsift.core.selection import Selection as Selection
    from streamsift.evaluate.prequential import prequential as prequential
    from streamsift.evaluate.streaming_split import StreamingSplit as StreamingSplit
    from streamsift.instances.etana import ETANA as ETANA
    from streamsift.instances.f_etana import FETANA as FETANA
    from streamsift.interop.sklearn import make_columns as make_columns
    from streamsift.interop.stream_pipeline import StreamPipeline as StreamPipeline
    from streamsift.interop.torch import TorchModel as TorchModel
    from streamsift.persist import load as load
    from streamsift.persist import save as save
    from streamsift.rows.abfs import ABFS as ABFS
    from streamsift.rows.efs import EFS as EFS
    from streamsift.rows.fires.ann import ANN as ANN
    from streamsift.rows.fires.fires import FIRES as FIRES
    from streamsift.rows.fires.glm import GLM as GLM
    from streamsift.rows.fires.sdt import SDT as SDT
    from streamsift.rows.fsds import FSDS as FSDS
    from streamsift.rows.joint import Joint as Joint
    from streamsift.rows.ofs import OFS as OFS
    from streamsift.rows.screener import Screener as Screener
    from streamsift.runs.late_labels import LateLabels as LateLabels
    from streamsift.runs.trace import Trace as Trace
    from streamsift.streams.column_iterable import columns_from as columns_from
    from streamsift.streams.column_sources import open_columns as open_columns
    from streamsift.streams.generation import generate as generate
    from streamsift.streams.open import open_stream as open_stream

# Public name -> the module that defines it; a public module is its own home.
_HOME = {
    "ABFS": "streamsift.rows.abfs",
    "ANN": "streamsift.rows.fires.ann",
    "Comparison": "streamsift.comparison.comparison",
    "ConcurrentUseError": "streamsift.core.exceptions",
    "Decision": "streamsift.core.selection",
    "EFS": "streamsift.rows.efs",
    "ETANA": "streamsift.instances.etana",
    "EmptySelectionWarning": "streamsift.core.exceptions",
    "FETANA": "streamsift.instances.f_etana",
    "FIRES": "streamsift.rows.fires.fires",
    "FSDS": "streamsift.rows.fsds",
    "FastOSFS": "streamsift.columns.fast_osfs",
    "GLM": "streamsift.rows.fires.glm",
    "Fdr": "streamsift.core.guarantees",
    "Fpr": "streamsift.core.guarantees",
    "Fwe": "streamsift.core.guarantees",
    "InputError": "streamsift.core.exceptions",
    "Investing": "streamsift.columns.investing",
    "Joint": "streamsift.rows.joint",
    "LateLabels": "streamsift.runs.late_labels",
    "MergeError": "streamsift.core.exceptions",
    "MissingExtraError": "streamsift.core.exceptions",
    "NotEnoughMemoryError": "streamsift.core.exceptions",
    "OFS": "streamsift.rows.ofs",
    "OFSA3M": "streamsift.columns.ofs_a3m",
    "OFSDensity": "streamsift.columns.ofs_density",
    "OSFS": "streamsift.columns.osfs",
    "OneClassWarning": "streamsift.core.exceptions",
    "ParameterError": "streamsift.core.exceptions",
    "Penalised": "streamsift.columns.penalised",
    "ReaderError": "streamsift.core.exceptions",
    "ReadingNotice": "streamsift.core.exceptions",
    "RestartWarning": "streamsift.core.exceptions",
    "SAOLA": "streamsift.columns.saola",
    "SDT": "streamsift.rows.fires.sdt",
    "SavedStateError": "streamsift.core.exceptions",
    "Screener": "streamsift.rows.screener",
    "Selection": "streamsift.core.selection",
    "Stepwise": "streamsift.columns.stepwise",
    "StreamPipeline": "streamsift.interop.stream_pipeline",
    "StreamingSplit": "streamsift.evaluate.streaming_split",
    "StreamsiftError": "streamsift.core.exceptions",
    "StreamsiftWarning": "streamsift.core.exceptions",
    "TorchModel": "streamsift.interop.torch",
    "Trace": "streamsift.runs.trace",
    "UnknownNameError": "streamsift.core.exceptions",
    "catalog": "streamsift.catalog",
    "columns_from": "streamsift.streams.column_iterable",
    "compare": "streamsift.comparison.compare",
    "datasets": "streamsift.datasets",
    "drift": "streamsift.drift",
    "generate": "streamsift.streams.generation",
    "load": "streamsift.persist",
    "make_columns": "streamsift.interop.sklearn",
    "metrics": "streamsift.metrics",
    "open_columns": "streamsift.streams.column_sources",
    "open_stream": "streamsift.streams.open",
    "prequential": "streamsift.evaluate.prequential",
    "run_checks": "streamsift.checks",
    "save": "streamsift.persist",
}

__all__ = [
    "ABFS",
    "ANN",
    "EFS",
    "ETANA",
    "FETANA",
    "FIRES",
    "FSDS",
    "GLM",
    "OFS",
    "OFSA3M",
    "OSFS",
    "SAOLA",
    "SDT",
    "Comparison",
    "ConcurrentUseError",
    "Decision",
    "EmptySelectionWarning",
    "FastOSFS",
    "Fdr",
    "Fpr",
    "Fwe",
    "InputError",
    "Investing",
    "Joint",
    "LateLabels",
    "MergeError",
    "MissingExtraError",
    "NotEnoughMemoryError",
    "OFSDensity",
    "OneClassWarning",
    "ParameterError",
    "Penalised",
    "ReaderError",
    "ReadingNotice",
    "RestartWarning",
    "SavedStateError",
    "Screener",
    "Selection",
    "Stepwise",
    "StreamPipeline",
    "StreamingSplit",
    "StreamsiftError",
    "StreamsiftWarning",
    "TorchModel",
    "Trace",
    "UnknownNameError",
    "__version__",
    "catalog",
    "columns_from",
    "compare",
    "datasets",
    "drift",
    "generate",
    "load",
    "make_columns",
    "metrics",
    "open_columns",
    "open_stream",
    "prequential",
    "run_checks",
    "save",
]


if not TYPE_CHECKING:  # a checker that saw this function would let any misspelt name pass

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'streamsift' has no attribute {name!r}")
        module = import_module(_HOME[name])
        value = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
