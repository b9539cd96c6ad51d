// Barnes-Hut on the CPU: groups of bodies walk an octree.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/threads.h"
#include "compute/kernels/parts/scalar_rows.h"
#include "compute/kernels/parts/simd.h"
#include "compute/kernels/parts/threads.h"
#include "compute/kernels/tree/domain_tree.h"
#include "compute/kernels/tree/host_octree.h"
#include "compute/kernels/tree/host_walk.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {
namespace {

constexpr const char* theta_values[] = {"0.2", "0.25", "0.3", "0.4", "0.5", "0.6", "0.7", "0.75", "0.8", "1.0"};
constexpr const char* candidates[] = {"", "leaf=32", "leaf=32 order=high tolerance=1e-4"};
constexpr Tunable tunables[] = {
    threads_tunable,
    {.name = "theta",
     .notes = "A cell counts as a whole only beyond its size divided by theta. Smaller: slower, more exact.",
     .values = theta_values,
     .initial = "1.0",
     .numbers = Range<double>{0.05, 1.0}},
    tolerance_tunable,
    leaf_tunable("16"),
    {.name = "group",
     .notes = "Neighbouring bodies that walk the tree together, and share one list of what they meet, at most.",
     .values = group_values.names(),
     .initial = "32"},
    order_tunable};

/// Measures the times of the phases of an evaluation.
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

class CpuTree final : public ForceKernel, public TreeFacet, public DomainFacet {
 public:
  explicit CpuTree(const Settings& settings)
      : shape_{.leaf = settings.integer("leaf"),
               .threads = thread_count(settings),
               .theta = theta(settings),
               .far = far_field(settings)},
        tolerance_{tolerance(settings)},
        group_{settings.integer("group")} {}

  void do_evaluate(const ForceArgs& args) override {
    TreeReport report;
    PhaseClock clock;
    const auto run = [&](const char* name, const auto& phase) {
      if (cancelled(args)) return;
      phase();
      clock.end_phase(name, report.phases);
    };
    run("keys", [&] {
      tree_.make_keys(HostOctree::cube_of(args.bodies, args.count), args.bodies, args.count, shape_.threads,
                      args.cancelled);
    });
    run("sort", [&] { tree_.sort(shape_.threads, args.cancelled); });
    run("build", [&] { tree_.build(args.bodies, shape_, args.cancelled); });
    run("moments", [&] { tree_.find_moments(shape_, args.cancelled); });
    run("walk", [&] {
      begin_walk(args);
      if (tolerance_ > 0) find_errors(args);
      GroupPlan plan = group_plan(args);
      walk(args, plan);
      if (alone_.size() <= static_cast<std::size_t>(most_lone(args.count))) {
        walk_alone(args, plan);
      } else {
        finish_left(args);
      }
      count(args, report);
    });
    report_.reset();
    if (cancelled(args)) return;
    report.cells = static_cast<std::int64_t>(tree_.cells().size());
    end(args, std::move(report));
  }

  DomainFacet* domains() override { return this; }
  MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, std::vector<int>& owners) override {
    const int count = static_cast<int>(bodies.size());
    const TreeCube cube = HostOctree::cube_of(bodies.data(), count);
    tree_.make_keys(cube, bodies.data(), count, shape_.threads, nullptr);
    const std::vector<std::uint64_t> borders = borders_of_parts(tree_.keys(), parts, std::max(shape_.leaf, group_));
    owners.resize(bodies.size());
    for (const KeyedBody& body : tree_.keys()) {
      int owner = 0;
      for (std::size_t rank = 1; rank < parts.size(); ++rank) owner += body.key >= borders[rank];
      owners[body.body] = owner;
    }
    MessageWriter division;
    division.put(cube);
    division.put_all(borders);
    return division;
  }
  MessageWriter divide_own(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew, JointWork& work,
                           std::vector<int>& owners) override {
    return own_division_.divide(bodies, parts, anew, std::max(shape_.leaf, group_), work, owners);
  }
  void evaluate_domain(const ForceArgs& args, std::span<const int> ids, MessageReader division,
                       JointWork& work) override {
    TreeReport report;
    PhaseClock clock;
    domain_.begin(work);
    domain_.build(args.bodies, args.count, ids, division);
    plan_.emplace(plan_for(args));
    clock.end_phase("build", report.phases);
    domain_.exchange_pieces();
    work.attempt([&] { begin_walk(args); });
    if (tolerance_ > 0) {
      domain_.exchange_for_estimates([&](const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
        mark_for_estimate(*plan_, targets, opened);
      });
      work.attempt([&] { find_errors(args); });
      domain_.exchange_errors(*plan_, groups_);
    }
    domain_.exchange_for_walk(*plan_, [&](const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
      mark_for_walk(*plan_, targets, opened);
    });
    clock.end_phase("exchange", report.phases);
    std::optional<GroupPlan> plan;
    work.attempt([&] {
      plan.emplace(group_plan(args));
      walk(args, *plan);
    });
    if (may_walk_alone(args)) {
      const bool alone = domain_.exchange_for_bodies(
          alone_, [&](const std::vector<DistantTarget>& targets, std::vector<char>& opened) {
            mark_for_walk(plan->alone, targets, opened);
          });
      work.attempt([&] { alone ? walk_alone(args, *plan) : finish_left(args); });
    }
    work.attempt([&] { count(args, report); });
    clock.end_phase("walk", report.phases);
    report_.reset();
    if (!work.goes_on()) return;
    report.cells = domain_.own_cells();
    end(args, std::move(report));
  }

