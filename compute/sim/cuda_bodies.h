#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/error.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/integrators/hermite_bodies_cuda.h"
#include "compute/integrators/integrator.h"
#include "compute/integrators/time_step_levels.h"
#include "compute/integrators/update_cuda.h"
#include "compute/sim/results.h"

namespace orrery {

/// GPU memory that is left free for kernels' scratch memory and the display.
constexpr std::size_t reserve_bytes = std::size_t{256} << 20;

/// Returns the bytes of positions, velocities and accelerations, with their low words if there are any.
inline std::size_t vector_bytes(std::size_t bodies, std::size_t low_words) {
  return 3 * (bodies + low_words) * sizeof(Vec4);
}

/// Returns the device memory per body of a CUDA engine, in bytes, including what the integrator needs.
inline std::size_t device_bytes_per_body(Digits digits, const IntegratorInfo& integrator) {
  const std::size_t bytes = vector_bytes(1, low_words_of(1, digits));
  if (integrator.needs_jerks) return bytes + cuda::HermiteBodies::bytes_per_body;
  return integrator.block_steps ? bytes + cuda::BodyLevels::bytes_per_body(digits) : bytes;
}

/// Throws UsageError if `count` bodies do not fit into `held_bytes`, which they replace, plus `free_bytes` without
/// reserve_bytes.
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

/// Maps a storage until unmap() or destruction, and measures the CPU time of mapping. The low words (null: none) need
/// no mapping and are passed on.
class Mapping {
 public:
  Mapping(DeviceStorage& storage, CUstream_st* stream, Vec4* positions_low, Vec4* velocities_low)
      : storage_{storage}, stream_{stream} {
    const auto begin = std::chrono::steady_clock::now();
    bodies = storage.map(stream);
    bodies.positions_low = positions_low;
    bodies.velocities_low = velocities_low;
    map_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  /// Unmaps if an exception prevented unmap(). Prints its own failure, since the earlier exception matters more.
  ~Mapping() {
    if (!mapped_) return;
    try {
      storage_.unmap(stream_);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "orrery: %s\n", failure_text(error).c_str());
    }
  }
  /// Unmaps, and returns the CPU time that this took, in ms.
  double unmap() {
    const auto begin = std::chrono::steady_clock::now();
    mapped_ = false;
    storage_.unmap(stream_);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

  DeviceBodies bodies;
  double map_ms = 0;

 private:
  DeviceStorage& storage_;
  CUstream_st* stream_;
  bool mapped_ = true;
};

/// Memory for bodies that are not drawn, allocated by the engine: device memory, or page-locked host memory, which
/// devices access far more slowly.
class OwnStorage final : public DeviceStorage {
 public:
  explicit OwnStorage(const cuda::Device& device) : device_{device} {}

  /// Sets whether resize() may use host memory if the device has too little. Data already in host memory stay there.
  void allow_host_memory(bool allow) { allows_host_memory_ = allow; }
  bool allows_host_memory() const { return allows_host_memory_; }
  bool is_in_host_memory() const { return in_host_.positions.size() > 0; }

  void resize(int count) override {
    const auto size = static_cast<std::size_t>(count);
    if (on_device_.positions.size() + in_host_.positions.size() == size) return;
    on_device_ = {}, in_host_ = {};  // frees the old memory first
    if (allows_host_memory_ && !has_room(size)) {
      in_host_ = {{device_, size, /*pinned=*/true}, {device_, size, /*pinned=*/true}};
    } else {
      on_device_ = {{device_, size}, {device_, size}};
    }
  }
  /// Moves bodies from host memory, if they are there, to the device, and waits. Throws UsageError if memory is short.
  void bring_to_device(cudaStream_t stream) {
    if (!is_in_host_memory()) return;
    const std::size_t size = in_host_.positions.size();
    if (!has_room(size)) {
      throw UsageError(std::to_string(size) +
                       " bodies need more memory than the GPU has free, unless several GPUs hold them");
    }
    OnDevice there{{device_, size}, {device_, size}};
    cuda::upload<Vec4>(in_host_.positions.all(), there.positions.data(), stream);
    cuda::upload<Vec4>(in_host_.velocities.all(), there.velocities.data(), stream);
    ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
    on_device_ = std::move(there);
    in_host_ = {};
  }

