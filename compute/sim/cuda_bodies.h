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

/// Returns the bytes of a body in the memory of a CUDA engine, including what steps by this integrator need.
inline std::size_t device_bytes_per_body(Digits digits, const IntegratorInfo& integrator) {
  const std::size_t bytes = vector_bytes(1, low_words_of(1, digits));
  if (integrator.needs_jerks) return bytes + cuda::HermiteBodies::bytes_per_body;
  return integrator.block_steps ? bytes + cuda::BodyLevels::bytes_per_body(digits) : bytes;
}

/// Throws a UsageError if `count` bodies do not fit into `held_bytes`, which they replace, and the part of `free_bytes`
/// that is not in reserve.
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

/// The storage mapped for as long as this lives, and what mapping took of the CPU's time. The low words (null: none)
/// need no mapping and are passed on.
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
  /// Only while an error unwinds: what failed before matters more than what this finds.
  ~Mapping() {
    if (!mapped_) return;
    try {
      storage_.unmap(stream_);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "orrery: %s\n", failure_text(error).c_str());
    }
  }
  /// Returns the CPU time it took, in ms.
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

/// Device memory of an engine's own, where nothing is drawn; or page-locked memory of the host, which devices read and
/// write far more slowly.
class OwnStorage final : public DeviceStorage {
 public:
  explicit OwnStorage(const cuda::Device& device) : device_{device} {}

  /// Sets whether resize() may take memory of the host if the device has too little. Data in host memory stay there.
  void allow_host_memory(bool allow) { allows_host_memory_ = allow; }
  bool allows_host_memory() const { return allows_host_memory_; }
  bool is_in_host_memory() const { return in_host_.positions.size() > 0; }

  void resize(int count) override {
    const auto size = static_cast<std::size_t>(count);
    if (on_device_.positions.size() + in_host_.positions.size() == size) return;
    on_device_ = {}, in_host_ = {};  // first the old memory, then the new
    if (allows_host_memory_ && !has_room(size)) {
      in_host_ = {{device_, size, /*pinned=*/true}, {device_, size, /*pinned=*/true}};
    } else {
      on_device_ = {{device_, size}, {device_, size}};
    }
  }
  /// Copies the bodies there and waits, if they are in host memory. Throws UsageError if there is too little.
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

/// The bodies of a CUDA engine: positions and velocities in the storage that may be drawn, and in memory of its own
/// their accelerations, and the low words of all under Digits::compensated. Memory of its own may be given back while
/// others have the bodies. The device must be active in every call.
class CudaBodies {
 public:
  /// `storage` null: positions and velocities are in memory of its own, too.
  CudaBodies(const cuda::Device& device, DeviceStorage* storage, const cuda::Stream& stream)
      : device_{device}, own_storage_{device}, storage_{storage ? *storage : own_storage_}, stream_{stream} {}
  CudaBodies(const CudaBodies&) = delete;
  CudaBodies& operator=(const CudaBodies&) = delete;

  int count() const { return count_; }
  bool are_drawn() const { return &storage_ != &own_storage_; }
  std::size_t size() const { return static_cast<std::size_t>(count_); }
  Digits digits() const { return low_.size() == 0 ? Digits::single : Digits::compensated; }
  const MassRange& masses() const { return masses_; }
  /// Returns the size in device memory.
  std::size_t bytes() const {
    const std::size_t elsewhere = own_storage_.is_in_host_memory() ? 2 * size() : 0;
    return vector_bytes(size(), low_.size()) - (size() - accelerations_.size() + elsewhere) * sizeof(Vec4);
  }
  /// Null until take_accelerations().
  Vec4* d_accelerations() const { return accelerations_.data(); }
  Vec4* take_accelerations() {
    if (accelerations_.size() != size()) accelerations_ = cuda::DeviceArray<Vec4>(device_, size());
    return d_accelerations();
  }
  Vec4* d_accelerations_low() const { return low_.accelerations.data(); }  ///< null under Digits::single
  /// Maps the bodies. The mapping has no positions and velocities while they are given back.
  Mapping map() { return {storage_, stream_.get(), low_.positions.data(), low_.velocities.data()}; }

