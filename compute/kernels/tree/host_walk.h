#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/simd.h"
#include "compute/kernels/tree/host_octree.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {

/// Number of operations per interaction of a body with a cell in cpu-tree, see add_cell_pull().
inline constexpr InteractionArithmetic cell_arithmetic{.gravity = 37, .attract_repel = 39};

/// Number of vector instructions per cell that is added to a group's expansion, counted in the disassembled loop for
/// AVX2 and AVX-512 (g++ 12). Under attract-repel, groups have no expansions.
inline constexpr double instructions_per_distant_cell = 141, instructions_per_high_cell = 1177;

/// Bodies that a group interacts with, in aligned columns with room for one vector after the last body.
struct BodyList {
  static constexpr int capacity = 1024;
  alignas(64) float x[capacity + read_ahead], y[capacity + read_ahead], z[capacity + read_ahead],
      mass[capacity + read_ahead];
  int count = 0;

  /// Pads to a multiple of `lanes` <= read_ahead with massless copies of the last entry. Returns that multiple.
  int pad(int lanes) {
    int padded = count;
    for (; padded % lanes != 0; ++padded) {
      x[padded] = x[count - 1];
      y[padded] = y[count - 1];
      z[padded] = z[count - 1];
      mass[padded] = 0;
    }
    return padded;
  }
};

/// Cells that a group interacts with.
struct CellList {
  static constexpr int capacity = 512, row = sizeof(SecondRow) / sizeof(float);
  alignas(64) float columns[row][capacity];  ///< the values of SecondRow, in its order
};

/// Indices of cells, with room for one vector after the last.
class CellNumbers {
 public:
  int count() const { return count_; }
  const int* data() const { return numbers_.data(); }
  int operator[](int i) const { return numbers_[static_cast<std::size_t>(i)]; }
  void clear() { count_ = 0; }
  /// Returns the end, where up to read_ahead indices may be written. Call grow() to count them.
  int* end() {
    if (static_cast<std::size_t>(count_ + read_ahead) > numbers_.size()) {
      numbers_.resize(2 * numbers_.size() + 2 * read_ahead);
    }
    return numbers_.data() + count_;
  }
  void grow(int by) { count_ += by; }

 private:
  std::vector<int> numbers_ = std::vector<int>(read_ahead);
  int count_ = 0;
};

/// Cells that a walk has not yet tested, with the values that its tests read.
class CellQueue {
 public:
  int count() const { return count_; }
  /// Returns the cells' indices; values() returns one of their values. Both are followed by read_ahead readable
  /// entries.
  const int* cells() const { return cells_.data(); }
  const float* values(WalkValue which) const { return values_.data() + which * stride_; }
  std::size_t stride() const { return stride_; }  ///< distance from one value to the next

  void clear() { count_ = 0; }
  void assign(const CellQueue& other) {
    clear();
    reserve(other.count_);
    for (int which = 0; which < walk_values; ++which) {
      std::copy_n(other.values(static_cast<WalkValue>(which)), other.count_, end(static_cast<WalkValue>(which)));
    }
    std::copy_n(other.cells(), other.count_, end_of_cells());
    grow(other.count_);
  }

  /// Makes room for `more` cells after the last, and for read_ahead more values.
  void reserve(int more) {
    const auto needed = static_cast<std::size_t>(count_ + more + read_ahead);
    if (needed > stride_) move_to(2 * needed);
  }
  /// Returns the end, where reserve() made room for the next cells. Call grow() to count them.
  float* end(WalkValue which) { return values_.data() + which * stride_ + count_; }
  int* end_of_cells() { return cells_.data() + count_; }
  void grow(int by) { count_ += by; }

 private:
  void move_to(std::size_t stride) {
    std::vector<float> values(walk_values * stride);
    for (std::size_t which = 0; which < walk_values; ++which) {
      std::copy_n(values_.data() + which * stride_, count_, values.data() + which * stride);
    }
    values_ = std::move(values);
    cells_.resize(stride);
    stride_ = stride;
  }

  std::vector<float> values_;
  std::vector<int> cells_;
  int count_ = 0;
  std::size_t stride_ = 0;
};

/// Bodies of a group or of a cell, against which a walk tests cells.
struct WalkTarget {
  Vec3 center, half;    ///< center and half size of the bodies' box
  float radius_sq = 0;  ///< squared radius of a ball around that center
  float error = 0;      ///< largest allowed error of a cell's pull; 0: no limit
};

/// The field of distant cells around the center of a target.
struct TargetField {
  LocalExpansion<float> local;
  high::Expansion high;
};

