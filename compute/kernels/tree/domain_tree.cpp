#include "compute/kernels/tree/domain_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "compute/kernels/tree/host_octree.h"

namespace orrery {
namespace {

/// Returns the stride from one key of a sample of `all` keys to the next.
std::size_t stride_of_sample(std::size_t all) {
  constexpr std::size_t most = 2048;
  return (all + most - 1) / most;
}

/// A border between two neighbours of the sample that are in different cells of `level`.
struct Border {
  std::uint64_t key;
  int level;
};

/// Calls use() for the bounds of the cells on both sides of the place before keys[place], if these cells have more than
/// `least` bodies. Bodies that are not in the sample may lie between the cells.
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

/// Returns the border at the highest level within `window` of a place in the sample, or else the nearest border; the
/// end of all keys if there is none.
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

/// Returns the number of keys in the largest cells that begin or end at a border within the cube.
std::uint64_t keys_beside(std::uint64_t border) {
  return keys_in_cell(key_levels - std::countr_zero(border) / 3);
}

void add_sums(Vec3d& sums, const Vec3d& other) {
  sums.x += other.x;
  sums.y += other.y;
  sums.z += other.z;
}

/// Minimum number of targets that describe a rank's groups. Fewer would be larger and need more cells of the others;
/// with more, finding these cells takes longer.
constexpr int targets_per_rank = 16;

/// Returns the squared size that a cell on the way to groups compares others with, reduced as the comparison rounds.
float size_limit(const HostOctree& tree, int cell) {
  constexpr float rounding = 0.999f;
  const float radius_sq = tree.radius(place_of(cell)) * tree.radius(place_of(cell));
  return rounding * (WalkPlan::size_of_cube * radius_sq);
}

/// Returns a target for a cell on the way to groups that are separate targets.
DistantTarget around_groups(const HostOctree& tree, int cell) {
  const Box& box = tree.box(place_of(cell));
  const float radius_sq = tree.radius(place_of(cell)) * tree.radius(place_of(cell));
  return {.bodies = {box.center(), box.half(), radius_sq, 0}, .is_around = true, .size_limit = size_limit(tree, cell)};
}

/// Returns a target for groups in a box. The ball around some of them may be larger than the ball around all, but it
/// reaches no farther from its center than the box's corners from theirs, except for rounding.
DistantTarget groups_in(const Box& box, float size_limit) {
  const Vec3 center = box.center(), half = box.half();
  const auto reach_sq = [](float at, float size) {
    const float reach = size + 1e-6f * (std::abs(at) + size);
    return reach * reach;
  };
  const float radius_sq = reach_sq(center.x, half.x) + reach_sq(center.y, half.y) + reach_sq(center.z, half.z);
  return {.bodies = {center, half, radius_sq, 0}, .size_limit = size_limit};
}

/// Returns the smallest error of the groups of these bodies.
float least_error(const std::vector<float>& errors, const std::vector<BodyGroup>& groups, BodyRange bodies) {
  const auto before = [](const BodyGroup& group, int body) { return group.begin < body; };
  const auto first = std::lower_bound(groups.begin(), groups.end(), bodies.begin, before);
  const auto last = std::lower_bound(first, groups.end(), bodies.end, before);
  return *std::min_element(errors.begin() + (first - groups.begin()), errors.begin() + (last - groups.begin()));
}

/// Returns `targets` preceded by the targets around all of them.
std::vector<DistantTarget> inside(const std::vector<DistantTarget>& around, const std::vector<DistantTarget>& targets) {
  if (targets.empty()) return {};
  std::vector<DistantTarget> all = around;
  all.insert(all.end(), targets.begin(), targets.end());
  for (std::size_t i = 0; i < around.size(); ++i) all[i].after = static_cast<int>(all.size());
  for (std::size_t i = around.size(); i < all.size(); ++i) all[i].after += static_cast<int>(around.size());
  return all;
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
  constexpr double window = 0.02;  // relative to a mean part
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
    if (begin <= key && key < end) return own;  // nearly all bodies
    return static_cast<int>(std::ranges::upper_bound(inner, key) - inner.begin());
  });
}

