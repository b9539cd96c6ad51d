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

/// One rank's part when all ranks write their bodies to a file: each writes an equal interval of the rows. It gets the
/// bodies of these from the ranks that hold them, in pieces of which all ranks together have one of PieceRange's size.
/// All are on one host: what is known of files that several hosts write is too little.
class JointWriting {
 public:
  /// `count`: bodies of all ranks. `most`: bodies of a piece.
  JointWriting(const RankBodies& bodies, std::size_t count, RankExchange& ranks, std::size_t most = PieceRange::most);

  /// Every rank calls this. Returns whether it was written: false on all ranks if one of them cannot write, before the
  /// first row where it is on another host than rank 0, cannot open the file or has no memory for its rows. Throws what
  /// failed here besides, and Stopped if another rank failed.
  bool write(const JointRows& rows, bool is_on_host_of_first = true);

 private:
  std::size_t first_row(std::size_t rank) const { return rank * rows_per_rank_; }
  void open(const JointRows& rows);
  /// Whether all ranks say so.
  bool all(bool own);
  void send_piece(std::size_t offset);
  void write_piece(std::size_t offset, const std::optional<BodyScale>& scale);

  const RankBodies& bodies_;
  const std::size_t count_, rows_per_rank_, rows_per_piece_;  // of one rank
  JointWork work_;
  std::optional<RowFile> file_;
  MessageWriter own_;  // what this rank has for itself
  std::vector<Vec4> positions_, velocities_;
};

}  // namespace orrery
