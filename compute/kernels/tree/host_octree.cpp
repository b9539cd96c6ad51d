#include "compute/kernels/tree/host_octree.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "compute/core/threads.h"

namespace orrery {
namespace {

constexpr double places = 1 << 21;

/// Rounds to the nearest integer, for values below 2^51. Loops that sum the results are vectorized; with std::rint(),
/// they are not.
double nearest(double value) {
  constexpr double whole_numbers = 0x1.8p52;  // at this size, double has no fractions
  return (value + whole_numbers) - whole_numbers;
}

constexpr int digit_bits = 9;  ///< seven digits make the 63 bits of a key; 512 counters fit into the L1 cache
constexpr int digits = 7;
constexpr std::size_t digit_values = std::size_t{1} << digit_bits;

std::size_t digit_of(std::uint64_t key, int digit) {
  return static_cast<std::size_t>(key >> (digit * digit_bits)) & (digit_values - 1);
}

/// Replaces each slice's counts of digits by the places of its first bodies with these digits. Returns false if all
/// bodies have the same digit, so that nothing moves.
bool place_digits(std::vector<std::uint32_t>& counts, std::size_t slices, std::size_t count) {
  std::uint32_t place = 0;
  for (std::size_t value = 0; value < digit_values; ++value) {
    const std::uint32_t before = place;
    for (std::size_t slice = 0; slice < slices; ++slice) {
      std::uint32_t& entry = counts[slice * digit_values + value];
      const std::uint32_t here = entry;
      entry = place;
      place += here;
    }
    if (place - before == count) return false;
  }
  return true;
}

constexpr int bodies_per_share = 2048;  ///< number of bodies that a thread takes at a time, in a pass over all bodies
constexpr int cells_per_share = 256;    ///< the same for a pass over cells

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

// Octree of a rank that has a part of the bodies.

/// A cell in the form that is sent to another rank. Its indices count within the message.
struct OpenedCell {
  int first_child, children;  ///< no children: a leaf, or a cell that is not opened
  BodyRange bodies;           ///< bodies of an opened leaf; otherwise empty
  CellValues values{};
};

}  // namespace

void Bounds::add(std::span<const Vec4> bodies) {
  const auto extend = [](float at, float& low, float& high) {
    low = at < low ? at : low;
    high = at > high ? at : high;
  };
  for (const Vec4& body : bodies) {
    extend(body.x, box.low.x, box.high.x);
    extend(body.y, box.low.y, box.high.y);
    extend(body.z, box.low.z, box.high.z);
    mass = body.w > mass ? body.w : mass;
  }
  count += static_cast<std::int64_t>(bodies.size());
}

void Bounds::add(const Bounds& other) {
  box.add(other.box);
  mass = std::max(mass, other.mass);
  count += other.count;
}

CubeGrid::CubeGrid(const Bounds& all) : all_{all} {
  const auto side = [](float low, float high) { return double{high} - double{low}; };
  const Box& box = all.box;
  const double widest =
      std::max({side(box.low.x, box.high.x), side(box.low.y, box.high.y), side(box.low.z, box.high.z)});
  if (widest > 0) places_per_length_ = places / widest;
}

double CubeGrid::place(float at, float low) const {
  return nearest((double{at} - double{low}) * places_per_length_);
}

Vec3d CubeGrid::sums(std::span<const Vec4> bodies) const {
  const Vec3& low = all_.box.low;
  Vec3d sum;
  for (const Vec4& body : bodies) {
    sum.x += place(body.x, low.x);
    sum.y += place(body.y, low.y);
    sum.z += place(body.z, low.z);
  }
  return sum;
}

Vec3d CubeGrid::mean(const Vec3d& sums) const {
  const auto count = static_cast<double>(all_.count);
  return {nearest(sums.x / count), nearest(sums.y / count), nearest(sums.z / count)};
}

Vec3d CubeGrid::distances(std::span<const Vec4> bodies, const Vec3d& sums) const {
  const Vec3& low = all_.box.low;
  const Vec3d from = mean(sums);
  Vec3d sum;
  for (const Vec4& body : bodies) {
    sum.x += std::abs(place(body.x, low.x) - from.x);
    sum.y += std::abs(place(body.y, low.y) - from.y);
    sum.z += std::abs(place(body.z, low.z) - from.z);
  }
  return sum;
}

TreeCube CubeGrid::cube(const Vec3d& sums, const Vec3d& distances) const {
  const Box& box = all_.box;
  if (!(places_per_length_ > 0)) return cube_around(box.low, box.high, all_.mass);
  constexpr double rounding = 1;  // error of rounding places to integers
  const double furthest = std::max({distances.x, distances.y, distances.z}) / static_cast<double>(all_.count);
  const double reach = 16 * furthest + rounding;
  const Vec3d at = mean(sums);
  const auto low = [&](double mean, float least) {
    return std::max(static_cast<float>(least + (mean - reach) / places_per_length_), least);
  };
  const auto high = [&](double mean, float least, float greatest) {
    return std::min(static_cast<float>(least + (mean + reach) / places_per_length_), greatest);
  };
  return cube_around(
      {low(at.x, box.low.x), low(at.y, box.low.y), low(at.z, box.low.z)},
      {high(at.x, box.low.x, box.high.x), high(at.y, box.low.y, box.high.y), high(at.z, box.low.z, box.high.z)},
      all_.mass);
}

void KeySort::sort(std::vector<KeyedBody>& bodies, int threads, const std::atomic<bool>* cancelled) {
  const std::size_t count = bodies.size();
  constexpr std::size_t least_slice = 1 << 13;  // with fewer bodies, threads cost more than they save
  const std::size_t slices = std::clamp<std::size_t>(count / least_slice, 1, static_cast<std::size_t>(threads));
  other_.resize(count);
  // Handles all slices even if `cancelled` is set, as the places need the counts of all.
  const auto for_each_slice = [&](const auto& work) {
    for_each_chunk(static_cast<int>(slices), 1, threads, nullptr,
                   [&](int first, int /*last*/) { work(static_cast<std::size_t>(first)); });
  };
  for (int digit = 0; digit < digits; ++digit) {
    if (cancelled && *cancelled) return;
    places_.assign(slices * digit_values, 0);
    const auto slice_begin = [&](std::size_t slice) { return count * slice / slices; };
    for_each_slice([&](std::size_t slice) {
      std::uint32_t* counts = &places_[slice * digit_values];
      for (std::size_t i = slice_begin(slice); i < slice_begin(slice + 1); ++i)
        ++counts[digit_of(bodies[i].key, digit)];
    });
    if (!place_digits(places_, slices, count)) continue;
    for_each_slice([&](std::size_t slice) {
      std::uint32_t* places = &places_[slice * digit_values];
      for (std::size_t i = slice_begin(slice); i < slice_begin(slice + 1); ++i) {
        other_[places[digit_of(bodies[i].key, digit)]++] = bodies[i];
      }
    });
    std::swap(bodies, other_);
  }
}

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
  // Positive if the cell has children, even if the square is zero or NaN.
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

void HostOctree::add_pieces(const KeyRange& domain, std::uint64_t first_key, int level, BodyRange bodies) {
  if (bodies.count() == 0) return;
  const std::uint64_t end_key = first_key + keys_in_cell(level);
  if (domain.begin <= first_key && end_key <= domain.end) return cells_.push_back({.bodies = bodies});
  for (std::uint64_t child = first_key; child != end_key; child += keys_in_cell(level + 1)) {
    const auto end =
        std::lower_bound(keys_.begin() + bodies.begin, keys_.begin() + bodies.end, child + keys_in_cell(level + 1),
                         [](const KeyedBody& body, std::uint64_t key) { return body.key < key; });
    const int end_body = static_cast<int>(end - keys_.begin());
    add_pieces(domain, child, level + 1, {bodies.begin, end_body});
    bodies.begin = end_body;
  }
}

CellValues HostOctree::values_of(std::size_t cell) const {
  CellValues values{};
  for (std::size_t which = 0; which < walk_values; ++which) values[which] = values_[which * values_stride_ + cell];
  return values;
}

void HostOctree::set_values(std::size_t cell, const CellValues& values) {
  for (std::size_t which = 0; which < walk_values; ++which) values_[which * values_stride_ + cell] = values[which];
}

std::vector<TreePiece> HostOctree::pieces() const {
  std::vector<TreePiece> pieces(place_of(top_.pieces));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const BodyRange& bodies = cells_[i].bodies;
    pieces[i] = {.first_key = keys_[place_of(bodies.begin)].key,
                 .last_key = keys_[place_of(bodies.end - 1)].key,
                 .moments = moments_[i],
                 .box = boxes_[i],
                 .radius = radii_[i],
                 .values = values_of(i),
                 .second = second_rows_[i],
                 .high = high_rows_.empty() ? HighRow{} : high_rows_[i]};
  }
  return pieces;
}

