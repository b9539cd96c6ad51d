// Walk of cpu-tree. Highway compiles this file once for each instruction set and picks one at run time.
#include "compute/kernels/tree/host_walk.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/tree/host_walk.cpp"
// Must follow HWY_TARGET_INCLUDE.
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/core/threads.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/simd.h"
#include "compute/kernels/parts/tunables.h"
#include "compute/kernels/tree/host_octree.h"
#include "compute/kernels/tree/tree_tunables.h"

#ifndef ORRERY_HOST_WALK_ONCE
#define ORRERY_HOST_WALK_ONCE
namespace orrery {
namespace {

static_assert(max_group % max_simd_rows == 0);
static_assert(max_lanes <= read_ahead);

/// Fills `targets` with the wanted bodies of the group. Returns their number.
int find_targets(const GroupPlan& plan, BodyRange group, std::array<int, max_group>& targets) {
  int count = 0;
  for (int body = group.begin; body < group.end; ++body) {
    if (!plan.is_target || plan.is_target[plan.walk.tree.original(body)]) {
      targets[static_cast<std::size_t>(count++)] = body;
    }
  }
  return count;
}

}  // namespace
}  // namespace orrery
#endif

HWY_BEFORE_NAMESPACE();
namespace orrery::HWY_NAMESPACE {
namespace {

// Interactions of cells and bodies with the bodies of a group.

#include "compute/kernels/parts/simd.inl"
#include "compute/kernels/parts/simd_pull.inl"

HWY_INLINE Lanes constant_like(Lanes, float value) {
  return lanes(value);
}
#include "compute/kernels/tree/multipole.inl"

/// Factor of the sums. visit_pair_law_of_lanes() expects scaled masses; here, the sums are scaled at the end instead.
constexpr float of_sums = lane_mass_scale;

#if HWY_TARGET != HWY_SCALAR
/// Loads a vector of four floats from each of rows[0], rows[4], ...
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_fours(Tag tag, const float* const* rows, int offset) {
  if constexpr (hn::MaxLanes(Tag{}) == 4) {
    return hn::LoadU(tag, rows[0] + offset);
  } else {
    const hn::Half<Tag> half;
    constexpr int rows_in_half = hn::MaxLanes(half);
    return hn::Combine(tag, load_fours(half, rows + rows_in_half, offset), load_fours(half, rows, offset));
  }
}
#endif

/// Copies rows of `blocks` x 4 floats, one row per lane, into columns: value i of all rows becomes the vector at
/// columns + i * stride.
template <int blocks>
HWY_INLINE void load_columns(const float* const (&rows)[lane_count], float* columns, int stride) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 4 * blocks; ++i) columns[i * stride] = rows[0][i];
#else
  constexpr FloatTag tag;
  for (int i = 0; i < 4 * blocks; i += 4, columns += 4 * stride) {
    const Vector a = load_fours(tag, rows, i), b = load_fours(tag, rows + 1, i), c = load_fours(tag, rows + 2, i),
                 d = load_fours(tag, rows + 3, i);
    const Vector ac = hn::InterleaveLower(tag, a, c), bd = hn::InterleaveLower(tag, b, d),
                 ac_high = hn::InterleaveUpper(tag, a, c), bd_high = hn::InterleaveUpper(tag, b, d);
    store({hn::InterleaveLower(tag, ac, bd)}, columns);
    store({hn::InterleaveUpper(tag, ac, bd)}, columns + stride);
    store({hn::InterleaveLower(tag, ac_high, bd_high)}, columns + 2 * stride);
    store({hn::InterleaveUpper(tag, ac_high, bd_high)}, columns + 3 * stride);
  }
#endif
}

/// Appends bodies to a list that has room for them.
HWY_INLINE void append(BodyList& list, const HostOctree& tree, BodyRange bodies) {
  float* const to[] = {list.x + list.count, list.y + list.count, list.z + list.count, list.mass + list.count};
  const float* const from[] = {tree.column(0) + bodies.begin, tree.column(1) + bodies.begin,
                               tree.column(2) + bodies.begin, tree.column(3) + bodies.begin};
  for (int i = 0; i < bodies.count(); i += lane_count) {
    for (int axis = 0; axis < 4; ++axis) hn::StoreU(load_unaligned(from[axis] + i).v, FloatTag{}, to[axis] + i);
  }
  list.count += bodies.count();
}

/// Prefetches the rows of up to lane_count cells for a later load_rows().
template <class Row>
HWY_INLINE void prefetch_rows(const std::vector<Row>& all, const int* cells, int count) {
  constexpr std::size_t line = 64;
  for (int lane = 0; lane < std::min(lane_count, count); ++lane) {
    const char* row = reinterpret_cast<const char*>(&all[static_cast<std::size_t>(cells[lane])]);
    for (std::size_t at = 0; at < sizeof(Row); at += line) hwy::Prefetch(row + at);
  }
}

/// Copies the rows of `count` <= lane_count cells into columns. The remaining lanes hold `last`: the center of the last
/// cell, in the first four floats, without moments.
template <class Row>
HWY_INLINE void load_rows(const std::vector<Row>& all, const int* cells, int count, const Row& last, float* columns,
                          int stride) {
  const float* rows[lane_count];
  for (int lane = 0; lane < lane_count; ++lane) {
    const Row& row = lane < count ? all[static_cast<std::size_t>(cells[lane])] : last;
    rows[lane] = reinterpret_cast<const float*>(&row);
  }
  load_columns<sizeof(Row) / (4 * sizeof(float))>(rows, columns, stride);
}

/// Fills a list with `count` cells, at most CellList::capacity. Pads the last vector with cells without moments.
/// Returns the padded number.
HWY_NOINLINE int fill_cells(const HostOctree& tree, const int* cells, int count, CellList& list) {
  const std::vector<SecondRow>& rows = tree.second_rows();
  SecondRow last{rows[static_cast<std::size_t>(cells[count - 1])].center, {}};
  last.center.w = 0;
  int filled = 0;
  for (; filled < count; filled += lane_count) {
    prefetch_rows(rows, cells + filled + lane_count, count - filled - lane_count);
    load_rows(rows, cells + filled, std::min(lane_count, count - filled), last, list.columns[0] + filled,
              CellList::capacity);
  }
  return filled;
}
HWY_INLINE Lanes load_value(const CellList& cells, int value, int j) {
  return load(cells.columns[value] + j);
}
HWY_INLINE Quadrupole<Lanes> load_quadrupole(const CellList& cells, int j) {
  const auto value = [&](int i) { return load_value(cells, 4 + i, j); };
  return {value(0), value(1), value(2), value(3), value(4), value(5), value(6)};
}

