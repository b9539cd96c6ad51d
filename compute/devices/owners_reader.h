#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"

namespace orrery {

/// Reads from a GPU which device has each body. The host never waits: it gets the latest copy that has arrived.
class OwnersReader {
 public:
  explicit OwnersReader(const cuda::Device& device) : device_{device}, came_{device} {}

  /// Discards the copies. Call when the bodies were replaced.
  void forget() { latest_ = next_ = none; }
  /// Enqueues a copy of `count` device indices. Does nothing while an earlier copy is in flight.
  void read(const int* d_owners, int count, cudaStream_t stream) {
    if (is_on_way()) return;
    if (next_ != none) latest_ = next_;
    next_ = latest_ == 0 ? 1 : 0;
    cuda::HostArray<int>& to = read_[next_];
    const auto size = static_cast<std::size_t>(count);
    if (to.size() != size) to = {device_, size, /*pinned=*/true};
    cuda::download(d_owners, to.all(), stream);
    came_.record(stream);
    enqueued_ = true;
  }
  /// Returns the device of each body; none if no copy of `count` entries has arrived yet.
  std::optional<std::vector<int>> owners(int count) const {
    const std::size_t come = is_on_way() || next_ == none ? latest_ : next_;
    if (come == none || read_[come].size() != static_cast<std::size_t>(count)) return std::nullopt;
    const auto all = read_[come].all();
    return std::vector<int>(all.begin(), all.end());
  }

 private:
  static constexpr std::size_t none = 2;
  /// Returns whether a copy is in flight, even one that forget() has discarded.
  bool is_on_way() const { return enqueued_ && !came_.reached(); }

  const cuda::Device& device_;
  cuda::HostArray<int> read_[2];
  std::size_t latest_ = none, next_ = none;  // buffer of the latest copy that has arrived; buffer of the latest copy
  cuda::Event came_;                         // end of the latest copy
  bool enqueued_ = false;
};

}  // namespace orrery
