// Barnes-Hut on the CPU: groups of bodies walk an octree, in one process or in several ranks.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/threads.h"
#include "compute/kernels/division.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/simd.h"
#include "compute/kernels/parts/tunables.h"
#include "compute/kernels/tree/host_octree.h"
#include "compute/kernels/tree/host_walk.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {
namespace {

// Division of the bodies among ranks, and exchange of the cells and bodies that their walks need.

/// Returns the stride from one sampled key to the next, if there are `all` keys.
std::size_t stride_of_sample(std::size_t all) {
  constexpr std::size_t most = 2048;
  return (all + most - 1) / most;
}

/// A border between two neighbouring keys of the sample, which are in different cells of `level`.
struct Border {
  std::uint64_t key;
  int level;
};

/// Calls use() for the end of the cell before keys[place], and for the begin of the cell after it. Skips cells with at
/// most `least` bodies of the sample. Other bodies may lie between the two cells.
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

/// Returns the border of the largest cell within `window` of place `wanted` in the sample. If there is none, returns
/// the nearest border, or else the end of all keys.
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

/// Returns the number of keys in the largest cells that begin or end at this border, which is within the cube.
std::uint64_t keys_beside(std::uint64_t border) {
  return keys_in_cell(key_levels - std::countr_zero(border) / 3);
}

void add_sums(Vec3d& sums, const Vec3d& other) {
  sums.x += other.x;
  sums.y += other.y;
  sums.z += other.z;
}

/// Minimum number of distant targets into which a rank with many bodies gathers its groups. If there are fewer, each
/// target is larger and needs more cells of other ranks. If there are more, finding these cells takes longer.
constexpr int targets_per_rank = 16;

/// Returns the squared size with which a cell on the path to groups compares others, reduced to allow for rounding.
float size_limit(const HostOctree& tree, int cell) {
  constexpr float rounding = 0.999f;
  const float radius_sq = tree.radius(place_of(cell)) * tree.radius(place_of(cell));
  return rounding * (WalkPlan::size_of_cube * radius_sq);
}

/// Returns a target for a cell on the path to groups that are separate targets.
DistantTarget around_groups(const HostOctree& tree, int cell) {
  const Box& box = tree.box(place_of(cell));
  const float radius_sq = tree.radius(place_of(cell)) * tree.radius(place_of(cell));
  return {.bodies = {box.center(), box.half(), radius_sq, 0}, .is_around = true, .size_limit = size_limit(tree, cell)};
}

/// Returns a target for the groups in a box. Its radius is the distance from the box's center to a corner. Except for
/// rounding, no ball around some of the groups has a larger radius.
DistantTarget groups_in(const Box& box, float size_limit) {
  const Vec3 center = box.center(), half = box.half();
  const auto reach_sq = [](float at, float size) {
    const float reach = size + 1e-6f * (std::abs(at) + size);
    return reach * reach;
  };
  const float radius_sq = reach_sq(center.x, half.x) + reach_sq(center.y, half.y) + reach_sq(center.z, half.z);
  return {.bodies = {center, half, radius_sq, 0}, .size_limit = size_limit};
}

/// Returns the smallest allowed error among the groups of these bodies.
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

/// Returns the bounds of the ranks' key ranges: one more than there are ranks, ascending. `keys`: a sample of all keys,
/// ascending. Each inner border lies between two octree cells, one of which has more than `least` bodies. So no leaf
/// and no group of up to `least` bodies spans two ranks. If no such border is near the end of a part, a rank gets fewer
/// bodies, or none.
std::vector<std::uint64_t> borders_of_parts(std::span<const std::uint64_t> keys, std::span<const Part> parts,
                                            int least) {
  constexpr double window = 0.02;  // relative to the mean size of a part
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

/// Returns the same borders, given all bodies.
std::vector<std::uint64_t> borders_of_parts(std::span<const KeyedBody> bodies, std::span<const Part> parts, int least) {
  std::vector<std::uint64_t> sample;
  for (std::size_t i = 0; i < bodies.size(); i += stride_of_sample(bodies.size())) sample.push_back(bodies[i].key);
  std::ranges::sort(sample);
  return borders_of_parts(sample, parts, least);
}

/// Returns a sample of these keys, in their order, that is large enough to find borders among `all` keys.
std::vector<std::uint64_t> sample_of_keys(std::span<const std::uint64_t> keys, std::size_t all) {
  std::vector<std::uint64_t> sample;
  for (std::size_t i = 0; i < keys.size(); i += stride_of_sample(all)) sample.push_back(keys[i]);
  return sample;
}

/// Division of bodies that stay on their ranks between evaluations. No rank sees all bodies. The borders stay fixed in
/// the root cube until other parts are requested, or a border no longer suits the bodies.
class DomainDecomposition {
 public:
  /// Divides the bodies, see DomainFacet::divide_own(). `least`: see borders_of_parts().
  MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew, int least,
                       CollectiveWork& work, std::vector<int>& owners) {
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

 private:
  // Each of these functions returns whether all ranks continue.
  bool find_cube(std::span<const Vec4> bodies, CollectiveWork& work) {
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

  /// Counts the bodies in the largest cells on both sides of each border, up to the neighbouring borders. Sets `suit`
  /// to whether borders_of_parts() might have chosen these borders.
  bool borders_suit(int least, CollectiveWork& work, std::vector<int>& owners, bool& suit) {
    work.attempt([&] {
      beside_.assign(2 * borders_.size(), 0);
      of_other_.assign(beside_.size(), 0);
      find_owners(work.rank(), owners);
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        const std::size_t left = index_of(owners[i]), right = left + 1;  // indices of the owner's borders
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

  bool find_borders(std::span<const Part> parts, int least, CollectiveWork& work, std::vector<int>& owners) {
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

  /// Finds the rank of each key by the borders. `own`: this rank, which has most of the keys.
  void find_owners(int own, std::vector<int>& owners) const {
    owners.resize(keys_.size());
    const std::span inner = std::span{borders_}.subspan(1, borders_.size() - 2);
    const std::uint64_t begin = borders_[index_of(own)], end = borders_[index_of(own) + 1];
    std::ranges::transform(keys_, owners.begin(), [&](std::uint64_t key) {
      if (begin <= key && key < end) return own;  // nearly all bodies
      return static_cast<int>(std::ranges::upper_bound(inner, key) - inner.begin());
    });
  }

  TreeCube cube_;
  std::int64_t count_ = 0;           // number of all bodies
  std::vector<std::uint64_t> keys_;  // keys of this rank's bodies
  std::vector<std::uint64_t> borders_;
  std::vector<std::int64_t> beside_, of_other_;  // see borders_suit()
};

/// Evaluates forces on ranks that each have a part of the bodies. Each rank builds the octree of its bodies and
/// receives the cells and bodies of other ranks that its groups need (a locally essential tree: Salmon 1990, PhD
/// thesis, Caltech; Warren & Salmon 1992). It receives all cells that the walk of one tree of all bodies may open. So
/// walks and accelerations equal those of one process.
class EssentialTree {
 public:
  /// All arguments must outlive this object. `group`: maximum number of bodies that walk together.
  EssentialTree(HostOctree& tree, const HostOctree::Shape& shape, int group)
      : tree_{tree}, shape_{shape}, group_{group} {}

  // Every rank calls these functions in this order. All but the first two exchange messages, even after a failure.
  /// Begins an evaluation, during which `work` must live.
  void begin(CollectiveWork& work) {
    work_ = &work;
    others_.assign(place_of(work.size()), {});
    pieces_.assign(place_of(work.size()), {0, 0});
    targets_.clear();
    of_targets_.clear();
  }

  /// Builds this rank's tree. `ids`: see DomainFacet::evaluate_domain().
  void build(const Vec4* bodies, int count, std::span<const int> ids, MessageReader& division) {
    work_->attempt([&] {
      const auto cube = division.get<TreeCube>();
      std::vector<std::uint64_t> borders;
      division.get_all(borders);
      const std::size_t own = place_of(work_->rank());
      tree_.make_keys(cube, bodies, count, shape_.threads, work_->cancelled());
      tree_.sort(shape_.threads, work_->cancelled());
      if (!ids.empty() && work_->ok()) tree_.sort_equal_keys(ids);  // a cancelled sort is incomplete
      tree_.build(bodies, shape_, work_->cancelled(), {borders.at(own), borders.at(own + 1)});
      tree_.find_moments(shape_, work_->cancelled());
    });
  }

  void exchange_pieces() {
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

  /// Function that marks, by index, the cells of this rank that some group of these targets may open.
  using Mark = std::function<void(const std::vector<DistantTarget>& targets, std::vector<char>& opened)>;
  /// Exchanges the coarse cells that acceleration estimates need.
  void exchange_for_estimates(const Mark& mark) { exchange_opened(mark, {}, /*moments=*/false); }
  /// Completes the allowed errors of shared cells and of the other ranks' targets.
  void exchange_errors(WalkPlan& plan, const std::vector<BodyGroup>& groups) {
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

  /// Exchanges the cells and bodies that the groups' walks need. Reads only the errors of `plan`, which must be
  /// complete.
  void exchange_for_walk(const WalkPlan& plan, const Mark& mark) {
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

  /// Exchanges the cells and bodies that this rank's lone bodies need. Returns false, on all ranks, if the ranks
  /// together have none or too many such bodies, or after a failure. Only one exchange has then taken place.
  bool exchange_for_bodies(const std::vector<LeftBody>& bodies, const Mark& mark) {
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

  /// Returns how many cells of the tree of all bodies this rank counts. Exactly one rank counts each cell.
  std::int64_t own_cells() const {
    const int around =
        work_->rank() == 0 ? tree_.top_end() - tree_.top_begin() : 0;  // including the pieces of all ranks
    return tree_.top_begin() - tree_.piece_count() + around;
  }

 private:
  /// Finds the targets of `count` neighbouring cells. No group of these cells has bodies outside them.
  void find_targets(int first, int count, int most) {
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

  /// Returns the smallest size limit of the cells on the path from a cell to its groups.
  float least_size_limit(int index) const {
    const OctreeCell& cell = tree_.cells()[place_of(index)];
    if (cell.bodies.count() <= group_) return std::numeric_limits<float>::infinity();
    float least = size_limit(tree_, index);
    for (int child = 0; child < cell.children; ++child)
      least = std::min(least, least_size_limit(cell.first_child + child));
    return least;
  }

  void exchange_opened(const Mark& mark, const std::vector<DistantTarget>& shared, bool moments) {
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

  HostOctree& tree_;
  const HostOctree::Shape& shape_;
  int group_;
  CollectiveWork* work_ = nullptr;
  std::vector<DistantTarget> targets_;              // targets of this rank
  std::vector<BodyRange> of_targets_;               // bodies of each of these targets
  std::vector<std::vector<DistantTarget>> others_;  // one entry per rank
  std::vector<BodyRange> pieces_;                   // pieces of each rank, as a range among all ranks' pieces
};

// The kernel.

constexpr const char* theta_values[] = {"0.2", "0.25", "0.3", "0.4", "0.5", "0.6", "0.7", "0.75", "0.8", "1.0"};
constexpr const char* candidates[] = {"", "leaf=32", "leaf=32 order=high tolerance=1e-4"};
constexpr Tunable tunables[] = {
    threads_tunable,
    {.name = "theta",
     .notes = "A cell counts as a whole only beyond its size divided by theta. Smaller: slower, more exact.",
     .values = theta_values,
     .initial = "1.0",
     .numbers = Range<double>{0.05, 1.0}},
    tolerance_tunable,
    leaf_tunable("16"),
    {.name = "group",
     .notes = "Neighbouring bodies that walk the tree together, and share one list of what they meet, at most.",
     .values = group_values.names(),
     .initial = "32"},
    order_tunable};

/// Measures the times of the phases of an evaluation.
class PhaseClock {
 public:
  void end_phase(const char* name, std::vector<TreePhase>& phases) {
    const auto now = std::chrono::steady_clock::now();
    phases.push_back({name, std::chrono::duration<double, std::milli>(now - begin_).count()});
    begin_ = now;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class CpuTree final : public ForceKernel, public TreeFacet, public DomainFacet {
 public:
  explicit CpuTree(const Settings& settings)
      : shape_{.leaf = settings.integer("leaf"),
               .threads = thread_count(settings),
               .theta = theta(settings),
               .far = far_field(settings)},
        tolerance_{tolerance(settings)},
        group_{settings.integer("group")} {}

  void do_evaluate(const ForceArgs& args) override {
    TreeReport report;
    PhaseClock clock;
    const auto run = [&](const char* name, const auto& phase) {
      if (cancelled(args)) return;
      phase();
      clock.end_phase(name, report.phases);
    };
    run("keys", [&] {
      tree_.make_keys(HostOctree::cube_of(args.bodies, args.count), args.bodies, args.count, shape_.threads,
                      args.cancelled);
    });
    run("sort", [&] { tree_.sort(shape_.threads, args.cancelled); });
    run("build", [&] { tree_.build(args.bodies, shape_, args.cancelled); });
    run("moments", [&] { tree_.find_moments(shape_, args.cancelled); });
    run("walk", [&] {
      begin_walk(args);
      if (tolerance_ > 0) find_errors(args);
      GroupPlan plan = group_plan(args);
      walk(args, plan);
      if (alone_.size() <= static_cast<std::size_t>(most_lone(args.count))) {
        walk_alone(args, plan);
      } else {
        finish_left(args);
      }
      count(args, report);
    });
    report_.reset();
    if (cancelled(args)) return;
    report.cells = static_cast<std::int64_t>(tree_.cells().size());
    end(args, std::move(report));
  }

  DomainFacet* domains() override { return this; }
  MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, std::vector<int>& owners) override {
    const int count = static_cast<int>(bodies.size());
    const TreeCube cube = HostOctree::cube_of(bodies.data(), count);
    tree_.make_keys(cube, bodies.data(), count, shape_.threads, nullptr);
    const std::vector<std::uint64_t> borders = borders_of_parts(tree_.keys(), parts, std::max(shape_.leaf, group_));
    owners.resize(bodies.size());
    for (const KeyedBody& body : tree_.keys()) {
      int owner = 0;
      for (std::size_t rank = 1; rank < parts.size(); ++rank) owner += body.key >= borders[rank];
      owners[body.body] = owner;
    }
    MessageWriter division;
    division.put(cube);
    division.put_all(borders);
    return division;
  }

  MessageWriter divide_own(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew, CollectiveWork& work,
                           std::vector<int>& owners) override {
    return decomposition_.divide(bodies, parts, anew, std::max(shape_.leaf, group_), work, owners);
  }
  void evaluate_domain(const ForceArgs& args, std::span<const int> ids, MessageReader division,
                       CollectiveWork& work) override {
    TreeReport report;
    PhaseClock clock;
    domain_.begin(work);
    domain_.build(args.bodies, args.count, ids, division);
    plan_.emplace(plan_for(args));
    clock.end_phase("build", report.phases);
    domain_.exchange_pieces();
    work.attempt([&] { begin_walk(args); });
    if (tolerance_ > 0) {
      domain_.exchange_for_estimates([&](const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
        mark_for_estimate(*plan_, targets, opened);
      });
      work.attempt([&] { find_errors(args); });
      domain_.exchange_errors(*plan_, groups_);
    }
    domain_.exchange_for_walk(*plan_, [&](const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
      mark_for_walk(*plan_, targets, opened);
    });
    clock.end_phase("exchange", report.phases);
    std::optional<GroupPlan> plan;
    work.attempt([&] {
      plan.emplace(group_plan(args));
      walk(args, *plan);
    });
    if (may_walk_alone(args)) {
      const bool alone = domain_.exchange_for_bodies(
          alone_, [&](const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
            mark_for_walk(plan->alone, targets, opened);
          });
      work.attempt([&] { alone ? walk_alone(args, *plan) : finish_left(args); });
    }
    work.attempt([&] { count(args, report); });
    clock.end_phase("walk", report.phases);
    report_.reset();
    if (!work.ok()) return;
    report.cells = domain_.own_cells();
    end(args, std::move(report));
  }

  TreeFacet* tree() override { return this; }
  std::optional<TreeReport> report() const override { return report_; }
  void pick_cells(const CellRequest& request, CUstream_st* /*stream*/) override {
    picked_.reset();
    if (!report_) return;
    picked_ = tree_.cubes(request);
    const auto count = static_cast<int>(tree_.bodies().size());
    if (request.walk_of >= 0 && request.walk_of < count && !tree_.is_joined()) picked_->walk = walk_of(request.walk_of);
  }

  std::optional<PickedCells> cells() const override { return picked_; }
  std::string chosen(int /*count*/, const MassRange& /*masses*/) const override {
    return std::string{walk_target_name()} + ", threads " + std::to_string(shape_.threads);
  }

 private:
  void begin_walk(const ForceArgs& args) {
    while (static_cast<int>(work_.size()) < shape_.threads) work_.push_back(std::make_unique<GroupWork>());
    for (const auto& work : work_) {
      work->alone.clear();
      work->with_bodies = work->with_cells = work->walk.with_distant = 0;
      work->lacks_cells = false;
    }
    groups_ = tree_.groups(group_);
    plan_.emplace(plan_for(args));
    plan_->group_errors.resize(groups_.size());
    plan_->cell_errors.resize(tree_.cells().size());
    alone_.clear();
  }

  WalkPlan plan_for(const ForceArgs& args) const {
    return {tree_, shape_.theta, far_for(args.law), tolerance_ > 0, law_in(tree_.units(), args.law)};
  }
  /// Returns whether bodies may walk alone. Under attract-repel, any number might, since pulls of both signs balance.
  bool may_walk_alone(const ForceArgs& args) const { return tolerance_ > 0 && args.law.id == LawId::gravity; }
  GroupPlan group_plan(const ForceArgs& args) {
    WalkPlan alone = plan_for(args);
    if (alone.expands()) alone.far = FarField::quadrupole;
    return {*plan_, std::move(alone), groups_, mark_targets(args), rows_, tolerance_, may_walk_alone(args)};
  }

  /// Walks all groups, and collects the bodies that need separate walks in alone_.
  void walk(const ForceArgs& args, const GroupPlan& plan) {
    // A thread takes 32 neighbouring groups at a time, since they share most levels of their walks.
    for_each_work(args, groups_.size(), 32, [&](std::size_t first, std::size_t last, GroupWork& work) {
      evaluate_groups(args, plan, first, last, work);
    });
    for (const auto& work : work_) alone_.insert(alone_.end(), work->alone.begin(), work->alone.end());
  }

  void walk_alone(const ForceArgs& args, const GroupPlan& plan) {
    for_each_work(args, alone_.size(), 8, [&](std::size_t first, std::size_t last, GroupWork& work) {
      evaluate_alone(args, plan, alone_, first, last, work);
    });
  }

  /// Finishes the bodies that were to walk alone, because there are too many of them. They get the accelerations from
  /// their groups' walks.
  void finish_left(const ForceArgs& args) const {
    const TreeUnits units = tree_.units();
    for (const LeftBody& body : alone_) {
      args.epilogue.finish(tree_.original(body.place), units.mass(tree_.bodies()[place_of(body.place)].w),
                           units.acceleration(body.acceleration));
    }
  }

  /// Adds up the interactions and vector instructions of all threads.
  void count(const ForceArgs& args, TreeReport& report) const {
    for (const auto& work : work_) {
      if (work->lacks_cells) throw std::logic_error("cpu-tree opened a cell of another rank that it did not get");
      report.interactions += work->with_bodies + work->with_cells + work->walk.with_distant;
      const double per_distant =
          plan_->far == FarField::high ? instructions_per_high_cell : instructions_per_distant_cell;
      report.vector_instructions += simd_arithmetic.operations(args.law.id) * static_cast<double>(work->with_bodies) +
                                    cell_arithmetic.operations(args.law.id) * static_cast<double>(work->with_cells) +
                                    per_distant * static_cast<double>(work->walk.with_distant);
    }
  }

  void end(const ForceArgs& args, TreeReport report) {
    report.depth = tree_.depth();
    if (args.evaluated) *args.evaluated += static_cast<std::uint64_t>(report.interactions);
    report_ = std::move(report);
  }

  /// Returns the far field for a law: repulsion has no expansions.
  FarField far_for(const Law& law) const {
    const bool expands = shape_.far == FarField::local || shape_.far == FarField::high;
    return expands && law.id != LawId::gravity ? FarField::quadrupole : shape_.far;
  }

  /// Calls use(first, last, work) for chunks of `count` items.
  template <class Use>
  void for_each_work(const ForceArgs& args, std::size_t count, int chunk, const Use& use) {
    const auto step = static_cast<std::size_t>(chunk);
    std::atomic<std::size_t> next = 0;
    run_team(shape_.threads, [&](int slot) {
      for (std::size_t first = next.fetch_add(step); first < count && !cancelled(args); first = next.fetch_add(step)) {
        use(first, std::min(first + step, count), *work_[static_cast<std::size_t>(slot)]);
      }
    });
  }

  /// Sets the largest allowed errors of cells' pulls: for a group, a fraction of its acceleration; for a cell, the
  /// minimum over its groups.
  void find_errors(const ForceArgs& args) {
    constexpr float least = 1e-35f;  // keeps quotients with this divisor finite
    for_each_work(args, groups_.size(), 32, [&](std::size_t first, std::size_t last, GroupWork& work) {
      for (std::size_t g = first; g < last; ++g) {
        const float pull = estimate_acceleration(*plan_, groups_[g], work.walk.queue);
        plan_->group_errors[g] = std::max(least, tolerance_ * pull);  // `least` if the pull is NaN
      }
    });
    std::ranges::fill(plan_->cell_errors, std::numeric_limits<float>::infinity());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const float error = plan_->group_errors[g];
      for (int cell = groups_[g].cell; cell >= 0; cell = tree_.cells()[static_cast<std::size_t>(cell)].parent) {
        float& of_cell = plan_->cell_errors[static_cast<std::size_t>(cell)];
        if (of_cell <= error) break;
        of_cell = error;
      }
    }
  }

  /// Returns the cells and bodies that the group of a body interacted with in the latest evaluation.
  BodyWalk walk_of(int body) const {
    int place = 0;
    while (tree_.original(place) != body) ++place;
    const auto group = std::ranges::find_if(groups_, [&](BodyRange g) { return g.begin <= place && place < g.end; });
    GroupWalk walk;
    find_walk(*plan_, *group, plan_->group_errors[static_cast<std::size_t>(group - groups_.begin())], walk);
    BodyWalk shown;
    const auto show = [&](const CellNumbers& cells, std::vector<TreeCell>& cubes) {
      for (int i = 0; i < cells.count(); ++i) cubes.push_back(tree_.cube(static_cast<std::size_t>(cells[i])));
    };
    for (int k = 0; k < walk.depth; ++k) show(walk.levels[static_cast<std::size_t>(k)].distant, shown.cells);
    show(walk.distant, shown.cells);
    show(walk.cells, shown.cells);
    show(walk.leaves, shown.leaves);
    for (int i = 0; i < walk.leaves.count(); ++i) {
      shown.bodies += tree_.cells()[static_cast<std::size_t>(walk.leaves[i])].bodies.count();
    }
    return shown;
  }

  /// Sets and returns GroupPlan::is_target for these arguments.
  const char* mark_targets(const ForceArgs& args) {
    if (!args.targets) return nullptr;
    is_target_.assign(static_cast<std::size_t>(args.count), 0);
    for (int k = 0; k < args.targets.count; ++k) is_target_[static_cast<std::size_t>(args.targets.body(k))] = 1;
    return is_target_.data();
  }

  HostOctree::Shape shape_;
  float tolerance_;  ///< 0: off
  int group_;
  int rows_ = rows_for_this_processor();
  HostOctree tree_;
  EssentialTree domain_{tree_, shape_, group_};
  DomainDecomposition decomposition_;
  std::vector<BodyGroup> groups_;
  std::optional<WalkPlan> plan_;                  ///< plan of the latest evaluation
  std::vector<std::unique_ptr<GroupWork>> work_;  ///< one per thread
  std::vector<LeftBody> alone_;                   ///< bodies that walk alone in the latest evaluation
  std::vector<char> is_target_;
  std::optional<TreeReport> report_;  ///< none if the latest evaluation was cancelled
  std::optional<PickedCells> picked_;
};

}  // namespace

ORRERY_KERNEL(
    cpu_tree, .id = "cpu-tree", .title = "CPU tree",
    .notes =
        "Barnes-Hut: groups of bodies walk an octree; far cells count by mass and quadrupole, and the farthest through "
        "expansions for the group and the cells around it. Repulsion counts by mass alone.",
    .source = "M. Zahran, GPUs, lecture 13, Barnes-Hut, in the form of Bonsai",
    .lesson =
        "Far bodies can be met together: N log N interactions instead of N^2, at an error that theta sets. Neighbours "
        "meet nearly the same cells, so a group walks the tree once and its lists feed vectors.",
    .backend = Backend::cpu, .tunables = tunables, .tolerance = {.median = 1e-3, .max = 5e-1}, .takes_targets = true,
    .is_tree = true, .full_fp32 = false, .candidates = candidates, .create = create_kernel<CpuTree>);

}  // namespace orrery
