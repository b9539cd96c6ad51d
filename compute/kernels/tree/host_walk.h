#pragma once

#include <algorithm>
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

/// The ball around a group's bodies, for local expansions.
struct GroupBall {
  Vec3 center;           ///< of their box
  float distant_sq = 0;  ///< the square of the distance from which cells count as distant
};
GroupBall ball_of(const HostOctree& tree, BodyRange group, float theta);
bool is_distant(const GroupBall& ball, const WalkNode& node);

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
  CellList distant;  ///< cells; empty without a ball

  /// Walks the tree for the bodies of `group`, see visit_cells(). Each flush must empty its list; all are also called
  /// at the end. `ball`: of the group, or null if no cell counts as distant.
  template <class FlushBodies, class FlushCells, class FlushDistant>
  void walk(const HostOctree& tree, BodyRange group, const GroupBall* ball, const FlushBodies& flush_bodies,
            const FlushCells& flush_cells, const FlushDistant& flush_distant) {
    visit_cells(
        tree, tree.box_of(group), stack_,
        [&](std::size_t cell) {
          if (ball && is_distant(*ball, tree.nodes()[cell])) {
            if (distant.full()) flush_distant();
            distant.add(tree.moments()[cell]);
          } else {
            if (cells.full()) flush_cells();
            cells.add(tree.moments()[cell]);
          }
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
    flush_distant();
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

inline GroupBall ball_of(const HostOctree& tree, BodyRange group, float theta) {
  const Box box = tree.box_of(group);
  GroupBall ball{.center = {(box.low.x + box.high.x) / 2, (box.low.y + box.high.y) / 2, (box.low.z + box.high.z) / 2}};
  float radius_sq = 0;
  for (int i = group.begin; i < group.end; ++i) {
    const Vec4& at = tree.bodies()[static_cast<std::size_t>(i)];
    const float dx = at.x - ball.center.x, dy = at.y - ball.center.y, dz = at.z - ball.center.z;
    radius_sq = std::max(radius_sq, dx * dx + dy * dy + dz * dz);
  }
  const float radii = local_radii / theta;
  ball.distant_sq = radii * radii * radius_sq;
  return ball;
}

inline bool is_distant(const GroupBall& ball, const WalkNode& node) {
  const float dx = node.x - ball.center.x, dy = node.y - ball.center.y, dz = node.z - ball.center.z;
  const float distance_sq = dx * dx + dy * dy + dz * dz;
  return distance_sq >= ball.distant_sq && distance_sq < farthest_local * farthest_local;
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
