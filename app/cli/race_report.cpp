#include "app/cli/race_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/lab/variants.h"
#include "app/text/table.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

std::string table_of(const std::vector<RaceResult>& results, const TextStyle& style) {
  SettingsCells settings{style};
  for (const RaceResult& result : results) {
    settings.add(result.variant.kernel->id, result.variant.settings.values(), result.variant.kernel.get());
  }
  const std::vector<std::size_t> front = race_front(results);
  const bool any_problem = std::ranges::any_of(results, [](const RaceResult& result) { return bool{result.problem}; });
  Table table{"lltlrrrrrrt",
              {"", "kernel", "settings", "integrator", "dt", "steps", "evaluations", "interactions", "time s",
               "energy error", any_problem ? "problem" : ""},
              {"evaluations", "interactions", "steps"}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RaceResult& result = results[i];
    const bool leads = std::ranges::find(front, i) != front.end();
    table.add({leads ? "*" : "", result.variant.kernel->id,
               settings.text(result.variant.kernel->id, result.variant.settings.values()), result.integrator_id,
               fmt::format("{:.4g}", result.time_step), format_count(result.steps), format_count(result.evaluations),
               with_prefix(result.interactions), significant(result.seconds), scientific(result.energy_error, 3),
               result.problem.text});
  }
  return table.text(style);
}

std::string winners_of(const std::vector<RaceResult>& results, const TextStyle& style) {
  Table table{"lrt", {"energy kept to", "time s", "the cheapest is"}};
  const std::vector<RaceWinner> winners = race_winners(results);
  for (const RaceWinner& winner : winners) {
    const RaceResult& best = results[winner.result];
    table.add({scientific(winner.limit, 1), significant(best.seconds), words_for(best)});
  }
  return winners.empty() ? paragraph("No combination keeps the energy to 1e-2.", style) : '\n' + table.text(style);
}

}  // namespace

std::string race_text(const std::vector<RaceResult>& results, const TextStyle& style) {
  return table_of(results, style) + winners_of(results, style);
}

}  // namespace orrery
