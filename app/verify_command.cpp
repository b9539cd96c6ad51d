#include "app/verify_command.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/measure.h"
#include "app/progress.h"
#include "app/recording/csv.h"
#include "app/recording/metadata.h"
#include "app/recording/output_file.h"
#include "app/table.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 11> columns{
    "kernel",    "backend",   "settings",         "law",           "n",     "error_median",
    "error_p99", "error_max", "tolerance_median", "tolerance_max", "result"};

class Verification {
 public:
  Verification(const VerifyOptions& options, const VariantPlan& plan)
      : options_{options}, plan_{plan}, progress_{options.progress} {
    if (options.csv_file.empty()) return;
    Json metadata = machine_metadata();
    metadata["scene"] = options.scene.file.empty() ? options.scene.scene : options.scene.file;
    metadata["seed"] = options.scene.file.empty() ? Json(options.scene.seed) : Json(nullptr);
    metadata["sample"] = ForceSample::max_size;
    csv_ = OutputFile::create(options.csv_file);
    write(csv_header(metadata, columns));
  }

  int run() {
    for (const int count : options_.counts) check_count(count);
    progress_.clear();
    fmt::print("{}", table_.text());
    for (const Skipped& skip : plan_.skipped) fmt::print("skipped {}: {}\n", skip.kernel_id, skip.reason);
    fmt::print("{} checks, {} failed; force error |da|/|a| against a direct sum in fp64\n", checks_, failed_);
    if (csv_ && error_.empty()) fmt::print("wrote {}\n", csv_->path());
    if (!error_.empty()) throw std::runtime_error(error_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  void check_count(int count) {
    SceneRequest request = options_.scene;
    request.count = count;
    Simulation simulation{request};
    for (const Command& command : options_.setup) simulation.apply(command);
    const std::vector<Vec4> bodies = simulation.bodies().positions;
    for (const LawId law : options_.laws) {
      simulation.apply(SelectLaw{law_info(law).id});
      const ForceSample sample{bodies, simulation.status().law};
      for (const Variant& variant : plan_.variants) check(simulation, sample, variant);
    }
  }

  void check(Simulation& simulation, const ForceSample& sample, const Variant& variant) {
    const int total = static_cast<int>(options_.counts.size() * options_.laws.size() * plan_.variants.size());
    progress_.show(static_cast<double>(checks_) / total,
                   fmt::format("{} n={}", variant.kernel->id, simulation.status().count));
    std::string result;
    ForceError error{};
    try {
      simulation.apply(variant.command());
      error = sample.error(simulation.accelerations());
      result = within(error, variant.kernel->tolerance) ? "PASS" : "FAIL";
    } catch (const UsageError& refusal) {
      result = fmt::format("skipped: {}", refusal.what());
    } catch (const std::exception& failure) {
      result = fmt::format("FAIL: {}", failure.what());
    }
    ++checks_;
    if (result.starts_with("FAIL")) ++failed_;
    report(simulation.status(), variant, error, result);
  }

  void report(const Status& status, const Variant& variant, const ForceError& error, const std::string& result) {
    const bool measured = result == "PASS" || result == "FAIL";
    const Tolerance& tolerance = variant.kernel->tolerance;
    const std::string law = law_info(status.law.id).id, settings = variant.settings.to_string();
    const auto shown = [&](double value) { return measured ? fmt::format("{:.2g}", value) : "-"; };
    table_.add({variant.kernel->id, settings, law, std::to_string(status.count), shown(error.median), shown(error.max),
                significant(tolerance.median, 2), significant(tolerance.max, 2), result});
    const auto field = [&](double value) { return measured ? csv_number(value) : std::string{}; };
    const std::array<std::string, columns.size()> fields{variant.kernel->id,
                                                         to_string(variant.kernel->backend),
                                                         settings,
                                                         law,
                                                         std::to_string(status.count),
                                                         field(error.median),
                                                         field(error.p99),
                                                         field(error.max),
                                                         csv_number(tolerance.median),
                                                         csv_number(tolerance.max),
                                                         result};
    write(csv_line(fields));
  }

  void write(const std::string& text) {
    if (csv_ && error_.empty()) error_ = csv_->append(text);
  }

  const VerifyOptions& options_;
  const VariantPlan& plan_;
  Progress progress_;
  Table table_{"lllrrrrrl",
               {"kernel", "settings", "law", "n", "median", "max", "allowed median", "allowed max", "result"}};
  std::optional<OutputFile> csv_;
  std::string error_;  // the CSV's first failed write
  int checks_ = 0, failed_ = 0;
};

}  // namespace

bool within(const ForceError& error, const Tolerance& tolerance) {
  return error.median <= tolerance.median && error.max <= tolerance.max;
}

int run_verify(const VerifyOptions& options) {
  const VariantPlan plan = expand(options.kernels, options.axes);
  for (const std::string& note : plan.notes) fmt::print(stderr, "note: {}\n", note);
  if (plan.variants.empty()) throw std::runtime_error("no kernel to verify: " + plan.skipped.front().reason);
  return Verification{options, plan}.run();
}

}  // namespace orrery
