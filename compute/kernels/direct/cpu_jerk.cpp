// Highway compiles this file once per instruction set and chooses the best set at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/direct/cpu_jerk.cpp"
// Highway requires this include after the definition of HWY_TARGET_INCLUDE.
#include <hwy/foreach_target.h>
// Highway requires this include after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

#include "compute/core/threads.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/simd.h"
#include "compute/kernels/parts/tunables.h"

HWY_BEFORE_NAMESPACE();
namespace orrery::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// SIMD vector of up to 64 bytes, with the operations that pair_law.inl and add_pull_and_jerk() need.
template <class T>
struct JerkLanes {
  using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
  static constexpr int count = hn::MaxLanes(Tag{});
  hn::Vec<Tag> v;

  HWY_INLINE static JerkLanes set(T value) { return {hn::Set(Tag{}, value)}; }
  HWY_INLINE static JerkLanes load(const T* aligned) { return {hn::Load(Tag{}, aligned)}; }
  HWY_INLINE double sum() const { return hn::GetLane(hn::SumOfLanes(Tag{}, v)); }

  friend HWY_INLINE JerkLanes operator+(JerkLanes a, JerkLanes b) { return {hn::Add(a.v, b.v)}; }
  friend HWY_INLINE JerkLanes operator-(JerkLanes a, JerkLanes b) { return {hn::Sub(a.v, b.v)}; }
  friend HWY_INLINE JerkLanes operator*(JerkLanes a, JerkLanes b) { return {hn::Mul(a.v, b.v)}; }
  friend HWY_INLINE JerkLanes multiply_add(JerkLanes a, JerkLanes b, JerkLanes c) {
    return {hn::MulAdd(a.v, b.v, c.v)};
  }
  friend HWY_INLINE JerkLanes scaled(T factor, JerkLanes a) { return {hn::Mul(hn::Set(Tag{}, factor), a.v)}; }
  friend HWY_INLINE JerkLanes reciprocal_sqrt(JerkLanes x) { return {hn::Div(hn::Set(Tag{}, T{1}), hn::Sqrt(x.v))}; }
};

#include "compute/core/pair_law.inl"
// jerk_pair.inl uses pair_law.inl, so this include must follow.
#include "compute/kernels/parts/jerk_pair.inl"

/// Calls visit(pair_law), where pair_law computes `law` on vectors of T.
template <class T, class Visitor>
void visit_pair_law_of_lanes(const Law& law, const Visitor& visit) {
  using Lanes = JerkLanes<T>;
  const Lanes softening_sq = Lanes::set(static_cast<T>(law.softening) * static_cast<T>(law.softening));
  if (law.id == LawId::attract_repel) {
    visit(AttractRepel<Lanes>{softening_sq, Lanes::set(static_cast<T>(law.repulsion)), Lanes::set(1)});
  } else {
    visit(Gravity<Lanes>{softening_sq});
  }
}

template <class T>
struct LanesBody {
  using Real = JerkLanes<T>;
  using Coordinate = std::conditional_t<std::is_same_v<T, float>, DoubleLanesOf<Real>, Real>;

  Vec3Of<Coordinate> position;
  Vec3Of<Real> velocity;
  Real mass;

  /// Returns one body per lane, with the components read(column).
  template <class Read>
  HWY_INLINE static LanesBody read(const JerkColumns<T>& c, const Read& read) {
    const Vec3Of<Real> velocity{read(c.vx), read(c.vy), read(c.vz)};
    if constexpr (std::is_same_v<T, float>) {
      return {
          {{read(c.x), read(c.x_low)}, {read(c.y), read(c.y_low)}, {read(c.z), read(c.z_low)}}, velocity, read(c.mass)};
    } else {
      return {{read(c.x), read(c.y), read(c.z)}, velocity, read(c.mass)};
    }
  }
};

/// Returns the acceleration and jerk of body `i` due to all bodies, summed in double. If `stop` is set, returns early
/// with an incomplete sum.
template <class T, class PairLaw>
HWY_NOINLINE Pull pull_on(const JerkColumns<T>& columns, int i, const PairLaw& pair_law,
                          const std::atomic<bool>* stop) {
  using Lanes = JerkLanes<T>;
  using Body = LanesBody<T>;
  const PairLaw law = pair_law;
  const Body me = Body::read(columns, [i](const T* column) { return Lanes::set(column[i]); });
  Pull total;
  constexpr int block = jerk_sum_length * Lanes::count;  // bodies per partial sum: each lane adds jerk_sum_length pairs
  for (int begin = 0; begin < columns.padded_count && !cancelled(stop); begin += block) {
    const int end = begin + std::min(block, columns.padded_count - begin);
    const Lanes zero = Lanes::set(0);
    PullOf<Lanes> sum{{zero, zero, zero}, {zero, zero, zero}};
    for (int j = begin; j < end; j += Lanes::count) {
      add_pull_and_jerk(sum, law, me, Body::read(columns, [j](const T* column) { return Lanes::load(column + j); }));
    }
    const auto& [a, jerk] = sum;
    orrery::PullOf<double>{{a.x.sum(), a.y.sum(), a.z.sum()}, {jerk.x.sum(), jerk.y.sum(), jerk.z.sum()}}.add_to(total);
  }
  return total;
}