/// Adds the pull of a list's first `padded_count` cells (whole vectors) on a point to the point's lane sums. Takes one
/// point at a time: two need more registers than AVX2 has, and took 5 % longer.
template <class PairLaw>
HWY_NOINLINE void add_cells(const CellList& cells, int padded_count, const PairLaw& pair_law, const Vec4& at,
                            float* sums) {
  const PairLaw law = pair_law;
  constexpr float scale_sq = lane_root_scale * lane_root_scale;
  const QuadrupoleUnits<Lanes> units{lanes(1 / (scale_sq * scale_sq * lane_root_scale * of_sums)),
                                     lanes(-2.5f / scale_sq)};
  const Vec3Of<Lanes> point{lanes(at.x), lanes(at.y), lanes(at.z)};
  Vec3Of<Lanes> sum{lanes(0), lanes(0), lanes(0)};
  for (int j = 0; j < padded_count; j += lane_count) {
    add_cell_pull(sum, law, units, load_value(cells, 0, j) - point.x, load_value(cells, 1, j) - point.y,
                  load_value(cells, 2, j) - point.z, load_value(cells, 3, j), load_quadrupole(cells, j));
  }
  add_lane_sums<1>(&sum.x, &sum.y, &sum.z, sums);
}

/// Adds the field of the first `padded_count` cells of a list (whole vectors) to an expansion around a point.
template <class PairLaw>
HWY_NOINLINE void add_distant_cells(const CellList& cells, int padded_count, const PairLaw& law, const Vec3& center,
                                    orrery::LocalExpansion<float>& expansion) {
  LocalExpansion<Lanes> sum;
  std::ranges::fill(sum.at, lanes(0));
  const Lanes unscale = lanes(1 / lane_root_scale);
  for (int j = 0; j < padded_count; j += lane_count) {
    const Lanes dx = load_value(cells, 0, j) - lanes(center.x), dy = load_value(cells, 1, j) - lanes(center.y),
                dz = load_value(cells, 2, j) - lanes(center.z);
    add_distant_cell(sum, law.inverse_distance(dx, dy, dz) * unscale, dx, dy, dz, load_value(cells, 3, j),
                     load_quadrupole(cells, j));
  }
  for (int term = 0; term < orrery::LocalExpansion<float>::terms; ++term)
    expansion.at[term] += sum_of_lanes(sum.at[term]);
}

/// Adds the field of cells with high moments to an expansion around a point.
template <class PairLaw>
HWY_NOINLINE HWY_FLATTEN void add_high_cells(const HostOctree& tree, const CellNumbers& cells, const PairLaw& law,
                                             const Vec3& center, orrery::high::Expansion& expansion) {
  if (cells.count() == 0) return;
  const std::vector<HighRow>& rows = tree.high_rows();
  const HighRow& last_row = rows[static_cast<std::size_t>(cells[cells.count() - 1])];
  HighRow last;
  std::copy_n(last_row.at + 1, 3, last.at + 1);
  high::ExpansionOf<Lanes> sum;
  std::ranges::fill(sum.at, lanes(0));
  const Lanes unscale = lanes(1 / lane_root_scale);
  high::MomentsOf<Lanes> moments;
  for (int i = 0; i < cells.count(); i += lane_count) {
    prefetch_rows(rows, cells.data() + i + lane_count, cells.count() - i - lane_count);
    load_rows(rows, cells.data() + i, std::min(lane_count, cells.count() - i), last,
              reinterpret_cast<float*>(moments.at), lane_count);
    const Lanes dx = moments.at[1] - lanes(center.x), dy = moments.at[2] - lanes(center.y),
                dz = moments.at[3] - lanes(center.z);
    high::add_distant_cell(sum, law.inverse_distance(dx, dy, dz) * unscale, dx, dy, dz, moments);
  }
  for (int term = 1; term < high::field_terms; ++term) expansion.at[term] += sum_of_lanes(sum.at[term]);
}

/// Adds the pull of an expansion around `center` on `padded_count` points (whole vectors) to their accelerations.
template <class Expansion>
HWY_NOINLINE HWY_FLATTEN void add_pull_of(const Expansion& expansion, const Vec3& center, const GroupPoints& points,
                                          int padded_count, GroupPoints& accelerations) {
  for (int i = 0; i < padded_count; i += lane_count) {
    const Lanes x = load(points.x + i) - lanes(center.x), y = load(points.y + i) - lanes(center.y),
                z = load(points.z + i) - lanes(center.z);
    Vec3Of<Lanes> pull;
    if constexpr (std::is_same_v<Expansion, orrery::high::Expansion>) {
      pull = high::pull_at(expansion, x, y, z);
    } else {
      pull = HWY_NAMESPACE::pull_at(expansion, x, y, z);
    }
    store(load(accelerations.x + i) + pull.x, accelerations.x + i);
    store(load(accelerations.y + i) + pull.y, accelerations.y + i);
    store(load(accelerations.z + i) + pull.z, accelerations.z + i);
  }
}

// Walk of a group.

using Mask = hn::Mask<FloatTag>;
using IntTag = hn::RebindToSigned<FloatTag>;

/// Appends the indices in the lanes of `mask`.
HWY_INLINE void append(CellNumbers& numbers, hn::Vec<IntTag> cells, Mask mask) {
  hn::StoreU(hn::Compress(cells, hn::RebindMask(IntTag{}, mask)), IntTag{}, numbers.end());
  numbers.grow(static_cast<int>(hn::CountTrue(FloatTag{}, mask)));
}

// Tests of whether cells act as a whole on targets.

HWY_INLINE Lanes distance_outside(Lanes offset, Lanes half) {
  return {hn::Max(hn::Sub(hn::Abs(offset.v), half.v), hn::Zero(FloatTag{}))};
}
HWY_INLINE Lanes square_of_length(Lanes x, Lanes y, Lanes z) {
  return multiply_add(x, x, multiply_add(y, y, z * z));
}

