"""Prices of features from a file: a CSV with the columns `feature` and `price`."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ReaderError, near_misses

COLUMNS = ["feature", "price"]


def read_prices(
    path: str | os.PathLike[str], names: Sequence[str], *, default: float | None = None
) -> NDArray[np.float64]:
    """The price of each named feature, in the order of `names`.

    Parameters
    ----------
    path : path
        A CSV file with the header `feature,price`.
    names : sequence of str
        The features of the data. A record of any other feature is refused: it is a typing error more often than not.
    default : float, optional
        The price of features the file does not mention; without it they are refused.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamsift.streams.prices import read_prices
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "prices.csv"
    ...     _ = file.write_text("feature,price\\nx-ray,0.2\\nage,0\\n")
    ...     read_prices(file, ["age", "x-ray", "weight"], default=0.01).tolist()
    [0.0, 0.2, 0.01]
    """
    try:
        found = _found(path, names)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ReaderError(f"{path} is no CSV file in UTF-8 ({error}): write one with `feature,price` above.") from error
    missing = [name for name in names if name not in found]
    if missing and default is None:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ReaderError(f"{path} has no price for {missing[0]!r}{others}: add a line, or give a default price.")
    return np.array([found[name] if name in found else float(default or 0.0) for name in names])


def _found(path: str | os.PathLike[str], names: Sequence[str]) -> dict[str, float]:
    """The prices in the file."""
    found: dict[str, float] = {}
    known = set(names)
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file, strict=True)  # a quote that nobody closes is an error
        header = [cell.strip().lower() for cell in next(lines, [])]
        if header != COLUMNS:
            raise ReaderError(f"{path}, line 1 is {','.join(header)!r:.80}: the header must be 'feature,price'.")
        for cells in lines:
            if not cells:
                continue
            where = f"{path}, line {lines.line_num}"
            if len(cells) != 2:
                raise ReaderError(f"{where} has {len(cells)} cells instead of 2: write a feature and its price.")
            name, price = cells[0].strip(), _price(cells[1], where)
            if name not in known:
                raise ReaderError(f"{where}: the data has no feature {name!r}. {near_misses(name, names)}")
            if name in found:
                raise ReaderError(f"{where}: the price of {name!r} was given before; give each feature once.")
            found[name] = price
    return found


def _price(cell: str, where: str) -> float:
    try:
        price = float(cell)
    except ValueError as error:
        raise ReaderError(f"{where}: the price {cell!r} is not a number.") from error
    if not math.isfinite(price) or price < 0:
        raise ReaderError(f"{where}: the price {cell!r} must be a finite number of at least 0.")
    return price
