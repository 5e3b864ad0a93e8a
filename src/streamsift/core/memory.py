"""How much memory there is, and the refusal of what needs more.

An operating system that promises more memory than it has ends the process that takes it at its word. So a selector says
what it will need for the width of its data (`RowSelector._bytes_needed`) before it takes anything.
"""

from __future__ import annotations

import os
from pathlib import Path

from streamsift.core.exceptions import NotEnoughMemoryError

WORTH_ASKING = 256 << 20  # bytes; less than this is taken without asking how much there is
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_bytes() -> int | None:
    """What this process may still take: of the machine, its container and its own limit; None where nobody says."""
    found = [amount for amount in (_of_machine(), _of_container(), _of_process()) if amount is not None]
    return max(min(found), 0) if found else None


def refuse_too_large(owner: str, needed: int, n_features: int, n_classes: int) -> None:
    """Raise NotEnoughMemoryError where a selector would need more memory than there is."""
    if needed <= WORTH_ASKING:
        return
    available = available_bytes()
    if available is not None and needed > available:
        classes = f" and {n_classes} classes" if n_classes else ""
        raise NotEnoughMemoryError(
            f"{owner} needs about {needed / 1e9:.1f} GB for {n_features:,} features{classes}, and "
            f"{available / 1e9:.1f} GB of memory are free: check that the largest feature index is right, leave "
            "columns out, or choose a method that keeps less, such as ofs."
        )


def ran_out(owner: str, n_features: int) -> NotEnoughMemoryError:
    """The error for memory that ran out although there seemed to be enough."""
    return NotEnoughMemoryError(
        f"There is not enough memory for {owner} with {n_features:,} features: leave columns out, use smaller batches, "
        "or choose a method that keeps less, such as ofs."
    )


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return None
    except OSError:  # not Linux: then at most what is built in
        names = getattr(os, "sysconf_names", {})
        known = "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else None


def _of_container() -> int | None:
    for most, used in _GROUPS:
        try:
            return int(Path(most).read_text()) - int(Path(used).read_text())
        except (OSError, ValueError):  # no such group, or "max": no limit
            continue
    return None


def _of_process() -> int | None:
    """What `ulimit -v` leaves."""
    try:
        import resource  # Unix only

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        return limit - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError):
        return None