/// Cells [i, i + lane_count) of a queue, one per lane.
struct QueuedCells {
  const CellQueue& queue;
  int i;
  HWY_INLINE Lanes operator[](WalkValue which) const { return load_unaligned(queue.values(which) + i); }
};
/// One cell in all lanes.
struct OneCell {
  const HostOctree& tree;
  int cell;
  HWY_INLINE Lanes operator[](WalkValue which) const { return lanes(tree.values(which)[cell]); }
};

/// Values of targets that a test reads.
enum TargetValue {
  target_x,
  target_y,
  target_z,
  half_x,
  half_y,
  half_z,
  ball_sq,          ///< WalkTarget::radius_sq
  inverse_ball_sq,  ///< for FarField::local
  error_of_target,
  reach_scale,
  distant_scale,
  least_distant,
  radius,
  widest_sq,
  target_values
};
struct TargetNumbers {
  float of[target_values];
  /// Returns the value in all lanes.
  HWY_INLINE Lanes operator[](TargetValue which) const { return lanes(of[which]); }
};

/// Minimum distance of cells in a group's expansions, in radii of the group. The series of nearer cells converge
/// slowly.
constexpr float converging_radii = 2;

TargetNumbers numbers_of(const WalkPlan& plan, const WalkTarget& target) {
  const Vec3 &center = target.center, &half = target.half;
  const float error = target.error, r_sq = target.radius_sq, widest = local_radii / plan.theta;
  TargetNumbers numbers{{center.x, center.y, center.z, half.x, half.y, half.z, r_sq}};
  numbers.of[error_of_target] = error;
  if (error > 0) {
    numbers.of[reach_scale] = plan.far == FarField::monopole ? 1 / std::sqrt(error) : std::pow(error, -0.4f);
  }
  if (plan.far == FarField::local) {
    constexpr float point_sq = 1e-30f;  // keeps the inverse finite for a group in one point
    const float inverse_sq = 1 / std::max(r_sq, point_sq), least = error > 0 ? converging_radii : widest;
    numbers.of[inverse_ball_sq] = inverse_sq;
    numbers.of[distant_scale] = error > 0 ? inverse_sq * (local_safety / error) : 0;
    numbers.of[least_distant] = least * least * least * least * least * least;
  } else {
    numbers.of[radius] = std::sqrt(r_sq);
    numbers.of[widest_sq] = error > 0 ? 0 : widest * widest;
    numbers.of[least_distant] = std::max(converging_radii * converging_radii * r_sq, high::nearest * high::nearest);
  }
  return numbers;
}

/// Tests whether cells act as a whole on targets. Each lane has one cell and one target. A comparison with NaN is
/// false, which opens the cell.
template <class Targets>
class CellTest {
 public:
  struct Verdict {
    Mask distant;  ///< acts through an expansion
    Mask whole;    ///< acts as a whole, perhaps through an expansion
  };

  CellTest(const WalkPlan& plan, const Targets& targets)
      : targets_{targets}, far_{plan.far}, has_errors_{plan.has_errors} {}

  template <class Cells>
  HWY_INLINE Verdict operator()(const Cells& cells) const {
    const Lanes dx = cells[center_x] - targets_[target_x], dy = cells[center_y] - targets_[target_y],
                dz = cells[center_z] - targets_[target_z];
    const Lanes outside_sq =
        square_of_length(distance_outside(dx, targets_[half_x]), distance_outside(dy, targets_[half_y]),
                         distance_outside(dz, targets_[half_z]));
    return verdict_at(cells, outside_sq, square_of_length(dx, dy, dz));
  }

  /// Returns whether cells act as a whole on all groups in the target's box, and through an expansion about any point
  /// in it. The result holds for any rounding.
  template <class Cells>
  HWY_INLINE Verdict everywhere(const Cells& cells) const {
    const Lanes least_sq = least_distance_sq(cells);
    Verdict verdict = verdict_at(cells, least_sq, least_sq);
    const float farthest = far_ == FarField::high ? high::farthest : farthest_local;
    verdict.distant = hn::And(verdict.distant, hn::Lt(greatest_distance_sq(cells).v, lanes(farthest * farthest).v));
    return verdict;
  }
  /// Returns a lower bound for the squared distance of the cells from any point in the target's box.
  template <class Cells>
  HWY_INLINE Lanes least_distance_sq(const Cells& cells) const {
    const auto outside = [](Lanes offset, Lanes half) { return distance_outside(offset, half); };
    return lanes(0.999f) * square_of_distance(cells, outside);
  }

 private:
  template <class Cells>
  HWY_INLINE Lanes greatest_distance_sq(const Cells& cells) const {
    const auto farthest = [](Lanes offset, Lanes half) { return Lanes{hn::Add(hn::Abs(offset.v), half.v)}; };
    return lanes(1.001f) * square_of_distance(cells, farthest);
  }
  /// Returns the squared distance, if along(offset, half) is the distance along one axis. `offset`: from the box's
  /// center. `half`: half the box's size, plus an upper bound for rounding errors.
  template <class Cells, class Along>
  HWY_INLINE Lanes square_of_distance(const Cells& cells, const Along& along) const {
    const auto distance = [&](WalkValue at, TargetValue center, TargetValue half) {
      const Lanes offset = cells[at] - targets_[center];
      const Lanes sizes{hn::Add(hn::Abs(targets_[center].v), hn::Add(hn::Abs(offset.v), targets_[half].v))};
      return along(offset, targets_[half] + lanes(1e-6f) * sizes);
    };
    return square_of_length(distance(center_x, target_x, half_x), distance(center_y, target_y, half_y),
                            distance(center_z, target_z, half_z));
  }

  template <class Cells>
  HWY_INLINE Verdict verdict_at(const Cells& cells, Lanes outside_sq, Lanes distance_sq) const {
    const Mask apart = hn::Ge(outside_sq.v, cells[opening_sq].v);
    const Mask whole = hn::And(apart, hn::Ge(outside_sq.v, (targets_[reach_scale] * cells[reach]).v));
    if (far_ == FarField::local) return {hn::And(whole, is_distant(distance_sq, cells[cell_mass])), whole};
    if (far_ != FarField::high) return {hn::FirstN(FloatTag{}, 0), whole};
    const Mask distant = hn::And(apart, is_high_distant(distance_sq, cells[cell_mass], cells[spread]));
    return {distant, hn::Or(whole, distant)};
  }

