#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "compute/core/bodies.h"
#include "compute/cuda/device.h"
#include "compute/cuda/device_array.h"
#include "compute/cuda/event.h"
#include "compute/sim/engine/device_storage.h"
#include "compute/sim/engine/engine.h"
#include "compute/sim/engine/fault_watch.h"

namespace orrery {

/// GPU memory that is left free for kernels' scratch memory and the display.
constexpr std::size_t reserve_bytes = std::size_t{256} << 20;

/// Copies of the bodies in device memory: one that is known to be sound, and one that is not yet.
class GoodStates {
 public:
  explicit GoodStates(const cuda::Device& device) : device_{device}, copies_{Copy{device}, Copy{device}} {}

  /// Enqueues a copy. Does nothing while the last one has not been judged, or where memory does not suffice.
  void keep(const DeviceBodies& bodies, int count, const Moment& now, cudaStream_t stream) {
    const auto size = static_cast<std::size_t>(count);
    Copy& next = copies_[1];
    if (next.at || !make_room(next, size)) return;
    copy(bodies.positions, next.positions.data(), size, stream);
    copy(bodies.velocities, next.velocities.data(), size, stream);
    next.done.record(stream);
    next.at = now;
  }

  /// Makes the last copy the good one if the stream has passed it; drops it if it is of a state after a fault.
  void judge(FaultWatch& watch) {
    Copy& next = copies_[1];
    if (!next.at || !next.done.reached()) return;
    const std::optional<Fault>& fault = watch.found();
    if (!fault || fault->step > next.at->step) std::swap(copies_[0], copies_[1]);
    copies_[1].at.reset();
  }

  const std::optional<Moment>& at() const { return copies_[0].at; }
  /// Waits.
  Bodies download(cudaStream_t stream) const {
    const Copy& good = copies_[0];
    Bodies bodies{std::vector<Vec4>(good.positions.size()), std::vector<Vec4>(good.positions.size())};
    cuda::download<Vec4>(good.positions.data(), bodies.positions, stream);
    cuda::download<Vec4>(good.velocities.data(), bodies.velocities, stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
    return bodies;
  }

  /// Gives the memory back. Call only while nothing is enqueued.
  void forget() { copies_ = {Copy{device_}, Copy{device_}}; }
  std::size_t bytes() const { return 2 * (copies_[0].positions.size() + copies_[1].positions.size()) * sizeof(Vec4); }

 private:
  struct Copy {
    explicit Copy(const cuda::Device& device) : done{device} {}
    cuda::DeviceArray<Vec4> positions, velocities;
    cuda::Event done;
    std::optional<Moment> at;  // nothing: it holds nothing that counts
  };

  bool make_room(Copy& copy, std::size_t size) const {
    if (copy.positions.size() == size) return true;
    if (device_.free_memory() < 2 * size * sizeof(Vec4) + reserve_bytes) return false;
    copy.positions = cuda::DeviceArray<Vec4>(device_, size);
    copy.velocities = cuda::DeviceArray<Vec4>(device_, size);
    return true;
  }
  static void copy(const Vec4* from, Vec4* to, std::size_t size, cudaStream_t stream) {
    ORRERY_CUDA_CHECK(cudaMemcpyAsync(to, from, size * sizeof(Vec4), cudaMemcpyDeviceToDevice, stream));
  }

  const cuda::Device& device_;
  std::array<Copy, 2> copies_;  // the good one, then the next
};

}  // namespace orrery
