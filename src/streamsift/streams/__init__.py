"""Where rows and columns come from: readers for files, arrays and iterables, and generators of synthetic streams."""

from __future__ import annotations

from streamsift.streams.column_iterable import columns_from
from streamsift.streams.column_sources import interactions, logarithms, open_columns, powers
from streamsift.streams.column_stream import generate_columns
from streamsift.streams.files import ReadLimits
from streamsift.streams.generation import generate
from streamsift.streams.open import open_stream
from streamsift.streams.stream import RowStream
from streamsift.streams.tasks import find_task, task_of
from streamsift.streams.unbounded import Unbounded

__all__ = [
    "ReadLimits",
    "RowStream",
    "Unbounded",
    "columns_from",
    "find_task",
    "generate",
    "generate_columns",
    "interactions",
    "logarithms",
    "open_columns",
    "open_stream",
    "powers",
    "task_of",
]
