// The walk of cpu-tree. No include guard: cpu_tree.cpp includes this for each instruction set, after group_field.inl.

using Mask = hn::Mask<FloatTag>;
using IntTag = hn::RebindToSigned<FloatTag>;

/// Appends the numbers of the lanes in `mask`.
HWY_INLINE void append(CellNumbers& numbers, hn::Vec<IntTag> cells, Mask mask) {
  hn::StoreU(hn::Compress(cells, hn::RebindMask(IntTag{}, mask)), IntTag{}, numbers.end());
  numbers.grow(static_cast<int>(hn::CountTrue(FloatTag{}, mask)));
}

#include "compute/kernels/tree/cell_test.inl"

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

/// Adds the cells in the lanes `mask` of the vector at place i of a queue to another.
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

/// Calls use(valid, i) for the vectors of cells of a queue that may grow meanwhile; `valid`: the lanes that hold cells.
template <class Use>
HWY_INLINE void for_each_vector(const CellQueue& queue, const Use& use) {
  for (int i = 0; i < queue.count();) {
    const int count = std::min(lane_count, queue.count() - i);
    use(hn::FirstN(FloatTag{}, static_cast<std::size_t>(count)), i);
    i += count;
  }
}

/// Tests the cells in walk.queue for a group: sorts them, and the descendants of those that are opened, into distant
/// cells, cells that act on each body, and leaves.
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

/// Likewise for a cell on the way to a group: finds the cells that are distant for all its bodies. Of the others, the
/// larger ones are opened; those as small as the cell itself are left to its children.
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

/// Makes the levels of the walk those of the cells around a group. Levels that the last group had, too, stay. Calls
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

/// The bodies of a group as a target.
HWY_NOINLINE WalkTarget target_of(const HostOctree& tree, BodyRange group, float error) {
  const auto for_each = [&](const auto& use) {
    for (int i = group.begin; i < group.end; i += lane_count) {
      // Lanes behind the last body repeat it.
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

/// Finds what a group meets.
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

/// The pull of coarse cells on one body.
struct CoarsePull {
  Vec3Of<Lanes> sum;
  Lanes sizes;
};
float estimate_from(const CoarsePull& pull) {
  const float x = sum_of_lanes(pull.sum.x), y = sum_of_lanes(pull.sum.y), z = sum_of_lanes(pull.sum.z);
  return std::max(std::sqrt(x * x + y * y + z * z), least_pull_part * sum_of_lanes(pull.sizes));
}

/// Estimates the acceleration of a group, whose box has this center, from the pull of a few dozen coarse cells on some
/// of its bodies.
template <class PairLaw>
HWY_NOINLINE float estimate_acceleration(const HostOctree& tree, const PairLaw& pair_law, BodyRange group,
                                         const Vec3& center, CellQueue& queue) {
  const PairLaw law = pair_law;
  // The last one is on the center: where pulls cancel among near bodies, it is far below those on the bodies.
  CoarsePull pulls[estimate_bodies + 1];
  std::ranges::fill(pulls, CoarsePull{{lanes(0), lanes(0), lanes(0)}, lanes(0)});
  begin_at_root(queue, tree);
  for_each_vector(queue, [&](Mask valid, int i) {
    const auto value = [&](WalkValue which) { return load_unaligned(queue.values(which) + i); };
    const Lanes dx = value(center_x) - lanes(center.x), dy = value(center_y) - lanes(center.y),
                dz = value(center_z) - lanes(center.z);
    const Lanes distance_sq = square_of_length(dx, dy, dz);
    const Mask stands = hn::Ge((lanes(coarse_opening * coarse_opening) * distance_sq).v, value(size_sq).v);
    // The lanes behind the last cell hold anything, also infinities, and zero times these is not a number.
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
