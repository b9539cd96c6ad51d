#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "compute/cuda/arrays.h"
#include "compute/cuda/dependent_launch.h"
#include "compute/kernels/symmetric/symmetric_sums.h"

namespace orrery {
namespace {

constexpr int block = 128;

/// Minimum ratio of the least to the greatest mass. Below it, the force between these two bodies, over the square of
/// the greatest mass, may underflow in float at great distances.
constexpr float least_mass_ratio = 1e-24f;

template <bool fixed>
__device__ float read(const SymmetricSums& sums, std::size_t where) {
  if constexpr (fixed) return static_cast<float>(static_cast<long long>(sums.fixed[where])) * (1 / sums.fixed_scale);
  return sums.floats[where];
}

template <bool fixed>
__device__ void clear(const SymmetricSums& sums, std::size_t where) {
  if constexpr (fixed) {
    sums.fixed[where] = 0;
  } else {
    sums.floats[where] = 0;
  }
}

/// Passes the accelerations to the epilogue and clears the sums. `unit_masses`: the sums count each mass as 1.
template <bool fixed>
__global__ void finish_bodies(SymmetricSums sums, const Vec4* __restrict__ bodies, int count, bool unit_masses,
                              float greatest_mass, Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const std::size_t x = SymmetricSums::index(i), y = x + SymmetricSums::tile, z = y + SymmetricSums::tile;
  cuda::wait_for_kernel_before();
  if (i < count) {
    const float mass = bodies[i].w;
    const Vec3 sum{read<fixed>(sums, x), read<fixed>(sums, y), read<fixed>(sums, z)};
    const float scale = unit_masses || fixed ? greatest_mass : greatest_mass / (mass * sums.mass_scale);
    epilogue.finish(i, mass, {sum.x * scale, sum.y * scale, sum.z * scale});
  }
  // The padding of the last tile also has sums, NaN if a body is not finite. They are cleared as well.
  if (i / SymmetricSums::tile <= (count - 1) / SymmetricSums::tile) {
    for (const std::size_t where : {x, y, z}) clear<fixed>(sums, where);
  }
}

template <class Number>
__global__ void add(Number* __restrict__ sums, const Number* __restrict__ others, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) sums[i] += others[i];
}

/// Returns the largest power of two that keeps the sum of `count` pulls of unit masses below 2^62. The largest pull, at
/// r = eps / sqrt(2), is 2 / (3 sqrt(3) eps^2). The factor of repulsion is at most 1 + H / eps^2, at r = 0.
float fixed_scale(const Law& law, int count) {
  const double softening_sq = static_cast<double>(law.softening) * law.softening;
  const double repulsion = law.id == LawId::attract_repel ? law.repulsion : 0.0;
  const double most = count * 0.385 / softening_sq * (1 + repulsion / softening_sq);
  return static_cast<float>(std::exp2(std::clamp(std::floor(62 - std::log2(most)), -126.0, 126.0)));
}

/// Returns `count` rounded up to whole tiles.
int padded(int count) {
  return cuda::ceil_div(count, SymmetricSums::tile) * SymmetricSums::tile;
}

/// Returns the number of components in the sums of `count` bodies.
std::size_t numbers_in(int count) {
  return 3 * static_cast<std::size_t>(padded(count));
}

}  // namespace

void SymmetricAccumulator::prepare(int count) {
  const std::size_t numbers = numbers_in(count);
  const auto allocate = [&](auto& array) {
    if (array.size() < numbers) zero_ = false;
    take_scratch(device_, array, numbers, "cuda-symmetric: the sums", "another kernel");
  };
  deterministic_ ? allocate(fixed_) : allocate(floats_);
}

SymmetricSums SymmetricAccumulator::sums_for(const ForceArgs& args) const {
  if (!(args.masses.greatest > 0)) throw std::logic_error("cuda-symmetric: the masses are not known");
  if (!(args.masses.least >= least_mass_ratio * args.masses.greatest)) {
    throw UsageError("cuda-symmetric: the greatest mass is more than 1e24 times the least; choose cuda-tiled");
  }
  SymmetricSums sums{.mass_scale = 1 / args.masses.greatest};
  if (deterministic_) {
    sums.fixed = fixed_.data();
    sums.fixed_scale = fixed_scale(args.law, args.count);
  } else {
    sums.floats = floats_.data();
  }
  return sums;
}

SymmetricSums SymmetricAccumulator::begin(const ForceArgs& args) {
  if (!zero_) {
    const auto clear = [&](auto& array) {
      ORRERY_CUDA_CHECK(cudaMemsetAsync(array.data(), 0, array.size() * sizeof(*array.data()), args.stream));
    };
    deterministic_ ? clear(fixed_) : clear(floats_);
  }
  zero_ = false;
  return sums_for(args);
}

void SymmetricAccumulator::finish(const ForceArgs& args) {
  cuda::launch_dependent(device_, deterministic_ ? finish_bodies<true> : finish_bodies<false>,
                         cuda::ceil_div(padded(args.count), block), block, 0, args.stream, sums_for(args), args.bodies,
                         args.count, args.masses.equal(), args.masses.greatest, args.epilogue);
  zero_ = true;
}

std::size_t SymmetricAccumulator::bytes_for(int count) const {
  return numbers_in(count) * (deterministic_ ? sizeof(unsigned long long) : sizeof(float));
}

DeviceBlock SymmetricAccumulator::own_sums(int count) const {
  return {deterministic_ ? static_cast<void*>(fixed_.data()) : floats_.data(), bytes_for(count)};
}

DeviceBlock SymmetricAccumulator::place_of_others(int count, int index) {
  const auto place = static_cast<std::size_t>(index) - 1;
  if (others_.size() <= place) others_.resize(place + 1);
  take_scratch(device_, others_[place], bytes_for(count), "cuda-symmetric: the sums of other GPUs", "another kernel");
  return {others_[place].data(), bytes_for(count)};
}

void SymmetricAccumulator::add_others(const ForceArgs& args, int others) {
  const std::size_t numbers = numbers_in(args.count);
  const auto blocks = static_cast<unsigned>((numbers + block - 1) / block);
  for (int index = 1; index <= others; ++index) {
    const void* sums = place_of_others(args.count, index).data;
    if (deterministic_) {
      add<<<blocks, block, 0, args.stream>>>(fixed_.data(), static_cast<const unsigned long long*>(sums), numbers);
    } else {
      add<<<blocks, block, 0, args.stream>>>(floats_.data(), static_cast<const float*>(sums), numbers);
    }
    ORRERY_CUDA_CHECK_LAUNCH(add);
  }
}

}  // namespace orrery
