#include "app/cli/race_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/lab/metadata.h"
#include "app/lab/settings_cells.h"
#include "app/text/table.h"
#include "compute/core/format_count.h"

namespace orrery {
namespace {

std::string table_of(const std::vector<RaceResult>& results, const TextStyle& style) {
  SettingsCells settings{style};
  for (const RaceResult& result : results) {
    settings.add(result.variant.kernel->id, result.variant.settings.values(), result.variant.kernel.get());
  }
  const std::vector<std::size_t> front = race_front(results);
  const bool any_problem = std::ranges::any_of(results, [](const RaceResult& result) { return bool{result.problem}; });
  Table table{
      "lltlrrrrt",
      {"", "kernel", "settings", "integrator", "dt", "steps", "time s", "energy error", any_problem ? "problem" : ""},
      {"steps"}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RaceResult& result = results[i];
    const bool leads = std::ranges::find(front, i) != front.end();
    table.add({leads ? "*" : "", result.variant.kernel->id,
               settings.text(result.variant.kernel->id, result.variant.settings.values()), result.integrator_id,
               fmt::format("{:.4g}", result.time_step), format_count(result.steps), significant(result.seconds),
               scientific(result.energy_error, 3), result.problem.text});
  }
  return table.text(style);
}

std::string cheapest_of(const std::vector<RaceResult>& results, const TextStyle& style) {
  Table table{"lrt", {"energy kept to", "time s", "the cheapest is"}};
  bool any = false;
  for (const double limit : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
    const std::optional<std::size_t> best = cheapest_within(results, limit);
    if (!best) break;
    any = true;
    table.add({significant(limit), significant(results[*best].seconds), words_for(results[*best])});
  }
  return any ? '\n' + table.text(style) : paragraph("No combination keeps the energy to 0.01.", style);
}

}  // namespace

std::array<std::string, race_columns.size()> race_fields(const RaceResult& result) {
  return {result.variant.kernel->id,
          result.variant.settings.to_string(),
          result.integrator_id,
          csv_number(result.time_step, 9),
          std::to_string(result.steps),
          csv_number(result.seconds),
          csv_number(result.energy_error),
          result.problem.text};
}

Json race_json(const RaceResult& result) {
  return {{"kernel", result.variant.kernel->id},
          {"settings", Json(result.variant.settings.values())},
          {"integrator", result.integrator_id},
          {"dt", decimal(result.time_step)},
          {"steps", result.steps},
          {"seconds", json_number(result.seconds)},
          {"energy_error", json_number(result.energy_error)},
          {"problem", result.problem.text}};
}

std::string race_text(const std::vector<RaceResult>& results, const TextStyle& style) {
  return table_of(results, style) + cheapest_of(results, style);
}

}  // namespace orrery
