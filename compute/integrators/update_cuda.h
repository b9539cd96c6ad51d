#pragma once

#include <cstdint>

#include "compute/core/vec.h"
#include "compute/integrators/update.h"
#include "compute/kernels/body_pass.h"

struct CUstream_st;

namespace orrery::cuda {

class Device;

/// Whether this build holds machine code that `device` runs. Throws cuda::Error.
bool has_code_for(const Device& device);

/// kick_body() with the owed kick, and kick_drift_body() of update.h, for `count` bodies in memory of `device`, which
/// must be active, enqueued on the stream. If the bodies are frozen, only the owed kick is made.
void kick_drift(const Device& device, const StateArrays& arrays, int count, const KickDrift& pass,
                const NonFiniteCheck& check, CUstream_st* stream);

/// Enqueues a look at all bodies that changes nothing, as the pass of this number.
void check_finite(const Vec4* d_positions, const Vec4* d_velocities, int count, const NonFiniteReport& report,
                  std::uint32_t pass, CUstream_st* stream);

#if defined(__CUDACC__)

/// Whether a pass below this one has reported a body. An ordinary load, served by the caches: what is reported while
/// this pass runs may be missed here.
__device__ inline bool reported_before(const NonFiniteReport& report, std::uint32_t pass) {
  return report.d_first->is_before(pass);
}

__device__ inline void put(const NonFiniteReport& report, const PackedFinding& here) {
  if (atomicMin(&report.d_first->bits, here.bits) > here.bits) *report.seen = 1;
}

/// One body's part of a pass: settle(body), which belongs to the step before, then update(body), of which `change` is
/// stored. Only settles once the bodies are frozen, and reports a body that is not finite.
template <class Real, class Settle, class Update>
__device__ void update_checked(const StateArrays& arrays, int i, BodyChange change, const NonFiniteCheck& check,
                               Settle&& settle, Update&& update) {
  // All that is loaded is needed whether or not the bodies are frozen, so that no load waits for another.
  const bool frozen = reported_before(check.report, check.frozen_below);
  BodyState before = load_body<Real>(arrays, i);
  settle(before);
  BodyState body = before;
  update(body);
  store_body<Real>(arrays, i, frozen ? before : body, change);
  if (!frozen && !is_finite(body.position, body.velocity)) {
    put(check.report,
        {is_finite(before.position, before.velocity) ? check.after : check.before, check.report.number_of(i)});
  }
}
/// The same with nothing to settle.
template <class Real, class Update>
__device__ void update_checked(const StateArrays& arrays, int i, BodyChange change, const NonFiniteCheck& check,
                               Update&& update) {
  update_checked<Real>(
      arrays, i, change, check, [](BodyState&) {}, update);
}

#endif

}  // namespace orrery::cuda
