#include "compute/kernels/tree/host_octree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compute/core/threads.h"
#include "compute/kernels/tree/root_cube.h"

namespace orrery {
namespace {

constexpr int bodies_per_share = 2048;  ///< of a pass over all bodies: less is not worth another thread
constexpr int cells_per_share = 256;    ///< of a pass over cells

bool is_set(const std::atomic<bool>* flag) {
  return flag && flag->load(std::memory_order_relaxed);
}

Box box_of_point(const Vec4& p) {
  return {{p.x, p.y, p.z}, {p.x, p.y, p.z}};
}

template <class From, class To>
float distance(const From& from, const To& to) {
  const float dx = from.x - to.x, dy = from.y - to.y, dz = from.z - to.z;
  return std::sqrt(dx * dx + dy * dy + dz * dz);
}

}  // namespace

TreeCube HostOctree::cube_of(const Vec4* bodies, int count) {
  const std::span all{bodies, static_cast<std::size_t>(count)};
  Bounds bounds;
  bounds.add(all);
  const CubeGrid grid{bounds};
  const Vec3d sums = grid.sums(all);
  return grid.cube(sums, grid.distances(all, sums));
}

void HostOctree::make_keys(const TreeCube& cube, const Vec4* bodies, int count, int threads,
                           const std::atomic<bool>* cancelled) {
  keys_.resize(static_cast<std::size_t>(count));
  cube_ = cube;
  if (is_set(cancelled)) return;
  for_each_chunk(count, bodies_per_share, threads, cancelled, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const Vec4& p = bodies[i];
      keys_[static_cast<std::size_t>(i)] = {morton_key(cube_, p.x, p.y, p.z), static_cast<std::uint32_t>(i)};
    }
  });
}

void HostOctree::sort_equal_keys(std::span<const int> ids) {
  const auto id = [&](const KeyedBody& body) { return ids[body.body]; };
  for (auto first = keys_.begin(); first != keys_.end();) {
    const auto last =
        std::find_if(first + 1, keys_.end(), [&](const KeyedBody& body) { return body.key != first->key; });
    if (last - first > 1) std::ranges::sort(first, last, {}, id);
    first = last;
  }
}

void HostOctree::build(const Vec4* bodies, const Shape& shape, const std::atomic<bool>* cancelled,
                       const KeyRange& domain) {
  const int count = static_cast<int>(keys_.size());
  const TreeUnits own = units();
  bodies_.resize(keys_.size());
  for (std::vector<float>& column : columns_) column.resize(keys_.size() + read_ahead);
  for_each_chunk(count, bodies_per_share, shape.threads, cancelled, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const Vec4 body = bodies_[place] = own.of_body(bodies[original(i)]);
      columns_[0][place] = body.x, columns_[1][place] = body.y, columns_[2][place] = body.z;
      columns_[3][place] = body.w;
    }
  });

  cells_.clear();
  add_pieces(domain, 0, 0, {0, count});
  top_ = {.pieces = static_cast<int>(cells_.size())};
  generations_.assign(1, 0);
  deepest_ = 0;
  while (generations_.back() < cells_.size() && !is_set(cancelled)) {
    const std::size_t begin = generations_.back(), end = cells_.size();
    generations_.push_back(end);
    for (std::size_t cell = begin; cell < end; ++cell) split(cell, shape.leaf);
  }
}

void HostOctree::split(std::size_t index, int leaf) {
  const auto key = [this](int body) { return keys_[static_cast<std::size_t>(body)].key; };
  const OctreeCell cell = cells_[index];
  const int common = common_level(key(cell.bodies.begin), key(cell.bodies.end - 1));
  deepest_ = std::max(deepest_, cell.level);
  if (cell.bodies.count() <= leaf || common >= key_levels) return;
  const int first_child = static_cast<int>(cells_.size());
  const int level = common + 1;
  for (int begin = cell.bodies.begin; begin < cell.bodies.end;) {
    const int child = child_of_key(key(begin), level);
    const auto last =
        std::upper_bound(keys_.begin() + begin, keys_.begin() + cell.bodies.end, child,
                         [level](int wanted, const KeyedBody& body) { return wanted < child_of_key(body.key, level); });
    const int end = static_cast<int>(last - keys_.begin());
    cells_.push_back({.bodies = {begin, end}, .parent = static_cast<int>(index), .level = level});
    begin = end;
  }
  cells_[index].first_child = first_child;
  cells_[index].children = static_cast<int>(cells_.size()) - first_child;
}

