"""The single pass over a sparse batch that checks it before anything is learnt from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel
from streamsift.kernels.intrinsics import fetch

DAMAGED, SOUND, MODERATE = 0, 1, 2
AHEAD = 1024  # how many entries ahead memory is prefetched
LINE = 16  # columns that come from memory together


@kernel
def look_through(
    data: NDArray[Any], columns: NDArray[Any], starts: NDArray[Any], n_features: int, largest: float
) -> int:
    """Check every entry of CSR rows once; columns are read as unsigned, so a negative one becomes a very large one.

    DAMAGED if the columns of a row do not rise or are not all below `n_features`; else MODERATE if no value is NaN or
    beyond `largest`, and SOUND if one is.
    """
    falls, outside, extreme = 0, 0, 0
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        for k in range(begin, end, LINE):
            fetch(columns, np.uint64(k + AHEAD))
            fetch(data, np.uint64(k + AHEAD))
            fetch(data, np.uint64(k + AHEAD + LINE // 2))
        row = data[begin:end]
        for j in range(row.size):  # counted, so that many are compared at once
            extreme += int(not abs(row[j]) <= largest)
        if end > begin:
            here, after = columns[begin : end - 1], columns[begin + 1 : end]
            for j in range(here.size):
                falls += int(here[j] >= after[j])
            outside += int(columns[end - 1] >= n_features)
    if falls + outside > 0:
        return DAMAGED
    return SOUND if extreme else MODERATE
