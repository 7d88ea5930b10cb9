"""Where large arrays live: in this machine's memory, or on a GPU when there is one and `discreet[gpu]` is installed.

A GPU only proposes, as floats do everywhere here: what is certified is rounded to whole numbers and proved by the same code as
without one. Nothing is loaded before a piece of work is large enough to be moved. `DISCREET_GPU=off` says that it never is.

CuPy's arrays answer to NumPy's functions (NEP 13, NEP 18), so that the solver is written once; only what makes arrays, and what
brings them back, has to know.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = Any
"""A NumPy array, or one on a device that answers to NumPy's functions."""


@cache
def device() -> Any:
    """CuPy, when it is installed, sees a GPU and was not told to stay away; None otherwise."""
    if os.environ.get("DISCREET_GPU", "").strip().lower() in ("off", "0", "no"):
        return None
    try:
        import cupy
    except ImportError:
        return None
    try:
        return cupy if cupy.cuda.runtime.getDeviceCount() > 0 else None
    except cupy.cuda.runtime.CUDARuntimeError:  # no driver, or one that is too old for the package
        return None


def device_bytes() -> int:
    """Memory of the device that is free now; 0 without one."""
    found = device()
    return 0 if found is None else int(found.cuda.runtime.memGetInfo()[0])


def home(array: Array) -> Any:
    """The module whose functions make arrays like this one."""
    if isinstance(array, np.ndarray):
        return np
    return device()


def fetched(array: Array) -> NDArray[Any]:
    """The same numbers in this machine's memory."""
    return array if isinstance(array, np.ndarray) else np.asarray(array.get())


def released() -> None:
    """Hand memory that no array uses any more back to the device."""
    found = device()
    if found is not None:
        found.get_default_memory_pool().free_all_blocks()
