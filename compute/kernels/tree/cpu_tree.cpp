// Highway compiles this file once for each instruction set and picks one when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/tree/cpu_tree.cpp"
#include "compute/kernels/parts/simd_targets.h"
// After HWY_TARGET_INCLUDE and simd_targets.h, as Highway asks.
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway asks.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "compute/core/team.h"
#include "compute/kernels/parts/body_columns.h"
#include "compute/kernels/parts/fma_limit.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/simd_name.h"
#include "compute/kernels/parts/simd_rows.h"
#include "compute/kernels/parts/threads.h"
#include "compute/kernels/tree/host_octree.h"
#include "compute/kernels/tree/host_walk.h"
#include "compute/kernels/tree/tree_tunables.h"

#ifndef ORRERY_CPU_TREE_ONCE
#define ORRERY_CPU_TREE_ONCE
namespace orrery {
namespace {

constexpr Values<8, 16, 32, 64, 128, 256> group_values;
constexpr int max_group = group_values.largest;
static_assert(max_group % max_simd_rows == 0);
static_assert(max_lanes <= BodyList::padding);

/// The memory of one thread, for one group after the other.
struct GroupWork {
  TreeWalk walk;
  std::array<int, max_group> targets;  ///< of the group, as places in the order of the keys
  std::array<Vec4, max_group> points;
  alignas(64) std::array<float, max_group * 3 * max_lanes> sums;
  std::int64_t with_bodies = 0, with_cells = 0, with_distant = 0;  ///< interactions by kind
};

/// How the groups are evaluated.
struct GroupPlan {
  const HostOctree& tree;
  const char* is_target;  ///< nonzero for the bodies wanted, in their own order; null: every body is wanted
  int rows;
  float theta;
  FarField far;
};

/// Fills `targets` with the bodies of the group that are wanted. Returns how many there are.
int find_targets(const GroupPlan& plan, BodyRange group, std::array<int, max_group>& targets) {
  int count = 0;
  for (int body = group.begin; body < group.end; ++body) {
    if (!plan.is_target || plan.is_target[plan.tree.original(body)]) targets[static_cast<std::size_t>(count++)] = body;
  }
  return count;
}

}  // namespace
}  // namespace orrery
#endif

