#pragma once

#include <cstddef>
#include <string>

#include "compute/core/bodies.h"
#include "compute/core/error.h"
#include "compute/integrators/body_levels_cuda.h"
#include "compute/integrators/hermite_bodies_cuda.h"
#include "compute/integrators/integrator.h"

namespace orrery {

/// GPU memory that is left free for kernels' scratch memory and the display.
constexpr std::size_t reserve_bytes = std::size_t{256} << 20;

/// Positions, velocities and accelerations, with their low words if there are any.
inline std::size_t vector_bytes(std::size_t bodies, std::size_t low_words) {
  return 3 * (bodies + low_words) * sizeof(Vec4);
}

/// What a body takes of the memory of a CUDA engine, with what steps by this integrator need.
inline std::size_t device_bytes_per_body(Digits digits, const IntegratorInfo& integrator) {
  const std::size_t bytes = vector_bytes(1, low_words_of(1, digits));
  if (integrator.needs_jerks) return bytes + cuda::HermiteBodies::bytes_per_body;
  return integrator.block_steps ? bytes + cuda::BodyLevels::bytes_per_body(digits) : bytes;
}

/// Throws a UsageError if so many bodies do not fit into `held_bytes`, which they take the place of, and those of
/// `free_bytes` that are not in reserve.
inline void require_device_room(int count, Digits digits, const IntegratorInfo& integrator, std::size_t held_bytes,
                                std::size_t free_bytes) {
  const std::size_t each = device_bytes_per_body(digits, integrator);
  const std::size_t unreserved = free_bytes > reserve_bytes ? free_bytes - reserve_bytes : 0;
  const std::size_t most = (held_bytes + unreserved) / each;
  if (static_cast<std::size_t>(count) <= most) return;
  throw UsageError(std::to_string(count) + (digits == Digits::compensated ? " bodies with low words" : " bodies") +
                   (integrator.needs_jerks ? std::string{" for "} + integrator.id : std::string{}) +
                   " need more memory than the GPU has free; it has room for " + std::to_string(most));
}

}  // namespace orrery
