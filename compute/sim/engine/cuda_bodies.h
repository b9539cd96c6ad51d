#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/stream.h"
#include "compute/sim/engine/device_room.h"
#include "compute/sim/engine/mapping.h"
#include "compute/sim/engine/own_storage.h"

namespace orrery {

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
  /// Of device memory.
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
  /// Without positions and velocities while they are given back.
  Mapping map() { return {storage_, stream_.get(), low_.positions.data(), low_.velocities.data()}; }

  /// Throws a UsageError if there is no memory for these bodies with what steps by this integrator need, although the
  /// present bodies and `held_bytes` are given back.
  void require_room(const Bodies& bodies, const IntegratorInfo& integrator, std::size_t held_bytes) const {
    require_device_room(bodies.count(), bodies.digits(), integrator, bytes() + held_bytes, device_.free_memory());
  }
  /// Whether bodies of their own that come next may be in page-locked host memory, if the device has too little. The
  /// device reads and writes them there as well, but slowly.
  void allow_host_memory(bool allow) { own_storage_.allow_host_memory(allow); }
  bool allows_host_memory() const { return own_storage_.allows_host_memory(); }
  /// From host memory, if they are there. Throws UsageError if the device has too little.
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

  /// What they were is lost, unless they are in host memory: they stay there.
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
  /// Of the bodies and their accelerations; empty under Digits::single.
  struct LowWords {
    LowWords() = default;
    LowWords(const cuda::Device& device, std::size_t size)
        : positions{device, size}, velocities{device, size}, accelerations{device, size} {}
    std::size_t size() const { return positions.size(); }
    cuda::DeviceArray<Vec4> positions, velocities, accelerations;
  };

  /// Gives back all memory but that of a storage that may be drawn.
  void forget() {
    own_storage_.resize(0);
    accelerations_ = {};
    low_ = {};
    count_ = 0;
  }

  /// From or to the drawn arrays, wherever they are.
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

}  // namespace orrery
