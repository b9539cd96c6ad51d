#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/measuring.h"
#include "app/cli/option_groups.h"
#include "app/lab/force_promise.h"
#include "app/lab/metadata.h"
#include "app/lab/sampling.h"
#include "app/lab/statistics.h"
#include "app/lab/variants.h"
#include "app/recording/result_files.h"
#include "app/text/console.h"
#include "app/text/table.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/diagnostics/reference.h"
#include "compute/kernels/runtime/compile_kernel.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

using Cells = std::vector<Cell>;

/// Check of one kernel with its settings, for one system of bodies under one law.
struct Check {
  const Variant& variant;
  int count = 0;  ///< number of bodies
  Law law{};
  float time_step = 0;
  int sample = 0;                       ///< number of bodies whose forces were compared
  std::optional<ForceError> error{};    ///< none if no forces could be computed
  AllowedError allowed{};               ///< limits of `error`; undefined if there is no error
  UlpHistogram ulps{};                  ///< distances between these forces and the reference
  std::optional<WrongDigits> digits{};  ///< wrong digits of coordinates after the second step; none if not requested
  std::string result{};                 ///< "PASS", "FAIL", "FAIL: why" or "skipped: why"

  bool failed() const { return result.starts_with("FAIL"); }
};

constexpr std::array<std::string_view, 22> columns{"kernel",
                                                   "backend",
                                                   "settings",
                                                   "law",
                                                   "n",
                                                   "dt",
                                                   "softening",
                                                   "repulsion",
                                                   "sample",
                                                   "error_rms",
                                                   "error_median",
                                                   "error_p99",
                                                   "error_max",
                                                   "worst_body",
                                                   "tolerance_median",
                                                   "tolerance_p99",
                                                   "tolerance_max",
                                                   "ulps",
                                                   "digits",
                                                   "digits_largest",
                                                   "digits_accepted",
                                                   "result"};

Json verify_metadata(const Backends& backends, const VerifyVerb& options, const Status& first) {
  Json metadata = machine_metadata(backends);
  add_simulations(metadata, first, options.scene.counts);
  metadata["law"] = Json::array();
  for (const LawId law : options.laws) {
    metadata["law"].push_back(law_info(law).id);
    if (law == LawId::attract_repel) metadata["repulsion"] = decimal(first.law.repulsion);
  }
  const bool every_body = options.sample == body_counts.most;
  metadata["sample"] = every_body ? Json("all") : Json(options.sample);
  if (options.sample_only) metadata["sample_only"] = true;
  return metadata;
}

std::string worst_body(const Check& check) {
  return check.error && check.error->worst >= 0 ? std::to_string(check.error->worst) : std::string{};
}

bool has_repulsion(const Check& check) {
  return check.law.id == LawId::attract_repel;
}

const char* accepted_text(const WrongDigits& digits) {
  return digits.accepted() ? "PASS" : "FAIL";
}

std::array<std::string, columns.size()> csv_fields(const Check& check) {
  const auto limit = [&](double AllowedError::*part) { return check.error ? csv_number(check.allowed.*part) : ""; };
  const auto field = [&](double ForceError::*part) { return check.error ? csv_number((*check.error).*part) : ""; };
  return {check.variant.kernel->id,
          to_string(check.variant.kernel->backend),
          check.variant.settings.to_string(),
          law_info(check.law.id).id,
          std::to_string(check.count),
          csv_number(decimal(check.time_step), 9),
          csv_number(decimal(check.law.softening), 9),
          has_repulsion(check) ? csv_number(decimal(check.law.repulsion), 9) : "",
          std::to_string(check.sample),
          field(&ForceError::rms),
          field(&ForceError::median),
          field(&ForceError::p99),
          field(&ForceError::max),
          worst_body(check),
          limit(&AllowedError::median),
          limit(&AllowedError::p99),
          limit(&AllowedError::max),
          to_csv(distribution(check.ulps)),
          check.digits ? to_csv(distribution(*check.digits)) : "",
          check.digits ? csv_number(check.digits->largest) : "",
          check.digits ? accepted_text(*check.digits) : "",
          check.result};
}

