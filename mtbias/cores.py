"""The processor's cores that this process may compute on."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Cores that the system lets this process use: fewer than the machine has where a scheduler gave it a share."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """Threads to compute with: the first number of ``OMP_NUM_THREADS``, where there is one, else `usable_cores`."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) else usable_cores()