void HostOctree::join(std::span<const TreePiece> pieces, int own, const Shape& shape) {
  top_.joined = true;
  top_.begin = static_cast<int>(cells_.size());
  top_.own = own;
  top_.parts.assign(1, {0, static_cast<int>(pieces.size())});
  top_.cells.resize(pieces.size());
  top_.bodies = bodies_.size();
  cells_.push_back({});
  for (std::size_t i = 0; i < top_.parts.size(); ++i) {
    const BodyRange part = top_.parts[i];
    const int index = top_.begin + static_cast<int>(i);
    if (part.count() == 1) {
      top_.cells[place_of(part.begin)] = index;
      continue;
    }
    const int level = common_level(pieces[place_of(part.begin)].first_key, pieces[place_of(part.end - 1)].last_key) + 1;
    const int first_child = static_cast<int>(cells_.size());
    for (int begin = part.begin, end = begin; begin < part.end; begin = end) {
      const auto child = [&](int piece) { return child_of_key(pieces[place_of(piece)].first_key, level); };
      while (end < part.end && child(end) == child(begin)) ++end;
      cells_.push_back({.bodies = {0, 0}, .parent = index, .level = level});
      top_.parts.push_back({begin, end});
    }
    deepest_ = std::max(deepest_, level);
    cells_[place_of(index)].first_child = first_child;
    cells_[place_of(index)].children = static_cast<int>(cells_.size()) - first_child;
  }
  top_.end = static_cast<int>(cells_.size());
  resize_moments(shape);
  for (std::size_t i = 0; i < pieces.size(); ++i) set_piece(static_cast<int>(i), pieces[i], shape);
  for (int cell = top_.end; cell-- > top_.begin;) {
    if (is_shared(cell)) find_moments_of(place_of(cell), shape);
  }
}

