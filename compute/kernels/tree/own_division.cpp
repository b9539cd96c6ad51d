#include "compute/kernels/tree/own_division.h"

#include <algorithm>
#include <bit>

#include "compute/kernels/tree/root_cube.h"
#include "compute/kernels/tree/tree_division.h"

namespace orrery {
namespace {

std::size_t index_of(int rank) {
  return static_cast<std::size_t>(rank);
}

/// The number of keys in the largest cells that begin or end at a border within the cube.
std::uint64_t keys_beside(std::uint64_t border) {
  return keys_in_cell(key_levels - std::countr_zero(border) / 3);
}

void add_sums(Vec3d& sums, const Vec3d& other) {
  sums.x += other.x;
  sums.y += other.y;
  sums.z += other.z;
}

}  // namespace

MessageWriter OwnDivision::divide(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew, int least,
                                  JointWork& work, std::vector<int>& owners) {
  if (!find_cube(bodies, work)) return {};
  work.attempt([&] {
    keys_.resize(bodies.size());
    std::ranges::transform(bodies, keys_.begin(),
                           [&](const Vec4& body) { return morton_key(cube_, body.x, body.y, body.z); });
  });
  bool suit = false;
  if (!anew && !borders_suit(least, work, owners, suit)) return {};
  if (!suit && !find_borders(parts, least, work, owners)) return {};
  MessageWriter division;
  work.attempt([&] {
    division.put(cube_);
    division.put_all(borders_);
  });
  return division;
}

bool OwnDivision::find_cube(std::span<const Vec4> bodies, JointWork& work) {
  Bounds all;
  all.add(bodies);
  if (!work.reduce(all, [](Bounds& to, const Bounds& from) { to.add(from); })) return false;
  const CubeGrid grid{all};
  Vec3d sums = grid.sums(bodies);
  if (!work.reduce(sums, add_sums)) return false;
  Vec3d distances = grid.distances(bodies, sums);
  if (!work.reduce(distances, add_sums)) return false;
  cube_ = grid.cube(sums, distances);
  count_ = all.count;
  return true;
}

void OwnDivision::find_owners(int own, std::vector<int>& owners) const {
  owners.resize(keys_.size());
  const std::span inner = std::span{borders_}.subspan(1, borders_.size() - 2);
  const std::uint64_t begin = borders_[index_of(own)], end = borders_[index_of(own) + 1];
  std::ranges::transform(keys_, owners.begin(), [&](std::uint64_t key) {
    if (begin <= key && key < end) return own;  // nearly all of them
    return static_cast<int>(std::ranges::upper_bound(inner, key) - inner.begin());
  });
}

/// Counts the bodies in the largest cells on both sides of each border, as far as they lie between the borders next to
/// it. `suit`: whether borders_of_parts() might have chosen these.
bool OwnDivision::borders_suit(int least, JointWork& work, std::vector<int>& owners, bool& suit) {
  work.attempt([&] {
    beside_.assign(2 * borders_.size(), 0);
    of_other_.assign(beside_.size(), 0);
    find_owners(work.rank(), owners);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const std::size_t left = index_of(owners[i]), right = left + 1;  // borders of the owner
      if (left > 0 && keys_[i] - borders_[left] < keys_beside(borders_[left])) ++beside_[2 * left];
      if (right + 1 < borders_.size() && borders_[right] - keys_[i] <= keys_beside(borders_[right])) {
        ++beside_[2 * right + 1];
      }
    }
    work.put_all_for_all(beside_);
  });
  if (!work.exchange()) return false;
  work.for_each_other([&](int rank) {  // nothing can fail here: all ranks come to the same decision
    MessageReader message = work.from(rank);
    (void)message.get<std::size_t>();
    message.get_values(std::span{of_other_});
    for (std::size_t i = 0; i < beside_.size(); ++i) beside_[i] += of_other_[i];
  });
  suit = true;
  for (std::size_t border = 1; border + 1 < borders_.size(); ++border) {
    const bool within = borders_[border] != KeyRange{}.end;
    suit &= !within || std::max(beside_[2 * border], beside_[2 * border + 1]) > least;
  }
  return true;
}

bool OwnDivision::find_borders(std::span<const Part> parts, int least, JointWork& work, std::vector<int>& owners) {
  std::vector<std::uint64_t> sample;
  work.attempt([&] {
    sample = sample_of_keys(keys_, static_cast<std::size_t>(count_));
    work.put_all_for_all(sample);
  });
  if (!work.exchange()) return false;
  work.attempt([&] {
    work.for_each_other([&](int rank) {
      MessageReader message = work.from(rank);
      message.get_all(sample);
    });
    std::ranges::sort(sample);
    borders_ = borders_of_parts(sample, parts, least);
    find_owners(work.rank(), owners);
  });
  return true;
}

}  // namespace orrery
