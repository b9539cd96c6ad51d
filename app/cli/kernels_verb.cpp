#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/text/console.h"
#include "app/text/csv.h"
#include "app/text/table.h"
#include "compute/core/names.h"
#include "compute/kernels/kernel.h"

namespace orrery {
namespace {

Json tunable_json(const Tunable& tunable) {
  return {{"name", tunable.name},
          {"notes", tunable.notes},
          {"values", std::vector<std::string>(tunable.values.begin(), tunable.values.end())},
          {"initial", tunable.initial},
          {"numbers",
           tunable.numbers
               ? Json{{"least", tunable.numbers->least}, {"most", tunable.numbers->most}, {"whole", tunable.whole}}
               : Json{}}};
}

Json kernel_json(const KernelInfo& kernel, const BackendStatus& status) {
  Json tunables = Json::array();
  for (const Tunable& tunable : kernel.tunables) tunables.push_back(tunable_json(tunable));
  return {{"id", kernel.id},
          {"title", kernel.title},
          {"backend", to_string(kernel.backend)},
          {"notes", kernel.notes},
          {"lesson", kernel.lesson},
          {"source", kernel.source},
          {"tunables", tunables},
          {"tolerance", {{"median", kernel.tolerance.median}, {"max", kernel.tolerance.max}}},
          {"repeatable", kernel.repeatable},
          {"pairs_per_interaction", kernel.pairs_per_interaction},
          {"takes_targets", kernel.takes_targets},
          {"gives_jerks", kernel.gives_jerks},
          {"candidates", std::vector<std::string>(kernel.candidates.begin(), kernel.candidates.end())},
          {"searched", kernel.accuracy_tunable() ? Json(kernel.accuracy_tunable()->name) : Json{}},
          {"faster", kernel.faster ? Json(kernel.faster) : Json{}},
          {"available", status.available},
          {"reason", status.reason}};
}

/// Returns the settings with which `auto` may choose the kernel.
std::string auto_text(const KernelInfo& kernel) {
  std::string text = joined(kernel.candidates, [](const std::string& settings) {
    return settings.empty() ? std::string{"with its initial values"} : settings;
  });
  if (const Tunable* searched = kernel.accuracy_tunable()) {
    text += fmt::format("; it searches for {}, {}", searched->name, searched->numbers_text());
  }
  if (kernel.faster) text += fmt::format("; only if {} is not accurate enough", kernel.faster);
  return text;
}

/// Returns a heading and all facts about the kernel, one per row.
std::string kernel_text(const KernelInfo& kernel, const BackendStatus& status, bool with_lesson,
                        const TextStyle& style) {
  Table table{"lt", {"", ""}};
  table.add({"  idea", kernel.notes});
  table.add({"  source", kernel.source});
  if (with_lesson) table.add({"  lesson", kernel.lesson});
  if (!kernel.candidates.empty()) table.add({"  auto", "may choose it: " + auto_text(kernel)});
  if (kernel.takes_targets) table.add({"  targets", "can evaluate some of the bodies only"});
  if (kernel.gives_jerks) table.add({"  jerks", "gives them to the integrators hermite4 and hermite4-blocks"});
  if (!kernel.repeatable) table.add({"  bits", "two runs may differ in their last bits"});
  table.add({"  runs", status.available ? "on " + status.device : "unavailable: " + status.reason});
  for (const Tunable& tunable : kernel.tunables) {
    std::string values;
    for (const std::string_view value : tunable.values) {
      values += value == tunable.initial ? fmt::format(" [{}]", value) : fmt::format(" {}", value);
    }
    if (tunable.numbers) values += fmt::format(", or {}", tunable.numbers_text());
    table.add({fmt::format("  --set {}=", tunable.name), values.substr(1)});
    table.add({"", tunable.notes});
  }
  const std::string heading = fmt::format("{}: {} ({})", kernel.id, kernel.title, to_string(kernel.backend));
  return paragraph((style.markdown ? "### " : "") + heading, style, 2) + table.text(style);
}

/// `orrery kernels`: lists the kernels of this build with their settings, sources in the literature, and whether they
/// can run here.
struct KernelsVerb final : Verb {
  void declare(CommandLine& line) override {
    line.add("ID", "ID", "describes one kernel and what it teaches (lists all kernels)",
             [this](const std::string& text) { only = text; });
    line.add_flag("--json", json, "prints JSON");
    add_table_flags(line, flags);
  }

  void finish(const CommandLine& line) override {
    refuse_table_flags_of_json(json, flags);
    if (!only.empty()) only = line.kernels.find(only)->id;
  }

  int run(const Program& program) const override {
    const Backends backends{program.kernels};
    const TextStyle style = stdout_style(flags);
    Json all = Json::array();
    std::string text;
    for (const KernelPtr& kernel : backends.kernels().all()) {
      if (!only.empty() && kernel->id != only) continue;
      const BackendStatus& status = backends.status(kernel->backend);
      all.push_back(kernel_json(*kernel, status));
      text += kernel_text(*kernel, status, /*with_lesson=*/!only.empty(), style) + '\n';
    }
    if (json) {
      console::show(json_text(all, 2) + '\n');
    } else {
      console::show(text + "Initial values are in brackets.\n");
    }
    return 0;
  }

  bool json = false;
  TableFlags flags;
  std::string only;  // id of a kernel; empty: all kernels
};

}  // namespace

extern constinit const VerbInfo kernels_verb{"kernels", "lists the kernels, their settings and their sources",
                                             create_verb<KernelsVerb>};

}  // namespace orrery