  TreeFacet* tree() override { return this; }
  std::optional<TreeReport> report() const override { return report_; }
  void pick_cells(const CellRequest& request, CUstream_st* /*stream*/) override {
    picked_.reset();
    if (!report_) return;
    picked_ = tree_.cubes(request);
    const auto count = static_cast<int>(tree_.bodies().size());
    if (request.walk_of >= 0 && request.walk_of < count && !tree_.is_joined()) picked_->walk = walk_of(request.walk_of);
  }
  std::optional<PickedCells> cells() const override { return picked_; }
  std::string chosen(int /*count*/, const MassRange& /*masses*/) const override {
    return std::string{walk_target_name()} + ", threads " + std::to_string(shape_.threads);
  }

 private:
  void begin_walk(const ForceArgs& args) {
    while (static_cast<int>(work_.size()) < shape_.threads) work_.push_back(std::make_unique<GroupWork>());
    for (const auto& work : work_) {
      work->alone.clear();
      work->with_bodies = work->with_cells = work->walk.with_distant = 0;
      work->lacks_cells = false;
    }
    groups_ = tree_.groups(group_);
    plan_.emplace(plan_for(args));
    plan_->group_errors.resize(groups_.size());
    plan_->cell_errors.resize(tree_.cells().size());
    alone_.clear();
  }
  WalkPlan plan_for(const ForceArgs& args) const {
    return {tree_, shape_.theta, far_for(args.law), tolerance_ > 0, law_in(tree_.units(), args.law)};
  }
  /// Under attract-repel, any number of bodies might walk alone, since pulls of both signs balance.
  bool may_walk_alone(const ForceArgs& args) const { return tolerance_ > 0 && args.law.id == LawId::gravity; }
  GroupPlan group_plan(const ForceArgs& args) {
    WalkPlan alone = plan_for(args);
    if (alone.expands()) alone.far = FarField::quadrupole;
    return {*plan_, std::move(alone), groups_, mark_targets(args), rows_, tolerance_, may_walk_alone(args)};
  }

  /// Walks all groups, and collects the bodies that need separate walks in alone_.
  void walk(const ForceArgs& args, const GroupPlan& plan) {
    // A thread takes neighbouring groups together, since they share most levels of their walks.
    for_each_work(args, groups_.size(), 32, [&](std::size_t first, std::size_t last, GroupWork& work) {
      evaluate_groups(args, plan, first, last, work);
    });
    for (const auto& work : work_) alone_.insert(alone_.end(), work->alone.begin(), work->alone.end());
  }
  void walk_alone(const ForceArgs& args, const GroupPlan& plan) {
    for_each_work(args, alone_.size(), 8, [&](std::size_t first, std::size_t last, GroupWork& work) {
      evaluate_alone(args, plan, alone_, first, last, work);
    });
  }

  /// Finishes the bodies that were to walk alone with the accelerations of their groups' walks, because there are too
  /// many of them.
  void finish_left(const ForceArgs& args) const {
    const TreeUnits units = tree_.units();
    for (const LeftBody& body : alone_) {
      args.epilogue.finish(tree_.original(body.place), units.mass(tree_.bodies()[place_of(body.place)].w),
                           units.acceleration(body.acceleration));
    }
  }

  /// Adds up what the threads evaluated.
  void count(const ForceArgs& args, TreeReport& report) const {
    for (const auto& work : work_) {
      if (work->lacks_cells) throw std::logic_error("cpu-tree opened a cell of another rank that it did not get");
      report.interactions += work->with_bodies + work->with_cells + work->walk.with_distant;
      const double per_distant =
          plan_->far == FarField::high ? instructions_per_high_cell : instructions_per_distant_cell;
      report.vector_instructions += simd_arithmetic.operations(args.law.id) * static_cast<double>(work->with_bodies) +
                                    cell_arithmetic.operations(args.law.id) * static_cast<double>(work->with_cells) +
                                    per_distant * static_cast<double>(work->walk.with_distant);
    }
  }

  void end(const ForceArgs& args, TreeReport report) {
    report.depth = tree_.depth();
    if (args.evaluated) *args.evaluated += static_cast<std::uint64_t>(report.interactions);
    report_ = std::move(report);
  }

  /// Returns the far field for a law: repulsion has no expansions.
  FarField far_for(const Law& law) const {
    const bool expands = shape_.far == FarField::local || shape_.far == FarField::high;
    return expands && law.id != LawId::gravity ? FarField::quadrupole : shape_.far;
  }

