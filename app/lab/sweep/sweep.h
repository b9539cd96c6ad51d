#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/forecast.h"
#include "app/lab/measurement.h"
#include "app/lab/sampling.h"
#include "app/lab/variant_runner.h"
#include "app/lab/variants.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"

namespace orrery {

struct SweepPlan {
  SceneRequest scene{};           ///< its count is 0: see counts
  std::vector<int> counts{0};     ///< never empty; 0 stands for the scene's own
  std::vector<Variant> variants;  ///< never empty; each is measured for every count
  std::vector<Variant> chosen{};  ///< one for each count, measured in place of the first of `variants`; may be empty

  /// The variant that is measured as the `entry`-th, from 0: all variants with the first count, then with the next one.
  const Variant& variant(std::size_t entry) const {
    const std::size_t index = entry % variants.size();
    return index == 0 && !chosen.empty() ? chosen[entry / variants.size()] : variants[index];
  }
  std::vector<Command> setup{};  ///< integrator, law and their constants
  Sampling sampling{};
};

/// Measures one variant after the other on a simulation of its own, each from the scene's first state. It never waits
/// for a step: call tick() until it has ended. A batch lasts about 20 ms, or one step if that is longer, so a window
/// can draw between two calls. A variant that fails becomes an entry with a problem, all others have samples.
class Sweep {
 public:
  /// The state of a kernel's machine now; null if it is not known.
  using Machine = std::function<Json(const KernelInfo& kernel)>;
  /// `backends` must outlive this. An empty `machine`: see machine_state().
  Sweep(const Backends& backends, SweepPlan plan, Machine machine = {});

  /// Collects the batch that has ended and starts the next one. Returns whether a batch is in flight; there is nothing
  /// to do until it ends. Never throws what a variant fails with.
  bool tick();
  /// Ends the sweep now and cancels steps on the CPU. The samples measured until then make an entry.
  void stop();

  bool ended() const { return stopped_ || entries_.size() == total(); }
  bool stopped() const { return stopped_; }
  /// Variants times counts.
  std::size_t total() const { return plan_.counts.size() * plan_.variants.size(); }
  /// Entries that have ended, in the order of the counts and, for each, of the variants.
  const std::vector<Measurement>& entries() const { return entries_; }
  /// Entries of the `index`-th count.
  std::span<const Measurement> entries_of(std::size_t index) const;
  /// The measured entries of each count that has any.
  std::vector<std::vector<Measurement>> measured() const;
  /// The `entry`-th variant with its count, before its measurement.
  Measurement planned(std::size_t entry) const { return orrery::planned(variant(entry), count(entry)); }
  const SweepPlan& plan() const { return plan_; }
  const Backends& backends() const { return backends_; }
  /// Status of the first simulation; none until it is made.
  const std::optional<Status>& first_status() const { return first_; }

  /// The current measurement: "cuda-tiled block=256, 16,384 bodies"; empty once it has ended.
  std::string present() const;
  /// The estimated time until the end, in s.
  double left_s() const;

 private:
  struct Run {  // of one variant
    Sampler sampler;
    Json machine_before{}, machine_during{};
    bool compares = false;  // a step behind the samples, for its forces
  };

  const Variant& variant(std::size_t entry) const { return plan_.variant(entry); }
  int count(std::size_t entry) const;
  double expected_s(std::size_t entry) const;
  bool advance();
  void begin();
  void start_batch();
  /// Whether the forces are compared behind the samples, and not at first.
  bool compares_at_end() const;
  void compare();
  void look_at_machine();
  void add_batch(const StepTiming& timing);
  void finish();
  void fail(Problem problem);
  void add(Measurement entry);

  const Backends& backends_;
  SweepPlan plan_;
  Machine machine_;
  std::vector<Measurement> entries_;
  Forecast forecast_;
  std::optional<Status> first_;
  std::optional<VariantRunner> runner_;  // of the current count
  std::optional<Run> run_;               // of the current variant
  bool stopped_ = false;
};

}  // namespace orrery
