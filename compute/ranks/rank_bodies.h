#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/message.h"
#include "compute/core/row_file.h"
#include "compute/devices/load_balance.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/ranks/protocol.h"

namespace orrery {

/// Arrays for the bodies of one evaluation on one rank, one entry per body. They never shrink, since several kernels
/// may share them.
struct RankArrays {
  std::vector<Vec4> positions, positions_low, velocities, accelerations, accelerations_low;
  std::vector<PreciseBody> precise;
  std::vector<Pull> pulls;
  std::vector<int> targets;

  /// Grows the arrays to at least `count` entries.
  void prepare(int count, bool low_words = false, bool jerks = false) {
    const auto size = static_cast<std::size_t>(count);
    const auto grow = [&](auto& array) { array.resize(std::max(array.size(), size)); };
    grow(positions), grow(velocities), grow(accelerations), grow(targets);
    if (low_words) grow(positions_low), grow(accelerations_low);
    if (jerks) grow(precise), grow(pulls);
  }

  /// Returns the arguments, without targets, for an evaluation of the bodies in these arrays.
  ForceArgs args_of(const Evaluation& part) {
    return {.bodies = positions.data(),
            .bodies_low = part.low_words ? positions_low.data() : nullptr,
            .count = part.count,
            .masses = part.masses,
            .law = part.law,
            .epilogue = {.accelerations = part.stores ? accelerations.data() : nullptr,
                         .velocities = part.kicks ? velocities.data() : nullptr,
                         .kick_dt = part.kick_dt,
                         .drag = part.drag,
                         .accelerations_low = part.stores_low ? accelerations_low.data() : nullptr}};
  }
};

/// The bodies of one rank, in any order. All arrays have one entry per body.
struct LocalBodies {
  std::vector<int> ids;  ///< global indices: among the bodies of all ranks
  std::vector<Vec4> positions, velocities, accelerations;
  bool accelerations_current = false;  ///< see StepOps::accelerations_current()

  int count() const { return static_cast<int>(ids.size()); }
};

/// One rank's side of bodies that the ranks hold from step to step: stores the rank's bodies and carries out its part
/// of each step. Every rank has one object per kernel. LeaderBodies is the leader's side.
class RankBodies {
 public:
  /// Maximum number of bodies in a message, which then has about 36 MB.
  static constexpr std::size_t most_in_message = PieceRange::most;

  /// Reads a message of put_first() and adds its bodies. A message with offset 0 replaces all bodies.
  void take_first(MessageReader order);
  /// Writes at most `most` bodies of a part, starting at index `offset` within the part. Returns whether more remain.
  static bool put_first(const Bodies& all, const MassRange& masses, Part part, std::size_t offset, MessageWriter& order,
                        std::size_t most = most_in_message);

  /// Runs one step. Collective: every rank calls this for the same step. If the kernel has no domains, `arrays` must
  /// have an entry for every body of all ranks. Throws the kernel's errors, and std::bad_alloc; the step is then
  /// incomplete on the other ranks.
  StepResult step(const StepOrder& order, std::string_view integrator_id, ForceKernel& kernel, RankArrays& arrays,
                  RankExchange& ranks, const std::atomic<bool>& cancelled);
  /// Restores the state before the latest step. Every rank calls this if the step is incomplete on any rank.
  void undo();
  /// Writes this rank's bodies with global indices in [first, last): the indices minus `first`, positions, velocities.
  void put(int first, int last, MessageWriter& reply) const;
  /// Writes the bodies with these local indices in the same format. No global index may be below `first`.
  void put(std::span<const int> here, int first, MessageWriter& message) const;
  BodyBounds bounds() const;
  /// Returns the global index of each body of this rank.
  std::span<const int> ids() const { return now_.ids; }
  /// Reads the output of put() into arrays whose entry 0 is body `first`. Returns the indices of the bodies in these
  /// arrays.
  static std::vector<int> get(MessageReader& reply, std::span<Vec4> positions, std::span<Vec4> velocities);

 private:
  LocalBodies now_, before_;  // before_: state before the latest step
  bool can_undo_ = false;
  MassRange masses_;
  std::optional<LearnedSizes> sizes_;  // sizes of the domains; none: they start equal
  double ms_ = 0;                      // time of the kernel in the latest evaluation, in ms
};

void put_rows(MessageWriter& order, const JointRows& rows);
JointRows get_rows(MessageReader& order);

/// One rank's part of a collective write of the bodies of all ranks to a file. Each rank writes an equal interval of
/// the rows, and receives their bodies from the ranks that hold them. Bodies are sent in pieces of at most `most`
/// bodies on all ranks together. All ranks must be on one host, since writing one file from several hosts is untested.
class CollectiveWrite {
 public:
  /// `count`: number of bodies on all ranks.
  CollectiveWrite(const RankBodies& bodies, std::size_t count, RankExchange& ranks,
                  std::size_t most = PieceRange::most);

  /// Writes the rows. Collective: every rank calls this. Returns whether the rows were written, with the same result on
  /// all ranks. If a rank is on another host than rank 0, cannot open the file or lacks memory, returns false before
  /// the first row. Throws other failures of this rank, and Stopped if another rank failed.
  bool write(const JointRows& rows, bool is_on_host_of_leader = true);

 private:
  std::size_t first_row(std::size_t rank) const { return rank * rows_per_rank_; }
  void open(const JointRows& rows);
  /// Collective: returns whether `own` is true on all ranks.
  bool all(bool own);
  void send_piece(std::size_t offset);
  void write_piece(std::size_t offset, const std::optional<BodyScale>& scale);

  const RankBodies& bodies_;
  const std::size_t count_, rows_per_rank_, rows_per_piece_;  // rows_per_piece_: rows of one rank
  CollectiveWork work_;
  std::optional<RowFile> file_;
  MessageWriter own_;  // bodies that this rank both holds and writes
  std::vector<Vec4> positions_, velocities_;
};

}  // namespace orrery
