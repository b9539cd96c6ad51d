
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/measuring.h"
#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/profile/kernel_profile.h"
#include "app/features/profile/measure_profile.h"
#include "app/lab/metadata.h"
#include "app/lab/variants.h"
#include "app/process/child_process.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/text/table.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/process.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

/// `orrery profile`. Without hardware counters, prints the reason and the other figures; the exit status is 0. Lists
/// settings that the device cannot run as skipped. After a run-time failure, profiles the other variants; the exit
/// status is 1.
struct ProfileVerb final : Verb, SystemOptions {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;
  int run_as_spare(const Program& program) const override;

  bool marks_only = false;    ///< marks one evaluation for another profiler, and reads no counters
  std::string baseline_file;  ///< JSON file of an earlier profile to compare with; empty: none
  ResultOptions results;
};

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

/// Returns a table with a row for each profile; empty if there is only one.
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

/// Takes the profiles, and writes them with their changes.
class ProfileRun {
 public:
  ProfileRun(const Backends& backends, const ProfileVerb& options, ProfileMeasurement& measurement)
      : backends_{backends}, options_{options}, measurement_{measurement} {}

  int run() {
    std::optional<KernelProfile> baseline = read_profile_baseline(options_.baseline_file);
    VariantPlan plan = expand(backends_, options_.kernels.selection, options_.kernels.axes);
    if (options_.kernels.selection.automatic) {
      add_auto_variant(plan, backends_,
                       {.scene = options_.scene.request,
                        .setup = options_.physics.setup,
                        .accuracy = options_.kernels.accuracy_or_default()});
    }
    for (const std::string& note : plan.notes) console::print_error("note: {}\n", note);
    if (plan.variants.empty()) throw std::runtime_error("no kernel to profile: " + plan.skipped.front().reason);
    load();
    Json metadata = machine_metadata(backends_);
    metadata["softening"] = decimal(system_.law.softening);
    metadata["law"] = law_info(system_.law.id).id;
    ResultFiles files{options_.results.names, metadata, profile_columns};
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
      console::show(profile_text(profile, compared(profile), stdout_style(options_.results.table)));
    }
    if (profiles_.empty()) {
      files.discard();
    } else {
      files.finish({{"metadata", metadata}, {"profiles", results}});
      console::show(profiles_summary(profiles_, stdout_style(options_.results.table)) + files.written());
    }
    return status(files);
  }

 private:
  void load() {
    Scene scene = load_scene(options_.scene.request);
    system_.law = law_of(options_.physics.setup, scene);
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
  const ProfileVerb& options_;
  ProfileMeasurement& measurement_;
  ProfiledSystem system_;
  std::vector<KernelProfile> profiles_;
  std::vector<Problem> problems_;
};

void prepare_files_of(const ProfileVerb& profile) {
  RunFiles files = profile.results.files(profile.scene.request);
  add_named(files.inputs, "--baseline", profile.baseline_file);
  prepare_files(files);
}

int run_with(ProfileMeasurement& measurement, const Backends& backends, const ProfileVerb& profile) {
  compile_kernel_files(backends);
  return ProfileRun{backends, profile, measurement}.run();
}

}  // namespace

void ProfileVerb::declare(CommandLine& line) {
  scene.declare(line);
  kernels.declare_list(line);
  kernels.declare_file(line, FileKernelUse::plain, "profiles a kernel of your own; repeatable");
  kernels.declare_setting_lists(line);
  physics.declare_law(line);
  line.add_file("--baseline", "compares with the last profile in this JSON file", baseline_file);
  line.add_flag("--marks-only", marks_only,
                "reads no counters; marks one evaluation with cudaProfilerStart and -Stop, for another profiler");
  add_table_flags(line, results.table);
  line.add_file("--csv", "writes all numbers as CSV", results.names.csv);
  line.add_file("--json", "writes the profiles as JSON; -: to standard output", results.names.json);
  add_force(line, results.names.existing);
  device.declare(line);
  line.add_footer(
      "Examples:\n"
      "  orrery profile --kernels cuda-branchy,cuda-naive,cuda-tiled -n 16k\n"
      "  orrery profile --kernels cuda-tiled --set block=128,256 -n 64k --json new.json --baseline old.json\n"
      "  orrery profile --kernels cpu-simd -n 16k\n"
      "  orrery profile --kernel-file my-kernel.cu -n 64k\n"
      "\nEach variant is compared with the first, or with the baseline. Hardware counters need CUPTI of CUDA 12.6 or "
      "later and the right to profile; a kernel on the CPU gets its vector width, threads and share of the FMA limit.");
}

void ProfileVerb::finish(const CommandLine& line) {
  scene.check(line);
  physics.take_law(line);
  kernels.check_auto(line.kernels);
  check_axes(kernels.selection, kernels.axes);
  scene.check_count();
  for (std::string* file : {&results.names.csv, &results.names.json}) {
    if (*file == "-") *file = "/dev/stdout";
  }
  if (marks_only && (!results.names.csv.empty() || !results.names.json.empty())) {
    throw UsageError("--marks-only reads no counters: leave out --csv and --json");
  }
}

int ProfileVerb::run(const Program& program) const {
  prepare_files_of(*this);
  const Backends backends = device.backends(program.kernels);
  ProfileMeasurement measurement{backends};
  return run_with(measurement, backends, *this);
}

int ProfileVerb::run_as_spare(const Program& program) const {
  const Backends backends = device.backends(program.kernels);
  ProfileMeasurement measurement{backends};
  if (!measurement.prepare()) return 0;
  const std::vector<std::string> words = wait_for_words();
  if (words.empty()) return 0;
  const std::unique_ptr<Verb> verb = parse_options(program.kernels, words);
  const auto& profile = dynamic_cast<const ProfileVerb&>(*verb);
  prepare_files_of(profile);
  return run_with(measurement, backends, profile);
}

extern constinit const VerbInfo profile_verb{"profile", "measures where the time of kernels goes, by hardware counters",
                                             create_verb<ProfileVerb>};

}  // namespace orrery
