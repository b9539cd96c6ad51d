#pragma once

#include <vector>

#include "compute/core/vec.h"
#include "compute/cuda/device.h"

namespace orrery::test {

/// Enqueues `length` dependent launches, each on what the one before wrote all over the array: entry i
/// becomes one more than entry (i + n / 2) mod n of the other array. Arrays have n entries; the last launch writes to
/// `d_even` where `length` is even.
void enqueue_chain(const cuda::Device& device, int* d_even, int* d_odd, int n, int length, cudaStream_t stream);
bool chain_waits(const cuda::Device& device);

/// The most threads that a block of narrow_kernel() may have.
inline constexpr int narrow_block = 128;

/// A __global__ function that no launch with larger blocks can honour, on any GPU.
const void* narrow_kernel();

struct BoxOfPoints {
  Vec3 low, high;
};

/// Results of warp.h and block.h for the values, one per thread of one block on `device`. Throws cuda::Error. Scans,
/// sums of a warp and sums of teams of 8 lanes take 32 values and give each lane's result; the sum of a block takes
/// 256, a box a multiple of 32 up to 1024, the others up to 1024.
std::vector<int> device_sums_up_to(const cuda::Device& device, const std::vector<int>& values);
std::vector<float> device_warp_sums(const cuda::Device& device, const std::vector<float>& values);
std::vector<float> device_team_sums(const cuda::Device& device, const std::vector<float>& values);
double device_block_sum(const cuda::Device& device, const std::vector<double>& values);
BoxOfPoints device_box(const cuda::Device& device, const std::vector<Vec3>& points);
std::vector<int> device_ordered_bits(const cuda::Device& device, const std::vector<float>& values);
std::vector<float> device_from_ordered_bits(const cuda::Device& device, const std::vector<int>& ordered);

}  // namespace orrery::test
