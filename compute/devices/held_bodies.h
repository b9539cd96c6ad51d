#pragma once

#include <cuda_runtime_api.h>

#include "compute/kernels/migration_facet.h"
#include "compute/kernels/on_all.h"

// What devices do with the bodies that they hold. Each function enqueues a kernel on a stream of the active device.
namespace orrery {

/// The ids become first, first + 1, ...
void number_bodies(const ResidentBodies& bodies, int first, cudaStream_t stream);
/// owners[id] = owner for each, in memory that this device reaches.
void name_owner(const ResidentBodies& bodies, int owner, int* owners, cudaStream_t stream);
/// Writes them to their places among all bodies, in memory that this device reaches. Null: not written.
void collect_bodies(const ResidentBodies& bodies, Vec4* positions, Vec4* velocities, Vec4* accelerations,
                    cudaStream_t stream);
/// `least` becomes the least of all, and of itself. Others may do the same at the same time.
void join_least(const OnAll<const unsigned long long>& all, unsigned long long* least, cudaStream_t stream);

}  // namespace orrery
