#include "app/cli/info_command.h"

#include <string>
#include <utility>

#include "app/lab/tuning/choices_report.h"
#include "app/report/machine_report.h"
#include "app/text/console.h"
#include "app/text/table.h"
#include "orrery_version.h"

namespace orrery {

int run_info(const Backends& backends, const InfoOptions& options, const GlReport& gl) {
  const MachineReport machine = machine_report(backends, gl, measure_machine_peak_rates(backends));
  const Json choices = choices_json(backends);
  if (options.json) {
    const Json all{{"program", "orrery"}, {"version", version},   {"git", git_id},    {"build_flags", build_flags},
                   {"cpu", machine.cpu},  {"cuda", machine.cuda}, {"gl", machine.gl}, {"auto", choices}};
    console::print("{}\n", json_text(all, 2));
    return 0;
  }
  Table table{"lt", {"", ""}};
  for (const ReportFact& fact : machine.facts) table.add({fact.name, fact.value});
  std::string label = "Auto";
  for (const std::string& line : choices_lines(choices)) table.add({std::exchange(label, ""), line});
  console::print("{}", table.text(stdout_style(options.table)));
  return 0;
}

}  // namespace orrery