template <class T>
void pulls_on(const JerkColumns<T>& columns, const int* bodies, int count, Pull* pulls, const Law& law,
              const std::atomic<bool>* stop) {
  visit_pair_law_of_lanes<T>(law, [&](const auto& of_lanes) {
    for (int k = 0; k < count; ++k) pulls[k] = pull_on<T>(columns, bodies[k], of_lanes, stop);
  });
}

void float_pulls_on(const JerkColumns<float>& columns, const int* bodies, int count, Pull* pulls, const Law& law,
                    const std::atomic<bool>* stop) {
  pulls_on(columns, bodies, count, pulls, law, stop);
}
void double_pulls_on(const JerkColumns<double>& columns, const int* bodies, int count, Pull* pulls, const Law& law,
                     const std::atomic<bool>* stop) {
  pulls_on(columns, bodies, count, pulls, law, stop);
}

const char* jerk_lanes_name() {
  return simd_name(HWY_TARGET);
}

}  // namespace
}  // namespace orrery::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace orrery {
namespace {

HWY_EXPORT(float_pulls_on);
HWY_EXPORT(double_pulls_on);
HWY_EXPORT(jerk_lanes_name);

constexpr Tunable jerk_tunables[] = {threads_tunable, jerk_precision_tunable};
constexpr int most_targets_of_a_chunk = 16;
/// Floating-point operations of one interaction with its jerk. Position differences take six more operations for
/// double-floats than for doubles.
constexpr InteractionArithmetic mixed_arithmetic{.gravity = 35, .attract_repel = 40},
    fp64_arithmetic{.gravity = 29, .attract_repel = 34, .bits = 64};

class CpuJerk final : public ForceKernel, public JerkFacet, public ArithmeticFacet {
 public:
  explicit CpuJerk(const Settings& settings)
      : threads_{thread_count(settings)}, precision_{jerk_precision_values.find(settings.text("precision"))} {}

  JerkFacet* jerks() override { return this; }

  void evaluate_jerks(const JerkArgs& args) override {
    evaluate_all(
        args, [&](int i) { return args.bodies[i]; }, [&](int i, const Pull& pull) { args.pulls[i] = pull; });
  }

  /// Evaluates accelerations only: treats all bodies as at rest.
  void do_evaluate(const ForceArgs& args) override {
    evaluate_all(
        args, [&](int i) { return at_rest(args.bodies[i]); },
        [&](int i, const Pull& pull) { args.epilogue.finish(i, args.bodies[i].w, rounded(pull.acceleration)); });
  }

  InteractionArithmetic arithmetic() const override {
    return precision_ == JerkPrecision::mixed ? mixed_arithmetic : fp64_arithmetic;
  }
  std::string chosen(int /*count*/, const MassRange& /*masses*/) const override {
    return std::string{HWY_DYNAMIC_DISPATCH(jerk_lanes_name)()} + ", threads " + std::to_string(threads_);
  }

 private:
  template <class Args, class BodyAt, class Finish>
  void evaluate_all(const Args& args, const BodyAt& body_at, const Finish& finish) {
    if (precision_ == JerkPrecision::mixed) {
      const auto columns = mixed_.fill(args.count, body_at, threads_);
      evaluate_columns(args, finish, [&](const int* bodies, int count, Pull* pulls) {
        HWY_DYNAMIC_DISPATCH(float_pulls_on)(columns, bodies, count, pulls, args.law, args.cancelled);
      });
    } else {
      const auto columns = fp64_.fill(args.count, body_at, threads_);
      evaluate_columns(args, finish, [&](const int* bodies, int count, Pull* pulls) {
        HWY_DYNAMIC_DISPATCH(double_pulls_on)(columns, bodies, count, pulls, args.law, args.cancelled);
      });
    }
  }

  template <class Args, class Finish, class PullsOn>
  void evaluate_columns(const Args& args, const Finish& finish, const PullsOn& pulls_on) const {
    const int chunk = std::clamp(args.target_count() / (4 * threads_), 1, most_targets_of_a_chunk);
    for_each_chunk(args.target_count(), chunk, threads_, args.cancelled, [&](int first, int last) {
      int bodies[most_targets_of_a_chunk];
      Pull pulls[most_targets_of_a_chunk];
      const int count = last - first;
      for (int k = 0; k < count; ++k) bodies[k] = args.targets.body(first + k);
      pulls_on(bodies, count, pulls);
      for (int k = 0; k < count; ++k) finish(bodies[k], pulls[k]);
    });
  }

  int threads_;
  JerkPrecision precision_;
  JerkColumnsOf<float> mixed_;
  JerkColumnsOf<double> fp64_;
};

}  // namespace

ORRERY_KERNEL(
    cpu_jerk, .id = "cpu-jerk", .title = "CPU jerk",
    .notes =
        "Accelerations and their derivatives in time, as the integrators hermite4 and hermite4-blocks need them, by "
        "threads and vectors.",
    .source = "Makino & Aarseth 1992; differences of positions by two floats each",
    .lesson =
        "A jerk costs about as much as an acceleration and comes from the same pair. With it, an integrator is of "
        "fourth order with one evaluation per step.",
    .backend = Backend::cpu, .tunables = jerk_tunables, .tolerance = {.median = 1e-6, .max = 3e-4},
    .takes_targets = true, .gives_jerks = true, .candidates = jerk_candidates, .create = create_kernel<CpuJerk>);

}  // namespace orrery
#endif
