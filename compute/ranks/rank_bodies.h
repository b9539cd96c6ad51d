#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/body_source.h"
#include "compute/core/message.h"
#include "compute/devices/part_sizes.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/kernel.h"
#include "compute/ranks/orders.h"

namespace orrery {

/// Bodies in any order. All arrays have one entry per body.
struct SpreadState {
  std::vector<int> ids;  ///< places among the bodies of all ranks
  std::vector<Vec4> positions, velocities, accelerations;
  bool accelerations_current = false;  ///< see StepOps::accelerations_current()

  int count() const { return static_cast<int>(ids.size()); }
};

/// The bodies that one rank holds from step to step, and its part of the steps. Every rank has one, for one kernel.
class RankBodies {
 public:
  /// Of which one message has the state, at most: some 36 MB.
  static constexpr std::size_t most_in_message = PieceRange::most;

  /// Reads some of a rank's bodies at first, as put_first() writes them. A message with offset 0 begins anew.
  void take_first(MessageReader order);
  /// The bodies of a part from its place `offset` on. Returns whether there are more.
  static bool put_first(const Bodies& all, const MassRange& masses, Part part, std::size_t offset, MessageWriter& order,
                        std::size_t most = most_in_message);

  /// Every rank calls this for the same step. `arrays` have room for all bodies if the kernel has no domains. Throws
  /// what the kernel throws, and std::bad_alloc. The other ranks then find that the step is not complete.
  Stepped step(const StepOrder& order, std::string_view integrator_id, ForceKernel& kernel, RankArrays& arrays,
               RankExchange& ranks, const std::atomic<bool>& cancelled);
  /// Goes back to before the latest step. Every rank calls this if one of them did not complete it.
  void undo();
  /// Writes those of the bodies from `first` to before `last` that are here: their places, counted from `first`, their
  /// positions and velocities.
  void put(int first, int last, MessageWriter& reply) const;
  /// Likewise the bodies with these indices here. None has a place before `first`.
  void put(std::span<const int> here, int first, MessageWriter& message) const;
  BodyBounds bounds() const;
  /// Their places among the bodies of all ranks.
  std::span<const int> ids() const { return now_.ids; }
  /// Reads them to their places in arrays that begin with the body `first`. Returns these places.
  static std::vector<int> get(MessageReader& reply, std::span<Vec4> positions, std::span<Vec4> velocities);

 private:
  SpreadState now_, before_;  // before_: of before the latest step
  bool can_undo_ = false;
  MassRange masses_;
  std::optional<LearnedSizes> sizes_;  // none: the bodies are divided anew
  double ms_ = 0;                      // what the kernel took in the latest evaluation
};

}  // namespace orrery
