"""One pass over a partitioned table, on several processes, on Dask or on Spark."""

from streamsift.engines.blocks import BlockPlan
from streamsift.engines.by_key import select_by_key
from streamsift.engines.columns import select_columns
from streamsift.engines.select import select
from streamsift.engines.wide import WideSelection, select_wide

__all__ = ["BlockPlan", "WideSelection", "select", "select_by_key", "select_columns", "select_wide"]
