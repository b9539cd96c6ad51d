#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/doctor/diagnosis.h"
#include "app/features/report/facts.h"
#include "app/lab/tuning/auto_chooser.h"
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

/// `orrery info`: reports devices, drivers and OpenGL, tests a kernel of each backend, and says how to fix faults. The
/// exit status is exit_status() of the machine's health.
struct InfoVerb final : Verb {
  void declare(CommandLine& line) override {
    line.add_flag("--json", json, "prints JSON");
    line.add("-n", "N", "also reports whether this number of bodies fits into memory",
             [this](const std::string& text) { bodies = parse_count("-n", text, body_counts); });
    add_table_flags(line, flags);
  }

  void finish(const CommandLine& /*line*/) override { refuse_table_flags_of_json(json, flags); }

  int run(const Program& program) const override {
    GlReport gl = program.graphics.probe(program.kernels);
    program.graphics.probe_window(gl);
    const Backends backends{program.kernels};
    const MachineReport machine =
        machine_report(backends, gl, measure_machine_peak_rates(backends), measure_cpu_peak_rates());
    const Json choices = choices_json(backends);
    const std::vector<Finding> findings = diagnose(symptoms(backends, gl), bodies);
    const Health health = health_of(findings);
    if (json) {
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
    console::show(table.text(stdout_style(flags)));
    return exit_status(health);
  }

  bool json = false;
  std::optional<int> bodies;  // also reports whether this number fits into memory
  TableFlags flags;
};

}  // namespace

extern constinit const VerbInfo info_verb{"info", "reports devices, drivers and OpenGL, and how to fix what fails",
                                          create_verb<InfoVerb>, "doctor"};

}  // namespace orrery