  /// Compares (d / r)^6 with M / (r^2 error), as powers of d and r alone may leave the range of float.
  HWY_INLINE Mask is_distant(Lanes distance_sq, Lanes mass) const {
    const Lanes radii_sq = distance_sq * targets_[inverse_ball_sq];
    const Lanes least{hn::Max((mass * targets_[distant_scale]).v, targets_[least_distant].v)};
    return hn::And(hn::Ge((radii_sq * radii_sq * radii_sq).v, least.v),
                   hn::Lt(distance_sq.v, lanes(farthest_local * farthest_local).v));
  }
  HWY_INLINE Mask is_high_distant(Lanes distance_sq, Lanes mass, Lanes sigma) const {
    const Lanes extent = sigma + targets_[radius], extent_sq = extent * extent;
    const Lanes left_out = high::left_out(mass, extent_sq, targets_[ball_sq], distance_sq);
    const Lanes distance_4 = distance_sq * distance_sq;
    const Mask exact = has_errors_ ? hn::Le(left_out.v, (targets_[error_of_target] * distance_sq).v)
                                   : hn::Le((extent_sq * targets_[widest_sq]).v, distance_sq.v);
    const Mask in_range =
        hn::And(hn::Lt(distance_sq.v, lanes(high::farthest * high::farthest).v),
                hn::Le((lanes(1 / high::most_pull) * mass).v, hn::Min((distance_4 * distance_4).v, lanes(1).v)));
    return hn::And(hn::And(exact, in_range), hn::Ge(distance_sq.v, targets_[least_distant].v));
  }

  Targets targets_;
  FarField far_;
  bool has_errors_;
};

constexpr int most_children = 8;
/// Adds up to most_children consecutive cells to a queue.
HWY_INLINE void add_cells_to(CellQueue& queue, const HostOctree& tree, int first, int count) {
  queue.reserve(count);
  const std::size_t stride = queue.stride(), tree_stride = tree.values_stride();
  const float* from = tree.values(center_x) + first;
  float* to = queue.end(center_x);
  for (int which = 0; which < walk_values; ++which, from += tree_stride, to += stride) {
    for (int i = 0; i < most_children; i += lane_count) hn::StoreU(load_unaligned(from + i).v, FloatTag{}, to + i);
  }
  for (int i = 0; i < most_children; i += lane_count) {
    hn::StoreU(hn::Iota(IntTag{}, first + i), IntTag{}, queue.end_of_cells() + i);
  }
  queue.grow(count);
}
void begin_at_root(CellQueue& queue, const HostOctree& tree) {
  queue.clear();
  add_cells_to(queue, tree, tree.root(), 1);
}

/// Appends cells of another queue: those in the lanes of `mask` of the vector at index i.
HWY_INLINE void append(CellQueue& queue, const CellQueue& from, int i, Mask mask) {
  queue.reserve(lane_count);
  for (int k = 0; k < walk_values; ++k) {
    const auto which = static_cast<WalkValue>(k);
    hn::StoreU(hn::Compress(load_unaligned(from.values(which) + i).v, mask), FloatTag{}, queue.end(which));
  }
  const auto cells = hn::LoadU(IntTag{}, from.cells() + i);
  hn::StoreU(hn::Compress(cells, hn::RebindMask(IntTag{}, mask)), IntTag{}, queue.end_of_cells());
  queue.grow(static_cast<int>(hn::CountTrue(FloatTag{}, mask)));
}

/// Adds the children of the cells in the lanes `opened` to a queue.
HWY_INLINE void add_children(const HostOctree& tree, hn::Vec<IntTag> cells, Mask opened, CellQueue& queue) {
  alignas(64) int numbers[max_lanes];
  hn::StoreU(hn::Compress(cells, hn::RebindMask(IntTag{}, opened)), IntTag{}, numbers);
  const int count = static_cast<int>(hn::CountTrue(FloatTag{}, opened));
  for (int i = 0; i < count; ++i) {
    const OctreeCell& cell = tree.cells()[static_cast<std::size_t>(numbers[i])];
    add_cells_to(queue, tree, cell.first_child, cell.children);
  }
}

/// Calls use(valid, i) for all vectors of a queue's cells. The queue may grow meanwhile. `valid`: lanes that hold
/// cells.
template <class Use>
HWY_INLINE void for_each_vector(const CellQueue& queue, const Use& use) {
  for (int i = 0; i < queue.count();) {
    const int count = std::min(lane_count, queue.count() - i);
    use(hn::FirstN(FloatTag{}, static_cast<std::size_t>(count)), i);
    i += count;
  }
}

/// Tests the cells in walk.queue for a group. Sorts them, and the descendants of opened cells, into distant cells,
/// cells that act on each body, and leaves.
HWY_NOINLINE void sort_cells(const WalkPlan& plan, GroupWalk& walk) {
  const CellTest test{plan, numbers_of(plan, walk.target)};
  for_each_vector(walk.queue, [&](Mask valid, int i) {
    const auto verdict = test(QueuedCells{walk.queue, i});
    const auto cells = hn::LoadU(IntTag{}, walk.queue.cells() + i);
    const Mask has_children = hn::Gt(load_unaligned(walk.queue.values(size_sq) + i).v, hn::Zero(FloatTag{}));
    const Mask opened = hn::AndNot(verdict.whole, valid);
    append(walk.distant, cells, hn::And(verdict.distant, valid));
    append(walk.cells, cells, hn::AndNot(verdict.distant, hn::And(verdict.whole, valid)));
    append(walk.leaves, cells, hn::AndNot(has_children, opened));
    add_children(plan.tree, cells, hn::And(has_children, opened), walk.queue);
  });
}

