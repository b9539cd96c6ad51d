#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/tuning/choice_cache.h"
#include "app/lab/tuning/contest.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// What a contest is wanted for: machine, driver, build, law, whether masses are equal, a range of numbers of bodies,
/// the accuracy, 0 where full fp32 alone stands, and whether it is beside drawing. The ranges are powers of sqrt 2:
/// within one the same kernel wins but for its ends, and numbers that a slider passes are not all measured. Without
/// others all numbers above the most that are measured are one range.
Json contest_key(const KernelDemand& demand, Backend backend, const Backends& backends);

/// Key of a contest beside those of contest_key(): the variants below full fp32 accuracy that met the accuracy.
inline constexpr const char* sufficing = "sufficing";

/// Chooses by measurement and caches the results. Variants below full fp32 accuracy are tried with the present bodies
/// each time; a cached result counts if the same ones meet the accuracy.
class AutoChooser final : public KernelChooser {
 public:
  /// What a choice needs of the world; tests have their own.
  struct World {
    const Backends& backends;
    std::vector<Variant> contenders;  ///< of one backend, those to prefer first
    /// See measure_trials().
    std::function<Trials(const std::vector<Variant>& contenders, const KernelDemand&, const ForceSystem&,
                         const std::stop_token&)>
        try_accuracy;
    /// See measure_contest().
    std::function<Contest(const Trials&, const KernelDemand&, const ForceSystem&, const std::stop_token&)> measure;
    std::filesystem::path cache_file;             ///< empty: none
    std::function<void(const std::string&)> say;  ///< takes a line that the user is to know
  };
  static World this_machine(const Backends& backends);

  explicit AutoChooser(World world);

  KernelChoice choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) override;

 private:
  struct Found {
    Contest contest;
    std::string whence;  ///< "Measured ...", a line
  };
  std::vector<Variant> standing(const KernelDemand& demand) const;
  std::optional<Found> kept_contest(const Json& key, const std::vector<Variant>& contenders, const Trials& trials);
  Found new_contest(const Json& key, const Trials& trials, const KernelDemand& demand, const ForceSystem& system,
                    const std::stop_token& stop);
  void say_problem();

  World world_;
  ChoiceCache cache_;
};

}  // namespace orrery
