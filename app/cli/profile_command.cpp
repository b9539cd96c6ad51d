#include "app/cli/profile_command.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/auto_variants.h"
#include "app/cli/profile_report.h"
#include "app/lab/metadata.h"
#include "app/lab/profile/profile_json.h"
#include "app/lab/variants.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"

namespace orrery {
namespace {

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

int run_profile(const Backends& backends, const ProfileOptions& options) {
  ProfileMeasurement measurement{backends};
  return run_profile(backends, options, measurement);
}

int run_profile(const Backends& backends, const ProfileOptions& options, ProfileMeasurement& measurement) {
  return ProfileRun{backends, options, measurement}.run();
}

}  // namespace orrery
