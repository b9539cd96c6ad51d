#include "compute/ranks/joint_writing.h"

#include <algorithm>
#include <exception>
#include <span>
#include <stdexcept>

#include "compute/kernels/rank_device.h"

namespace orrery {
namespace {

/// Returns whether work() did not throw. The cause is dropped: rank 0 then writes all rows and reports it.
template <class Work>
bool succeeds(const Work& work) {
  try {
    work();
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace

void put_rows(MessageWriter& order, const JointRows& rows) {
  order.put_text(rows.path);
  order.put(rows.file_bytes);
  order.put(rows.positions);
  order.put(rows.velocities);
  order.put(rows.masses);
  order.put(rows.scale);
}

JointRows get_rows(MessageReader& order) {
  JointRows rows;
  rows.path = order.get_text();
  rows.file_bytes = order.get<std::uint64_t>();
  rows.positions = order.get<std::uint64_t>();
  rows.velocities = order.get<std::uint64_t>();
  rows.masses = order.get<std::optional<std::uint64_t>>();
  rows.scale = order.get<std::optional<BodyScale>>();
  return rows;
}

JointWriting::JointWriting(const RankBodies& bodies, std::size_t count, RankExchange& ranks, std::size_t most)
    : bodies_{bodies},
      count_{count},
      rows_per_rank_{(count - 1) / static_cast<std::size_t>(ranks.size()) + 1},
      rows_per_piece_{
          std::min(rows_per_rank_, std::max<std::size_t>(1, most / static_cast<std::size_t>(ranks.size())))},
      work_{ranks, nullptr} {}

bool JointWriting::write(const JointRows& rows, bool is_on_host_of_first) {
  if (!all(is_on_host_of_first && succeeds([&] { open(rows); }))) return false;
  bool well = true;
  for (std::size_t offset = 0; offset < rows_per_rank_; offset += rows_per_piece_) {
    work_.attempt([&] { send_piece(offset); });
    if (!work_.exchange()) require_end(work_);  // throws
    well = well && succeeds([&] { write_piece(offset, rows.scale); });
  }
  return all(well && succeeds([&] { file_->flush(); }));
}

bool JointWriting::all(bool own) {
  if (!work_.reduce(own, [](bool& both, bool other) { both = both && other; })) require_end(work_);  // throws
  return own;
}

void JointWriting::open(const JointRows& rows) {
  constexpr std::size_t bytes_per_row = sizeof(int) + 2 * sizeof(Vec4), head = sizeof(std::size_t);
  file_.emplace(rows);
  positions_.resize(rows_per_piece_);
  velocities_.resize(rows_per_piece_);
  work_.reserve(head + rows_per_piece_ * bytes_per_row);
}

/// Sends each rank the bodies of its next rows that are here, in the format of RankBodies::get().
void JointWriting::send_piece(std::size_t offset) {
  std::vector<std::vector<int>> here(static_cast<std::size_t>(work_.size()));
  const std::span<const int> ids = bodies_.ids();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<std::size_t>(ids[i]);
    const std::size_t rank = row / rows_per_rank_, place = row - first_row(rank);
    if (place >= offset && place - offset < rows_per_piece_) here[rank].push_back(static_cast<int>(i));
  }
  own_.clear();
  for (std::size_t rank = 0; rank < here.size(); ++rank) {
    const bool is_own = static_cast<int>(rank) == work_.rank();
    bodies_.put(here[rank], static_cast<int>(first_row(rank) + offset),
                is_own ? own_ : work_.to(static_cast<int>(rank)));
  }
}

void JointWriting::write_piece(std::size_t offset, const std::optional<BodyScale>& scale) {
  std::size_t count = 0;
  const auto take = [&](MessageReader message) { count += RankBodies::get(message, positions_, velocities_).size(); };
  take(MessageReader{own_.bytes()});
  work_.for_each_other([&](int rank) { take(work_.from(rank)); });
  const std::size_t first = first_row(static_cast<std::size_t>(work_.rank())) + offset;
  const std::size_t last = std::min(first_row(static_cast<std::size_t>(work_.rank()) + 1), count_);
  const std::size_t expected = first < last ? std::min(rows_per_piece_, last - first) : 0;
  if (count != expected) throw std::logic_error("the ranks hold other bodies than they were given");
  const std::span positions = std::span{positions_}.first(count), velocities = std::span{velocities_}.first(count);
  if (scale) {
    for (Vec4& position : positions) position = scale->of_position(position);
    for (Vec4& velocity : velocities) velocity = scale->of_velocity(velocity);
  }
  file_->write(first, positions, velocities);
}

}  // namespace orrery