Json json_row(const Check& check) {
  Json row{{"kernel", check.variant.kernel->id},
           {"backend", to_string(check.variant.kernel->backend)},
           {"settings", Json(check.variant.settings.values())},
           {"law", law_info(check.law.id).id},
           {"n", check.count},
           {"dt", decimal(check.time_step)},
           {"softening", decimal(check.law.softening)},
           {"repulsion", has_repulsion(check) ? Json(decimal(check.law.repulsion)) : Json(nullptr)},
           {"sample", check.sample},
           {"error", nullptr},
           {"tolerance", nullptr},
           {"ulps", nullptr},
           {"digits", nullptr},
           {"result", check.result}};
  if (check.error) {
    row["error"] = {{"rms", json_number(check.error->rms)},
                    {"median", json_number(check.error->median)},
                    {"p99", json_number(check.error->p99)},
                    {"max", json_number(check.error->max)},
                    {"worst_body", check.error->worst >= 0 ? Json(check.error->worst) : Json(nullptr)}};
    row["tolerance"] = {{"median", json_number(check.allowed.median)},
                        {"p99", json_number(check.allowed.p99)},
                        {"max", json_number(check.allowed.max)}};
    row["ulps"] = to_json(distribution(check.ulps));
  }
  if (check.digits) {
    row["digits"] = {{"first_wrong", to_json(distribution(*check.digits))},
                     {"largest", json_number(check.digits->largest)},
                     {"accepted", check.digits->accepted()}};
  }
  return row;
}

/// Formats a part of the error; "-" if `check` has no force errors. Shows "nan" as it is.
std::string shown(const Check& check, double ForceError::*part) {
  return check.error ? short_exponent(fmt::format("{:.2g}", (*check.error).*part)) : "-";
}

Tone tone_of(const std::string& result) {
  if (result.starts_with("PASS")) return Tone::good;
  return result.starts_with("FAIL") ? Tone::bad : Tone::plain;
}

/// Adds a row with the check's subject and the cells `more`.
void add_row(Table& table, const SettingsCells& settings, const Check& check, const Cells& more) {
  const char* const id = check.variant.kernel->id;
  Cells row{id, settings.text(id, check.variant.settings.values()), law_info(check.law.id).id,
            format_count(check.count)};
  row.insert(row.end(), more.begin(), more.end());
  table.add(std::move(row));
}

std::string errors_table(const std::vector<Check>& checks, const SettingsCells& settings, const TextStyle& style) {
  Table table{"ltlrrrrrrrrrt",
              {"kernel", "settings", "law", "n", "rms", "median", "p99", "max", "worst body", "allowed median",
               "allowed p99", "allowed max", "result"},
              {"rms", "worst body", "allowed max", "allowed p99", "allowed median"}};
  const auto limit = [](const Check& check, double AllowedError::*part) {
    return check.error ? short_exponent(fmt::format("{:.2g}", check.allowed.*part)) : "-";
  };
  for (const Check& check : checks) {
    const std::string worst = worst_body(check);
    add_row(table, settings, check,
            {shown(check, &ForceError::rms), shown(check, &ForceError::median), shown(check, &ForceError::p99),
             shown(check, &ForceError::max), worst.empty() ? "-" : worst, limit(check, &AllowedError::median),
             limit(check, &AllowedError::p99), limit(check, &AllowedError::max),
             Cell{check.result, tone_of(check.result)}});
  }
  return table.text(style);
}

/// Returns each note once.
std::vector<std::string> law_notes(const std::vector<Check>& checks) {
  std::vector<std::string> notes;
  for (const Check& check : checks) {
    std::string note = law_note(*check.variant.kernel, check.variant.settings, check.law.id);
    if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  }
  return notes;
}