/// Tests the cells in `queue` for a cell on the path to a group. Finds those that are distant for all its bodies. Among
/// the others, opens cells larger than the cell itself, and leaves the rest to its children.
HWY_NOINLINE void sort_level(const WalkPlan& plan, CellQueue& queue, WalkLevel& level) {
  const CellTest test{plan, numbers_of(plan, level.target)};
  const Lanes own_size_sq = lanes(WalkPlan::size_of_cube * level.target.radius_sq);
  level.distant.clear();
  level.rest.clear();
  for_each_vector(queue, [&](Mask valid, int i) {
    const auto verdict = test(QueuedCells{queue, i});
    const auto cells = hn::LoadU(IntTag{}, queue.cells() + i);
    const Mask distant = hn::And(verdict.distant, valid), others = hn::AndNot(verdict.distant, valid);
    const Mask opened = hn::And(others, hn::Gt(load_unaligned(queue.values(size_sq) + i).v, own_size_sq.v));
    append(level.distant, cells, distant);
    append(level.rest, queue, i, hn::AndNot(opened, others));
    add_children(plan.tree, cells, opened, queue);
  });
}

void begin_queue(const WalkPlan& plan, const GroupWalk& walk, CellQueue& queue) {
  if (walk.depth == 0) return begin_at_root(queue, plan.tree);
  queue.assign(walk.levels[static_cast<std::size_t>(walk.depth - 1)].rest);
}

/// Sets the levels of the walk to the cells around a group. Keeps levels in common with the previous group, and calls
/// add_field(level) for the others.
template <class AddField>
void enter_cells(const WalkPlan& plan, int cell, GroupWalk& walk, const AddField& add_field) {
  const auto parent_of = [&](int of) { return plan.tree.cells()[static_cast<std::size_t>(of)].parent; };
  int depth = 0;
  for (int at = cell; at >= 0; at = parent_of(at)) ++depth;
  if (static_cast<int>(walk.levels.size()) < depth) walk.levels.resize(static_cast<std::size_t>(depth));
  int same = std::min(depth, walk.depth);
  int at = cell;
  for (int k = depth; k-- > 0; at = parent_of(at)) {
    WalkLevel& level = walk.levels[static_cast<std::size_t>(k)];
    if (k < same && level.cell != at) same = k;
    level.cell = at;
  }
  for (walk.depth = same; walk.depth < depth; ++walk.depth) {
    WalkLevel& level = walk.levels[static_cast<std::size_t>(walk.depth)];
    const auto index = static_cast<std::size_t>(level.cell);
    const Box& box = plan.tree.box(index);
    const float radius = plan.tree.radius(index);
    level.target = {box.center(), box.half(), radius * radius, plan.cell_errors[index]};
    begin_queue(plan, walk, walk.queue);
    sort_level(plan, walk.queue, level);
    add_field(level);
  }
}

/// Returns the bodies of a group as a target.
HWY_NOINLINE WalkTarget target_of(const HostOctree& tree, BodyRange group, float error) {
  const auto for_each = [&](const auto& use) {
    for (int i = group.begin; i < group.end; i += lane_count) {
      // Lanes after the last body repeat the first body.
      const int from = std::max(group.begin, std::min(i, group.end - lane_count));
      const auto at = [&](int axis) {
        const Vector all = load_unaligned(tree.column(axis) + from).v;
        const Mask own = hn::FirstN(FloatTag{}, static_cast<std::size_t>(group.end - from));
        return hn::IfThenElse(own, all, hn::Set(FloatTag{}, tree.column(axis)[group.begin]));
      };
      use(at(0), at(1), at(2));
    }
  };
  Box box = tree.box_of({group.begin, group.begin + 1});
  for_each([&](Vector x, Vector y, Vector z) {
    const auto least = [](Vector of) { return hn::GetLane(hn::MinOfLanes(FloatTag{}, of)); };
    const auto greatest = [](Vector of) { return hn::GetLane(hn::MaxOfLanes(FloatTag{}, of)); };
    box.add({{least(x), least(y), least(z)}, {greatest(x), greatest(y), greatest(z)}});
  });
  const Vec3 center = box.center();
  Vector radius_sq = hn::Zero(FloatTag{});
  for_each([&](Vector x, Vector y, Vector z) {
    const Lanes dx = Lanes{x} - lanes(center.x), dy = Lanes{y} - lanes(center.y), dz = Lanes{z} - lanes(center.z);
    radius_sq = hn::Max(radius_sq, square_of_length(dx, dy, dz).v);
  });
  return {center, box.half(), hn::GetLane(hn::MaxOfLanes(FloatTag{}, radius_sq)), error};
}

/// Finds the cells and leaves that a group interacts with.
template <class AddField>
void find_cells(const WalkPlan& plan, const BodyGroup& group, float error, GroupWalk& walk, const AddField& add_field) {
  if (plan.expands()) enter_cells(plan, group.cell, walk, add_field);
  walk.target = target_of(plan.tree, group, error);
  walk.distant.clear();
  walk.cells.clear();
  walk.leaves.clear();
  begin_queue(plan, walk, walk.queue);
  sort_cells(plan, walk);
}

/// Pull of coarse cells on one body.
struct CoarsePull {
  Vec3Of<Lanes> sum;
  Lanes sizes;
};
float estimate_from(const CoarsePull& pull) {
  const float x = sum_of_lanes(pull.sum.x), y = sum_of_lanes(pull.sum.y), z = sum_of_lanes(pull.sum.z);
  return std::max(std::sqrt(x * x + y * y + z * z), least_pull_part * sum_of_lanes(pull.sizes));
}

