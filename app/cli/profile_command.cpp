// `orrery profile`: profiles kernels, and compares the profiles.
#include "app/cli/profile_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/measuring.h"
#include "app/cli/option_parts.h"
#include "app/lab/metadata.h"
#include "app/lab/profile/kernel_profile.h"
#include "app/lab/profile/profile_json.h"
#include "app/lab/variants.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/text/table.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/stop_signal.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

std::string stall_bar(double share) {
  constexpr double most = 30;
  return std::string(static_cast<std::size_t>(std::lround(most * std::clamp(share, 0.0, 1.0))), '#');
}

std::string figures_table(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  Table table{"lrrt", {"figure", "value", before ? "change" : "", "meaning"}, {"meaning"}};
  for (const ProfileFigure& figure : profile_figures()) {
    const double value = profile.figure(figure.id);
    if (!std::isfinite(value)) continue;
    table.add({figure.title, figure_text(figure, value),
               before ? change_text(figure_change(figure, *before, profile)) : "", figure.sentence});
  }
  return table.text(style);
}

std::string stalls_table(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  Table table{"lrrrl", {"why a warp waits", "warps", "share", before ? "change" : "", ""}, {""}};
  std::string sentences;
  for (const StallShare& share : stall_shares(profile)) {
    table.add({share.reason->title, fmt::format("{:.3f}", share.warps), share_text(share.share),
               before ? change_text(relative_change(before->stall(share.reason->id), share.warps)) : "",
               stall_bar(share.share)});
    if (share.share < small_share) continue;
    sentences +=
        paragraph(fmt::format("{}: {} {}", share.reason->title, share.reason->meaning, share.reason->remedy), style, 2);
  }
  return '\n' + paragraph("Warps in each state at each issued instruction, the most first.", style) +
         table.text(style) + sentences;
}

std::optional<KernelProfile> read_profile_baseline(const std::string& file) {
  if (file.empty()) return std::nullopt;
  const Json json = read_json(file);
  try {
    std::vector<KernelProfile> profiles = profiles_of(json);
    if (profiles.empty()) throw std::runtime_error("it has no profiles");
    return std::move(profiles.back());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot compare with '{}': {}", file, failure_text(error)));
  }
}

/// The profiles that were taken, and what they are compared with.
class ProfileRun {
 public:
  ProfileRun(const Backends& backends, const ProfileOptions& options, ProfileMeasurement& measurement)
      : backends_{backends}, options_{options}, measurement_{measurement} {}

  int run() {
    std::optional<KernelProfile> baseline = read_profile_baseline(options_.baseline_file);
    VariantPlan plan = expand(backends_, options_.kernels, options_.axes);
    if (options_.kernels.automatic) {
      add_auto_variant(plan, backends_,
                       {.scene = options_.scene, .setup = options_.setup, .accuracy = options_.accuracy});
    }
    for (const std::string& note : plan.notes) console::print_error("note: {}\n", note);
    if (plan.variants.empty()) throw std::runtime_error("no kernel to profile: " + plan.skipped.front().reason);
    load();
    Json metadata = machine_metadata(backends_);
    metadata["softening"] = decimal(system_.law.softening);
    metadata["law"] = law_info(system_.law.id).id;
    ResultFiles files{options_.files, metadata, profile_columns};
    watch_stop_signals();
    for (const Variant& variant : plan.variants) {
      if (stop_requested()) break;
      take(variant);
      if (!baseline && profiles_.size() == 1) baseline = profiles_.front();
    }
    if (options_.marks_only && !profiles_.empty()) return status(files);
    const auto compared = [&](const KernelProfile& profile) -> const KernelProfile* {
      const bool itself = options_.baseline_file.empty() && &profile == &profiles_.front();
      return baseline && !itself ? &*baseline : nullptr;
    };
    Json results = Json::array();
    for (const KernelProfile& profile : profiles_) {
      for (const std::vector<std::string>& row : profile_csv(profile, compared(profile))) files.add(row);
      results.push_back(profile_json(profile));
      console::show(profile_text(profile, compared(profile), stdout_style(options_.table)));
    }
    if (profiles_.empty()) {
      files.discard();
    } else {
      files.finish({{"metadata", metadata}, {"profiles", results}});
      console::show(profiles_summary(profiles_, stdout_style(options_.table)) + files.written());
    }
    return status(files);
  }

 private:
  void load() {
    Scene scene = load_scene(options_.scene);
    system_.law = law_of(options_.setup, scene);
    system_.scene = std::move(scene.name);
    system_.bodies = std::move(scene.bodies);
  }

  void take(const Variant& variant) {
    const Problem problem = problem_of([&] {
      if (options_.marks_only) {
        measurement_.mark(variant, system_);
        profiles_.emplace_back();
      } else {
        profiles_.push_back(measurement_.measure(variant, system_));
      }
    });
    if (!problem) return;
    const std::string text = fmt::format("{} {}: {}", variant.kernel->id, variant.settings.to_string(), problem.text);
    console::complain(text);
    problems_.push_back({text, problem.refused});
  }

