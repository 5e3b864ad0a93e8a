"""Counters that start just below 2^32 and go beyond: no kernel may keep one in 32 bits.

Methods that can be merged are merged with copies of themselves until they have seen nearly 2^32 rows. The others get a
saved state whose counters were moved up, through the same check as any stranger's. Each then learns some batches more,
beside a twin that starts from few rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift import catalog
from tests.soak.feeding import batches, block

LIMIT = 1 << 32
N_BATCH = 1024
N_AFTER = 16  # batches after the start; the limit lies between them

# Counters of rows in the states of methods that cannot be merged; moving all of them changes no score.
COUNTERS: dict[str, tuple[str, ...]] = {
    "fires": ("state.class_rows", "state.n_steps"),
    "fires:ann": ("state.class_rows", "state.n_steps"),
    "fires:sdt": ("state.class_rows", "state.n_steps"),
    "abfs": ("state.rows", "state.last_event"),
    "ofs": (),
    "efs": (),
    "fsds": (),
}
# Methods whose answers do not depend on how many rows there were before.
SAME = ("ofs", "efs", "fsds", "abfs", "fires")


def run(names: list[str], n_features: int, *, say: Callable[[str], None] = print) -> list[str]:
    """Take each method beyond the limit; what went wrong, in words."""
    problems = []
    for name in names:
        found = beyond(name, n_features)
        say(f"{name:20}{'; '.join(found) or 'fine'}")
        problems += [f"{name}: {problem}" for problem in found]
    return problems


def beyond(name: str, n_features: int, n_batch: int = N_BATCH) -> list[str]:
    """Let one method learn across the limit."""
    X, y = block(4 * n_batch, n_features)
    seed = {"random_state": 0} if "random_state" in catalog.parameters(name) else {}
    selector = catalog.make(name, **seed)
    rows = batches(X, y, n_batch)
    for _ in range(8):
        selector.partial_fit(*next(rows))
    small = _twin(selector)
    mergeable = selector.stream_tags().mergeable != "no"
    large = merged_up(selector, n_batch) if mergeable else moved_up(name, selector, LIMIT - 12 * n_batch)
    started = large.n_rows_seen_
    problems = [] if started < LIMIT else ["it did not start below the limit"]
    for _ in range(N_AFTER):
        batch = next(rows)
        small.partial_fit(*batch)
        large.partial_fit(*batch)
    if large.n_rows_seen_ != started + N_AFTER * n_batch or large.n_rows_seen_ <= LIMIT:
        problems.append(f"n_rows_seen_ is {large.n_rows_seen_} after {started} + {N_AFTER * n_batch} rows")
    return problems + _differences(name, small, large, mergeable)


def merged_up(selector: Any, n_batch: int) -> Any:
    """Merged with copies of itself, until some batches are missing from the limit."""
    target = LIMIT - 4 * n_batch
    powers = [_twin(selector)]
    while 2 * powers[-1].n_rows_seen_ <= target:
        powers.append(_twin(powers[-1]).merge(powers[-1]))
    large = powers.pop()
    for power in reversed(powers):
        if large.n_rows_seen_ + power.n_rows_seen_ <= target:
            large.merge(power)
    return large


def moved_up(name: str, selector: Any, n_rows: int) -> Any:
    """The same state with its counters moved up by so many rows."""
    arrays = selector.state_arrays()
    for key in ("n_rows_seen", *COUNTERS[name]):
        arrays[key] = _moved(arrays[key], n_rows)
    return catalog.make(name, **selector_arguments(name, selector)).load_state_arrays(arrays)


def _moved(values: NDArray[Any], n_rows: int) -> NDArray[Any]:
    return np.where(values > 0, values + n_rows, values).astype(values.dtype).reshape(values.shape)


def _twin(selector: Any) -> Any:
    return type(selector)(**selector.get_params(deep=False)).load_state_arrays(selector.state_arrays())


def selector_arguments(name: str, selector: Any) -> dict[str, Any]:
    """The parameters of a selector, except those its name stands for."""
    preset = catalog.entry(name).arguments
    return {key: value for key, value in selector.get_params(deep=False).items() if key not in preset}


def _differences(name: str, small: Any, large: Any, mergeable: bool) -> list[str]:
    """Whether the scores are finite, and what they would be without the many rows, or at least rank the same way."""
    scores, expected = large.scores_, small.scores_
    if not np.isfinite(scores).all():
        return ["scores are not finite"]
    if name in SAME and not np.array_equal(scores, expected):
        return [f"scores differ from those of few rows by up to {np.abs(scores - expected).max():.1e}"]
    informative = max(len(scores) // 4, 1)
    if mergeable and scores[:informative].min() <= scores[informative:].max():
        return ["a feature that tells nothing scores higher than one that does"]
    _twin(large)  # its state passes the check of saved states
    return []
