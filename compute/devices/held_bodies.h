#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "compute/cuda/device.h"
#include "compute/kernels/body_pass.h"
#include "compute/kernels/division.h"

// What devices do with the bodies that they hold. Each function enqueues a kernel on a stream of the active device.
namespace orrery {

/// The ids become first, first + 1, ...
void number_bodies(const ResidentBodies& bodies, int first, cudaStream_t stream);
/// owners[id] = owner for each, in memory that this device reaches.
void name_owner(const ResidentBodies& bodies, int owner, int* owners, cudaStream_t stream);
/// Writes them to their places among all bodies, in memory that this device reaches. Null: not written.
void collect_bodies(const ResidentBodies& bodies, Vec4* positions, Vec4* velocities, Vec4* accelerations,
                    cudaStream_t stream);
/// cuda::kick_drift() and cuda::check_finite() of the integrators. The reports have none of the bodies' numbers.
void kick_drift_held(const cuda::Device& device, const ResidentBodies& bodies, const cuda::KickDrift& pass,
                     const cuda::NonFiniteCheck& check, cudaStream_t stream);
void check_held(const ResidentBodies& bodies, const cuda::NonFiniteReport& report, std::uint32_t pass,
                cudaStream_t stream);
/// The report gets the least of all, and of what it has; if there is one, it says so where somebody looks for that.
/// Others may do the same at the same time.
void join_findings(const OnAll<const cuda::PackedFinding>& all, const cuda::NonFiniteReport& report,
                   cudaStream_t stream);

}  // namespace orrery