/// Estimates the acceleration of a group from the pulls of a few dozen coarse cells on some of its bodies. `center`:
/// center of the group's box.
template <class PairLaw>
HWY_NOINLINE float estimate_of(const HostOctree& tree, const PairLaw& pair_law, BodyRange group, const Vec3& center,
                               CellQueue& queue) {
  const PairLaw law = pair_law;
  // The last entry is for the center. If pulls cancel among near bodies, the pull there is far below that on the
  // bodies.
  CoarsePull pulls[estimate_bodies + 1];
  std::ranges::fill(pulls, CoarsePull{{lanes(0), lanes(0), lanes(0)}, lanes(0)});
  begin_at_root(queue, tree);
  for_each_vector(queue, [&](Mask valid, int i) {
    const auto value = [&](WalkValue which) { return load_unaligned(queue.values(which) + i); };
    const Lanes dx = value(center_x) - lanes(center.x), dy = value(center_y) - lanes(center.y),
                dz = value(center_z) - lanes(center.z);
    const Lanes distance_sq = square_of_length(dx, dy, dz);
    const Mask stands = hn::Ge((lanes(coarse_opening * coarse_opening) * distance_sq).v, value(size_sq).v);
    // Lanes after the last cell hold arbitrary values, even infinities, and zero times infinity is NaN.
    const auto of_cells = [acts = hn::And(stands, valid)](Lanes all) { return Lanes{hn::IfThenElseZero(acts, all.v)}; };
    for (int k = 0; k <= estimate_bodies; ++k) {
      const int body = group.begin + estimate_body(std::min(k, estimate_bodies - 1), group.count());
      const Vec4& at = tree.bodies()[place_of(body)];
      const Vec3 place = k < estimate_bodies ? Vec3{at.x, at.y, at.z} : center;
      CoarsePull& pull = pulls[k];
      const Lanes x = value(center_x) - lanes(place.x), y = value(center_y) - lanes(place.y),
                  z = value(center_z) - lanes(place.z);
      const Lanes factor = law.factor(x, y, z, value(cell_mass));
      pull.sum = {pull.sum.x + of_cells(factor * x), pull.sum.y + of_cells(factor * y),
                  pull.sum.z + of_cells(factor * z)};
      pull.sizes = pull.sizes + of_cells({hn::Mul(hn::Abs(factor.v), hn::Sqrt(square_of_length(x, y, z).v))});
    }
    add_children(tree, hn::LoadU(IntTag{}, queue.cells() + i), hn::AndNot(stands, valid), queue);
  });
  float mean = 0, least = std::numeric_limits<float>::infinity();
  for (const CoarsePull& pull : pulls) {
    const float estimate = estimate_from(pull);
    mean += estimate / std::size(pulls);
    least = std::min(least, estimate);
  }
  return of_sums * group_estimate(mean, least);
}

// Interactions of one group.

/// Sums for the targets of one group. The whole group walks, so a body's acceleration does not depend on which other
/// bodies are wanted.
template <int rows, class PairLaw>
class GroupSums {
 public:
  GroupSums(const ForceArgs& args, const GroupPlan& plan, GroupWork& work, const PairLaw& law)
      : args_{args}, plan_{plan}, work_{work}, law_{law}, tree_{plan.walk.tree} {}

  void evaluate(std::size_t g) {
    const BodyGroup& group = plan_.groups[g];
    count_ = find_targets(plan_, group, work_.targets);
    if (count_ == 0) return;
    set_points();
    GroupWalk& walk = work_.walk;
    find_cells(plan_.walk, group, plan_.walk.group_errors[g], walk,
               [&](WalkLevel& level) { add_distant(level.distant, level.target, level.field); });
    add_leaves();
    add_whole_cells();
    if (plan_.walk.expands()) {
      add_distant(walk.distant, walk.target, walk.field);
      add_fields();
    }
    if (!cancelled(args_)) finish(plan_.walk.expands(), meets_cells() ? plan_.walk.group_errors[g] : 0);
  }
  /// Walks for one body alone, from the root.
  void evaluate(const LoneBody& body) {
    work_.targets[0] = body.place;
    count_ = 1;
    set_points();
    find_cells(plan_.alone, {{body.place, body.place + 1}}, body.error, work_.walk, [](const WalkLevel& /*level*/) {});
    add_leaves();
    add_whole_cells();
    if (!cancelled(args_)) finish(/*expands=*/false, /*error=*/0);
  }

 private:
  static int whole(int count, int part) { return (count + part - 1) / part * part; }

  /// Returns whether any cell acted on the group as a whole.
  bool meets_cells() const {
    const GroupWalk& walk = work_.walk;
    int cells = walk.cells.count() + walk.distant.count();
    for (int k = 0; k < walk.depth; ++k) cells += walk.levels[place_of(k)].distant.count();
    return cells > 0;
  }

  void set_points() {
    const int padded = whole(whole(count_, rows), lane_count);
    for (int i = 0; i < padded; ++i) {
      const auto body = static_cast<std::size_t>(work_.targets[static_cast<std::size_t>(std::min(i, count_ - 1))]);
      const Vec4& at = tree_.bodies()[body];
      work_.points[static_cast<std::size_t>(i)] = at;
      work_.columns.x[i] = at.x, work_.columns.y[i] = at.y, work_.columns.z[i] = at.z;
    }
    std::fill_n(work_.sums.data(), whole(count_, rows) * 3 * lane_count, 0.0f);
  }

  template <class Add>
  void for_each_rows(const Add& add) {
    if (cancelled(args_)) return;
    for (int i = 0; i < count_; i += rows) add(work_.points.data() + i, work_.sums.data() + i * 3 * lane_count);
  }

  void add_body_list() {
    BodyList& list = work_.bodies;
    if (list.count == 0) return;
    const int end = list.pad(lane_count);
    for_each_rows([&](const Vec4* point, float* sum) {
      add_bodies<rows>(list.x, list.y, list.z, list.mass, 0, end, law_, point, sum);
    });
    work_.with_bodies += std::int64_t{list.count} * count_;
    list.count = 0;
  }
  void add_leaves() {
    const CellNumbers& leaves = work_.walk.leaves;
    BodyList& list = work_.bodies;
    list.count = 0;
    for (int k = 0; k < leaves.count(); ++k) {
      BodyRange left = tree_.cells()[static_cast<std::size_t>(leaves[k])].bodies;
      if (left.count() == 0) work_.lacks_cells = true;
      while (left.count() > BodyList::capacity - list.count) {
        const int middle = left.begin + BodyList::capacity - list.count;
        append(list, tree_, {left.begin, middle});
        left.begin = middle;
        add_body_list();
      }
      append(list, tree_, left);
    }
    add_body_list();
  }

  /// Calls add(list, count, padded_count) for lists of cells with moments up to the second order.
  template <class Add>
  void for_each_list(const CellNumbers& cells, const Add& add) {
    for (int i = 0; i < cells.count() && !cancelled(args_); i += CellList::capacity) {
      const int count = std::min(CellList::capacity, cells.count() - i);
      add(work_.cells, count, fill_cells(tree_, cells.data() + i, count, work_.cells));
    }
  }
  void add_whole_cells() {
    for_each_list(work_.walk.cells, [&](const CellList& list, int count, int end) {
      for_each_rows([&](const Vec4* point, float* sum) {
        if (plan_.walk.far == FarField::monopole) {
          add_bodies<rows>(list.columns[0], list.columns[1], list.columns[2], list.columns[3], 0, end, law_, point,
                           sum);
        } else {
          for (int r = 0; r < rows; ++r) add_cells(list, end, law_, point[r], sum + r * 3 * lane_count);
        }
      });
      (plan_.walk.far == FarField::monopole ? work_.with_bodies : work_.with_cells) += std::int64_t{count} * count_;
    });
  }

