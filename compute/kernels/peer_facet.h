#pragma once

#include <span>

struct CUstream_st;

namespace orrery {

/// What CUDA kernels have, beside DivisionFacet, whose devices see each other's memory: each writes what the others
/// need of it to where they look. In place of DivisionFacet::offer(), and copies.
class PeerFacet {
 public:
  virtual ~PeerFacet() = default;
  /// When all devices are prepared, by DivisionFacet or by MigrationFacet: their kernels, by index, of the same kind as
  /// this one.
  virtual void connect(std::span<PeerFacet* const> all) = 0;
  /// If DivisionFacet::exchanges(), when all devices have enqueued begin_part() and the stream has passed these:
  /// enqueues what writes. A device may evaluate its part when all have written.
  virtual void send(CUstream_st* stream) = 0;
};

}  // namespace orrery
