#include "app/recording/race_rows.h"

#include "app/lab/metadata.h"

namespace orrery {

std::array<std::string, race_columns.size()> race_fields(const RaceResult& result) {
  return {result.variant.kernel->id,
          result.variant.settings.to_string(),
          result.integrator_id,
          csv_number(result.time_step, 9),
          std::to_string(result.steps),
          std::to_string(result.evaluations),
          csv_number(result.interactions),
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
          {"evaluations", result.evaluations},
          {"interactions", json_number(result.interactions)},
          {"seconds", json_number(result.seconds)},
          {"energy_error", json_number(result.energy_error)},
          {"problem", result.problem.text}};
}

Json race_metadata(const Backends& backends, const Race& race) {
  Json metadata = machine_metadata(backends);
  add_simulation(metadata, race.status());
  for (const char* varied : {"kernel", "settings", "integrator", "dt"}) metadata.erase(varied);
  metadata["until"] = race.until();
  metadata["eta"] = decimal(race.status().eta);
  return metadata;
}

Json race_json(const Race& race, const Json& metadata) {
  Json rows = Json::array();
  for (const RaceResult& result : race.results()) rows.push_back(race_json(result));
  return {{"metadata", metadata}, {"results", rows}, {"stopped", race.stopped()}};
}

}  // namespace orrery
