#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/division.h"
#include "compute/kernels/epilogue.h"

// Operations on the bodies that one device holds. Each function enqueues a kernel on a stream of the active device.
namespace orrery {

/// Sets ids[i] = first + i.
void set_ids(const ResidentBodies& bodies, int first, cudaStream_t stream);
/// Sets owners[id] = owner for each body. `owners` must be in memory that the device can access.
void set_owner(const ResidentBodies& bodies, int owner, int* owners, cudaStream_t stream);
/// Writes each body to the index given by its id. Arrays that are null are skipped; the others must be in memory that
/// the device can access.
void gather_bodies(const ResidentBodies& bodies, Vec4* positions, Vec4* velocities, Vec4* accelerations,
                   cudaStream_t stream);
/// These two call cuda::kick_drift() and cuda::check_finite(), and set NonFiniteReport::ids.
void kick_drift_residents(const cuda::Device& device, const ResidentBodies& bodies, const cuda::KickDrift& pass,
                          const cuda::NonFiniteCheck& check, cudaStream_t stream);
void check_residents(const ResidentBodies& bodies, const cuda::NonFiniteReport& report, std::uint32_t pass,
                     cudaStream_t stream);
/// Sets *report.d_first to the minimum of itself and all findings. If the minimum is a finding, also sets *report.seen.
/// Several devices may do this at the same time.
void reduce_findings(const OnAll<const cuda::PackedFinding>& all, const cuda::NonFiniteReport& report,
                     cudaStream_t stream);

/// Copies the owner of each body from a device without blocking. The host gets the latest copy that has arrived.
class OwnersReader {
 public:
  explicit OwnersReader(const cuda::Device& device) : device_{device}, arrived_{device} {}

  /// Discards the copies. Call when the bodies were replaced.
  void forget() { latest_ = next_ = none; }
  /// Enqueues a copy of the owners of `count` bodies. Does nothing while an earlier copy is in flight.
  void read(const int* d_owners, int count, cudaStream_t stream) {
    if (in_flight()) return;
    if (next_ != none) latest_ = next_;
    next_ = latest_ == 0 ? 1 : 0;
    cuda::HostArray<int>& to = read_[next_];
    const auto size = static_cast<std::size_t>(count);
    if (to.size() != size) to = {device_, size, /*pinned=*/true};
    cuda::download(d_owners, to.all(), stream);
    arrived_.record(stream);
    enqueued_ = true;
  }
  /// Returns the owner of each body; none if no copy of `count` entries has arrived yet.
  std::optional<std::vector<int>> owners(int count) const {
    const std::size_t newest = in_flight() || next_ == none ? latest_ : next_;
    if (newest == none || read_[newest].size() != static_cast<std::size_t>(count)) return std::nullopt;
    const auto all = read_[newest].all();
    return std::vector<int>(all.begin(), all.end());
  }

 private:
  static constexpr std::size_t none = 2;
  /// Returns whether a copy is in flight, including one that forget() has discarded.
  bool in_flight() const { return enqueued_ && !arrived_.reached(); }

  const cuda::Device& device_;
  cuda::HostArray<int> read_[2];
  std::size_t latest_ = none, next_ = none;  // buffers: of an arrived copy; of the newest copy, perhaps in flight
  cuda::Event arrived_;                      // end of the latest copy
  bool enqueued_ = false;
};

}  // namespace orrery
