"""One thread for linear algebra. Imports nothing heavy: it must run before numpy is first imported."""

from __future__ import annotations

import os
from typing import Final

_THREAD_VARIABLES: Final = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS",
)  # fmt: skip


def pin_threads() -> None:
    """Ask every linear-algebra library for one thread, unless the user asked for another number.

    Works only before numpy is first imported, so the command line calls it first. With two threads their spin barriers
    collapse as soon as another process wants a core (measured: eight times slower).
    """
    for name in _THREAD_VARIABLES:
        os.environ.setdefault(name, "1")
