#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/auto_choice/choice_cache.h"
#include "app/auto_choice/contest.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {

/// What a contest holds for: machine, driver, build, law, whether masses are equal, and a range of numbers of bodies.
/// The ranges are powers of sqrt 2: within one the same kernel wins but for its ends, and numbers that a slider passes
/// are not all measured. All numbers above the most that are measured are one range.
Json contest_key(const KernelDemand& demand, Backend backend);

/// `auto` by measurement: contests that were held once are kept in a cache.
class AutoChooser final : public KernelChooser {
 public:
  /// What a choice needs of the world; tests have their own.
  struct World {
    std::vector<Variant> contenders;  ///< of one backend, those to prefer first
    std::function<Contest(const std::vector<Variant>& contenders, const KernelDemand& demand)> measure;
    std::filesystem::path cache_file;             ///< empty: none
    std::function<void(const std::string&)> say;  ///< takes a line that the user is to know
  };
  static World this_machine();

  explicit AutoChooser(World world = this_machine());

  KernelChoice choose(const KernelDemand& demand) override;

 private:
  struct Found {
    Contest contest;
    std::string whence;  ///< "Measured ...", a line
  };
  Found contest_for(const KernelDemand& demand);
  void say_problem();

  World world_;
  ChoiceCache cache_;
};

}  // namespace orrery