  void add_distant(const CellNumbers& cells, const WalkTarget& target, TargetField& field) {
    if (plan_.walk.far == FarField::high) {
      field.high = {};
      if (!cancelled(args_)) add_high_cells(tree_, cells, law_, target.center, field.high);
    } else {
      field.local = {};
      for_each_list(cells, [&](const CellList& list, int /*count*/, int end) {
        add_distant_cells(list, end, law_, target.center, field.local);
      });
    }
    work_.walk.with_distant += cells.count();
  }
  /// Adds the pulls of the group's field and of the fields of the cells around it.
  void add_fields() {
    const int padded = whole(count_, lane_count);
    GroupPoints& pulls = work_.from_fields;
    for (float* pull : {pulls.x, pulls.y, pulls.z}) std::fill_n(pull, padded, 0.0f);
    const auto add = [&](const CellNumbers& cells, const WalkTarget& target, const TargetField& field) {
      if (cells.count() == 0) return;
      if (plan_.walk.far == FarField::high) {
        add_pull_of(field.high, target.center, work_.columns, padded, pulls);
      } else {
        add_pull_of(field.local, target.center, work_.columns, padded, pulls);
      }
    };
    const GroupWalk& walk = work_.walk;
    for (int k = 0; k < walk.depth; ++k) {
      const WalkLevel& level = walk.levels[static_cast<std::size_t>(k)];
      add(level.distant, level.target, level.field);
    }
    add(walk.distant, walk.target, walk.field);
  }

  /// Finishes the targets. `error`: largest allowed error of a cell's pull in the group's walk; 0: no limit. A body
  /// that needs a much smaller error is left for a separate walk.
  void finish(bool expands, float error) {
    const GroupPoints& pulls = work_.from_fields;
    for (int i = 0; i < count_; ++i) {
      const auto place = static_cast<std::size_t>(i);
      Vec3 a = acceleration_of(work_.sums.data() + i * 3 * lane_count);
      a = {a.x * of_sums, a.y * of_sums, a.z * of_sums};
      if (expands) a = {a.x + pulls.x[i], a.y + pulls.y[i], a.z + pulls.z[i]};
      const float own_error = plan_.tolerance * std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
      if (plan_.finds_lone && walks_alone(own_error, error)) {
        work_.alone.push_back({{work_.targets[place], error_alone(own_error, error)}, a});
        continue;
      }
      args_.epilogue.finish(tree_.original(work_.targets[place]), units_.mass(work_.points[place].w),
                            units_.acceleration(a));
    }
  }

  const ForceArgs& args_;
  const GroupPlan& plan_;
  GroupWork& work_;
  const PairLaw law_;
  const HostOctree& tree_;
  const TreeUnits units_ = tree_.units();
  int count_ = 0;  ///< number of targets
};

// Cells of a rank that the bodies of other ranks need.

/// Targets in columns of the values that tests read, with room for one vector after the last.
class TargetColumns {
 public:
  /// Targets [i, i + lane_count), one per lane.
  struct Some {
    const TargetColumns& all;
    int i;
    HWY_INLINE Lanes operator[](TargetValue which) const { return all.column(which, i); }
    HWY_INLINE Mask is_around() const { return hn::Gt(all.column(around, i).v, hn::Zero(FloatTag{})); }
    HWY_INLINE Lanes size_limit() const { return all.column(limit, i); }
    HWY_INLINE Lanes number() const { return all.column(own_number, i); }
    HWY_INLINE Lanes after() const { return all.column(number_after, i); }
  };

  int count() const { return count_; }
  /// Removes all targets, and makes room for `count`.
  void reserve(int count) {
    stride_ = std::max(stride_, static_cast<std::size_t>(count + read_ahead));
    values_.resize(columns * stride_);
    count_ = 0;
  }
  void add(const TargetNumbers& numbers, const DistantTarget& target) {
    for (std::size_t which = 0; which < target_values; ++which) *end(which) = numbers.of[which];
    *end(around) = target.is_around ? 1 : 0;
    *end(limit) = target.size_limit;
    *end(own_number) = static_cast<float>(count_);
    *end(number_after) = static_cast<float>(target.after);
    ++count_;
  }
  /// Appends targets of other columns: the target at index i + k for each lane k in `mask`.
  HWY_INLINE void append(const TargetColumns& from, int i, Mask mask) {
    for (std::size_t which = 0; which < columns; ++which) {
      hn::StoreU(hn::Compress(from.column(which, i).v, mask), FloatTag{}, end(which));
    }
    count_ += static_cast<int>(hn::CountTrue(FloatTag{}, mask));
  }

 private:
  static constexpr std::size_t around = target_values, limit = around + 1, own_number = limit + 1,
                               number_after = own_number + 1, columns = number_after + 1;

  float* end(std::size_t which) { return values_.data() + which * stride_ + count_; }
  HWY_INLINE Lanes column(std::size_t which, int i) const {
    return load_unaligned(values_.data() + which * stride_ + static_cast<std::size_t>(i));
  }

  std::vector<float> values_;
  std::size_t stride_ = 0;
  int count_ = 0;
};

/// Marks the cells of this rank that groups of targets on another rank may open. Starts at the pieces, and descends
/// into every cell for which closed(test, cell, targets) is false.
template <class Closed>
class OpenedCells {
 public:
  OpenedCells(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened,
              const Closed& closed)
      : plan_{plan}, opened_{opened}, closed_{closed} {
    left_.resize(1);
    left_[0].reserve(static_cast<int>(targets.size()));
    for (const DistantTarget& target : targets) left_[0].add(numbers_of(plan, target.bodies), target);
    all_ = left_[0].count();
  }
  void mark() {
    for (int piece = 0; piece < plan_.tree.piece_count(); ++piece) mark(piece, 0);
  }

