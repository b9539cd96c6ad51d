#include "compute/kernels/tree/tree_division.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "compute/kernels/tree/host_octree.h"

namespace orrery {
namespace {

/// From one key of a sample to the next, among so many.
std::size_t stride_of_sample(std::size_t all) {
  constexpr std::size_t most = 2048;
  return (all + most - 1) / most;
}

/// A place between two neighbours of the sample that lie in different cells of `level`.
struct Border {
  std::uint64_t key;
  int level;
};

/// The borders of the cells on both sides of the place before keys[place], if they have more than `least` bodies.
/// Bodies that are not in the sample may lie between these cells.
template <class Use>
void for_each_border(std::span<const std::uint64_t> keys, std::size_t place, int least, const Use& use) {
  const int level = common_level(keys[place - 1], keys[place]) + 1;
  if (level > key_levels) return;  // equal keys
  const auto place_of = [&](std::uint64_t key) { return std::ranges::lower_bound(keys, key) - keys.begin(); };
  const auto at = static_cast<std::ptrdiff_t>(place);
  const std::uint64_t left = first_key_in_cell(keys[place - 1], level), right = first_key_in_cell(keys[place], level);
  const std::uint64_t size = keys_in_cell(level);
  if (place_of(right + size) - at > least) use(Border{right, level});
  if (at - place_of(left) > least) use(Border{left + size, level});
}

/// The border at the highest level within `window` of a place in the sample, or the nearest one; none: the end of all
/// keys.
std::uint64_t border_near(std::span<const std::uint64_t> keys, double wanted, double window, int least) {
  Border best{KeyRange{}.end, key_levels + 1};
  const auto size = static_cast<std::ptrdiff_t>(keys.size());
  const auto middle = static_cast<std::ptrdiff_t>(wanted);
  for (std::ptrdiff_t distance = 0; distance < size; ++distance) {
    if (static_cast<double>(distance) > window && best.level <= key_levels) break;
    for (const std::ptrdiff_t place : {middle - distance, middle + distance}) {
      if (place < 1 || place >= size) continue;
      for_each_border(keys, static_cast<std::size_t>(place), least, [&](const Border& border) {
        if (border.level < best.level) best = border;
      });
    }
  }
  return best.key;
}

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

std::vector<std::uint64_t> borders_of_parts(std::span<const KeyedBody> bodies, std::span<const Part> parts, int least) {
  std::vector<std::uint64_t> sample;
  for (std::size_t i = 0; i < bodies.size(); i += stride_of_sample(bodies.size())) sample.push_back(bodies[i].key);
  std::ranges::sort(sample);
  return borders_of_parts(sample, parts, least);
}

std::vector<std::uint64_t> sample_of_keys(std::span<const std::uint64_t> keys, std::size_t all) {
  std::vector<std::uint64_t> sample;
  for (std::size_t i = 0; i < keys.size(); i += stride_of_sample(all)) sample.push_back(keys[i]);
  return sample;
}

std::vector<std::uint64_t> borders_of_parts(std::span<const std::uint64_t> keys, std::span<const Part> parts,
                                            int least) {
  constexpr double window = 0.02;  // of a mean part
  const auto all = static_cast<double>(keys.size());
  std::vector<std::uint64_t> borders(1, 0);
  for (const Part& part : parts.first(parts.size() - 1)) {
    const std::uint64_t border =
        border_near(keys, part.end * all, window * all / static_cast<double>(parts.size()), least);
    borders.push_back(std::max(borders.back(), border));
  }
  borders.push_back(KeyRange{}.end);
  return borders;
}

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