/// A cell on the path from the root to a group. Its interactions apply to all its bodies.
struct WalkLevel {
  int cell = -1;
  WalkTarget target;
  CellNumbers distant;  ///< cells that add to `field`
  CellQueue rest;       ///< cells left for the levels below
  TargetField field;
};

/// Parameters of the groups' walks.
struct WalkPlan {
  const HostOctree& tree;
  float theta;
  FarField far;     ///< neither local nor high if the law has no expansions
  bool has_errors;  ///< whether errors limit the walk; otherwise, theta alone decides
  Law law;          ///< law in the units of the tree
  /// Largest allowed error of a cell's pull on the bodies of each group, and of each cell; 0: no limit.
  std::vector<float> group_errors{}, cell_errors{};

  /// Squared side of a cube, relative to the squared radius of the ball around it. A cell on the path to groups opens
  /// cells that are larger than itself by this measure.
  static constexpr float size_of_cube = 4.0f / 3;

  bool expands() const { return far == FarField::local || far == FarField::high; }
};

/// Target of walks on another rank: the groups in a box, or a cell on the path to them.
struct DistantTarget {
  WalkTarget bodies;       ///< target with all bodies; its error limit is the minimum over the groups
  bool is_around = false;  ///< a cell on the path: opens cells, but evaluates none
  /// Squared size: a cell on the path to groups opens no cell of at most this size.
  float size_limit = 0;
  int after = 0;  ///< index of the first later target that is not inside this one; outer targets precede the targets
                  ///< inside them
};

/// A body that needs a separate walk after its group's.
struct LeftBody : LoneBody {
  Vec3 acceleration;  ///< acceleration from the walk of the group
};

/// State of one thread's walks, reused from group to group.
struct GroupWalk {
  std::vector<WalkLevel> levels;  ///< from the root down; the first `depth` are valid
  int depth = 0;
  CellQueue queue;
  WalkTarget target;
  TargetField field;  ///< field of the cells in `distant`
  CellNumbers distant, cells, leaves;
  std::int64_t with_distant = 0;  ///< number of cells added to local expansions
};

inline constexpr Values<8, 16, 32, 64, 128, 256> group_values;
inline constexpr int max_group = group_values.largest;

/// Columns of the coordinates of a group's bodies, or of their accelerations.
struct GroupPoints {
  alignas(64) float x[max_group], y[max_group], z[max_group];
};

/// Memory of one thread for the groups it evaluates.
struct GroupWork {
  GroupWalk walk;
  BodyList bodies;
  CellList cells;
  std::array<int, max_group> targets;  ///< indices of the group's targets in key order
  std::array<Vec4, max_group> points;
  GroupPoints columns, from_fields;
  alignas(64) std::array<float, max_group * 3 * max_lanes> sums;
  std::vector<LeftBody> alone;                   ///< bodies that the walks of their groups did not finish
  std::int64_t with_bodies = 0, with_cells = 0;  ///< number of interactions by kind, besides walk.with_distant
  bool lacks_cells = false;                      ///< whether a walk opened a cell whose children only another rank has
};

/// Parameters of the groups' evaluation.
struct GroupPlan {
  WalkPlan walk;
  WalkPlan alone;  ///< plan for bodies that walk alone: without expansions
  const std::vector<BodyGroup>& groups;
  const char* is_target;  ///< nonzero for wanted bodies, in their original order; null: all bodies
  int rows;
  float tolerance;  ///< 0: off
  bool finds_lone;  ///< whether bodies may walk alone
};

/// Evaluates the groups in [first, last), by index.
void evaluate_groups(const ForceArgs& args, const GroupPlan& plan, std::size_t first, std::size_t last,
                     GroupWork& work);

/// Evaluates the bodies in [first, last) that walk alone, by index.
void evaluate_alone(const ForceArgs& args, const GroupPlan& plan, const std::vector<LeftBody>& bodies,
                    std::size_t first, std::size_t last, GroupWork& work);

/// Returns an estimate of a group's acceleration, in the units of the tree.
float estimate_acceleration(const WalkPlan& plan, const BodyGroup& group, CellQueue& queue);

/// Finds the cells and bodies that a group interacts with, as for its forces, but computes none.
void find_walk(const WalkPlan& plan, const BodyGroup& group, float error, GroupWalk& walk);

/// Marks the cells of this rank that the acceleration estimates for groups of these targets may open.
void mark_for_estimate(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened);

/// Marks the cells of this rank that the walks of groups of these targets may open.
void mark_for_walk(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened);

/// Returns the instruction set that Highway chose, such as "AVX2".
const char* walk_target_name();

}  // namespace orrery
