#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "compute/core/vec.h"
#include "compute/kernels/tree/host_sort.h"
#include "compute/kernels/tree/morton.h"
#include "compute/kernels/tree/multipole.h"
#include "compute/kernels/tree_facet.h"

namespace orrery {

/// An axis-parallel box.
struct Box {
  Vec3 low, high;

  void add(const Box& other);
  float widest() const;  ///< its longest side
};

/// Consecutive bodies in the order of their keys.
struct BodyRange {
  int begin, end;
  int count() const { return end - begin; }
};

/// A cell. Cells lie level by level; the children of a cell are consecutive.
struct OctreeCell {
  BodyRange bodies;
  int first_child = 0, children = 0;  ///< no children: a leaf
  int level = 0;                      ///< below the root; a cell with a single child is left out
  bool is_leaf() const { return children == 0; }
};

/// What the walk reads of a cell.
struct WalkNode {
  float x, y, z;     ///< centre of mass
  float opening_sq;  ///< the square of the distance from which the cell counts as a whole
};

/// An octree over bodies in host memory. All arrays are reused by the next call.
class HostOctree {
 public:
  struct Shape {
    int leaf = 0;  ///< bodies in a leaf at most; a finest cell may have more
    int threads = 1;
    float theta = 0;  ///< in (0, 1]: the opening angle
  };

  // The phases, in this order. Each returns early once `cancelled` (may be null) is set.
  /// `count` >= 1 bodies, finite, with masses > 0.
  void make_keys(const Vec4* bodies, int count, int threads, const std::atomic<bool>* cancelled);
  void sort(int threads, const std::atomic<bool>* cancelled) { sort_.sort(keys_, threads, cancelled); }
  void build(const Vec4* bodies, const Shape& shape, const std::atomic<bool>* cancelled);
  void find_moments(const Shape& shape, const std::atomic<bool>* cancelled);

  /// Bodies in the order of their keys, and the original index of each.
  const std::vector<Vec4>& bodies() const { return bodies_; }
  int original(int body) const { return static_cast<int>(keys_[static_cast<std::size_t>(body)].body); }
  Box box_of(BodyRange range) const;

  const std::vector<OctreeCell>& cells() const { return cells_; }
  const std::vector<Moments>& moments() const { return moments_; }
  const std::vector<WalkNode>& nodes() const { return nodes_; }
  int depth() const { return deepest_; }
  /// Ranges of at most `most` bodies each that cover all bodies: cells, or neighbouring children of one cell.
  std::vector<BodyRange> groups(int most) const;
  /// The cells asked for, by level.
  PickedCells cubes(const CellRequest& request) const;
  /// The cube of a cell. It contains all its bodies, also distant ones.
  TreeCell cube(std::size_t cell) const;

 private:
  void split(std::size_t cell, int leaf);

  TreeCube cube_;
  std::vector<KeyedBody> keys_;
  KeySort sort_;
  std::vector<Vec4> bodies_;
  std::vector<OctreeCell> cells_;
  std::vector<std::size_t> generations_;  ///< the first cell of each generation, and one past the last
  std::vector<Moments> moments_;
  std::vector<Box> boxes_;
  std::vector<WalkNode> nodes_;
  int deepest_ = 0;
};

}  // namespace orrery
