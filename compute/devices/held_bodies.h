#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "compute/cuda/device.h"
#include "compute/kernels/body_pass.h"
#include "compute/kernels/division.h"

// Operations on the bodies that a device holds. Each function enqueues a kernel on a stream of the active device.
namespace orrery {

/// Sets the ids to first, first + 1, ...
void number_bodies(const ResidentBodies& bodies, int first, cudaStream_t stream);
/// Sets owners[id] = owner for each body. `owners` must be accessible from this device.
void name_owner(const ResidentBodies& bodies, int owner, int* owners, cudaStream_t stream);
/// Writes each body to the index given by its id. The arrays must be accessible from this device; null: not written.
void collect_bodies(const ResidentBodies& bodies, Vec4* positions, Vec4* velocities, Vec4* accelerations,
                    cudaStream_t stream);
/// Call cuda::kick_drift() and cuda::check_finite() for the held bodies. Leave the ids of the reports unset: these
/// functions fill them in.
void kick_drift_held(const cuda::Device& device, const ResidentBodies& bodies, const cuda::KickDrift& pass,
                     const cuda::NonFiniteCheck& check, cudaStream_t stream);
void check_held(const ResidentBodies& bodies, const cuda::NonFiniteReport& report, std::uint32_t pass,
                cudaStream_t stream);
/// Sets the report's finding to the minimum of all findings and its own. If there is one, also sets *report.seen. Other
/// devices may do the same at the same time.
void join_findings(const OnAll<const cuda::PackedFinding>& all, const cuda::NonFiniteReport& report,
                   cudaStream_t stream);

}  // namespace orrery
