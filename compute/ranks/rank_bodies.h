#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/message.h"
#include "compute/devices/part_sizes.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/kernel.h"
#include "compute/ranks/orders.h"

namespace orrery {

/// Bodies in any order. All arrays have one entry per body.
struct SpreadState {
  std::vector<int> ids;  ///< indices among the bodies of all ranks
  std::vector<Vec4> positions, velocities, accelerations;
  bool accelerations_current = false;  ///< see StepOps::accelerations_current()

  int count() const { return static_cast<int>(ids.size()); }
};

/// Bodies that one rank holds from step to step, and its part of the steps. Every rank has one per kernel.
class RankBodies {
 public:
  /// Maximum number of bodies per message: about 36 MB.
  static constexpr std::size_t most_in_message = PieceRange::most;

  /// Reads a message of put_first(). Offset 0 discards earlier bodies.
  void take_first(MessageReader order);
  /// Writes the bodies of a part from index `offset` of the part on, at most `most`. Returns whether there are more.
  static bool put_first(const Bodies& all, const MassRange& masses, Part part, std::size_t offset, MessageWriter& order,
                        std::size_t most = most_in_message);

  /// Every rank calls this for the same step. `arrays` must have room for all bodies if the kernel has no domains.
  /// Throws the kernel's errors, and std::bad_alloc; the other ranks then find that the step is not complete.
  Stepped step(const StepOrder& order, std::string_view integrator_id, ForceKernel& kernel, RankArrays& arrays,
               RankExchange& ranks, const std::atomic<bool>& cancelled);
  /// Restores the bodies before the latest step. Every rank calls this if one of them did not complete it.
  void undo();
  /// Writes this rank's bodies whose index is in [first, last): their indices minus `first`, positions and velocities.
  void put(int first, int last, MessageWriter& reply) const;
  /// Writes the bodies at these places in this rank's arrays. None may have an index before `first`.
  void put(std::span<const int> here, int first, MessageWriter& message) const;
  BodyBounds bounds() const;
  /// Returns the bodies' indices among the bodies of all ranks.
  std::span<const int> ids() const { return now_.ids; }
  /// Reads bodies into arrays that begin with body `first`. Returns their places there.
  static std::vector<int> get(MessageReader& reply, std::span<Vec4> positions, std::span<Vec4> velocities);

 private:
  SpreadState now_, before_;  // before_: state before the latest step
  bool can_undo_ = false;
  MassRange masses_;
  std::optional<LearnedSizes> sizes_;  // none: the bodies are divided again
  double ms_ = 0;                      // time of the kernel in the latest evaluation
};

}  // namespace orrery
