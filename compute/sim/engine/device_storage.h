#pragma once

#include "compute/core/vec.h"

struct CUstream_st;

namespace orrery {

struct DeviceBodies {
  Vec4* positions = nullptr;   ///< device memory, x, y, z, m
  Vec4* velocities = nullptr;  ///< device memory, vx, vy, vz, 0
  /// The low words of both in memory of the engine, see DoubleFloat; null: there are none.
  Vec4* positions_low = nullptr;
  Vec4* velocities_low = nullptr;
};

/// Device memory for the drawn arrays. The simulation maps it around each batch of steps and touches it at no other
/// time, so that it may be a GL buffer; where there is no GL, mapping does nothing.
class DeviceStorage {
 public:
  virtual ~DeviceStorage() = default;
  /// Makes room for exactly `count` bodies; the contents are lost if it had another count, also if it throws because
  /// memory is short. Not while mapped.
  virtual void resize(int count) = 0;
  /// The arrays that are drawn, without low words.
  virtual DeviceBodies map(CUstream_st* stream) = 0;
  virtual void unmap(CUstream_st* stream) = 0;
};

}  // namespace orrery
