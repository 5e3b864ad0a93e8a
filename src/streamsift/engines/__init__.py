"""One pass over a partitioned table, on several processes, on Dask or on Spark."""

from streamsift.engines.by_key import select_by_key
from streamsift.engines.select import select

__all__ = ["select", "select_by_key"]