std::string ulps_table(const std::vector<Check>& checks, const SettingsCells& settings, const TextStyle& style) {
  Table table{"ltlrt", {"kernel", "settings", "law", "n", "components by units in the last place"}};
  for (const Check& check : checks) {
    if (check.error) add_row(table, settings, check, {to_text(distribution(check.ulps))});
  }
  return '\n' + table.text(style);
}

std::string digits_table(const std::vector<Check>& checks, const SettingsCells& settings, const TextStyle& style) {
  Table table{"ltlrtrl",
              {"kernel", "settings", "law", "n", "coordinates by first wrong digit", "largest", "source's rule"}};
  for (const Check& check : checks) {
    if (!check.digits) continue;
    const std::string accepted = accepted_text(*check.digits);
    add_row(table, settings, check,
            {to_text(distribution(*check.digits)), fmt::format("{:.2g}", check.digits->largest),
             Cell{accepted, tone_of(accepted)}});
  }
  return '\n' + table.text(style) +
         paragraph(
             "Coordinates after the second euler step against cpu-serial's: the first digit that |difference| "
             "reaches.",
             style) +
         paragraph(
             "The source's rule rejects a wrong integer part, 1st or 2nd decimal; it does not decide the result "
             "above.",
             style);
}

/// Results of a verification: tables for stdout, and the requested files.
class VerifyReport {
 public:
  /// Creates the files. `first`: status of the first simulation. Throws std::runtime_error.
  VerifyReport(const Backends& backends, const VerifyVerb& options, const Status& first)
      : metadata_(verify_metadata(backends, options, first)),  // parentheses, as braces would make a JSON array
        files_{options.results.names, metadata_, columns},
        with_ulps_{options.histogram},
        with_digits_{options.digits} {}

  /// Adds a check, and immediately writes its row to the CSV.
  void add(Check check) {
    if (check.failed()) ++failed_;
    results_.push_back(json_row(check));
    files_.add(csv_fields(check));
    checks_.push_back(std::move(check));
  }
  /// Writes the JSON. Returns the tables, the skipped variants, the number of failed checks and the names of the files.
  std::string finish(const std::vector<Skipped>& skipped, const TextStyle& style) {
    SettingsCells settings{style};
    for (const Check& check : checks_) {
      const Variant& variant = check.variant;
      settings.add(variant.kernel->id, variant.settings.values(), variant.kernel.get());
    }
    std::string text = errors_table(checks_, settings, style);
    if (with_ulps_) text += ulps_table(checks_, settings, style);
    if (with_digits_) text += digits_table(checks_, settings, style);
    if (with_ulps_ || with_digits_) text += '\n';
    Json left_out = Json::array();
    for (const Skipped& skip : skipped) {
      left_out.push_back({{"kernel", skip.kernel_id}, {"reason", skip.reason}});
    }
    for (const auto& [names, reason] : together(skipped)) {
      text += paragraph(fmt::format("skipped {}: {}", names, reason), style, 2);
    }
    for (const std::string& note : law_notes(checks_)) text += paragraph(note, style);
    text += paragraph(fmt::format("{}, {} failed; force error |da|/|a| against a direct sum in fp64",
                                  counted(std::ssize(checks_), "check"), failed_),
                      style);
    files_.finish({{"metadata", metadata_}, {"results", results_}, {"skipped", left_out}});
    return text + files_.written();
  }
  bool empty() const { return checks_.empty(); }
  int failed() const { return failed_; }
  /// Returns one line on the first file that could not be written, and why; empty if there is none.
  const std::string& error() const { return files_.error(); }

 private:
  Json metadata_;
  Json results_ = Json::array();
  ResultFiles files_;
  std::vector<Check> checks_;
  bool with_ulps_, with_digits_;
  int failed_ = 0;
};

constexpr const char* serial_kernel = "cpu-serial";  // reference for the digit test

