// All that one group meets in cpu-tree. No include guard: cpu_tree.cpp includes this for each instruction set, after
// host_walk.inl.

/// The sums of the targets of one group. The walk is that of the whole group, so a body's acceleration is the same
/// whichever bodies are wanted with it.
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
  /// The walk of one body, from the root on.
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

  /// Whether the group met any body through a cell.
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

  /// Calls add(list, count, padded_count) for lists of cells with moments to the second order.
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
  /// Adds the pull of the fields of the group and of the cells around it.
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

  /// `error`: of a cell's pull, at most. A body for which that is too much is left for a walk of its own; 0: none is.
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
  int count_ = 0;  ///< of targets
};