  /// Throws a UsageError if there is no memory for these bodies with what steps by this integrator need, although the
  /// current bodies and `held_bytes` are given back.
  void require_room(const Bodies& bodies, const IntegratorInfo& integrator, std::size_t held_bytes) const {
    require_device_room(bodies.count(), bodies.digits(), integrator, bytes() + held_bytes, device_.free_memory());
  }
  /// Sets whether the next allocation may be in page-locked host memory if the device has too little. The device
  /// accesses it there, but slowly.
  void allow_host_memory(bool allow) { own_storage_.allow_host_memory(allow); }
  bool allows_host_memory() const { return own_storage_.allows_host_memory(); }
  /// Moves the bodies from host memory to the device, if they are there. Throws UsageError if the device has too
  /// little.
  void bring_to_device() { own_storage_.bring_to_device(stream_.get()); }

  /// Makes room for bodies of another count. What was there is lost; if it throws, there are no bodies.
  void resize(int count, Digits digits) {
    forget();  // first the old memory, then the new
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

  /// Replaces the bodies by as many with these or other digits, and waits. If memory is short, it throws, and they are
  /// as before.
  void replace(const Bodies& bodies) {
    storage_.resize(count_);  // something else may have been drawn since
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

  /// Waits.
  Bodies download() {
    Bodies bodies = with_digits({std::vector<Vec4>(size()), std::vector<Vec4>(size())}, digits());
    cuda::download<Vec4>(low_.positions.data(), bodies.positions_low, stream_.get());
    cuda::download<Vec4>(low_.velocities.data(), bodies.velocities_low, stream_.get());
    copy_drawn(bodies.positions, bodies.velocities);
    return bodies;
  }
  /// Waits.
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

  /// Copies from or to the drawn arrays, in whichever memory.
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

/// A pass over the bodies as the number that NonFiniteCheck takes: its step, and its place in that step.
struct PassId {
  static constexpr int place_bits = 9;
  static constexpr std::int64_t most_steps = std::int64_t{1} << (32 - place_bits);  ///< more than a batch has
  /// In the order in which they run: the drifts, the check of the state after the step, and what the first drift of the
  /// next step finds in that state.
  enum Place : std::uint32_t { first_drift, check = (1u << place_bits) - 2, next_drift };
  /// `n` counts the drifts of a step, from 0.
  static constexpr Place drift(int n) { return static_cast<Place>(n); }
  static_assert((1u << most_leapfrog_level) < check, "each moment of a step of leapfrog-blocks is a place");

  std::uint32_t number;

  /// `step` < most_steps counts from a base.
  constexpr PassId(std::int64_t step, Place place) : number{static_cast<std::uint32_t>(step) << place_bits | place} {}
  static constexpr std::int64_t step_of(std::uint32_t number) { return number >> place_bits; }
};

/// Reports of passes on a stream about bodies that are not finite. Steps count from a base, so that they fit a PassId.
class NonFiniteWatch {
 public:
  NonFiniteWatch(const cuda::Device& device, cudaStream_t stream)
      : stream_{stream}, d_first_{device, 1}, seen_{device, 1, /*pinned=*/true} {
    clear();
  }

  /// Forgets what was found. Call only while nothing is enqueued.
  void clear() {
    seen() = 0;
    found_.reset();
    ORRERY_CUDA_CHECK(cudaMemsetAsync(d_first_.data(), 0xff, sizeof(cuda::PackedFinding), stream_));
  }

  /// Returns whether all passes up to `step` have numbers.
  bool reaches(std::int64_t step) const { return step - base_ < PassId::most_steps - 1; }
  /// Counts from `step` on. Call only while nothing is enqueued.
  void count_from(std::int64_t step) {
    if (!found()) base_ = step;
  }

  cuda::NonFiniteReport report() const { return {d_first_.data(), &seen()}; }
  /// Returns the number of the check of the state after `step`.
  std::uint32_t pass_after(std::int64_t step) const { return number(step, PassId::check); }
  /// Returns the check of the drift in `step` after `drifts` others. If the step has changed the bodies before, what
  /// the drift finds counts as found in this step, which is completed.
  cuda::NonFiniteCheck check_in(std::int64_t step, bool changed_before, int drifts = 0) const {
    const std::uint32_t here = number(step, PassId::drift(drifts));
    if (!changed_before)
      return {report(), number(step - 1, PassId::next_drift), number(step - 1, PassId::next_drift), here};
    return {report(), number(step, PassId::first_drift), here, here};
  }

  /// Returns the first non-finite body, as soon as a pass has reported it. Waits for the stream when it sees it for the
  /// first time.
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