class Verification {
 public:
  Verification(const Backends& backends, const VerifyVerb& options, const VariantPlan& plan)
      : backends_{backends},
        options_{options},
        plan_{plan},
        progress_{options.results.progress},
        forecast_{options.sample} {}

  int run() {
    std::exception_ptr failure;
    try {
      for (std::size_t i = 0; i < options_.scene.counts.size(); ++i) check_count(i);
    } catch (...) {
      if (!report_ || report_->empty()) throw;
      failure = std::current_exception();  // results so far are still shown
    }
    progress_.clear();
    console::show(report_->finish(plan_.skipped, stdout_style(options_.results.table)));
    if (failure) std::rethrow_exception(failure);
    if (!report_->error().empty()) throw std::runtime_error(report_->error());
    return report_->failed() == 0 ? 0 : 1;
  }

 private:
  /// Expected results for one system under one law.
  struct Expected {
    Law law;
    float time_step;
    const ForceSample& sample;
    ForcePromise promise;
    std::vector<Vec4> positions;  // after the serial kernel's second step; digit test only
  };

  Variant serial_variant() const {
    const KernelPtr kernel = backends_.kernels().find(serial_kernel);
    return {kernel, Settings{*kernel}};
  }

  void check_count(std::size_t index) {
    SceneRequest request = options_.scene.request;
    request.count = options_.scene.counts[index];
    LawId law = options_.laws.front();
    VariantRunner runner{backends_, request, [this, &law](Simulation& fresh) {
                           for (const Command& command : options_.physics.setup) fresh.apply(command);
                           if (options_.digits) fresh.apply(SelectIntegrator{"euler"});  // as in the published test
                           fresh.apply(SelectLaw{law_info(law).id});
                         }};
    const KernelPtr first_kernel = plan_.variants.empty() ? backends_.default_kernel() : plan_.variants.front().kernel;
    const Status& first = runner.simulation(first_kernel).status();
    if (!report_) report_.emplace(backends_, options_, first);
    count_ = first.count;
    left_counts_.assign(options_.scene.counts.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                        options_.scene.counts.end());
    const std::vector<Vec4> bodies = runner.simulation()->bodies().positions;
    left_laws_ = options_.laws.size();
    for (const LawId each : options_.laws) {
      law = each;
      Simulation& simulation = runner.simulation(first_kernel);
      simulation.apply(SelectLaw{law_info(law).id});
      --left_laws_;
      const std::vector<const Variant*> variants = variants_for(request, law);
      show("reference", plan_.variants.size(), true);
      const Status& system = simulation.status();
      const ForceSample sample{bodies, system.law, options_.sample};
      Expected expected{system.law, system.time_step, sample, {bodies, sample, system.law}, {}};
      forecast_.learn_reference(count_, expected.sample.seconds());
      if (options_.digits) {
        runner.select(serial_variant());
        expected.positions = positions_after_two_steps(runner);
      }
      for (std::size_t i = 0; i < variants.size(); ++i) {
        show(variants[i]->kernel->id, std::min(plan_.variants.size(), variants.size() - i), false);
        report_->add(check(runner, expected, *variants[i]));
      }
    }
  }

  /// Returns the plan's variants. If `auto` is selected, its choice comes first, unless the plan already has it.
  std::vector<const Variant*> variants_for(const SceneRequest& request, LawId law) {
    std::vector<const Variant*> variants;
    for (const Variant& variant : plan_.variants) variants.push_back(&variant);
    if (!options_.kernels.selection.automatic) return variants;
    Commands setup = options_.physics.setup;
    setup.push_back(SelectLaw{law_info(law).id});
    VariantPlan plan{plan_};
    add_auto_variant(plan, backends_,
                     {.scene = request, .setup = setup, .accuracy = options_.kernels.accuracy_or_default()});
    if (plan.variants.size() > variants.size()) {
      variants.insert(variants.begin(), &chosen_.emplace_back(plan.variants.front()));
    }
    return variants;
  }