  DeviceBodies map(cudaStream_t) override {
    if (!is_in_host_memory())
      return {.positions = on_device_.positions.data(), .velocities = on_device_.velocities.data()};
    return {.positions = in_host_.positions.all().data(), .velocities = in_host_.velocities.all().data()};
  }
  void unmap(cudaStream_t) override {}

 private:
  struct OnDevice {
    cuda::DeviceArray<Vec4> positions, velocities;
  };
  struct InHost {
    cuda::HostArray<Vec4> positions, velocities;
  };

  bool has_room(std::size_t bodies) const { return device_.free_memory() >= 2 * bodies * sizeof(Vec4) + reserve_bytes; }

  const cuda::Device& device_;
  bool allows_host_memory_ = false;
  OnDevice on_device_;  // one of the two is empty
  InHost in_host_;
};

/// The bodies of a CUDA engine. Positions and velocities are in a storage that may be drawn. The accelerations, and all
/// low words under Digits::compensated, are in separate memory. Memory that is not drawn can be freed while other
/// devices hold the bodies. The device must be active in every call.
class CudaBodies {
 public:
  /// `storage` null: positions and velocities are in memory of this object, too.
  CudaBodies(const cuda::Device& device, DeviceStorage* storage, const cuda::Stream& stream)
      : device_{device}, own_storage_{device}, storage_{storage ? *storage : own_storage_}, stream_{stream} {}
  CudaBodies(const CudaBodies&) = delete;
  CudaBodies& operator=(const CudaBodies&) = delete;

  int count() const { return count_; }
  bool are_drawn() const { return &storage_ != &own_storage_; }
  std::size_t size() const { return static_cast<std::size_t>(count_); }
  Digits digits() const { return low_.size() == 0 ? Digits::single : Digits::compensated; }
  const MassRange& masses() const { return masses_; }
  /// Returns the size in device memory, in bytes.
  std::size_t bytes() const {
    const std::size_t elsewhere = own_storage_.is_in_host_memory() ? 2 * size() : 0;
    return vector_bytes(size(), low_.size()) - (size() - accelerations_.size() + elsewhere) * sizeof(Vec4);
  }
  /// Returns null until take_accelerations() has allocated the array.
  Vec4* d_accelerations() const { return accelerations_.data(); }
  Vec4* take_accelerations() {
    if (accelerations_.size() != size()) accelerations_ = cuda::DeviceArray<Vec4>(device_, size());
    return d_accelerations();
  }
  Vec4* d_accelerations_low() const { return low_.accelerations.data(); }  ///< null under Digits::single
  /// Maps the bodies. Positions and velocities are null after give_back() has freed them.
  Mapping map() { return {storage_, stream_.get(), low_.positions.data(), low_.velocities.data()}; }

  /// Throws UsageError if device memory does not suffice for these bodies with this integrator, even after the current
  /// bodies and `held_bytes` are freed.
  void require_room(const Bodies& bodies, const IntegratorInfo& integrator, std::size_t held_bytes) const {
    require_device_room(bodies.count(), bodies.digits(), integrator, bytes() + held_bytes, device_.free_memory());
  }
  /// Sets whether the next allocation may be in page-locked host memory if the device has too little. The device
  /// accesses it there, but slowly.
  void allow_host_memory(bool allow) { own_storage_.allow_host_memory(allow); }
  bool allows_host_memory() const { return own_storage_.allows_host_memory(); }
  /// Moves the bodies from host memory, if they are there, to the device. Throws UsageError if its memory is short.
  void bring_to_device() { own_storage_.bring_to_device(stream_.get()); }

