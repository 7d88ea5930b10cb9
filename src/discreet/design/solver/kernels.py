"""The one piece of the elimination that needs a kernel of its own on a GPU: small blocks, one for each action, state by state.

Everything larger is matrix products. Written out in NumPy, a block of 64 states would be four hundred launches of a few
microseconds of work each; here it is one launch, with a block's numbers in the memory of one multiprocessor. The sums are those of
`elimination.half_inverse`, in another order.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from discreet.numerics.devices import Array, device

LARGEST = 64
"""States of a block that fit."""

THREADS = 256

SOURCE = r"""
extern "C" __global__ void half_inverse(const double* off, const double* sums, double* half, const int size) {
    extern __shared__ double work[];
    const int width = size + 1, thread = threadIdx.x;
    double* share = work + size * width;
    double* pivots = share + size;
    const long long base = (long long)blockIdx.x * size * size;
    for (int i = thread; i < size * size; i += blockDim.x) work[(i / size) * width + i % size] = off[base + i];
    for (int i = thread; i < size; i += blockDim.x) work[i * width + size] = sums[(long long)blockIdx.x * size + i];
    __syncthreads();
    for (int m = 0; m < size; m++) {
        if (thread < 32) {
            double pivot = 0.0;
            for (int j = m + 1 + thread; j <= size; j += 32) pivot += work[m * width + j];
            for (int step = 16; step > 0; step /= 2) pivot += __shfl_down_sync(0xffffffffu, pivot, step);
            if (thread == 0) { pivots[m] = pivot; work[m * width + m] = 1.0; }
        }
        __syncthreads();
        for (int r = m + 1 + thread; r < size; r += blockDim.x) {
            share[r] = work[r * width + m] / pivots[m];
            work[r * width + m] = 0.0;
        }
        __syncthreads();
        for (int i = thread; i < (size - m - 1) * width; i += blockDim.x) {
            const int r = m + 1 + i / width, j = i % width;
            work[r * width + j] += share[r] * work[m * width + j];
        }
        __syncthreads();
    }
    for (int i = thread; i < size * size; i += blockDim.x) {
        const int r = i / size, j = i % size;
        half[base + i] = j <= r ? work[r * width + j] / sqrt(fmax(pivots[r], 2.2250738585072014e-308)) : 0.0;
    }
}
"""


@cache
def _compiled() -> Any:
    return device().RawKernel(SOURCE, "half_inverse")


def half_inverse_on_device(off: Array, sums: Array) -> Array:
    """`elimination.half_inverse` for blocks of at most `LARGEST` states whose arrays lie on the device."""
    place = device()
    batch, size = sums.shape
    half = place.empty((batch, size, size))
    arguments = (place.ascontiguousarray(off), place.ascontiguousarray(sums), half, size)
    _compiled()((batch,), (THREADS,), arguments, shared_mem=8 * size * (size + 3))
    return half
