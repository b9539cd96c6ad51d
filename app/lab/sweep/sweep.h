#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/forecast.h"
#include "app/lab/variant_result.h"
#include "compute/sim/simulation.h"

namespace orrery {

struct SweepPlan {
  SceneRequest scene{};           ///< its count is 0: see counts
  std::vector<int> counts{0};     ///< never empty; 0 stands for the scene's own
  std::vector<Variant> variants;  ///< never empty; each is measured for every count
  std::vector<Variant> chosen{};  ///< one for each count, measured in place of `variants`, which are one; may be empty
  std::vector<Command> setup{};   ///< integrator, law and their constants
  Procedure procedure{};
};

/// Measures variant after variant on a simulation of its own, from the scene's first state each time, without ever
/// waiting for a step: call tick() until it has ended. A batch lasts at most some 50 ms, or one step where that takes
/// longer, so that a window stays alive beside it. A variant that fails becomes an entry that says why.
class Sweep {
 public:
  /// What a kernel's machine is doing now; null where that is not to be told.
  using Machine = std::function<Json(const KernelInfo& kernel)>;
  /// `backends` must outlive this. An empty `machine`: see machine_state().
  Sweep(const Backends& backends, SweepPlan plan, Machine machine = {});

  /// Takes in the batch that has ended and starts the next one. Returns whether steps are under way: until they end
  /// there is nothing to do. Never throws what a variant fails with.
  bool tick();
  /// Ends it now. Steps on the CPU are abandoned; repeats that were measured make an entry.
  void stop();

  bool ended() const { return stopped_ || entries_.size() == total(); }
  bool stopped() const { return stopped_; }
  /// Variants times counts.
  std::size_t total() const { return plan_.counts.size() * plan_.variants.size(); }
  /// Those that are done, in the order of the counts and, for each, of the variants.
  const std::vector<SweepEntry>& entries() const { return entries_; }
  /// Those of the `index`-th count; empty while there are none.
  std::span<const SweepEntry> entries_of(std::size_t index) const;
  const SweepPlan& plan() const { return plan_; }
  const Backends& backends() const { return backends_; }
  /// Of the first simulation; none until it is made.
  const std::optional<Status>& first_status() const { return first_; }

  /// What is being measured: "cuda-tiled block=256, 16,384 bodies"; empty once it has ended.
  std::string present() const;
  /// Until the end, as far as can be told.
  double left_s() const;

 private:
  struct Run {  // of one variant
    int warmup_left = 0;
    int steps_a_repeat = 0;
    int asked = 0;        // steps of the batch under way
    double pilot_ms = 0;  // a step of the last warm-up batch
    std::vector<double> repeats_ms{};
    Json machine_before{}, machine_during{};
  };

  const Variant& variant(std::size_t entry) const {
    return plan_.chosen.empty() ? plan_.variants[entry % plan_.variants.size()] : plan_.chosen[entry];
  }
  int count(std::size_t entry) const;
  double expected_s(std::size_t entry) const;
  void begin();
  void start_batch();
  bool collect();
  void look_at_machine();
  void take(const StepTiming& timing);
  void finish();
  void fail(std::string problem, bool refused);
  void add(SweepEntry entry);

  const Backends& backends_;
  SweepPlan plan_;
  Machine machine_;
  std::vector<SweepEntry> entries_;
  Forecast forecast_;
  std::optional<Status> first_;
  std::unique_ptr<Simulation> simulation_;  // of the present count; null until it is made
  std::optional<Run> run_;                  // of the present variant
  bool stopped_ = false;
};

}  // namespace orrery
