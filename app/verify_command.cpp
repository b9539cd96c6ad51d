#include "app/verify_command.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/forecast.h"
#include "app/measure.h"
#include "app/progress.h"
#include "app/recording/csv.h"
#include "app/recording/metadata.h"
#include "app/recording/output_file.h"
#include "app/table.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 14> columns{
    "kernel",    "backend",          "settings",      "law",          "n",
    "dt",        "softening",        "repulsion",     "error_median", "error_p99",
    "error_max", "tolerance_median", "tolerance_max", "result"};

Json verify_metadata(const VerifyOptions& options, const Status& first) {
  Json metadata = machine_metadata();
  add_simulations(metadata, first, options.counts);
  metadata["law"] = Json::array();
  for (const LawId law : options.laws) {
    metadata["law"].push_back(law_info(law).id);
    if (law == LawId::attract_repel) metadata["repulsion"] = decimal(first.law.repulsion);
  }
  metadata["sample"] = ForceSample::max_size;
  return metadata;
}

class Verification {
 public:
  Verification(const VerifyOptions& options, const VariantPlan& plan)
      : options_{options}, plan_{plan}, progress_{options.progress} {}

  int run() {
    std::exception_ptr failure;
    try {
      for (std::size_t i = 0; i < options_.counts.size(); ++i) check_count(i);
    } catch (...) {
      if (checks_ == 0) throw;
      failure = std::current_exception();  // what is known until here is still shown
    }
    progress_.clear();
    fmt::print("{}", table_.text());
    for (const Skipped& skip : plan_.skipped) fmt::print("skipped {}: {}\n", skip.kernel_id, skip.reason);
    fmt::print("{} checks, {} failed; force error |da|/|a| against a direct sum in fp64\n", checks_, failed_);
    if (csv_ && error_.empty()) fmt::print("wrote {}\n", csv_->path());
    if (failure) std::rethrow_exception(failure);
    if (!error_.empty()) throw std::runtime_error(error_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  void check_count(std::size_t index) {
    SceneRequest request = options_.scene;
    request.count = options_.counts[index];
    Simulation simulation{request};
    for (const Command& command : options_.setup) simulation.apply(command);
    const Status first = simulation.status();
    if (index == 0) open_csv(first);
    count_ = first.count;
    left_counts_.assign(options_.counts.begin() + static_cast<std::ptrdiff_t>(index) + 1, options_.counts.end());
    const std::vector<Vec4> bodies = simulation.bodies().positions;
    left_laws_ = options_.laws.size();
    for (const LawId law : options_.laws) {
      simulation.apply(SelectLaw{law_info(law).id});
      --left_laws_;
      show("reference forces", plan_.variants.size(), true);
      const ForceSample sample{bodies, simulation.status().law};
      forecast_.learn_reference(count_, sample.seconds());
      for (std::size_t i = 0; i < plan_.variants.size(); ++i) {
        show(plan_.variants[i].kernel->id, plan_.variants.size() - i, false);
        check(simulation, sample, plan_.variants[i]);
      }
    }
  }

  void open_csv(const Status& first) {
    if (options_.csv_file.empty()) return;
    csv_ = OutputFile::create(options_.csv_file);
    write(csv_header(verify_metadata(options_, first), columns));
  }

  /// What checking the last `variants` of the plan once will take.
  double seconds_of(std::size_t variants, int count) const {
    double sum = 0;
    for (std::size_t i = plan_.variants.size() - variants; i < plan_.variants.size(); ++i) {
      sum += forecast_.seconds(*plan_.variants[i].kernel, count);
    }
    return sum;
  }

  /// The last `variants` of the plan are left under the present law, and its reference where it is `with_reference`.
  void show(const std::string& what, std::size_t variants, bool with_reference) {
    const auto seconds_of_a_law = [&](int count) {
      return forecast_.reference_seconds(count) + seconds_of(plan_.variants.size(), count);
    };
    double left = seconds_of(variants, count_) + (with_reference ? forecast_.reference_seconds(count_) : 0);
    left += static_cast<double>(left_laws_) * seconds_of_a_law(count_);
    for (const int later : left_counts_) left += static_cast<double>(options_.laws.size()) * seconds_of_a_law(later);
    progress_.show_left(left, fmt::format("{} n={}", what, count_));
  }

  void check(Simulation& simulation, const ForceSample& sample, const Variant& variant) {
    std::string result;
    ForceError error{};
    try {
      simulation.apply(variant.command());
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<Vec4> accelerations = simulation.accelerations();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      forecast_.learn(*variant.kernel, simulation.status().count, taken.count());
      error = sample.error(accelerations);
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
    const std::string repulsion =
        status.law.id == LawId::attract_repel ? csv_number(decimal(status.law.repulsion), 9) : "";
    const auto field = [&](double value) { return measured ? csv_number(value) : std::string{}; };
    const std::array<std::string, columns.size()> fields{variant.kernel->id,
                                                         to_string(variant.kernel->backend),
                                                         settings,
                                                         law,
                                                         std::to_string(status.count),
                                                         csv_number(decimal(status.time_step), 9),
                                                         csv_number(decimal(status.law.softening), 9),
                                                         repulsion,
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
  Forecast forecast_;
  int count_ = 0;                 // bodies of the present system
  std::vector<int> left_counts_;  // after it
  std::size_t left_laws_ = 0;     // after the present one, of the present system
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