  /// Allocates memory for `count` bodies; its contents are undefined. If it throws, there are no bodies.
  void resize(int count, Digits digits) {
    forget();  // frees the old memory first
    try {
      storage_.resize(count);
      low_ = LowWords{device_, low_words_of(count, digits)};
    } catch (...) {
      forget();
      throw;
    }
    count_ = count;
  }

  /// Frees the device copies. Data in host memory is kept; all else is lost.
  void give_back() {
    if (!own_storage_.is_in_host_memory()) own_storage_.resize(0);
    accelerations_ = {};
  }
  void take_back() {
    if (!are_drawn()) own_storage_.resize(count_);
  }

  /// Replaces the bodies by as many others, with the same or other digits, and waits. If memory is short, throws, and
  /// the old bodies stay.
  void replace(const Bodies& bodies) {
    storage_.resize(count_);  // the storage may have been used for other bodies
    if (bodies.digits() == digits()) return write(bodies);
    LowWords other{device_, low_words_of(count_, bodies.digits())};
    std::swap(low_, other);
    try {
      write(bodies);
    } catch (...) {
      std::swap(low_, other);
      throw;
    }
  }

  /// Returns a copy of the bodies, and blocks until it is complete.
  Bodies download() {
    Bodies bodies = with_digits({std::vector<Vec4>(size()), std::vector<Vec4>(size())}, digits());
    cuda::download<Vec4>(low_.positions.data(), bodies.positions_low, stream_.get());
    cuda::download<Vec4>(low_.velocities.data(), bodies.velocities_low, stream_.get());
    copy_drawn(bodies.positions, bodies.velocities);
    return bodies;
  }
  /// Copies positions and velocities, either of which may be empty. Blocks until the copies are complete.
  void copy_drawn(std::span<Vec4> positions, std::span<Vec4> velocities) {
    Mapping mapping = map();
    copy(mapping.bodies.positions, positions.data(), positions.size());
    copy(mapping.bodies.velocities, velocities.data(), velocities.size());
    stream_.synchronize();
    mapping.unmap();
  }

 private:
  /// Low words of the bodies and their accelerations; empty under Digits::single.
  struct LowWords {
    LowWords() = default;
    LowWords(const cuda::Device& device, std::size_t size)
        : positions{device, size}, velocities{device, size}, accelerations{device, size} {}
    std::size_t size() const { return positions.size(); }
    cuda::DeviceArray<Vec4> positions, velocities, accelerations;
  };

  /// Frees all memory except a storage that may be drawn.
  void forget() {
    own_storage_.resize(0);
    accelerations_ = {};
    low_ = {};
    count_ = 0;
  }

  /// Enqueues a copy from or to the drawn arrays, which may be in host or device memory.
  void copy(const Vec4* from, Vec4* to, std::size_t entries) const {
    ORRERY_CUDA_CHECK(cudaMemcpyAsync(to, from, entries * sizeof(Vec4), cudaMemcpyDefault, stream_.get()));
  }
  void write(const Bodies& bodies) {
    Mapping mapping = map();
    copy(bodies.positions.data(), mapping.bodies.positions, size());
    copy(bodies.velocities.data(), mapping.bodies.velocities, size());
    cuda::upload<Vec4>(bodies.positions_low, low_.positions.data(), stream_.get());
    cuda::upload<Vec4>(bodies.velocities_low, low_.velocities.data(), stream_.get());
    stream_.synchronize();
    mapping.unmap();
    masses_ = mass_range(bodies.positions);
  }

