// What cells and bodies add to the bodies of a group in cpu-tree. No include guard: cpu_tree.cpp includes this for each
// instruction set.

#include "compute/kernels/parts/simd_lanes.inl"
#include "compute/kernels/parts/simd_pull.inl"
#include "compute/kernels/tree/cell_pull.inl"

HWY_INLINE Lanes constant_like(Lanes, float value) {
  return lanes(value);
}
#include "compute/kernels/tree/local_expansion.inl"

namespace high {
using namespace orrery::high;
#include "compute/kernels/tree/high_expansion.inl"
}  // namespace high

/// The masses of the lists are not scaled, as visit_pair_law_of_lanes() expects: the sums are, at the end.
constexpr float of_sums = lane_mass_scale;

#if HWY_TARGET != HWY_SCALAR
/// A vector of four floats from each of rows[0], rows[4], ...
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

/// Copies rows of `blocks` x 4 floats, one per lane, into columns: the value at place i of a row is a lane of the
/// vector at columns + i * stride.
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

/// Asks for the rows of up to lane_count cells of a later load_rows().
template <class Row>
HWY_INLINE void prefetch_rows(const std::vector<Row>& all, const int* cells, int count) {
  constexpr std::size_t line = 64;
  for (int lane = 0; lane < std::min(lane_count, count); ++lane) {
    const char* row = reinterpret_cast<const char*>(&all[static_cast<std::size_t>(cells[lane])]);
    for (std::size_t at = 0; at < sizeof(Row); at += line) hwy::Prefetch(row + at);
  }
}

/// Copies the rows of cells into columns. The lanes from `count` <= lane_count on repeat the center of the last cell,
/// the first four floats of its row, and have no moments.
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

/// Fills a list with up to CellList::capacity cells, and its last vector with cells without moments. Returns their
/// count with these.
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

/// Adds the pull of the first `padded_count` cells of a list, whole vectors of them, on a point to its lane sums. One
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

/// Adds the field of the first `padded_count` cells of a list, whole vectors of them, to an expansion around a point.
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

/// Likewise with high moments.
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

/// Adds the pull of a field around `center` on `padded_count` points, whole vectors of them, to their accelerations.
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