Box HostOctree::box_of(BodyRange range) const {
  Box box = box_of_point(bodies_[static_cast<std::size_t>(range.begin)]);
  for (int i = range.begin + 1; i < range.end; ++i) box.add(box_of_point(bodies_[static_cast<std::size_t>(i)]));
  return box;
}

void HostOctree::find_moments_of(std::size_t index, const Shape& shape) {
  const OctreeCell& cell = cells_[index];
  if (cell.is_leaf()) {
    const Vec4* first = &bodies_[static_cast<std::size_t>(cell.bodies.begin)];
    moments_[index] = combined_moments(cell.bodies.count(), [first](int i) -> const Vec4& { return first[i]; });
    boxes_[index] = box_of(cell.bodies);
  } else {
    const std::size_t child = static_cast<std::size_t>(cell.first_child);
    const Moments* first = &moments_[child];
    moments_[index] = combined_moments(cell.children, [first](int i) -> const Moments& { return first[i]; });
    boxes_[index] = boxes_[child];
    for (int i = 1; i < cell.children; ++i) boxes_[index].add(boxes_[child + static_cast<std::size_t>(i)]);
  }
  radii_[index] = radius_of(index);
  const Box& box = boxes_[index];
  const Vec4& at = moments_[index].center;
  const SecondMoments<float>& q = moments_[index].q;
  const float offset = distance(at, box.center()), side = box.widest(), trace = q.xx + q.yy + q.zz;
  const float opening = side / shape.theta + offset, size = side + offset;
  const float variance = at.w > 0 ? trace / at.w : 0, sigma = std::sqrt(variance), left_out = at.w * variance;
  // Of a cell with children, it is positive, also where its square is zero or not a number.
  const float children_size_sq = std::max(std::numeric_limits<float>::min(), size * size);
  // One or two bodies cost no more than a cell. A cell whose moments leave the range of float is always opened.
  const bool few = cell.is_leaf() && cell.bodies.count() <= 2, in_range = std::isfinite(trace);
  const auto set = [&](WalkValue which, float value) { values_[which * values_stride() + index] = value; };
  set(center_x, at.x), set(center_y, at.y), set(center_z, at.z);
  set(opening_sq, few || !in_range ? std::numeric_limits<float>::infinity() : opening * opening);
  set(reach, shape.far == FarField::monopole ? std::sqrt(left_out) : std::pow(left_out * sigma, 0.4f));
  set(cell_mass, at.w), set(spread, sigma), set(size_sq, cell.is_leaf() ? 0 : children_size_sq);
  second_rows_[index] = {at, quadrupole_of(q)};
  if (shape.far == FarField::high) find_high_moments_of(index);
}

float HostOctree::radius_of(std::size_t index) const {
  const OctreeCell& cell = cells_[index];
  const Vec3 center = boxes_[index].center(), half = boxes_[index].half();
  float radius = 0;
  for (int i = cell.is_leaf() ? cell.bodies.begin : 0; i < (cell.is_leaf() ? cell.bodies.end : 0); ++i) {
    radius = std::max(radius, distance(bodies_[static_cast<std::size_t>(i)], center));
  }
  for (int i = cell.first_child; i < cell.first_child + cell.children; ++i) {
    const auto child = static_cast<std::size_t>(i);
    radius = std::max(radius, distance(boxes_[child].center(), center) + radii_[child]);
  }
  return std::min(radius, distance(half, Vec3{}));
}

void HostOctree::find_high_moments_of(std::size_t index) {
  const OctreeCell& cell = cells_[index];
  const Vec4& center = moments_[index].center;
  HighRow& sum = high_rows_[index] = high::moments_to_second(center.w, moments_[index].q);
  if (cell.is_leaf()) {
    for (int i = cell.bodies.begin; i < cell.bodies.end; ++i) {
      const Vec4& body = bodies_[static_cast<std::size_t>(i)];
      high::add_body(sum, body.x - center.x, body.y - center.y, body.z - center.z, body.w);
    }
  } else {
    for (int i = cell.first_child; i < cell.first_child + cell.children; ++i) {
      const Vec4& child = moments_[static_cast<std::size_t>(i)].center;
      high::add_cell(sum, child.x - center.x, child.y - center.y, child.z - center.z,
                     high_rows_[static_cast<std::size_t>(i)]);
    }
  }
  values_[spread * values_stride() + index] = high::spread_of(sum);
  float all = 0;
  for (const float moment : sum.at) all += std::abs(moment);
  if (!std::isfinite(all)) {
    values_[opening_sq * values_stride() + index] = std::numeric_limits<float>::infinity();
  }
  sum.at[1] = center.x, sum.at[2] = center.y, sum.at[3] = center.z;
}

