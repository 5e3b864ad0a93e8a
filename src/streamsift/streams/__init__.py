"""Where rows come from: readers for files, arrays and iterables, and generators of synthetic streams."""

from __future__ import annotations

from streamsift.streams.generate import generate
from streamsift.streams.open import open_stream
from streamsift.streams.stream import RowStream

__all__ = ["RowStream", "generate", "open_stream"]
