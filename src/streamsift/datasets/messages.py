"""load_messages: short texts to a help desk, on three topics."""

from __future__ import annotations

import numpy as np

from streamsift.datasets.dataset import Dataset, random_numbers

TOPICS = {
    "invoice": ("invoice", "paid", "refund", "charge", "amount", "card", "receipt", "bank"),
    "delivery": ("parcel", "courier", "late", "address", "tracking", "lost", "doorstep", "depot"),
    "login": ("password", "account", "locked", "reset", "code", "email", "username", "screen"),
}
COMMON = ("hello", "please", "thanks", "the", "my", "not", "have", "for", "with", "about", "again", "you", "can")
N_RARE = 3000  # words that occur now and then, and tell nothing


def load_messages(n_rows: int = 2000, seed: int = 0) -> Dataset:
    """Messages to a help desk: text, three topics, and thousands of words that tell nothing.

    A message has a few words of its topic, some common words and some rare ones. Generated.

    Parameters
    ----------
    n_rows : int, default 2000
        How many messages.
    seed : int, default 0
        The same seed gives the same rows.

    Returns
    -------
    Dataset
        One column `text`; the target `topic` is "invoice", "delivery" or "login".

    Examples
    --------
    >>> from streamsift import datasets
    >>> data = datasets.load_messages()
    >>> len(data.table.column("text")[0].as_py().split()) > 5
    True
    """
    import pyarrow as pa

    rng = random_numbers("messages", 4, n_rows, seed)
    topics = list(TOPICS)
    labels = rng.integers(0, len(topics), n_rows)
    texts = []
    for label in labels:
        words = [
            *rng.choice(TOPICS[topics[label]], rng.integers(1, 4)),
            *rng.choice(COMMON, rng.integers(4, 10)),
            *(f"word{number}" for number in rng.integers(0, N_RARE, rng.integers(2, 7))),
        ]
        rng.shuffle(words)
        texts.append(" ".join(map(str, words)))
    about = "Messages to a help desk, generated; eight words of each topic tell it, three thousand others do not."
    return Dataset("messages", pa.table({"text": texts, "topic": np.array(topics)[labels]}), "topic", about)
