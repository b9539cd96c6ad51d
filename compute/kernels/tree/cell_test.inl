// Whether cells act as a whole on targets. No include guard: host_walk.inl includes this for each instruction set.

HWY_INLINE Lanes distance_outside(Lanes offset, Lanes half) {
  return {hn::Max(hn::Sub(hn::Abs(offset.v), half.v), hn::Zero(FloatTag{}))};
}
HWY_INLINE Lanes square_of_length(Lanes x, Lanes y, Lanes z) {
  return multiply_add(x, x, multiply_add(y, y, z * z));
}

/// The cells at places [i, i + lane_count) of a queue, one per lane.
struct QueuedCells {
  const CellQueue& queue;
  int i;
  HWY_INLINE Lanes operator[](WalkValue which) const { return load_unaligned(queue.values(which) + i); }
};
/// One cell in all lanes.
struct OneCell {
  const HostOctree& tree;
  int cell;
  HWY_INLINE Lanes operator[](WalkValue which) const { return lanes(tree.values(which)[cell]); }
};

/// What a test reads of targets.
enum TargetValue {
  target_x,
  target_y,
  target_z,
  half_x,
  half_y,
  half_z,
  ball_sq,          ///< WalkTarget::radius_sq
  inverse_ball_sq,  ///< of FarField::local
  error_of_target,
  reach_scale,
  distant_scale,
  least_distant,
  radius,
  widest_sq,
  target_values
};
struct TargetNumbers {
  float of[target_values];
  /// One target in all lanes.
  HWY_INLINE Lanes operator[](TargetValue which) const { return lanes(of[which]); }
};

/// Cells nearer than this many radii of the group join none of its expansions, which converge slowly there.
constexpr float converging_radii = 2;

TargetNumbers numbers_of(const WalkPlan& plan, const WalkTarget& target) {
  const Vec3 &center = target.center, &half = target.half;
  const float error = target.error, r_sq = target.radius_sq, widest = local_radii / plan.theta;
  TargetNumbers numbers{{center.x, center.y, center.z, half.x, half.y, half.z, r_sq}};
  numbers.of[error_of_target] = error;
  if (error > 0) {
    numbers.of[reach_scale] = plan.far == FarField::monopole ? 1 / std::sqrt(error) : std::pow(error, -0.4f);
  }
  if (plan.far == FarField::local) {
    constexpr float point_sq = 1e-30f;  // of a group in a point: its inverse is a number
    const float inverse_sq = 1 / std::max(r_sq, point_sq), least = error > 0 ? converging_radii : widest;
    numbers.of[inverse_ball_sq] = inverse_sq;
    numbers.of[distant_scale] = error > 0 ? inverse_sq * (local_safety / error) : 0;
    numbers.of[least_distant] = least * least * least * least * least * least;
  } else {
    numbers.of[radius] = std::sqrt(r_sq);
    numbers.of[widest_sq] = error > 0 ? 0 : widest * widest;
    numbers.of[least_distant] = std::max(converging_radii * converging_radii * r_sq, high::nearest * high::nearest);
  }
  return numbers;
}

/// Whether cells act as a whole on targets, one of each per lane. A comparison with NaN is false, and then the cell is
/// opened.
template <class Targets>
class CellTest {
 public:
  struct Verdict {
    Mask distant;  ///< acts through an expansion
    Mask whole;    ///< acts as a whole, perhaps through an expansion
  };

  CellTest(const WalkPlan& plan, const Targets& targets)
      : targets_{targets}, far_{plan.far}, has_errors_{plan.has_errors} {}

  template <class Cells>
  HWY_INLINE Verdict operator()(const Cells& cells) const {
    const Lanes dx = cells[center_x] - targets_[target_x], dy = cells[center_y] - targets_[target_y],
                dz = cells[center_z] - targets_[target_z];
    const Lanes outside_sq =
        square_of_length(distance_outside(dx, targets_[half_x]), distance_outside(dy, targets_[half_y]),
                         distance_outside(dz, targets_[half_z]));
    return verdict_at(cells, outside_sq, square_of_length(dx, dy, dz));
  }