 private:
  void mark(int index, std::size_t depth) {
    if (left_.size() < depth + 2) left_.resize(depth + 2);
    left_[depth + 1].reserve(all_);
    if (!find_targets(index, left_[depth], left_[depth + 1])) return;
    const OctreeCell& cell = plan_.tree.cells()[place_of(index)];
    opened_[place_of(index)] = 1;
    for (int child = 0; child < cell.children; ++child) mark(cell.first_child + child, depth + 1);
  }

  /// Finds the targets in `among` that need an opened cell: those that may open it, and those inside a target that may
  /// open it. Returns whether there are any.
  HWY_NOINLINE bool find_targets(int index, const TargetColumns& among, TargetColumns& found) const {
    const OneCell cell{plan_.tree, index};
    Lanes inside = lanes(0);  // targets before this index are inside others that may open the cell
    for (int i = 0; i < among.count(); i += lane_count) {
      const Mask valid = hn::FirstN(FloatTag{}, static_cast<std::size_t>(among.count() - i));
      const TargetColumns::Some targets{among, i};
      const Mask open = hn::AndNot(closed_(CellTest{plan_, targets}, cell, targets), valid);
      const Lanes after{hn::IfThenElseZero(hn::And(open, targets.is_around()), targets.after().v)};
      inside = {hn::Max(inside.v, hn::MaxOfLanes(FloatTag{}, after.v))};
      found.append(among, i, hn::Or(open, hn::And(valid, hn::Lt(targets.number().v, inside.v))));
    }
    return found.count() > 0;
  }

  const WalkPlan& plan_;
  std::vector<char>& opened_;
  const Closed& closed_;
  std::vector<TargetColumns> left_;  // one entry per depth
  int all_ = 0;
};

/// Marks the cells that walks may open.
void mark_for_walk(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
  const Mask no_expansion = hn::FirstN(FloatTag{}, plan.expands() ? 0 : static_cast<std::size_t>(lane_count));
  const auto closed = [&](const auto& test, const OneCell& cell, const TargetColumns::Some& some) {
    const auto verdict = test.everywhere(cell);
    const Mask is_small = hn::Or(no_expansion, hn::Le(cell[size_sq].v, some.size_limit().v));
    return hn::And(hn::Or(verdict.distant, is_small), hn::Or(verdict.whole, some.is_around()));
  };
  OpenedCells{plan, targets, opened, closed}.mark();
}

/// Marks the cells that estimate_of() may open.
void mark_for_estimate(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
  const auto closed = [](const auto& test, const OneCell& cell, const TargetColumns::Some& some) {
    const Lanes most_size_sq = lanes(coarse_opening * coarse_opening) * test.least_distance_sq(cell);
    return hn::Or(some.is_around(), hn::Ge(most_size_sq.v, cell[size_sq].v));
  };
  OpenedCells{plan, targets, opened, closed}.mark();
}

/// Evaluates the targets [first, last): groups by index, or bodies that walk alone.
template <class Targets>
void evaluate_targets(const ForceArgs& args, const GroupPlan& plan, const Targets& targets, std::size_t first,
                      std::size_t last, GroupWork& work) {
  work.walk.depth = 0;
  visit_pair_law_of_lanes(plan.walk.law, [&](const auto& law) {
    simd_rows.dispatch(plan.rows, [&](auto rows) {
      GroupSums<decltype(rows)::value, std::decay_t<decltype(law)>> sums{args, plan, work, law};
      for (std::size_t i = first; i < last && !cancelled(args); ++i) sums.evaluate(targets(i));
    });
  });
}
void evaluate_groups(const ForceArgs& args, const GroupPlan& plan, std::size_t first, std::size_t last,
                     GroupWork& work) {
  evaluate_targets(
      args, plan, [](std::size_t g) { return g; }, first, last, work);
}
void evaluate_alone(const ForceArgs& args, const GroupPlan& plan, const std::vector<LeftBody>& bodies,
                    std::size_t first, std::size_t last, GroupWork& work) {
  evaluate_targets(
      args, plan, [&](std::size_t i) -> const LoneBody& { return bodies[i]; }, first, last, work);
}

float estimate_acceleration(const WalkPlan& plan, const BodyGroup& group, CellQueue& queue) {
  float acceleration = 0;
  const Box box = plan.tree.box_of(group);
  visit_pair_law_of_lanes(
      plan.law, [&](const auto& law) { acceleration = estimate_of(plan.tree, law, group, box.center(), queue); });
  return acceleration;
}

void find_walk(const WalkPlan& plan, const BodyGroup& group, float error, GroupWalk& walk) {
  walk.depth = 0;
  find_cells(plan, group, error, walk, [](const WalkLevel& /*level*/) {});
}

}  // namespace
}  // namespace orrery::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace orrery {
namespace {

HWY_EXPORT(evaluate_groups);
HWY_EXPORT(evaluate_alone);
HWY_EXPORT(find_walk);
HWY_EXPORT(mark_for_estimate);
HWY_EXPORT(mark_for_walk);
HWY_EXPORT(target_name);
HWY_EXPORT(estimate_acceleration);

}  // namespace

void evaluate_groups(const ForceArgs& args, const GroupPlan& plan, std::size_t first, std::size_t last,
                     GroupWork& work) {
  HWY_DYNAMIC_DISPATCH(evaluate_groups)(args, plan, first, last, work);
}
void evaluate_alone(const ForceArgs& args, const GroupPlan& plan, const std::vector<LeftBody>& bodies,
                    std::size_t first, std::size_t last, GroupWork& work) {
  HWY_DYNAMIC_DISPATCH(evaluate_alone)(args, plan, bodies, first, last, work);
}
float estimate_acceleration(const WalkPlan& plan, const BodyGroup& group, CellQueue& queue) {
  return HWY_DYNAMIC_DISPATCH(estimate_acceleration)(plan, group, queue);
}
void find_walk(const WalkPlan& plan, const BodyGroup& group, float error, GroupWalk& walk) {
  HWY_DYNAMIC_DISPATCH(find_walk)(plan, group, error, walk);
}
void mark_for_estimate(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
  HWY_DYNAMIC_DISPATCH(mark_for_estimate)(plan, targets, opened);
}
void mark_for_walk(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
  HWY_DYNAMIC_DISPATCH(mark_for_walk)(plan, targets, opened);
}
const char* walk_target_name() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

}  // namespace orrery
#endif