  /// Calls use(first, last, work) for chunks of `count` items.
  template <class Use>
  void for_each_work(const ForceArgs& args, std::size_t count, int chunk, const Use& use) {
    const auto step = static_cast<std::size_t>(chunk);
    std::atomic<std::size_t> next = 0;
    run_team(shape_.threads, [&](int slot) {
      for (std::size_t first = next.fetch_add(step); first < count && !cancelled(args); first = next.fetch_add(step)) {
        use(first, std::min(first + step, count), *work_[static_cast<std::size_t>(slot)]);
      }
    });
  }

  /// Finds the largest allowed errors of cells' pulls: for a group, a fraction of its acceleration; for a cell, the
  /// minimum over its groups.
  void find_errors(const ForceArgs& args) {
    constexpr float least = 1e-35f;  // keeps scales finite in which it is a divisor
    for_each_work(args, groups_.size(), 32, [&](std::size_t first, std::size_t last, GroupWork& work) {
      for (std::size_t g = first; g < last; ++g) {
        const float pull = estimate_acceleration(*plan_, groups_[g], work.walk.queue);
        plan_->group_errors[g] = std::max(least, tolerance_ * pull);  // `least` if the pull is NaN
      }
    });
    std::ranges::fill(plan_->cell_errors, std::numeric_limits<float>::infinity());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const float error = plan_->group_errors[g];
      for (int cell = groups_[g].cell; cell >= 0; cell = tree_.cells()[static_cast<std::size_t>(cell)].parent) {
        float& of_cell = plan_->cell_errors[static_cast<std::size_t>(cell)];
        if (of_cell <= error) break;
        of_cell = error;
      }
    }
  }

  /// Returns what the group of a body met in the latest evaluation.
  BodyWalk walk_of(int body) const {
    int place = 0;
    while (tree_.original(place) != body) ++place;
    const auto group = std::ranges::find_if(groups_, [&](BodyRange g) { return g.begin <= place && place < g.end; });
    GroupWalk walk;
    find_walk(*plan_, *group, plan_->group_errors[static_cast<std::size_t>(group - groups_.begin())], walk);
    BodyWalk shown;
    const auto show = [&](const CellNumbers& cells, std::vector<TreeCell>& cubes) {
      for (int i = 0; i < cells.count(); ++i) cubes.push_back(tree_.cube(static_cast<std::size_t>(cells[i])));
    };
    for (int k = 0; k < walk.depth; ++k) show(walk.levels[static_cast<std::size_t>(k)].distant, shown.cells);
    show(walk.distant, shown.cells);
    show(walk.cells, shown.cells);
    show(walk.leaves, shown.leaves);
    for (int i = 0; i < walk.leaves.count(); ++i) {
      shown.bodies += tree_.cells()[static_cast<std::size_t>(walk.leaves[i])].bodies.count();
    }
    return shown;
  }

  /// Returns GroupPlan::is_target for these arguments.
  const char* mark_targets(const ForceArgs& args) {
    if (!args.targets) return nullptr;
    is_target_.assign(static_cast<std::size_t>(args.count), 0);
    for (int k = 0; k < args.targets.count; ++k) is_target_[static_cast<std::size_t>(args.targets.body(k))] = 1;
    return is_target_.data();
  }

  HostOctree::Shape shape_;
  float tolerance_;  ///< 0: off
  int group_;
  int rows_ = rows_for_this_processor();
  HostOctree tree_;
  DomainTree domain_{tree_, shape_, group_};
  OwnDivision own_division_;
  std::vector<BodyGroup> groups_;
  std::optional<WalkPlan> plan_;                  ///< plan of the latest evaluation
  std::vector<std::unique_ptr<GroupWork>> work_;  ///< one per thread
  std::vector<LeftBody> alone_;                   ///< bodies that walk alone in the latest evaluation
  std::vector<char> is_target_;
  std::optional<TreeReport> report_;  ///< none if the latest evaluation was cancelled
  std::optional<PickedCells> picked_;
};

}  // namespace

ORRERY_KERNEL(
    cpu_tree, .id = "cpu-tree", .title = "CPU tree",
    .notes =
        "Barnes-Hut: groups of bodies walk an octree; far cells count by mass and quadrupole, and the farthest through "
        "expansions for the group and the cells around it. Repulsion counts by mass alone.",
    .source = "M. Zahran, GPUs, lecture 13, Barnes-Hut, in the form of Bonsai",
    .lesson =
        "Far bodies can be met together: N log N interactions instead of N^2, at an error that theta sets. Neighbours "
        "meet nearly the same cells, so a group walks the tree once and its lists feed vectors.",
    .backend = Backend::cpu, .tunables = tunables, .tolerance = {.median = 1e-3, .max = 5e-1}, .takes_targets = true,
    .is_tree = true, .full_fp32 = false, .candidates = candidates, .create = create_kernel<CpuTree>);

}  // namespace orrery