  /// Runs two steps from the scene's first state and returns the positions. If a body becomes non-finite, the run
  /// stops, and all returned positions are NaN.
  static std::vector<Vec4> positions_after_two_steps(VariantRunner& runner) {
    runner.restart();
    try {
      runner.run(2);
      return runner.simulation()->bodies().positions;
    } catch (const std::exception&) {
      const Status& status = runner.simulation()->status();
      if (!status.non_finite) throw;
      constexpr float nan = std::numeric_limits<float>::quiet_NaN();
      return std::vector<Vec4>(static_cast<std::size_t>(status.count), Vec4{nan, nan, nan, nan});
    }
  }

  Check check(VariantRunner& runner, const Expected& expected, const Variant& variant) {
    Check check{.variant = variant,
                .count = count_,
                .law = expected.law,
                .time_step = expected.time_step,
                .sample = expected.sample.size()};
    const Problem problem = problem_of([&] {
      runner.select(variant);
      runner.restart();
      check_forces(*runner.simulation(), expected, check);
      if (options_.digits) check_digits(runner, expected, check);
    });
    const std::string text = variant.kernel->file_text ? in_plain_words(problem.text) : problem.text;
    if (problem) check.result = (problem.refused ? "skipped: " : "FAIL: ") + text;
    return check;
  }

  void check_forces(Simulation& simulation, const Expected& expected, Check& check) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Vec4> accelerations =
        simulation.accelerations(options_.sample_only ? expected.sample.targets() : std::span<const int>{});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    forecast_.learn(*check.variant.kernel, count_, taken.count());
    const ForceVerdict verdict =
        expected.promise.judge(*check.variant.kernel, check.variant.settings, accelerations, options_.sample_only);
    check.error = verdict.error;
    check.allowed = verdict.allowed;
    check.ulps = expected.sample.ulps(accelerations);
    const bool finite = std::isfinite(verdict.error.max) && check.ulps.not_finite == 0;
    check.result = !finite ? "FAIL" : verdict.failure.empty() ? "PASS" : "FAIL: " + verdict.failure;
  }

  static void check_digits(VariantRunner& runner, const Expected& expected, Check& check) {
    check.digits = wrong_digits(positions_after_two_steps(runner), expected.positions);
    if (check.digits->not_finite == 0) return;
    check.result = fmt::format("FAIL: {} coordinates are not finite after the second step", check.digits->not_finite);
  }

  /// Returns the force evaluations per check: one at the first state, and two in the steps of the digit test.
  double evaluations() const { return options_.digits ? 3 : 1; }

  /// Returns the expected time of one check of each of the last `variants` of the plan, in s.
  double seconds_of(std::size_t variants, int count) const {
    double sum = 0;
    for (std::size_t i = plan_.variants.size() - variants; i < plan_.variants.size(); ++i) {
      sum += evaluations() * forecast_.seconds(*plan_.variants[i].kernel, count);
    }
    return sum;
  }

  double reference_seconds(int count) const {
    const double serial = options_.digits ? 2 * forecast_.seconds(*backends_.kernels().find(serial_kernel), count) : 0;
    return forecast_.reference_seconds(count) + serial;
  }

  /// Shows the remaining time. Left to do under the current law: the last `variants` of the plan, and the reference if
  /// `with_reference`.
  void show(const std::string& what, std::size_t variants, bool with_reference) {
    const auto seconds_per_law = [&](int count) {
      return reference_seconds(count) + seconds_of(plan_.variants.size(), count);
    };
    double left = seconds_of(variants, count_) + (with_reference ? reference_seconds(count_) : 0);
    left += static_cast<double>(left_laws_) * seconds_per_law(count_);
    for (const int later : left_counts_) left += static_cast<double>(options_.laws.size()) * seconds_per_law(later);
    progress_.show_left(left, fmt::format("{} n={}", what, format_count(count_)));
  }

  const Backends& backends_;
  const VerifyVerb& options_;
  const VariantPlan& plan_;
  Progress progress_;
  Forecast forecast_;
  std::optional<VerifyReport> report_;
  std::deque<Variant> chosen_;    // chosen by `auto`; checks refer to these
  int count_ = 0;                 // number of bodies of the current system
  std::vector<int> left_counts_;  // numbers of bodies of the systems after it
  std::size_t left_laws_ = 0;     // number of laws after the current one, for the current system
};

}  // namespace