  /// Whether cells act as a whole on all groups in the box of the target, and through an expansion about any point in
  /// it, whatever is rounded.
  template <class Cells>
  HWY_INLINE Verdict everywhere(const Cells& cells) const {
    const Lanes least_sq = least_distance_sq(cells);
    Verdict verdict = verdict_at(cells, least_sq, least_sq);
    const float farthest = far_ == FarField::high ? high::farthest : farthest_local;
    verdict.distant = hn::And(verdict.distant, hn::Lt(greatest_distance_sq(cells).v, lanes(farthest * farthest).v));
    return verdict;
  }
  /// Of the square of the distance from any point in the box of the target.
  template <class Cells>
  HWY_INLINE Lanes least_distance_sq(const Cells& cells) const {
    const auto outside = [](Lanes offset, Lanes half) { return distance_outside(offset, half); };
    return lanes(0.999f) * square_of_distance(cells, outside);
  }

 private:
  template <class Cells>
  HWY_INLINE Lanes greatest_distance_sq(const Cells& cells) const {
    const auto farthest = [](Lanes offset, Lanes half) { return Lanes{hn::Add(hn::Abs(offset.v), half.v)}; };
    return lanes(1.001f) * square_of_distance(cells, farthest);
  }
  /// along(offset, half): the distance along one axis, of the offset from the center of the box and half its size, with
  /// what rounding may add to it.
  template <class Cells, class Along>
  HWY_INLINE Lanes square_of_distance(const Cells& cells, const Along& along) const {
    const auto distance = [&](WalkValue at, TargetValue center, TargetValue half) {
      const Lanes offset = cells[at] - targets_[center];
      const Lanes sizes{hn::Add(hn::Abs(targets_[center].v), hn::Add(hn::Abs(offset.v), targets_[half].v))};
      return along(offset, targets_[half] + lanes(1e-6f) * sizes);
    };
    return square_of_length(distance(center_x, target_x, half_x), distance(center_y, target_y, half_y),
                            distance(center_z, target_z, half_z));
  }

  template <class Cells>
  HWY_INLINE Verdict verdict_at(const Cells& cells, Lanes outside_sq, Lanes distance_sq) const {
    const Mask apart = hn::Ge(outside_sq.v, cells[opening_sq].v);
    const Mask whole = hn::And(apart, hn::Ge(outside_sq.v, (targets_[reach_scale] * cells[reach]).v));
    if (far_ == FarField::local) return {hn::And(whole, is_distant(distance_sq, cells[cell_mass])), whole};
    if (far_ != FarField::high) return {hn::FirstN(FloatTag{}, 0), whole};
    const Mask distant = hn::And(apart, is_high_distant(distance_sq, cells[cell_mass], cells[spread]));
    return {distant, hn::Or(whole, distant)};
  }

  /// Compares (d / r)^6 with M / (r^2 error): powers of d and r alone may leave the range of float.
  HWY_INLINE Mask is_distant(Lanes distance_sq, Lanes mass) const {
    const Lanes radii_sq = distance_sq * targets_[inverse_ball_sq];
    const Lanes least{hn::Max((mass * targets_[distant_scale]).v, targets_[least_distant].v)};
    return hn::And(hn::Ge((radii_sq * radii_sq * radii_sq).v, least.v),
                   hn::Lt(distance_sq.v, lanes(farthest_local * farthest_local).v));
  }
  HWY_INLINE Mask is_high_distant(Lanes distance_sq, Lanes mass, Lanes sigma) const {
    const Lanes extent = sigma + targets_[radius], extent_sq = extent * extent;
    const Lanes left_out = high::left_out(mass, extent_sq, targets_[ball_sq], distance_sq);
    const Lanes distance_4 = distance_sq * distance_sq;
    const Mask exact = has_errors_ ? hn::Le(left_out.v, (targets_[error_of_target] * distance_sq).v)
                                   : hn::Le((extent_sq * targets_[widest_sq]).v, distance_sq.v);
    const Mask in_range =
        hn::And(hn::Lt(distance_sq.v, lanes(high::farthest * high::farthest).v),
                hn::Le((lanes(1 / high::most_pull) * mass).v, hn::Min((distance_4 * distance_4).v, lanes(1).v)));
    return hn::And(hn::And(exact, in_range), hn::Ge(distance_sq.v, targets_[least_distant].v));
  }

  Targets targets_;
  FarField far_;
  bool has_errors_;
};
