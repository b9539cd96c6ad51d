#pragma once

#include <vector>

#include "compute/kernels/tree/host_octree.h"

namespace orrery {

/// The bodies that a group interacts with, as a structure of aligned arrays, with room for a vector behind the last.
struct BodyList {
  static constexpr int capacity = 1024;
  static constexpr int padding = 16;
  alignas(64) float x[capacity + padding], y[capacity + padding], z[capacity + padding], mass[capacity + padding];
  int count = 0;

  bool full() const { return count == capacity; }
  void add(const Vec4& body);
  /// Fills up to a multiple of `lanes` <= padding with copies of the last entry without mass. Returns that multiple.
  int pad(int lanes);
};

struct CellList {
  static constexpr int capacity = 512;
  BodyList centers;  ///< of mass; `capacity` of them at most
  /// The fields of Quadrupole.
  alignas(64) float xx[capacity + BodyList::padding], yy[capacity + BodyList::padding],
      zz[capacity + BodyList::padding], xy[capacity + BodyList::padding], xz[capacity + BodyList::padding],
      yz[capacity + BodyList::padding], half_trace[capacity + BodyList::padding];

  bool full() const { return centers.count == capacity; }
  void add(const Moments& cell);
  int pad(int lanes);
};

/// Whether a cell counts as a whole for the bodies in `box`: if the box is farther from its centre of mass than
/// l / theta + |centre of mass - centre of the cell's box|, with l the longest side of that box: Barnes 1994 for the
/// offset; groups as in Bonsai (Bedorf, Gaburov and Portegies Zwart 2012).
bool is_far(const Box& box, const WalkNode& node);

/// Walks the tree for the bodies in `box`: calls far(cell) for each cell that counts as a whole, and near(cell) for
/// each leaf whose bodies are met one by one. `stack` is memory to be reused.
template <class Far, class Near>
void visit_cells(const HostOctree& tree, const Box& box, std::vector<std::size_t>& stack, const Far& far,
                 const Near& near) {
  stack.assign(1, 0);
  while (!stack.empty()) {
    const std::size_t index = stack.back();
    stack.pop_back();
    if (is_far(box, tree.nodes()[index])) {
      far(index);
      continue;
    }
    const OctreeCell& cell = tree.cells()[index];
    for (int child = cell.children; child-- > 0;) stack.push_back(static_cast<std::size_t>(cell.first_child + child));
    if (cell.is_leaf()) near(index);
  }
}

/// What the bodies of a group meet, by the walk that computes their forces.
inline BodyWalk walk_of(const HostOctree& tree, BodyRange group) {
  BodyWalk walk;
  std::vector<std::size_t> stack;
  visit_cells(
      tree, tree.box_of(group), stack, [&](std::size_t cell) { walk.cells.push_back(tree.cube(cell)); },
      [&](std::size_t cell) {
        walk.leaves.push_back(tree.cube(cell));
        walk.bodies += tree.cells()[cell].bodies.count();
      });
  return walk;
}

/// Collects what a group of bodies interacts with, and flushes a list when it is full.
class TreeWalk {
 public:
  BodyList bodies;
  CellList cells;

  /// Walks the tree for the bodies of `group`, see visit_cells(). flush_bodies() and flush_cells() must empty their
  /// list; both are also called at the end.
  template <class FlushBodies, class FlushCells>
  void walk(const HostOctree& tree, BodyRange group, const FlushBodies& flush_bodies, const FlushCells& flush_cells) {
    visit_cells(
        tree, tree.box_of(group), stack_,
        [&](std::size_t cell) {
          if (cells.full()) flush_cells();
          cells.add(tree.moments()[cell]);
        },
        [&](std::size_t cell) {
          const BodyRange range = tree.cells()[cell].bodies;
          for (int body = range.begin; body < range.end; ++body) {
            if (bodies.full()) flush_bodies();
            bodies.add(tree.bodies()[static_cast<std::size_t>(body)]);
          }
        });
    flush_bodies();
    flush_cells();
  }

 private:
  std::vector<std::size_t> stack_;
};

inline void BodyList::add(const Vec4& body) {
  x[count] = body.x;
  y[count] = body.y;
  z[count] = body.z;
  mass[count++] = body.w;
}

inline int BodyList::pad(int lanes) {
  int padded = count;
  for (; padded % lanes != 0; ++padded) {
    x[padded] = x[count - 1];
    y[padded] = y[count - 1];
    z[padded] = z[count - 1];
    mass[padded] = 0;
  }
  return padded;
}

inline void CellList::add(const Moments& cell) {
  const int at = centers.count;
  centers.add(cell.center);
  const Quadrupole<float> q = quadrupole_of(cell.q);
  xx[at] = q.xx;
  yy[at] = q.yy;
  zz[at] = q.zz;
  xy[at] = q.xy;
  xz[at] = q.xz;
  yz[at] = q.yz;
  half_trace[at] = q.half_trace;
}

inline int CellList::pad(int lanes) {
  const int padded = centers.pad(lanes);
  for (int at = centers.count; at < padded; ++at) {
    xx[at] = yy[at] = zz[at] = xy[at] = xz[at] = yz[at] = half_trace[at] = 0;
  }
  return padded;
}

inline bool is_far(const Box& box, const WalkNode& node) {
  const auto beyond = [](float at, float low, float high) {
    const float outside = low - at > at - high ? low - at : at - high;
    return outside > 0 ? outside : 0.0f;
  };
  const float dx = beyond(node.x, box.low.x, box.high.x), dy = beyond(node.y, box.low.y, box.high.y),
              dz = beyond(node.z, box.low.z, box.high.z);
  return dx * dx + dy * dy + dz * dz > node.opening_sq;
}

}  // namespace orrery
