#include "app/lab/divergence/run_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <vector>

#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/low_words.h"
#include "compute/core/names.h"
#include "compute/sim/backends.h"

namespace orrery {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view separators = ", \t";
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

}  // namespace

void RunVariant::apply_to(Simulation& simulation) const {
  if (integrator_id) simulation.apply(SelectIntegrator{leapfrog.id});  // any kernel suits it
  simulation.apply(variant.command());
  if (integrator_id) simulation.apply(SelectIntegrator{*integrator_id});
  if (time_step) simulation.apply(SetTimeStep{*time_step});
  if (!(nudge > 0)) return;
  Bodies bodies = simulation.bodies();
  nudge_bodies(bodies, nudge);
  simulation.set_bodies(bodies);
}

void nudge_bodies(Bodies& bodies, double length) {
  if (!(length > 0)) return;
  std::mt19937_64 random{1};
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };  // 0 to 1
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const double z = 2 * share() - 1, around = 2 * std::numbers::pi * share(), level = std::sqrt(1 - z * z);
    Vec4 none;
    Vec4& low = bodies.digits() == Digits::compensated ? bodies.positions_low[i] : none;
    const Vec3d p = joined<double>(bodies.positions[i], low);
    split(Vec3d{p.x + length * level * std::cos(around), p.y + length * level * std::sin(around), p.z + length * z},
          bodies.positions[i], low);
  }
}

std::string RunVariant::name() const {
  std::string name = variant.kernel->id;
  if (const std::string changes = variant.settings.changes(); !changes.empty()) name += ' ' + changes;
  if (integrator_id) name += ' ' + *integrator_id;
  if (time_step) name += fmt::format(" dt={}", *time_step);
  if (nudge > 0) name += fmt::format(" nudge={}", nudge);
  return name;
}

RunVariant parse_run_variant(const KernelCatalog& kernels, std::string_view what, std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  if (words.empty()) {
    throw UsageError(fmt::format("{} needs a kernel, such as '{} cpu-simd'", what, what));
  }
  const KernelPtr kernel = find_kernel_or_auto(kernels, words.front());
  RunVariant run{.variant = {kernel, kernel ? Settings{*kernel} : Settings{}}};
  std::set<std::string> seen;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Axis axis = parse_axis(what, words[i]);
    const std::string& value = axis.values.front();
    if (!seen.insert(axis.tunable).second) throw UsageError(fmt::format("{} sets {} twice", what, axis.tunable));
    if (axis.tunable == "integrator") {
      check_integrator(value);
      run.integrator_id = value;
    } else if (axis.tunable == "dt") {
      run.time_step = parse_in(fmt::format("{} dt", what), value, SetTimeStep::range);
    } else if (axis.tunable == "nudge") {
      run.nudge = parse_in(fmt::format("{} nudge", what), value, RunVariant::nudges);
    } else if (!kernel) {
      throw UsageError(fmt::format("{} cannot be set with {} auto, which chooses settings as well; name a kernel: {}",
                                   axis.tunable, what, joined_ids(kernels.all())));
    } else {
      run.variant.settings.set(axis.tunable, value);
    }
  }
  return run;
}

}  // namespace orrery
