"""load_transactions: card payments, one in fifty of which is fraud, and is known as such only days later."""

from __future__ import annotations

import numpy as np

from streamsift.datasets.dataset import Change, Dataset, random_numbers

COUNTRIES = ("NO", "SE", "DK", "DE", "FR", "IT", "US", "BR")
TRADES = ("food", "fuel", "travel", "clothes", "games", "gold")
FRAUD = 0.02
DAY = 86_400.0


def load_transactions(n_rows: int = 10_000, seed: int = 0) -> Dataset:
    """Card payments: rare fraud, categories with many values, and labels that arrive days after the payment.

    Fraud goes with large amounts, with many payments in the hour before, and with trades whose goods are easily sold.
    `reported_at` says when the label of a payment became known. Generated.

    Parameters
    ----------
    n_rows : int, default 10,000
        How many payments.
    seed : int, default 0
        The same seed gives the same rows.

    Returns
    -------
    Dataset
        15 features, three of them categories (a shop has 200 values); the target `fraud` is "yes" or "no"; `paid_at`
        and `reported_at` (seconds) are no features.

    Examples
    --------
    >>> from streamsift import datasets
    >>> data = datasets.load_transactions()
    >>> data.true_features, round(float((data.y == "yes").mean()), 3)
    (('amount', 'last_hour', 'trade'), 0.02)
    """
    import pyarrow as pa

    rng = random_numbers("transactions", 3, n_rows, seed)
    fraud = rng.random(n_rows) < FRAUD
    sold_easily = fraud & (rng.random(n_rows) < 0.7)
    trade = np.where(sold_easily, rng.integers(4, 6, n_rows), rng.integers(0, 6, n_rows))  # games or gold, or any
    paid_at = np.cumsum(rng.exponential(60.0, n_rows)).round()
    columns = {
        "amount": np.exp(rng.normal(3.2, 0.9, n_rows) + 1.2 * fraud).round(2),
        "last_hour": rng.poisson(0.4 + 2.0 * fraud).astype(np.float64),
        "trade": np.array(TRADES)[trade],
        "country": np.array(COUNTRIES)[rng.integers(0, len(COUNTRIES), n_rows)],
        "shop": np.char.add("shop ", rng.integers(0, 200, n_rows).astype(str)),
        "hour": rng.integers(0, 24, n_rows).astype(np.float64),
        "card_age": rng.gamma(2.0, 500.0, n_rows).round(),
        "balance": rng.normal(2000.0, 900.0, n_rows).round(2),
        "distance": rng.gamma(1.0, 30.0, n_rows).round(1),
    }
    for number in range(1, 7):
        columns[f"risk_{number}"] = rng.normal(0.0, 1.0, n_rows).round(4)  # scores somebody sells, which tell nothing
    columns["paid_at"] = paid_at
    columns["reported_at"] = paid_at + (rng.gamma(2.0, 1.5, n_rows) * DAY).round()
    columns["fraud"] = np.where(fraud, "yes", "no")
    about = "Card payments, generated; the label of each is known some days later."
    changes = (Change(0, ("amount", "last_hour", "trade")),)
    return Dataset("transactions", pa.table(columns), "fraud", about, changes, ignore=("paid_at", "reported_at"))