void VerifyVerb::declare(CommandLine& line) {
  scene.declare_list(line, "numbers of bodies (1,2,31,32,33,255,256,257,1000,4097)");
  kernels.declare_file(line, FileKernelUse::guarded,
                       "checks a kernel of your own with every value of its settings; repeatable");
  kernels.declare_list(line);
  results.declare(line, kernels, device, /*several_devices=*/true);
  line.add("--sample", "all|N", fmt::format("bodies whose forces are checked ({})", sample), sample, parse_sample);
  line.add_flag("--sample-only", sample_only,
                "evaluates only the forces on these bodies: takes less time; kernels that cannot do this are skipped");
  line.add_flag("--histogram", histogram, "prints by how many units in the last place components are off");
  line.add_flag("--digits", digits, "compares coordinates after two steps with those of cpu-serial, by digit");
  physics.declare_law(line, " (both)");
  line.add_footer(
      "Examples:\n"
      "  orrery verify --kernels cpu-simd,cuda-tiled -n 1000,16k --law gravity\n"
      "  orrery verify --kernel-file mine.cu\n"
      "  orrery verify --kernels cuda-naive --set block=all -n 64k --sample all --histogram --digits\n"
      "\nErrors are limited to fractions of the sum of the sizes of all terms (docs/usage/verify.md). The exit status "
      "is 1 if a kernel breaks its promise.");
}

void VerifyVerb::finish(const CommandLine& line) {
  scene.check(line);
  SceneRequest& request = scene.request;
  if (!line.given("--scene")) request.scene = "plummer";  // the default scene allows any number of bodies
  std::vector<int> usual{0};
  if (const SceneInfo& generated = find_scene(request.scene); request.file.empty() && generated.fixed_count == 0) {
    usual = kernels.files.empty() ? std::vector{1, 2, 31, 32, 33, 255, 256, 257, 1000, 4097}
                                  : std::vector{1, 31, 33, 257, 4097};
    std::erase_if(usual, [&](int count) { return count < generated.min_count; });
  }
  physics.check_constants(line, physics.law != LawId::gravity);
  kernels.check_auto(line.kernels);
  device.check();
  check_axes(kernels.selection, kernels.axes);
  scene.take_counts(usual);
  laws = physics.law ? std::vector{*physics.law} : std::vector{LawId::gravity, LawId::attract_repel};
  each_value = !kernels.files.empty() && kernels.axes.empty();
}

int VerifyVerb::run(const Program& program) const {
  prepare_files(results.files(scene.request));
  const Backends backends = device.backends(program.kernels);
  for (const KernelPtr& kernel : kernels.selection.kernels) {
    if (!kernel->file_text) continue;
    compile_settings(backends,
                     each_value ? each_value_of({kernel, Settings{*kernel}}) : every_combination(kernel, kernels.axes));
  }
  const VariantPlan plan =
      each_value ? expand_each_value(backends, kernels.selection) : expand(backends, kernels.selection, kernels.axes);
  for (const std::string& note : plan.notes) console::print_error("note: {}\n", note);
  if (plan.variants.empty() && !kernels.selection.automatic)
    throw std::runtime_error("no kernel to verify: " + plan.skipped.front().reason);
  return Verification{backends, *this, plan}.run();
}

extern constinit const VerbInfo verify_verb{"verify", "checks kernels against a sum in double precision",
                                            create_verb<VerifyVerb>};

}  // namespace orrery
