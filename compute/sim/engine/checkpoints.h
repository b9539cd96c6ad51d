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
#include "compute/sim/engine/non_finite_watch.h"

namespace orrery {

/// GPU memory that is left free for kernels' scratch memory and the display.
constexpr std::size_t reserve_bytes = std::size_t{256} << 20;

/// Checkpoints in device memory: one whose bodies are known to be finite, and one that is not checked yet.
class Checkpoints {
 public:
  explicit Checkpoints(const cuda::Device& device) : device_{device}, copies_{Copy{device}, Copy{device}} {}

  /// Enqueues a copy. Does nothing if the last one has not been judged yet, or if memory is short.
  void keep(const DeviceBodies& bodies, int count, const StepTime& now, cudaStream_t stream) {
    const auto size = static_cast<std::size_t>(count);
    Copy& next = copies_[1];
    if (next.at || !make_room(next, size)) return;
    copy(bodies.positions, next.positions.data(), size, stream);
    copy(bodies.velocities, next.velocities.data(), size, stream);
    next.done.record(stream);
    next.at = now;
  }

  /// If the stream has passed the last copy: makes it the checkpoint, or drops it if a body was not finite.
  void judge(NonFiniteWatch& watch) {
    Copy& next = copies_[1];
    if (!next.at || !next.done.reached()) return;
    const std::optional<NonFinite>& non_finite = watch.found();
    if (!non_finite || non_finite->step > next.at->step) std::swap(copies_[0], copies_[1]);
    copies_[1].at.reset();
  }

  const std::optional<StepTime>& at() const { return copies_[0].at; }
  /// Waits.
  Bodies download(cudaStream_t stream) const {
    const Copy& latest = copies_[0];
    Bodies bodies{std::vector<Vec4>(latest.positions.size()), std::vector<Vec4>(latest.positions.size())};
    cuda::download<Vec4>(latest.positions.data(), bodies.positions, stream);
    cuda::download<Vec4>(latest.velocities.data(), bodies.velocities, stream);
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
    std::optional<StepTime> at;  // none: the copy is not in use
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
  std::array<Copy, 2> copies_;  // the checkpoint, then the next
};

}  // namespace orrery
