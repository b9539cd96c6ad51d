#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compute/core/message.h"
#include "compute/core/row_file.h"
#include "compute/kernels/joint_work.h"
#include "compute/ranks/rank_bodies.h"

namespace orrery {

void put_rows(MessageWriter& order, const JointRows& rows);
JointRows get_rows(MessageReader& order);

/// One rank's part of writing the bodies of all ranks to a file. Each rank writes an interval of the rows, all equally
/// long, and receives their bodies from the ranks that hold them, in pieces: all ranks' pieces together have
/// PieceRange's size. All ranks must be on one host, as too little is known of files that several hosts write.
class JointWriting {
 public:
  /// `count`: bodies of all ranks. `most`: bodies of the pieces of all ranks together.
  JointWriting(const RankBodies& bodies, std::size_t count, RankExchange& ranks, std::size_t most = PieceRange::most);

  /// Every rank calls this. Returns whether the file was written. Returns false on all ranks if one cannot write;
  /// before the first row if one is on another host than rank 0, cannot open the file or has no memory for its rows.
  /// Throws other failures of this rank, and Stopped if another rank failed.
  bool write(const JointRows& rows, bool is_on_host_of_first = true);

 private:
  std::size_t first_row(std::size_t rank) const { return rank * rows_per_rank_; }
  void open(const JointRows& rows);
  /// Returns whether `own` is true on all ranks.
  bool all(bool own);
  void send_piece(std::size_t offset);
  void write_piece(std::size_t offset, const std::optional<BodyScale>& scale);

  const RankBodies& bodies_;
  const std::size_t count_, rows_per_rank_, rows_per_piece_;  // rows per rank, not of all ranks
  JointWork work_;
  std::optional<RowFile> file_;
  MessageWriter own_;  // rows that this rank keeps for itself
  std::vector<Vec4> positions_, velocities_;
};

}  // namespace orrery
