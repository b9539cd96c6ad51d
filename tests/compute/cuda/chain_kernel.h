#pragma once

#include "compute/cuda/device.h"

namespace orrery::test {

/// Enqueues `length` dependent launches, each on what the one before wrote all over the array: entry i
/// becomes one more than entry (i + n / 2) mod n of the other array. Arrays have n entries; the last launch writes to
/// `d_even` where `length` is even.
void enqueue_chain(const cuda::Device& device, int* d_even, int* d_odd, int n, int length, cudaStream_t stream);
bool chain_waits(const cuda::Device& device);

}  // namespace orrery::test