  const cuda::Device& device_;
  OwnStorage own_storage_;
  DeviceStorage& storage_;
  const cuda::Stream& stream_;
  cuda::DeviceArray<Vec4> accelerations_;
  LowWords low_;
  int count_ = 0;
  MassRange masses_;
};

/// Number of a pass over the bodies, for NonFiniteCheck: the step, followed by the place of the pass in the step.
struct PassId {
  static constexpr int place_bits = 9;
  static constexpr std::int64_t most_steps = std::int64_t{1} << (32 - place_bits);  ///< more steps than a batch has
  /// Places in the order of execution: the drifts; the check of the state after the step; the first drift of the next
  /// step, for bodies that were not finite before that drift.
  enum Place : std::uint32_t { first_drift, check = (1u << place_bits) - 2, next_drift };
  /// Returns the place of drift number `n` of a step, counted from 0.
  static constexpr Place drift(int n) { return static_cast<Place>(n); }
  static_assert((1u << most_leapfrog_level) < check, "each moment of a step of leapfrog-blocks is a place");

  std::uint32_t number;

  /// `step`: number of steps since a base, < most_steps.
  constexpr PassId(std::int64_t step, Place place) : number{static_cast<std::uint32_t>(step) << place_bits | place} {}
  static constexpr std::int64_t step_of(std::uint32_t number) { return number >> place_bits; }
};

/// Collects the reports of passes on a stream about non-finite bodies. Steps count from a base, to fit into a PassId.
class NonFiniteWatch {
 public:
  NonFiniteWatch(const cuda::Device& device, cudaStream_t stream)
      : stream_{stream}, d_first_{device, 1}, seen_{device, 1, /*pinned=*/true} {
    clear();
  }

  /// Discards what was found. Call only while nothing is enqueued.
  void clear() {
    seen() = 0;
    found_.reset();
    ORRERY_CUDA_CHECK(cudaMemsetAsync(d_first_.data(), 0xff, sizeof(cuda::PackedFinding), stream_));
  }

  /// Returns whether all passes up to `step` fit into a PassId.
  bool reaches(std::int64_t step) const { return step - base_ < PassId::most_steps - 1; }
  /// Makes `step` the base, unless a body was found. Call only while nothing is enqueued.
  void count_from(std::int64_t step) {
    if (!found()) base_ = step;
  }

  cuda::NonFiniteReport report() const { return {d_first_.data(), &seen()}; }
  /// Returns the pass number of the check of the state after `step`.
  std::uint32_t pass_after(std::int64_t step) const { return number(step, PassId::check); }
  /// Returns the check for a drift of `step` that follows `drifts` others. `changed_before`: the step has already
  /// changed the bodies. Then the drift's findings belong to this step, which is completed.
  cuda::NonFiniteCheck check_in(std::int64_t step, bool changed_before, int drifts = 0) const {
    const std::uint32_t here = number(step, PassId::drift(drifts));
    if (!changed_before)
      return {report(), number(step - 1, PassId::next_drift), number(step - 1, PassId::next_drift), here};
    return {report(), number(step, PassId::first_drift), here, here};
  }

  /// Returns the first non-finite body once a pass has reported it. Waits for the stream when it sees the report for
  /// the first time.
  const std::optional<NonFinite>& found() {
    if (!found_ && *static_cast<volatile int*>(&seen()) != 0) {
      cuda::PackedFinding first;
      ORRERY_CUDA_CHECK(cudaMemcpyAsync(&first, d_first_.data(), sizeof first, cudaMemcpyDeviceToHost, stream_));
      ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream_));
      found_ = NonFinite{.step = base_ + PassId::step_of(first.pass()), .body = first.body()};
    }
    return found_;
  }

 private:
  std::uint32_t number(std::int64_t step, PassId::Place place) const { return PassId{step - base_, place}.number; }
  int& seen() const { return seen_.first(1).front(); }

  cudaStream_t stream_;
  cuda::DeviceArray<cuda::PackedFinding> d_first_;
  cuda::HostArray<int> seen_;  // written by the device
  std::int64_t base_ = 0;
  std::optional<NonFinite> found_;
};

}  // namespace orrery
