#pragma once

#include <cstdint>
#include <span>

#include "compute/core/vec.h"
#include "compute/kernels/body_pass.h"
#include "compute/kernels/division_facet.h"
#include "compute/kernels/joint_work.h"

namespace orrery {

/// A pass over the bodies of all ranks: a KickDrift and its NonFiniteCheck without pointers, so that an order can have
/// it.
struct HeldPass {
  cuda::KickDrift motion;
  std::uint32_t frozen_below = 0, before = 0, after = 0;

  cuda::NonFiniteCheck check(const cuda::NonFiniteReport& report) const {
    return {report, frozen_below, before, after};
  }
};

/// The leader's bodies, in memory that its device reaches.
struct HeldSource {
  const Vec4* d_positions = nullptr;
  const Vec4* d_velocities = nullptr;
  const cuda::PackedFinding* d_finding = nullptr;  ///< so far
};

/// What of the bodies is collected.
struct HeldWanted {
  bool positions = false, velocities = false, accelerations = false, owners = false;
};

/// Where to, in the order of all bodies, in memory that the leader's device reaches.
struct HeldPlaces {
  Vec4* d_positions = nullptr;
  Vec4* d_velocities = nullptr;
  Vec4* d_accelerations = nullptr;
  int* d_owners = nullptr;  ///< the rank of each body

  HeldWanted wanted() const {
    return {.positions = d_positions != nullptr,
            .velocities = d_velocities != nullptr,
            .accelerations = d_accelerations != nullptr,
            .owners = d_owners != nullptr};
  }
};

/// How the ranks evaluate what they hold.
struct HeldEvaluation {
  int rounds = 0;  ///< of the move before it, see MigrationFacet::begin_residents()
  bool connected = false;
};

/// The bodies that one rank's CUDA device holds from one evaluation to the next, each rank those of its part. All ranks
/// call the same functions in the same order, with their JointWork. If they are `connected`, data go from device to
/// device, otherwise through host memory. Functions enqueue on the leader's `stream`; those of other ranks have a
/// stream of their own. They may wait for other ranks. They throw what failed here, and Stopped if another rank failed;
/// then all ranks have to leave the connection. A function has ended when ended() says so.
class HeldPart {
 public:
  virtual ~HeldPart() = default;
  /// Whether the devices of so many ranks can hold so many bodies.
  virtual bool can_hold(int count, int ranks) const = 0;
  /// Takes the memory for that, in place of HostedDivision::prepare(). Throws as ForceKernel::prepare().
  virtual void prepare(int count, int rank, int ranks) = 0;

  /// The bodies go to the ranks, in equal parts. `from`: the leader's.
  virtual void hold(const HeldSource& from, bool connected, JointWork& work, CUstream_st* stream) = 0;
  /// cuda::kick_drift() of the integrators, of this rank's bodies. `seen`: see NonFiniteReport; null: nobody looks.
  virtual void kick_drift(const HeldPass& pass, int* seen, CUstream_st* stream) = 0;
  /// Likewise cuda::check_finite(); then the leader's report has the first finding of all ranks.
  virtual void check_finite(const cuda::NonFiniteReport& report, std::uint32_t pass, bool connected, JointWork& work,
                            CUstream_st* stream) = 0;
  /// The leader: begins an evaluation. Returns HeldEvaluation::rounds.
  virtual int begin(const ForceArgs& args) = 0;
  /// Every rank then. `args`: as ResidentFacet::evaluate_residents() on the leader, otherwise as HostedDivision has it.
  virtual void evaluate(const ForceArgs& args, const HeldEvaluation& how, std::span<const Part> parts,
                        JointWork& work) = 0;
  /// To the leader's `places`, of which the other ranks know what is `wanted`.
  virtual void collect(const HeldWanted& wanted, const HeldPlaces& places, bool connected, JointWork& work,
                       CUstream_st* stream) = 0;
  /// The leader: memory to collect owners in. Throws UsageError if there is none.
  virtual int* owners_room(int count) = 0;

  /// Whether this rank's own part of the latest evaluation has ended; it may wait for others. Throws as functions do.
  virtual bool part_ended() const = 0;
  /// Whether all of the latest function has ended.
  virtual bool ended() const = 0;
};

}  // namespace orrery