HWY_BEFORE_NAMESPACE();
namespace orrery::HWY_NAMESPACE {
namespace {

#include "compute/kernels/parts/simd_lanes.inl"
#include "compute/kernels/parts/simd_pull.inl"
#include "compute/kernels/tree/cell_pull.inl"

HWY_INLINE Lanes constant_like(Lanes, float value) {
  return lanes(value);
}
#include "compute/kernels/tree/local_expansion.inl"

/// The masses of the lists are not scaled, as visit_pair_law_of_lanes() expects: the sums are, at the end.
constexpr float of_sums = lane_mass_scale;

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
  const BodyList& centers = cells.centers;
  for (int j = 0; j < padded_count; j += lane_count) {
    const Quadrupole<Lanes> q{load(cells.xx + j), load(cells.yy + j), load(cells.zz + j),        load(cells.xy + j),
                              load(cells.xz + j), load(cells.yz + j), load(cells.half_trace + j)};
    add_cell_pull(sum, law, units, load(centers.x + j) - point.x, load(centers.y + j) - point.y,
                  load(centers.z + j) - point.z, load(centers.mass + j), q);
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
  const BodyList& centers = cells.centers;
  for (int j = 0; j < padded_count; j += lane_count) {
    const Quadrupole<Lanes> q{load(cells.xx + j), load(cells.yy + j), load(cells.zz + j),        load(cells.xy + j),
                              load(cells.xz + j), load(cells.yz + j), load(cells.half_trace + j)};
    const Lanes dx = load(centers.x + j) - lanes(center.x), dy = load(centers.y + j) - lanes(center.y),
                dz = load(centers.z + j) - lanes(center.z);
    add_distant_cell(sum, law.inverse_distance(dx, dy, dz) * unscale, dx, dy, dz, load(centers.mass + j), q);
  }
  for (int term = 0; term < orrery::LocalExpansion<float>::terms; ++term)
    expansion.at[term] += sum_of_lanes(sum.at[term]);
}

/// Sums and finishes the targets of a group. The walk is that of the whole group, so a body's acceleration is the same
/// whichever bodies are wanted with it.
template <int rows, class PairLaw>
void evaluate_group_rows(const ForceArgs& args, const GroupPlan& plan, BodyRange group, GroupWork& work,
                         const PairLaw& law) {
  const int count = find_targets(plan, group, work.targets);
  if (count == 0) return;
  const int padded = (count + rows - 1) / rows * rows;
  Vec4* points = work.points.data();
  float* sums = work.sums.data();
  for (int i = 0; i < padded; ++i) {
    const int body = work.targets[static_cast<std::size_t>(std::min(i, count - 1))];
    points[i] = plan.tree.bodies()[static_cast<std::size_t>(body)];
  }
  std::fill_n(sums, padded * 3 * lane_count, 0.0f);
  const auto for_each_rows = [&](const auto& add) {
    if (cancelled(args)) return;
    for (int i = 0; i < padded; i += rows) add(points + i, sums + i * 3 * lane_count);
  };
  const auto add_list = [&](BodyList& list) {
    const int end = list.pad(lane_count);
    for_each_rows([&](const Vec4* point, float* sum) {
      add_bodies<rows>(list.x, list.y, list.z, list.mass, 0, end, law, point, sum);
    });
    work.with_bodies += std::int64_t{list.count} * count;
    list.count = 0;
  };
  const bool is_local = plan.far == FarField::local && args.law.id == LawId::gravity;
  const GroupBall ball = is_local ? ball_of(plan.tree, group, plan.theta) : GroupBall{};
  orrery::LocalExpansion<float> expansion{};
  work.walk.walk(
      plan.tree, group, is_local ? &ball : nullptr, [&] { add_list(work.walk.bodies); },
      [&] {
        CellList& cells = work.walk.cells;
        if (plan.far == FarField::monopole) return add_list(cells.centers);
        const int end = cells.pad(lane_count);
        for_each_rows([&](const Vec4* point, float* sum) {
          for (int r = 0; r < rows; ++r) add_cells(cells, end, law, point[r], sum + r * 3 * lane_count);
        });
        work.with_cells += std::int64_t{cells.centers.count} * count;
        cells.centers.count = 0;
      },
      [&] {
        CellList& cells = work.walk.distant;
        if (!cancelled(args)) add_distant_cells(cells, cells.pad(lane_count), law, ball.center, expansion);
        work.with_distant += cells.centers.count;
        cells.centers.count = 0;
      });
  if (cancelled(args)) return;
  for (int i = 0; i < count; ++i) {
    const Vec4& point = points[i];
    const Vec3 a = acceleration_of(sums + i * 3 * lane_count);
    Vec3 distant;
    if (is_local) {
      distant = pull_at(expansion, point.x - ball.center.x, point.y - ball.center.y, point.z - ball.center.z);
    }
    args.epilogue.finish(plan.tree.original(work.targets[static_cast<std::size_t>(i)]), point.w,
                         {a.x * of_sums + distant.x, a.y * of_sums + distant.y, a.z * of_sums + distant.z});
  }
}

void evaluate_group(const ForceArgs& args, const GroupPlan& plan, BodyRange group, GroupWork& work) {
  visit_pair_law_of_lanes(args.law, [&](const auto& law) {
    simd_rows.dispatch(plan.rows,
                       [&](auto rows) { evaluate_group_rows<decltype(rows)::value>(args, plan, group, work, law); });
  });
}

}  // namespace
}  // namespace orrery::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace orrery {
namespace {

HWY_EXPORT(evaluate_group);
HWY_EXPORT(target_name);

constexpr const char* theta_values[] = {"0.2", "0.25", "0.3", "0.4", "0.5", "0.6", "0.7", "0.75", "0.8", "1.0"};
constexpr const char* candidates[] = {""};
// A Plummer sphere on two cores of an EPYC (Zen 3, AVX2) by orrery bench, whole steps: 16,384 bodies with theta 0.5,
// 0.7 and 1.0 took 21, 14 to 15 and 11 ms at median errors of 9e-5, 3.7e-4 and 6.8e-4; cpu-simd took 54 ms,
// cpu-symmetric 35 ms. It is faster than cpu-simd from 2000 bodies on or fewer (with AVX-512 from some 3700 on), and
// than cpu-symmetric from some 5000. These were times without local expansions, with which 131,072 bodies take 0.75 of
// the time on one thread, at nearly the same error; 4096 bodies, the same time.
constexpr Tunable tunables[] = {
    threads_tunable,
    {.name = "theta",
     .notes = "Opening angle: a cell counts as a whole beyond its size divided by theta. Smaller: slower, more exact.",
     .values = theta_values,
     .initial = "0.7",
     .numbers = Range<double>{0.05, 1.0},
     .trades_accuracy = true},
    leaf_tunable("32"),
    {.name = "group",
     .notes = "Neighbouring bodies that walk the tree together, and share one list of what they meet, at most.",
     .values = group_values.names(),
     .initial = "64"},
    order_tunable};

/// Measures the times of the phases.
class PhaseClock {
 public:
  void end_phase(const char* name, std::vector<TreePhase>& phases) {
    const auto now = std::chrono::steady_clock::now();
    phases.push_back({name, std::chrono::duration<double, std::milli>(now - begin_).count()});
    begin_ = now;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class CpuTree final : public ForceKernel, public TreeFacet {
 public:
  explicit CpuTree(const Settings& settings)
      : shape_{.leaf = settings.integer("leaf"), .threads = thread_count(settings), .theta = theta(settings)},
        group_{settings.integer("group")},
        far_{far_field(settings)} {}

  void do_evaluate(const ForceArgs& args) override {
    TreeReport report;
    PhaseClock clock;
    const auto run = [&](const char* name, const auto& phase) {
      if (cancelled(args)) return;
      phase();
      clock.end_phase(name, report.phases);
    };
    run("keys", [&] { tree_.make_keys(args.bodies, args.count, shape_.threads, args.cancelled); });
    run("sort", [&] { tree_.sort(shape_.threads, args.cancelled); });
    run("build", [&] { tree_.build(args.bodies, shape_, args.cancelled); });
    run("moments", [&] { tree_.find_moments(shape_, args.cancelled); });
    run("walk", [&] { walk(args, report); });
    report_.reset();
    if (cancelled(args)) return;
    report.cells = static_cast<std::int64_t>(tree_.cells().size());
    report.depth = tree_.depth();
    if (args.evaluated) *args.evaluated += static_cast<std::uint64_t>(report.interactions);
    report_ = std::move(report);
  }

  TreeFacet* tree() override { return this; }
  std::optional<TreeReport> report() const override { return report_; }
  std::vector<int> order() const override {
    if (!report_) return {};
    std::vector<int> order(tree_.bodies().size());
    for (std::size_t place = 0; place < order.size(); ++place) order[place] = tree_.original(static_cast<int>(place));
    return order;
  }
  void pick_cells(const CellRequest& request, CUstream_st* /*stream*/) override {
    picked_.reset();
    if (!report_) return;
    picked_ = tree_.cubes(request);
    const auto count = static_cast<int>(tree_.bodies().size());
    if (request.walk_of >= 0 && request.walk_of < count) picked_->walk = walk_of(tree_, group_of(request.walk_of));
  }
  std::optional<PickedCells> cells() const override { return picked_; }
  std::string chosen(int /*count*/, const MassRange& /*masses*/) const override {
    return std::string{HWY_DYNAMIC_DISPATCH(target_name)()} + ", rows " + std::to_string(rows_) + ", threads " +
           std::to_string(shape_.threads);
  }

 private:
  void walk(const ForceArgs& args, TreeReport& report) {
    while (static_cast<int>(work_.size()) < shape_.threads) work_.push_back(std::make_unique<GroupWork>());
    for (const auto& work : work_) work->with_bodies = work->with_cells = work->with_distant = 0;
    const std::vector<BodyRange> groups = tree_.groups(group_);
    const GroupPlan plan{tree_, mark_targets(args), rows_, shape_.theta, far_};
    std::atomic<std::size_t> next = 0;
    run_team(shape_.threads, [&](int slot) {
      GroupWork& work = *work_[static_cast<std::size_t>(slot)];
      for (std::size_t g = next++; g < groups.size() && !cancelled(args); g = next++) {
        HWY_DYNAMIC_DISPATCH(evaluate_group)(args, plan, groups[g], work);
      }
    });
    for (const auto& work : work_) {
      report.interactions += work->with_bodies + work->with_cells + work->with_distant;
      report.vector_instructions += simd_instructions_per_pair * static_cast<double>(work->with_bodies) +
                                    simd_instructions_per_cell * static_cast<double>(work->with_cells) +
                                    simd_instructions_per_distant_cell * static_cast<double>(work->with_distant);
    }
  }

  BodyRange group_of(int body) const {
    int place = 0;
    while (tree_.original(place) != body) ++place;
    const std::vector<BodyRange> groups = tree_.groups(group_);
    return *std::ranges::find_if(groups, [&](BodyRange g) { return g.begin <= place && place < g.end; });
  }

  /// GroupPlan::is_target for these arguments.
  const char* mark_targets(const ForceArgs& args) {
    if (!args.targets) return nullptr;
    is_target_.assign(static_cast<std::size_t>(args.count), 0);
    for (int k = 0; k < args.targets.count; ++k) is_target_[static_cast<std::size_t>(args.targets.body(k))] = 1;
    return is_target_.data();
  }

  HostOctree::Shape shape_;
  int group_;
  int rows_ = rows_for_this_processor();
  FarField far_;
  HostOctree tree_;
  std::vector<std::unique_ptr<GroupWork>> work_;  ///< one per thread
  std::vector<char> is_target_;
  std::optional<TreeReport> report_;  ///< none if the latest evaluation was cancelled
  std::optional<PickedCells> picked_;
};

}  // namespace

ORRERY_KERNEL(
    cpu_tree, .id = "cpu-tree", .title = "CPU tree",
    .notes =
        "Barnes-Hut: groups of bodies walk an octree; far cells count by mass and quadrupole, and the farthest through "
        "one expansion for the group. Repulsion counts by mass alone.",
    .source = "NYU lecture 13, Barnes-Hut (row 11), in the form of Bonsai",
    .lesson =
        "Far bodies can be met together: N log N interactions instead of N^2, at an error that theta sets. Neighbours "
        "meet nearly the same cells, so a group walks the tree once and its lists feed vectors.",
    .backend = Backend::cpu, .tunables = tunables, .tolerance = {.median = 1e-3, .max = 5e-1}, .takes_targets = true,
    .is_tree = true, .full_fp32 = false, .candidates = candidates, .create = create_kernel<CpuTree>);

}  // namespace orrery
#endif