  int status(const ResultFiles& files) const {
    if (!files.error().empty()) throw std::runtime_error(files.error());
    if (stop_requested()) {
      console::complain("stopped before the end");
      return stop_status();
    }
    if (profiles_.empty()) return problems_.front().refused ? 2 : 1;
    for (const Problem& problem : problems_) {
      if (!problem.refused) return 1;
    }
    return 0;
  }

  const Backends& backends_;
  const ProfileOptions& options_;
  ProfileMeasurement& measurement_;
  ProfiledSystem system_;
  std::vector<KernelProfile> profiles_;
  std::vector<Problem> problems_;
};

}  // namespace

void declare_profile(CLI::App& app, OptionDraft& draft) {
  ProfileOptions& profile = draft.profile;
  add_scene(app, draft, "N", "number of bodies, such as 16384, 16k (k = 1024) or 1M (the scene's)");
  add_measured_kernels(app, draft);
  add_kernel_file(app, draft, FileKernelUse::plain, "profiles a kernel of your own; repeatable");
  add_setting_lists(app, draft);
  add_law(app, draft, joined_ids(laws()));
  add_file(app, "--baseline", "compares with the last profile in this JSON file", profile.baseline_file);
  add_flag(app, "--marks-only", profile.marks_only,
           "reads no counters; marks one evaluation with cudaProfilerStart and -Stop, for another profiler");
  add_table_flags(app, profile.table);
  add_file(app, "--csv", "writes all numbers as CSV", profile.files.csv);
  add_file(app, "--json", "writes the profiles as JSON; -: to standard output", profile.files.json);
  add_force(app, draft);
  add_device(app, draft);
  app.footer(
      "Examples:\n"
      "  orrery profile --kernels cuda-branchy,cuda-naive,cuda-tiled -n 16k\n"
      "  orrery profile --kernels cuda-tiled --set block=128,256 -n 64k --json new.json --baseline old.json\n"
      "  orrery profile --kernels cpu-simd -n 16k\n"
      "  orrery profile --kernel-file my-kernel.cu -n 64k\n"
      "\nEach variant is compared with the first, or with the baseline. Hardware counters need CUPTI of CUDA 12.6 or "
      "later and the right to profile; a kernel on the CPU gets its vector width, threads and share of the FMA limit.");
}

ProfileOptions finish_profile(OptionDraft& draft) {
  ProfileOptions& profile = draft.profile;
  profile.accuracy = accuracy_of_auto(draft);
  check_axes(draft.selection, draft.axes);
  profile.scene = draft.scene_of_one_count();
  profile.kernels = draft.selection;
  profile.axes = draft.axes;
  profile.setup = draft.physics;
  profile.files.existing = draft.existing();
  profile.device = draft.device;
  for (std::string* file : {&profile.files.csv, &profile.files.json}) {
    if (*file == "-") *file = "/dev/stdout";
  }
  if (profile.marks_only && (!profile.files.csv.empty() || !profile.files.json.empty())) {
    throw UsageError("--marks-only reads no counters: leave out --csv and --json");
  }
  return profile;
}

std::string profile_text(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  std::string title =
      fmt::format("{}, {} of {}, {}", profile.label(), counted_bodies(profile.count), profile.scene, profile.device);
  if (!profile.part.empty()) title += fmt::format("; counters of its longest part, the phase '{}'", profile.part);
  std::string text = '\n' + paragraph(title, style) + figures_table(profile, before, style);
  if (!profile.stalls.empty()) text += stalls_table(profile, before, style);
  if (before) {
    const std::string line = difference_line(*before, profile);
    if (!line.empty()) text += paragraph(fmt::format("Against {}: {}.", label_against(*before, profile), line), style);
  }
  if (!profile.problem.empty()) text += paragraph((profile.on_gpu ? "No counters: " : "") + profile.problem, style);
  if (!profile.missing.empty() && profile.passes > 0) {
    text += paragraph(fmt::format("This chip ({}) does not have: {}.", profile.chip, fmt::join(profile.missing, ", ")),
                      style);
  }
  return text;
}

std::string profiles_summary(std::span<const KernelProfile> profiles, const TextStyle& style) {
  if (profiles.size() < 2) return {};
  Table table{
      "lrrrrr",
      {"variant", "ms", "interactions/s", "waiting warps", "stalls against the first", "time against the first"}};
  const KernelProfile& first = profiles.front();
  for (const KernelProfile& profile : profiles) {
    table.add({profile.label(), significant(profile.figure("time_ms")),
               with_prefix(profile.figure("interactions_per_s")), significant(waiting_warps(profile), 3),
               change_text(relative_change(waiting_warps(first), waiting_warps(profile))),
               change_text(relative_change(first.figure("time_ms"), profile.figure("time_ms")))});
  }
  return '\n' + table.text(style);
}

int run_profile(const Backends& backends, const ProfileOptions& options) {
  ProfileMeasurement measurement{backends};
  return run_profile(backends, options, measurement);
}

int run_profile(const Backends& backends, const ProfileOptions& options, ProfileMeasurement& measurement) {
  return ProfileRun{backends, options, measurement}.run();
}

}  // namespace orrery
