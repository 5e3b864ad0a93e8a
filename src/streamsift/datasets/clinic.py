"""load_clinic: patients, and what each examination costs."""

from __future__ import annotations

import numpy as np

from streamsift.datasets.dataset import Change, Dataset, random_numbers

# How far the means of the ill and the healthy are apart, in standard deviations, and the price, in wrong answers.
EXAMINATIONS = {
    "temperature": (0.9, 0.001),
    "pulse": (0.6, 0.001),
    "blood_pressure": (0.2, 0.001),
    "questions": (0.8, 0.002),
    "blood_count": (1.2, 0.01),
    "crp": (1.4, 0.01),
    "liver": (0.0, 0.01),
    "x_ray": (1.6, 0.05),
    "ultrasound": (0.4, 0.05),
    "tomography": (2.6, 0.2),
    "allergies": (0.0, 0.02),
    "genes": (0.0, 0.3),
}


def load_clinic(n_rows: int = 1500, seed: int = 0) -> Dataset:
    """Patients and examinations with prices, for methods that buy values one at a time.

    The cheap examinations tell a little, the dear ones much, and some nothing at any price. Generated.

    Parameters
    ----------
    n_rows : int, default 1500
        How many patients.
    seed : int, default 0
        The same seed gives the same rows.

    Returns
    -------
    Dataset
        12 features, all numbers, with `prices` in units of one wrong answer; the target `ill` is "yes" or "no".

    Examples
    --------
    >>> from streamsift import datasets
    >>> data = datasets.load_clinic()
    >>> data.prices["pulse"], data.prices["tomography"], round(sum(data.prices.values()), 3)
    (0.001, 0.2, 0.655)
    """
    import pyarrow as pa

    rng = random_numbers("clinic", 5, n_rows, seed)
    ill = rng.random(n_rows) < 0.3
    columns = {name: (rng.normal(0.0, 1.0, n_rows) + gap * ill).round(3) for name, (gap, _) in EXAMINATIONS.items()}
    prices = {name: price for name, (_, price) in EXAMINATIONS.items()}
    true = tuple(name for name, (gap, _) in EXAMINATIONS.items() if gap > 0)
    table = pa.table(columns | {"ill": np.where(ill, "yes", "no")})
    about = "Patients, generated; cheap examinations tell a little, dear ones much, some nothing."
    return Dataset("clinic", table, "ill", about, (Change(0, true),), prices)
