// `orrery info`: reports devices, drivers and OpenGL, and cures.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/option_parts.h"
#include "app/doctor/diagnosis.h"
#include "app/lab/tuning/auto_chooser.h"
#include "app/report/facts.h"
#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "app/text/table.h"
#include "orrery_version.h"

namespace orrery {
namespace {

Json findings_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const auto& [health, what, cure] : findings) {
    json.push_back({{"health", to_string(health)}, {"finding", what}, {"cure", cure}});
  }
  return json;
}

}  // namespace

void declare_info(CLI::App& app, OptionDraft& draft) {
  add_flag(app, "--json", draft.info.json, "prints JSON");
  add(app, "-n", "N", "also reports whether this number of bodies fits into memory",
      [&](const std::string& text) { draft.info.bodies = parse_count("-n", text, body_counts); });
  add_table_flags(app, draft.info.table);
}

int run_info(const Backends& backends, const InfoOptions& options, const GlReport& gl) {
  const MachineReport machine =
      machine_report(backends, gl, measure_machine_peak_rates(backends), measure_cpu_peak_rates());
  const Json choices = choices_json(backends);
  const std::vector<Finding> findings = diagnose(symptoms(backends, gl), options.bodies);
  const Health health = health_of(findings);
  if (options.json) {
    const Json all{{"program", "orrery"},
                   {"version", version},
                   {"git", git_id},
                   {"build_flags", build_flags},
                   {"cpu", machine.cpu},
                   {"cuda", machine.cuda},
                   {"gl", machine.gl},
                   {"mpi", machine.mpi.empty() ? Json(nullptr) : Json(machine.mpi)},
                   {"ranks", backends.ranks()},
                   {"auto", choices},
                   {"health", to_string(health)},
                   {"findings", findings_json(findings)}};
    console::show(json_text(all, 2) + '\n');
    return exit_status(health);
  }
  Table table{"lt", {"", ""}};
  for (const ReportFact& fact : machine.facts) table.add({fact.name, fact.value});
  std::string label = "Auto";
  for (const std::string& line : choices_lines(choices)) table.add({std::exchange(label, ""), line});
  table.add({"Health", to_string(health)});
  for (const auto& [unused, what, cure] : findings) {
    table.add({"", cure.empty() ? what + '.' : fmt::format("{}. Cure: {}.", what, cure)});
  }
  console::show(table.text(stdout_style(options.table)));
  return exit_status(health);
}

}  // namespace orrery
