#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/measurement.h"
#include "app/lab/sampling.h"
#include "app/lab/variants.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"

namespace orrery {

struct SweepPlan {
  SceneRequest scene{};           ///< its count is 0; `counts` is used instead
  std::vector<int> counts{0};     ///< numbers of bodies, never empty; 0: the scene's own number
  std::vector<Variant> variants;  ///< never empty; each is measured with every count
  std::vector<Variant> chosen{};  ///< one per count, measured in place of the first of `variants`; may be empty

  /// Returns the variant of entry `entry`, from 0. Entries are all variants with the first count, then with the next
  /// one.
  const Variant& variant(std::size_t entry) const {
    const std::size_t index = entry % variants.size();
    return index == 0 && !chosen.empty() ? chosen[entry / variants.size()] : variants[index];
  }
  std::vector<Command> setup{};  ///< commands that select the integrator, the law and their constants
  Sampling sampling{};
};

/// Measures variants one after the other on its own simulation, each from the scene's first state. It never blocks:
/// call tick() until the sweep has ended. A batch lasts about 20 ms, or one step if that is longer, so a window can
/// draw between two calls. A variant that fails becomes an entry with a problem; all others have samples.
class Sweep {
 public:
  /// Returns the current state of a kernel's machine; null if it is not known.
  using Machine = std::function<Json(const KernelInfo& kernel)>;
  /// `backends` must outlive this object. If `machine` is empty, machine_state() is used.
  Sweep(const Backends& backends, SweepPlan plan, Machine machine = {});

  /// Collects the batch that has ended and starts the next one. Returns whether a batch is in flight; if so, nothing is
  /// to be done until it ends. Does not throw the exceptions of variants.
  bool tick();
  /// Ends the sweep now and cancels CPU steps. Samples measured so far become an entry.
  void stop();

  bool ended() const { return stopped_ || entries_.size() == total(); }
  bool stopped() const { return stopped_; }
  /// Returns the number of variants times the number of counts.
  std::size_t total() const { return plan_.counts.size() * plan_.variants.size(); }
  /// Returns the finished entries: all variants of the first count, then of the next one.
  const std::vector<Measurement>& entries() const { return entries_; }
  /// Returns the finished entries of the `index`-th count.
  std::span<const Measurement> entries_of(std::size_t index) const;
  /// Returns the measured entries, grouped by count; counts without any are left out.
  std::vector<std::vector<Measurement>> measured() const;
  /// Returns the variant and count of entry `entry`, not yet measured.
  Measurement planned(std::size_t entry) const { return orrery::planned(variant(entry), count(entry)); }
  const SweepPlan& plan() const { return plan_; }
  const Backends& backends() const { return backends_; }
  /// Returns the status of the first simulation; none before it was made.
  const std::optional<Status>& first_status() const { return first_; }

  /// Returns the current measurement: "cuda-tiled block=256, 16,384 bodies"; empty after the end.
  std::string present() const;
  /// Returns the estimated time until the end, in s.
  double left_s() const;

 private:
  struct Run {  // state of one variant's measurement
    Sampler sampler;
    Json machine_before{}, machine_during{};
    bool compares = false;  // whether an extra step after the samples compares its forces
  };

  const Variant& variant(std::size_t entry) const { return plan_.variant(entry); }
  int count(std::size_t entry) const;
  double expected_s(std::size_t entry) const;
  bool advance();
  void begin();
  void start_batch();
  /// Returns whether the forces are compared after the samples, instead of before.
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
  std::optional<VariantRunner> runner_;  // for the current count
  std::optional<Run> run_;               // for the current variant
  bool stopped_ = false;
};

}  // namespace orrery
