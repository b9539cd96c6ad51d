#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compute/core/joint_rows.h"
#include "compute/core/message.h"
#include "compute/core/row_file.h"
#include "compute/kernels/joint_work.h"
#include "compute/ranks/rank_bodies.h"

namespace orrery {

void put_rows(MessageWriter& order, const JointRows& rows);
JointRows get_rows(MessageReader& order);

/// One rank's part when all ranks write their bodies to a file: each writes an equal interval of the rows. It gets the
/// bodies of these from the ranks that hold them, in pieces of which all ranks together have one of PieceRange's size.
class JointWriting {
 public:
  /// `count`: bodies of all ranks. `most`: bodies of a piece.
  JointWriting(const RankBodies& bodies, std::size_t count, RankExchange& ranks, std::size_t most = PieceRange::most);

  /// Every rank calls this. Returns whether it was written: false on all ranks, before anything is written, if one of
  /// them cannot open the file or has no memory for it. Throws what failed here, and Stopped if another rank failed.
  bool write(const JointRows& rows);

 private:
  std::size_t first_row(std::size_t rank) const { return rank * rows_per_rank_; }
  bool open(const JointRows& rows);
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