/// Counts the bodies in the largest cells on both sides of each border, up to the neighbouring borders. Sets `suit` to
/// whether borders_of_parts() might have chosen these borders.
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
  work.for_each_other([&](int rank) {  // nothing can fail here: all ranks reach the same decision
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

void DomainTree::begin(JointWork& work) {
  work_ = &work;
  others_.assign(place_of(work.size()), {});
  pieces_.assign(place_of(work.size()), {0, 0});
  targets_.clear();
  of_targets_.clear();
}

void DomainTree::build(const Vec4* bodies, int count, std::span<const int> ids, MessageReader& division) {
  work_->attempt([&] {
    const auto cube = division.get<TreeCube>();
    std::vector<std::uint64_t> borders;
    division.get_all(borders);
    const std::size_t own = place_of(work_->rank());
    tree_.make_keys(cube, bodies, count, shape_.threads, work_->cancelled());
    tree_.sort(shape_.threads, work_->cancelled());
    if (!ids.empty() && work_->goes_on()) tree_.sort_equal_keys(ids);  // a cancelled sort is incomplete
    tree_.build(bodies, shape_, work_->cancelled(), {borders.at(own), borders.at(own + 1)});
    tree_.find_moments(shape_, work_->cancelled());
  });
}

void DomainTree::exchange_pieces() {
  std::vector<TreePiece> own;
  work_->attempt([&] {
    own = tree_.pieces();
    const int bodies = static_cast<int>(tree_.keys().size());
    find_targets(0, tree_.piece_count(), std::max(2 * group_, bodies / targets_per_rank));
    work_->put_all_for_all(own);
    work_->put_all_for_all(targets_);
  });
  work_->exchange();
  work_->attempt([&] {
    std::vector<TreePiece> all;
    for (int rank = 0; rank < work_->size(); ++rank) {
      pieces_[place_of(rank)].begin = static_cast<int>(all.size());
      if (rank == work_->rank()) {
        all.insert(all.end(), own.begin(), own.end());
      } else {
        MessageReader message = work_->from(rank);
        message.get_all(all);
        message.get_all(others_[place_of(rank)]);
      }
      pieces_[place_of(rank)].end = static_cast<int>(all.size());
    }
    tree_.join(all, pieces_[place_of(work_->rank())].begin, shape_);
  });
}

/// Finds the targets of neighbouring cells. No groups of these have bodies outside them.
void DomainTree::find_targets(int first, int count, int most) {
  BodyRange small{0, 0};  // neighbours that may form groups
  const auto end_small = [&] {
    if (small.count() == 0) return;
    targets_.push_back(groups_in(tree_.box_of(small), std::numeric_limits<float>::infinity()));
    of_targets_.push_back(small);
    small = {0, 0};
  };
  for (int index = first; index < first + count; ++index) {
    const OctreeCell cell = tree_.cells()[place_of(index)];
    if (cell.bodies.count() <= group_) {
      small = {small.count() > 0 ? small.begin : cell.bodies.begin, cell.bodies.end};
      continue;
    }
    end_small();
    const bool is_around = !cell.is_leaf() && cell.bodies.count() > most;
    const std::size_t number = targets_.size();
    targets_.push_back(is_around ? around_groups(tree_, index)
                                 : groups_in(tree_.box(place_of(index)), least_size_limit(index)));
    of_targets_.push_back(cell.bodies);
    if (is_around) find_targets(cell.first_child, cell.children, most);
    targets_[number].after = static_cast<int>(targets_.size());
  }
  end_small();
}

/// Returns the smallest size limit of the cells on the way from a cell to its groups.
float DomainTree::least_size_limit(int index) const {
  const OctreeCell& cell = tree_.cells()[place_of(index)];
  if (cell.bodies.count() <= group_) return std::numeric_limits<float>::infinity();
  float least = size_limit(tree_, index);
  for (int child = 0; child < cell.children; ++child)
    least = std::min(least, least_size_limit(cell.first_child + child));
  return least;
}

void DomainTree::exchange_opened(const Mark& mark, const std::vector<DistantTarget>& shared, bool moments) {
  work_->attempt([&] {
    work_->for_each_other([&](int rank) {
      std::vector<char> opened(place_of(tree_.top_begin()));
      mark(inside(shared, others_[place_of(rank)]), opened);
      tree_.put_opened(opened, moments, work_->to(rank));
    });
  });
  work_->exchange();
  work_->attempt([&] {
    tree_.close_others();
    work_->for_each_other([&](int rank) {
      MessageReader message = work_->from(rank);
      tree_.take_opened(pieces_[place_of(rank)], shape_, message);
    });
  });
}

void DomainTree::exchange_for_estimates(const Mark& mark) {
  exchange_opened(mark, {}, /*moments=*/false);
}

void DomainTree::exchange_errors(WalkPlan& plan, const std::vector<BodyGroup>& groups) {
  const auto for_each_shared = [&](const auto& use) {
    for (int cell = tree_.top_begin(); cell < tree_.top_end(); ++cell) {
      if (tree_.is_shared(cell)) use(plan.cell_errors[place_of(cell)]);
    }
  };
  work_->attempt([&] {
    std::vector<float> errors, of_shared;
    for (const BodyRange& bodies : of_targets_) errors.push_back(least_error(plan.group_errors, groups, bodies));
    for_each_shared([&](float error) { of_shared.push_back(error); });
    work_->put_all_for_all(errors);
    work_->put_all_for_all(of_shared);
  });
  work_->exchange();
  work_->attempt([&] {
    work_->for_each_other([&](int rank) {
      MessageReader message = work_->from(rank);
      std::vector<float> errors, of_shared;
      message.get_all(errors);
      message.get_all(of_shared);
      for (std::size_t i = 0; i < errors.size(); ++i) others_[place_of(rank)].at(i).bodies.error = errors[i];
      std::size_t next = 0;
      for_each_shared([&](float& error) { error = std::min(error, of_shared.at(next++)); });
    });
  });
}

void DomainTree::exchange_for_walk(const WalkPlan& plan, const Mark& mark) {
  std::vector<DistantTarget> shared;
  work_->attempt([&] {
    for (int cell = tree_.top_begin(); cell < tree_.top_end(); ++cell) {
      if (!tree_.is_shared(cell)) continue;
      shared.push_back(around_groups(tree_, cell));
      shared.back().bodies.error = plan.cell_errors[place_of(cell)];
    }
  });
  exchange_opened(mark, shared, /*moments=*/true);
}

bool DomainTree::exchange_for_bodies(const std::vector<LeftBody>& bodies, const Mark& mark) {
  std::size_t all = tree_.keys().size(), alone = bodies.size();
  work_->attempt([&] {
    std::vector<DistantTarget> targets;
    for (const LeftBody& body : bodies) {
      const Vec4& at = tree_.bodies()[place_of(body.place)];
      targets.push_back({.bodies = {{at.x, at.y, at.z}, {}, 0, body.error}});
    }
    work_->put_for_all(all);
    work_->put_all_for_all(targets);
  });
  if (!work_->exchange()) return false;
  // Nothing can fail here: all ranks reach the same decision.
  work_->for_each_other([&](int rank) {
    MessageReader message = work_->from(rank);
    all += message.get<std::size_t>();
    alone += message.get<std::size_t>();
  });
  if (alone == 0 || alone > place_of(most_lone(static_cast<int>(all)))) return false;
  work_->attempt([&] {
    work_->for_each_other([&](int rank) {
      others_[place_of(rank)].clear();
      MessageReader message = work_->from(rank);
      (void)message.get<std::size_t>();
      message.get_all(others_[place_of(rank)]);
    });
  });
  exchange_opened(mark, {}, /*moments=*/true);
  return true;
}

std::int64_t DomainTree::own_cells() const {
  const int around = work_->rank() == 0 ? tree_.top_end() - tree_.top_begin() : 0;  // including the pieces of all ranks
  return tree_.top_begin() - tree_.piece_count() + around;
}

}  // namespace orrery
