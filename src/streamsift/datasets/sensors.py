"""load_sensors: a machine with sensors that resemble each other, fall out, and one day are moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsift.datasets.dataset import Dataset, half_way, random_numbers

N_QUIET = 20  # sensors that tell nothing
FALLEN_OUT = 0.02  # of all readings
STATES = ("fine", "worn", "broken")


def load_sensors(n_rows: int = 4000, seed: int = 0) -> Dataset:
    """Readings of a machine: sensors that say the same, missing readings, three states, and a repair half way.

    Wear shows in two vibration sensors (nearly copies of each other) and in one temperature. At the repair half way the
    first bearing is replaced: from there on the pressure sensors show the wear. Two readings in a hundred are missing.
    Generated.

    Parameters
    ----------
    n_rows : int, default 4000
        How many readings; the repair comes after half of them.
    seed : int, default 0
        The same seed gives the same rows.

    Returns
    -------
    Dataset
        25 features, all numbers, some missing (null); the target `state` is "fine", "worn" or "broken".

    Examples
    --------
    >>> from streamsift import datasets
    >>> data = datasets.load_sensors()
    >>> len(data.feature_names), sorted(set(data.y.tolist()))
    (25, ['broken', 'fine', 'worn'])
    """
    import pyarrow as pa

    rng = random_numbers("sensors", 2, n_rows, seed)
    state = rng.choice(3, n_rows, p=[0.6, 0.3, 0.1])
    wear = state + rng.normal(0.0, 0.4, n_rows)
    repaired = np.arange(n_rows) >= n_rows // 2
    before, after = np.where(repaired, 0.0, wear), np.where(repaired, wear, 0.0)
    shaking = 4.0 * before + rng.normal(0.0, 1.0, n_rows)  # one bearing, two sensors on it
    columns = {
        "vibration_1": shaking + rng.normal(0.0, 0.1, n_rows),
        "vibration_2": shaking + rng.normal(0.0, 0.1, n_rows),
        "temperature_1": 55.0 + 6.0 * state + rng.normal(0.0, 5.0, n_rows),
        "pressure_1": 9.0 + 2.0 * after + rng.normal(0.0, 0.6, n_rows),
        "pressure_2": 9.0 - 2.0 * after + rng.normal(0.0, 0.7, n_rows),
    }
    for number in range(1, N_QUIET + 1):  # slow waves and noise, as such sensors have
        wave = np.sin(np.arange(n_rows) / (5.0 * number) + rng.uniform(0.0, 6.0))
        columns[f"quiet_{number}"] = wave + rng.normal(0.0, 1.0, n_rows)
    readings: dict[str, Any] = {}
    for name, values in columns.items():
        values[rng.random(n_rows) < FALLEN_OUT] = np.nan
        readings[name] = pa.array(values.round(3), from_pandas=True)  # NaN becomes null
    readings["state"] = np.array(STATES)[state]
    about = "Readings of a machine, generated; a repair half way changes which sensors show the wear."
    first = ("vibration_1", "vibration_2", "temperature_1")
    changes = half_way(n_rows, first, ("temperature_1", "pressure_1", "pressure_2"))
    return Dataset("sensors", pa.table(readings), "state", about, changes)
