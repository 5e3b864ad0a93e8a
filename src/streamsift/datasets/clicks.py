"""load_clicks: visits of a shop, one in six of which ends with an order, and whose reasons change half way."""

from __future__ import annotations

import numpy as np

from streamsift.datasets.dataset import Dataset, half_way, random_numbers

DEVICES = ("phone", "desktop", "tablet")
CAMPAIGNS = ("none", "mail", "search", "banner", "video")


def load_clicks(n_rows: int = 5000, seed: int = 0) -> Dataset:
    """Visits of a shop: numbers, categories, rare orders, and a campaign that changes what matters.

    In the first half those buy who came often and filled the cart. Then a sale begins: from there on the cart and the
    discount decide, and how often somebody came tells nothing. Generated.

    Parameters
    ----------
    n_rows : int, default 5000
        How many visits; the sale begins after half of them.
    seed : int, default 0
        The same seed gives the same rows.

    Returns
    -------
    Dataset
        14 features, two of them categories; the target `bought` is "yes" or "no"; `seen_at` (seconds) is no feature.

    Examples
    --------
    >>> from streamsift import datasets
    >>> data = datasets.load_clicks()
    >>> [(change.row, change.true_features) for change in data.changes]
    [(0, ('visits', 'cart')), (2500, ('cart', 'discount'))]
    """
    import pyarrow as pa

    rng = random_numbers("clicks", 1, n_rows, seed)
    visits = rng.poisson(3.0, n_rows).astype(np.float64)
    cart = rng.gamma(2.0, 15.0, n_rows).round(2)
    discount = rng.choice([0.0, 5.0, 10.0, 20.0, 30.0], n_rows)
    sale = np.arange(n_rows) >= n_rows // 2
    reason = np.where(sale, (discount - 13.0) / 11.0, (visits - 3.0) / 1.7)
    chance = 1.0 / (1.0 + np.exp(-(2.0 * reason + 1.2 * (cart - 30.0) / 21.0 - 3.0)))
    columns = {
        "visits": visits,
        "cart": cart,
        "discount": discount,
        "device": np.array(DEVICES)[rng.integers(0, len(DEVICES), n_rows)],
        "campaign": np.array(CAMPAIGNS)[rng.integers(0, len(CAMPAIGNS), n_rows)],
        "hour": rng.integers(0, 24, n_rows).astype(np.float64),
        "pages": rng.poisson(6.0, n_rows).astype(np.float64),
        "seconds": rng.gamma(1.5, 80.0, n_rows).round(),
        "scrolled": rng.uniform(0.0, 1.0, n_rows).round(3),
        "screen": rng.normal(1400.0, 300.0, n_rows).round(),
        "latency": rng.gamma(2.0, 40.0, n_rows).round(1),
        "friends": rng.poisson(1.0, n_rows).astype(np.float64),
        "age": rng.integers(18, 80, n_rows).astype(np.float64),
        "stock": rng.integers(0, 500, n_rows).astype(np.float64),
        "seen_at": np.cumsum(rng.exponential(30.0, n_rows)).round(),
        "bought": np.where(rng.random(n_rows) < chance, "yes", "no"),
    }
    about = "Visits of a shop, generated; a sale begins half way and changes what decides."
    changes = half_way(n_rows, ("visits", "cart"), ("cart", "discount"))
    return Dataset("clicks", pa.table(columns), "bought", about, changes, ignore=("seen_at",))
