#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "compute/core/bodies.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/cuda/stream.h"
#include "compute/sim/engine/device_room.h"
#include "compute/sim/engine/device_storage.h"
#include "compute/sim/engine/engine.h"
#include "compute/sim/engine/non_finite_watch.h"

namespace orrery {

/// Checkpoints in device memory: one whose bodies are known to be finite, and one that is not checked yet.
class Checkpoints {
 public:
  explicit Checkpoints(const cuda::Device& device) : device_{device}, copies_{Copy{device}, Copy{device}} {}

  /// Enqueues a copy. Does nothing if the last one has not been judged yet, or if memory is short.
  void keep(const DeviceBodies& bodies, int count, const StepTime& now, cudaStream_t stream) {
    const Digits digits = bodies.positions_low ? Digits::compensated : Digits::single;
    Copy& next = copies_[1];
    if (next.at || !make_room(next, static_cast<std::size_t>(count), low_words_of(count, digits))) return;
    copy(bodies.positions, next.positions, stream);
    copy(bodies.velocities, next.velocities, stream);
    copy(bodies.positions_low, next.positions_low, stream);
    copy(bodies.velocities_low, next.velocities_low, stream);
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
    Bodies bodies;
    download(latest.positions, bodies.positions, stream);
    download(latest.velocities, bodies.velocities, stream);
    download(latest.positions_low, bodies.positions_low, stream);
    download(latest.velocities_low, bodies.velocities_low, stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
    return bodies;
  }

  /// Gives the memory back. Call only while nothing is enqueued.
  void forget() { copies_ = {Copy{device_}, Copy{device_}}; }
  std::size_t bytes() const { return copies_[0].bytes() + copies_[1].bytes(); }

 private:
  struct Copy {
    explicit Copy(const cuda::Device& device) : done{device} {}
    std::size_t bytes() const { return 2 * (positions.size() + positions_low.size()) * sizeof(Vec4); }
    cuda::DeviceArray<Vec4> positions, velocities;
    cuda::DeviceArray<Vec4> positions_low, velocities_low;  // empty without low words
    cuda::Event done;
    std::optional<StepTime> at;  // none: the copy is not in use
  };

  bool make_room(Copy& copy, std::size_t size, std::size_t low_words) const {
    if (copy.positions.size() == size && copy.positions_low.size() == low_words) return true;
    if (device_.free_memory() < 2 * (size + low_words) * sizeof(Vec4) + reserve_bytes) return false;
    cuda::DeviceArray<Vec4> positions{device_, size}, velocities{device_, size};
    cuda::DeviceArray<Vec4> positions_low{device_, low_words}, velocities_low{device_, low_words};
    copy.positions = std::move(positions);  // from here on nothing can fail
    copy.velocities = std::move(velocities);
    copy.positions_low = std::move(positions_low);
    copy.velocities_low = std::move(velocities_low);
    return true;
  }
  static void copy(const Vec4* from, const cuda::DeviceArray<Vec4>& to, cudaStream_t stream) {
    ORRERY_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(Vec4), cudaMemcpyDefault, stream));
  }
  static void download(const cuda::DeviceArray<Vec4>& from, std::vector<Vec4>& to, cudaStream_t stream) {
    to.resize(from.size());
    cuda::download<Vec4>(from.data(), to, stream);
  }

  const cuda::Device& device_;
  std::array<Copy, 2> copies_;  // the checkpoint, then the next
};

}  // namespace orrery