void HostOctree::set_piece(int piece, const TreePiece& from, const Shape& shape) {
  const int cell = top_.cells[place_of(piece)];
  const std::size_t index = place_of(cell);
  moments_[index] = from.moments;
  boxes_[index] = from.box;
  radii_[index] = from.radius;
  second_rows_[index] = from.second;
  if (shape.far == FarField::high) high_rows_[index] = from.high;
  set_values(index, from.values);
  const int own = piece - top_.own;
  if (own < 0 || own >= top_.pieces) return;
  OctreeCell& first = cells_[place_of(own)];
  first.level = cells_[index].level;
  cells_[index].bodies = first.bodies;
  cells_[index].first_child = first.first_child;
  cells_[index].children = first.children;
  for (int child = first.first_child; child < first.first_child + first.children; ++child) {
    cells_[place_of(child)].parent = cell;
  }
}

bool HostOctree::is_own(int cell) const {
  if (!top_.joined || cell < top_.begin) return true;
  if (cell >= top_.end) return false;
  const BodyRange part = top_.part(cell);
  return part.count() > 1 || (part.begin >= top_.own && part.begin < top_.own + top_.pieces);
}

void HostOctree::put_opened(const std::vector<char>& opened, bool moments, MessageWriter& message) const {
  std::vector<int> numbers(place_of(top_.pieces));  // indices in this tree of the cells in the message
  std::iota(numbers.begin(), numbers.end(), 0);
  int bodies = 0;
  const auto open = [&](int number) {
    const OctreeCell& cell = cells_[place_of(number)];
    OpenedCell to{};
    if (!opened[place_of(number)]) return to;
    if (cell.is_leaf()) {
      to.bodies = {bodies, bodies + cell.bodies.count()};
      bodies = to.bodies.end;
    } else {
      to.first_child = static_cast<int>(numbers.size());
      to.children = cell.children;
      for (int child = 0; child < cell.children; ++child) numbers.push_back(cell.first_child + child);
    }
    return to;
  };
  std::vector<OpenedCell> cells;
  for (std::size_t i = 0; i < numbers.size(); ++i) cells.push_back(open(numbers[i]));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t index = place_of(numbers[i]);
    cells[i].values = values_of(index);
    if (!opened[index]) cells[i].values[size_sq] = 0;  // treated as a leaf
  }
  message.put_all(cells);
  const std::span<const int> all{numbers};
  const std::span<const int> described = moments ? all.subspan(place_of(top_.pieces)) : all.first(0);
  message.put(described.size());
  message.put_entries(second_rows_.data(), described);
  const std::span<const int> with_high = high_rows_.empty() ? all.first(0) : described;
  message.put(with_high.size());
  message.put_entries(high_rows_.data(), with_high);
  message.put(place_of(bodies));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].bodies.count() == 0) continue;
    const BodyRange from = cells_[place_of(numbers[i])].bodies;
    message.put_values(std::span{bodies_}.subspan(place_of(from.begin), place_of(from.count())));
  }
}