void HostOctree::find_moments(const Shape& shape, const std::atomic<bool>* cancelled) {
  resize_moments(shape);
  for (std::size_t g = generations_.size() - 1; g-- > 0 && !is_set(cancelled);) {
    const std::size_t begin = generations_[g];
    const int count = static_cast<int>(generations_[g + 1] - begin);
    for_each_chunk(count, cells_per_share, shape.threads, cancelled, [&](int first, int last) {
      for (int cell = first; cell < last; ++cell) find_moments_of(begin + static_cast<std::size_t>(cell), shape);
    });
  }
}

void HostOctree::resize_moments(const Shape& shape) {
  moments_.resize(cells_.size());
  boxes_.resize(cells_.size());
  radii_.resize(cells_.size());
  resize_rows(shape);
}

void HostOctree::resize_rows(const Shape& shape) {
  second_rows_.resize(cells_.size());
  high_rows_.resize(shape.far == FarField::high ? cells_.size() : 0);
  const std::size_t needed = cells_.size() + read_ahead;
  if (needed <= values_stride_) return;
  const std::size_t stride = needed + needed / 4;
  std::vector<float> values(walk_values * stride);
  for (std::size_t which = 0; which < walk_values; ++which) {
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(which * values_stride_), values_stride_,
                values.begin() + static_cast<std::ptrdiff_t>(which * stride));
  }
  values_ = std::move(values);
  values_stride_ = stride;
}

std::vector<BodyGroup> HostOctree::groups(int most) const {
  std::vector<BodyGroup> groups;
  const auto joins = [&](int index) { return is_own(index) && !is_shared(index); };
  const auto gather = [&](const auto& self, int index) -> void {
    const OctreeCell& cell = cells_[static_cast<std::size_t>(index)];
    if (!is_shared(index) && (cell.is_leaf() || cell.bodies.count() <= most)) {
      for (int begin = cell.bodies.begin; begin < cell.bodies.end; begin += most) {
        groups.push_back({{begin, std::min(begin + most, cell.bodies.end)}, cell.parent});
      }
      return;
    }
    const auto child = [&](int i) -> const OctreeCell& { return cells_[static_cast<std::size_t>(i)]; };
    for (int i = cell.first_child, end = i + cell.children; i != end;) {
      BodyGroup run{child(i).bodies, index};
      if (!joins(i) || run.count() > most) {
        if (is_own(i)) self(self, i);
        ++i;
        continue;
      }
      for (++i; i != end && joins(i) && child(i).bodies.end - run.begin <= most; ++i) run.end = child(i).bodies.end;
      groups.push_back(run);
    }
  };
  if (!keys_.empty()) gather(gather, root());
  return groups;
}

PickedCells HostOctree::cubes(const CellRequest& request) const {
  const bool all = request.level == CellRequest::every_level;
  const auto most = static_cast<std::size_t>(std::max(request.most, 0));
  PickedCells picked;
  for (int level = all ? 0 : request.level; level <= (all ? deepest_ : request.level); ++level) {
    const std::size_t own = top_.joined ? static_cast<std::size_t>(top_.begin) : cells_.size();
    for (std::size_t cell = 0; cell < own; ++cell) {
      if (cells_[cell].level != level) continue;
      ++picked.count;
      if (picked.cells.size() < most) picked.cells.push_back(cube(cell));
    }
  }
  return picked;
}

TreeCell HostOctree::cube(std::size_t index) const {
  const OctreeCell& cell = cells_[index];
  TreeCell cube = cell_of_key(cube_, keys_[static_cast<std::size_t>(cell.bodies.begin)].key, cell.level);
  const auto reach = [](float center, float low, float high) { return std::max(center - low, high - center); };
  const Box box{units().point(boxes_[index].low), units().point(boxes_[index].high)};
  cube.half_size = std::max({cube.half_size, reach(cube.center.x, box.low.x, box.high.x),
                             reach(cube.center.y, box.low.y, box.high.y), reach(cube.center.z, box.low.z, box.high.z)});
  return cube;
}

}  // namespace orrery
