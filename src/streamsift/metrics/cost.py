"""What a run costs, as one number: memory held times the time it was held."""

from __future__ import annotations

from streamsift.core.constraints import Real, check_parameters


def ram_hours(n_bytes: float, seconds: float) -> float:
    """Return RAM-hours: one is a gigabyte (2**30 bytes) held for an hour, as in the ABFS paper.

    Parameters
    ----------
    n_bytes : float
        Memory held.
    seconds : float
        For how long.

    Returns
    -------
    float

    Examples
    --------
    >>> from streamsift.metrics import ram_hours
    >>> ram_hours(2**31, 1800)
    1.0
    """
    limits = (Real(0, None, closed="left"),)
    check_parameters("ram_hours", {"n_bytes": n_bytes, "seconds": seconds}, {"n_bytes": limits, "seconds": limits})
    return n_bytes / 2**30 * seconds / 3600
