// Which cells of a rank the bodies of others need. No include guard: cpu_tree.cpp includes this for each instruction
// set, after host_walk.inl.

/// Some targets, and what tests read of them in columns, with room for a vector behind the last.
class TargetColumns {
 public:
  /// The targets at places [i, i + lane_count), one per lane.
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
  /// Makes room for so many, and leaves none.
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
  /// Adds the targets in the lanes `mask` of the vector at place i of others.
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

/// Marks cells of this rank that the groups of targets on another rank may open: from the pieces on, those for which
/// closed(test, cell, targets) does not hold.
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

  /// Of some targets, those that may open a cell, or meet its children since a target around them may open it. Returns
  /// whether there are any.
  HWY_NOINLINE bool find_targets(int index, const TargetColumns& among, TargetColumns& found) const {
    const OneCell cell{plan_.tree, index};
    Lanes inside = lanes(0);  // targets up to this number are inside others that may open the cell
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
  std::vector<TargetColumns> left_;  // by depth
  int all_ = 0;
};

/// The cells that walks may open.
void mark_for_walk(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
  const Mask no_expansion = hn::FirstN(FloatTag{}, plan.expands() ? 0 : static_cast<std::size_t>(lane_count));
  const auto closed = [&](const auto& test, const OneCell& cell, const TargetColumns::Some& some) {
    const auto verdict = test.everywhere(cell);
    const Mask is_small = hn::Or(no_expansion, hn::Le(cell[size_sq].v, some.size_limit().v));
    return hn::And(hn::Or(verdict.distant, is_small), hn::Or(verdict.whole, some.is_around()));
  };
  OpenedCells{plan, targets, opened, closed}.mark();
}

/// The cells that estimate_acceleration() may open.
void mark_for_estimate(const WalkPlan& plan, const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
  const auto closed = [](const auto& test, const OneCell& cell, const TargetColumns::Some& some) {
    const Lanes most_size_sq = lanes(coarse_opening * coarse_opening) * test.least_distance_sq(cell);
    return hn::Or(some.is_around(), hn::Ge(most_size_sq.v, cell[size_sq].v));
  };
  OpenedCells{plan, targets, opened, closed}.mark();
}