void HostOctree::take_opened(BodyRange pieces, const Shape& shape, MessageReader& message) {
  std::vector<OpenedCell> taken;
  message.get_all(taken);
  const int before = static_cast<int>(cells_.size()), body = static_cast<int>(bodies_.size());
  const auto index_of = [&](int number) {
    return number < pieces.count() ? top_.cells[place_of(pieces.begin + number)] : before + number - pieces.count();
  };
  cells_.resize(cells_.size() + taken.size() - place_of(pieces.count()));
  message.get_all(second_rows_);
  message.get_all(high_rows_);
  message.get_all(bodies_);
  resize_rows(shape);
  for (int i = 0; i < static_cast<int>(taken.size()); ++i) {
    const OpenedCell& from = taken[place_of(i)];
    const std::size_t index = place_of(index_of(i));
    OctreeCell& cell = cells_[index];
    cell.first_child = from.children > 0 ? index_of(from.first_child) : 0;
    cell.children = from.children;
    if (from.bodies.count() > 0) cell.bodies = {body + from.bodies.begin, body + from.bodies.end};
    set_values(index, from.values);
  }
  for (std::size_t axis = 0; axis < columns_.size(); ++axis) columns_[axis].resize(bodies_.size() + read_ahead);
  for (std::size_t i = place_of(body); i < bodies_.size(); ++i) {
    columns_[0][i] = bodies_[i].x, columns_[1][i] = bodies_[i].y, columns_[2][i] = bodies_[i].z;
    columns_[3][i] = bodies_[i].w;
  }
}

void HostOctree::close_others() {
  cells_.resize(place_of(top_.end));
  second_rows_.resize(cells_.size());
  high_rows_.resize(high_rows_.empty() ? 0 : cells_.size());
  bodies_.resize(top_.bodies);
  for (const int cell : top_.cells) {
    if (is_own(cell)) continue;
    cells_[place_of(cell)].bodies = {0, 0};
    cells_[place_of(cell)].children = 0;
  }
}

}  // namespace orrery
