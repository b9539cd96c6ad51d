#pragma once

#include <chrono>
#include <cstdio>
#include <exception>

#include "compute/core/error.h"
#include "compute/sim/engine/device_storage.h"

namespace orrery {

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

}  // namespace orrery
