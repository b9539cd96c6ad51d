#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/cli/measuring.h"
#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/compare/paired_run.h"
#include "app/lab/metadata.h"
#include "app/lab/variants.h"
#include "app/recording/result_files.h"
#include "app/text/console.h"
#include "app/text/table.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

/// `orrery compare`: runs two variants from the same bodies and prints how they diverge. If a run fails, prints the
/// samples taken so far, then throws std::runtime_error.
struct CompareVerb final : Verb, SystemOptions {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  std::array<std::optional<RunVariant>, 2> variants;  ///< A and B; both are given
  std::int64_t steps = 1000;                          ///< steps of the run with the longer time step
  std::optional<std::int64_t> every;                  ///< such steps between two samples
  std::optional<bool> energy;                         ///< whether to measure energies; none: PairPlan's default
  ResultOptions results;
};

constexpr std::int64_t most_steps = 100'000'000, most_every = 1'000'000;

constexpr std::array<std::string_view, 8> compare_columns{"step_a",         "step_b",          "time",
                                                          "distance_rms",   "distance_median", "distance_greatest",
                                                          "energy_error_a", "energy_error_b"};

Json variant_json(const PairedRun& run, int which) {
  const Measurement member = run.member(which);
  return {{"kernel", member.kernel_id},      {"backend", to_string(member.kernel->backend)},
          {"settings", Json(member.values)}, {"integrator", member.integrator_id},
          {"dt", decimal(member.time_step)}, {"nudge", run.plan().variants[static_cast<std::size_t>(which)].nudge}};
}

std::array<std::string, compare_columns.size()> csv_fields(const DivergenceSample& sample) {
  return {std::to_string(sample.steps[0]),     std::to_string(sample.steps[1]),
          csv_number(sample.time, 9),          csv_number(sample.distances.rms),
          csv_number(sample.distances.median), csv_number(sample.distances.greatest),
          csv_number(sample.energy_error[0]),  csv_number(sample.energy_error[1])};
}

Json compare_metadata(const Backends& backends, const PairedRun& run) {
  Json metadata = machine_metadata(backends);
  add_simulation(metadata, run.status(0));
  metadata.erase("integrator");
  metadata.erase("dt");
  metadata["a"] = variant_json(run, 0);
  metadata["b"] = variant_json(run, 1);
  metadata["size"] = json_number(run.size());
  return metadata;
}

const char* kind_word(Growth::Kind kind) {
  switch (kind) {
    case Growth::Kind::identical:
      return "identical";
    case Growth::Kind::too_few:
      return "too-few";
    case Growth::Kind::exponential:
      return "exponential";
    case Growth::Kind::power:
      return "power";
    case Growth::Kind::irregular:
      break;
  }
  return "irregular";
}

Json growth_json(const Growth& growth) {
  const bool exponential = growth.kind == Growth::Kind::exponential, power = growth.kind == Growth::Kind::power;
  return {{"kind", kind_word(growth.kind)},
          {"e_folding_time", exponential ? json_number(growth.e_folding_time) : Json(nullptr)},
          {"exponent", power ? json_number(growth.exponent) : Json(nullptr)},
          {"begin", json_number(growth.begin)},
          {"end", json_number(growth.end)},
          {"samples", growth.points},
          {"factor", json_number(growth.factor)},
          {"floor", json_number(growth.floor)},
          {"ceiling", json_number(growth.ceiling)}};
}

Json optional_json(const std::optional<double>& number) {
  return number ? json_number(*number) : Json(nullptr);
}

Json sample_json(const DivergenceSample& sample) {
  return {{"step_a", sample.steps[0]},
          {"step_b", sample.steps[1]},
          {"time", sample.time},
          {"distance_rms", json_number(sample.distances.rms)},
          {"distance_median", json_number(sample.distances.median)},
          {"distance_greatest", json_number(sample.distances.greatest)},
          {"energy_error_a", optional_json(sample.energy_error[0])},
          {"energy_error_b", optional_json(sample.energy_error[1])}};
}

std::string shown(const std::optional<double>& number) {
  return number ? short_exponent(fmt::format("{:.2e}", *number)) : "-";
}

std::string samples_table(const PairedRun& run, const TextStyle& style) {
  const std::vector<DivergenceSample>& samples = run.taken();
  const bool two_steps = samples.back().steps[0] != samples.back().steps[1];
  Table table{"rrrrrrrr",
              {two_steps ? "step of A" : "step", two_steps ? "step of B" : "", "time", "rms distance",
               "median distance", "greatest distance", "energy error of A", "energy error of B"},
              {"step of B", "greatest distance"}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!run.is_selected(i) && i + 1 < samples.size()) continue;
    const DivergenceSample& sample = samples[i];
    table.add({format_count(sample.steps[0]), two_steps ? format_count(sample.steps[1]) : "",
               fmt::format("{:.4g}", sample.time), shown(sample.distances.rms), shown(sample.distances.median),
               shown(sample.distances.greatest), shown(sample.energy_error[0]), shown(sample.energy_error[1])});
  }
  return table.text(style);
}

std::string members_table(const PairedRun& run, const TextStyle& style) {
  SettingsCells settings{style};
  const std::array<Measurement, 2> members{run.member(0), run.member(1)};
  for (const Measurement& member : members) settings.add(member.kernel_id, member.values, member.kernel.get());
  Table table{"lltlrrrr", {"run", "kernel", "settings", "integrator", "dt", "nudge", "ms/step", "interactions/s"}};
  for (const std::size_t which : {0, 1}) {
    const Measurement& member = members[which];
    const double nudge = run.plan().variants[which].nudge;
    table.add({which == 0 ? "A" : "B", member.kernel_id, settings.text(member.kernel_id, member.values),
               member.integrator_id, fmt::format("{}", member.time_step), nudge > 0 ? fmt::format("{:g}", nudge) : "",
               significant(member.step_ms.median), with_prefix(member.interactions_per_s)});
  }
  return '\n' + table.text(style) + '\n';
}

/// Writes what a PairedRun measures: tables for stdout, and the files that the options name.
class CompareReport {
 public:
  /// Creates the files. `run` must outlive this. Throws std::runtime_error.
  CompareReport(const Backends& backends, const PairedRun& run, const CompareVerb& options)
      : run_{run},
        metadata_(compare_metadata(backends, run)),  // braces would make an array of it
        files_{options.results.names, metadata_, compare_columns} {}

  /// Writes the CSV rows of the samples that are new since the last call.
  void update() {
    for (; written_ < run_.taken().size(); ++written_) files_.add(csv_fields(run_.taken()[written_]));
  }
  /// Writes the JSON file. Returns the tables, the e-folding time and the names of the files.
  std::string finish(const TextStyle& style) {
    update();
    Json samples = Json::array();
    for (const DivergenceSample& sample : run_.taken()) samples.push_back(sample_json(sample));
    Json speeds = Json::object();
    for (const int which : {0, 1}) {
      const Measurement member = run_.member(which);
      speeds[which == 0 ? "a" : "b"] = {{"step_ms", json_number(member.step_ms.median)},
                                        {"interactions_per_s", json_number(member.interactions_per_s)}};
    }
    const Growth growth = run_.growth();
    files_.finish({{"metadata", metadata_},
                   {"growth", growth_json(growth)},
                   {"speeds", speeds},
                   {"samples", samples},
                   {"stopped", !run_.ended()}});
    return samples_table(run_, style) + members_table(run_, style) + paragraph(growth_words(growth), style) +
           paragraph(fmt::format("Distances between the positions of the same body in A and B, of {}; half of "
                                 "them start within {:.3g} of the middle. Energy errors are relative: |E - E0|/|E0|.",
                                 counted_bodies(run_.status(0).count), run_.size()),
                     style) +
           files_.written();
  }
  /// Returns one line with the first file that could not be written and the cause; empty if there is none.
  const std::string& error() const { return files_.error(); }

 private:
  const PairedRun& run_;
  Json metadata_;
  ResultFiles files_;
  std::size_t written_ = 0;  // number of samples written
};

constexpr std::chrono::milliseconds nap{1};  // time between two checks of a batch in flight

/// Returns `run`. If it asks for `auto`, replaces that by the kernel that `auto` chooses.
RunVariant resolved(const Backends& backends, const CompareVerb& options, RunVariant run) {
  if (run.variant.kernel) return run;
  std::string integrator = run.integrator_id.value_or(leapfrog.id);
  for (const Command& command : options.physics.setup) {
    const auto* select = std::get_if<SelectIntegrator>(&command);
    if (select && !run.integrator_id) integrator = select->id;
  }
  run.variant = auto_variant(backends, {.scene = options.scene.request,
                                        .setup = options.physics.setup,
                                        .accuracy = options.kernels.accuracy_or_default(),
                                        .jerks = find_integrator(integrator).needs_jerks});
  return run;
}

PairPlan plan_of(const Backends& backends, const CompareVerb& options) {
  PairPlan plan{.scene = options.scene.request,
                .setup = options.physics.setup,
                .variants = {resolved(backends, options, *options.variants[0]),
                             resolved(backends, options, *options.variants[1])},
                .steps = options.steps,
                .every = options.every};
  if (options.energy) plan.energy_bodies = *options.energy ? body_counts.most : 0;
  return plan;
}

std::string position_of(const PairedRun& run) {
  const DivergenceSample& latest = run.taken().back();
  return fmt::format("t = {:.4g}, step {} of A", latest.time, format_count(latest.steps[0]));
}

}  // namespace

void CompareVerb::declare(CommandLine& line) {
  const auto add_variant = [&](const char* option, std::size_t which, const char* help) {
    line.add(option, "VARIANT", help, [this, &line, option, which](const std::string& text) {
      variants[which] = parse_run_variant(line.kernels, option, text);
    });
  };
  kernels.declare_file(
      line, FileKernelUse::plain,
      "kernel of your own, which --a and --b can name; repeatable: two versions of one kernel need two ids");
  add_variant("--a", 0, "the first run: KERNEL or auto, then NAME=VALUE for settings, integrator, dt and nudge");
  add_variant("--b", 1, "the second run, in the same form");
  kernels.declare_accuracy(line);
  scene.declare(line);
  line.add("--steps", "K", fmt::format("number of steps, of the longer time step if there are two ({})", steps), steps,
           Range<std::int64_t>{1, most_steps});
  line.add("--every", "S", "steps from one sample of the distances to the next (a 200th of the steps)", every,
           Range<std::int64_t>{1, most_every});
  line.add("--energy", "on|off",
           fmt::format("measures the energies, which takes all pairs in double precision (on up to {} bodies)",
                       PairPlan{}.energy_bodies),
           energy, parse_switch);
  add_table_flags(line, results.table);
  line.add_file("--csv", "writes all samples as CSV", results.names.csv);
  line.add_file("--json", "writes all samples and the fit as JSON", results.names.json);
  add_force(line, results.names.existing);
  add_progress(line, results.progress);
  device.declare(line);
  physics.declare(line);
  line.add_footer(
      "Examples:\n"
      "  orrery compare --a cpu-simd --b cpu-tree,theta=0.7 --scene plummer -n 4k --steps 2000\n"
      "  orrery compare --a cuda-tiled --b cuda-fp64 -n 16k --csv rounding.csv\n"
      "  orrery compare --a cpu-simd --b \"cpu-simd integrator=euler dt=0.001\" --dt 0.002\n"
      "  orrery compare --a cpu-simd --b cpu-simd,nudge=1e-6 --scene plummer -n 1k --steps 2000\n"
      "\nBoth runs start from the same bodies and are compared at equal times: one time step must be a whole multiple "
      "of the other. nudge moves each body of a run by so much at the start. Prints the distances between the two "
      "positions of each body (rms, median and greatest), the "
      "relative energy errors, the e-folding time of the median distance, and the speeds. Ctrl+C ends it and keeps "
      "what was measured.");
}

void CompareVerb::finish(const CommandLine& line) {
  scene.check(line);
  physics.take_law(line);
  for (const std::size_t which : {0, 1}) {
    if (variants[which]) continue;
    const char* const name = which == 0 ? "--a" : "--b";
    throw UsageError(
        fmt::format("'orrery compare' needs two variants: add {} KERNEL, such as {} cpu-simd", name, name));
  }
  const auto is_auto = [](const std::optional<RunVariant>& run) { return !run->variant.kernel; };
  if (std::ranges::none_of(variants, is_auto)) kernels.refuse_accuracy("--a or --b");
  std::vector<std::string> own_integrators;
  for (const std::optional<RunVariant>& variant : variants) {
    if (variant->integrator_id) own_integrators.push_back(*variant->integrator_id);
  }
  physics.check_eta(own_integrators);
  scene.check_count();
}

int CompareVerb::run(const Program& program) const {
  using Clock = std::chrono::steady_clock;
  prepare_files(results.files(scene.request));
  const Backends backends = device.backends(program.kernels);
  compile_kernel_files(backends);
  watch_stop_signals();
  PairedRun run{backends, plan_of(backends, *this)};
  CompareReport report{backends, run, *this};
  Progress progress{results.progress};
  std::exception_ptr failure;
  const Clock::time_point begin = Clock::now();
  try {
    while (!run.ended() && !stop_requested()) {
      if (run.tick()) std::this_thread::sleep_for(nap);
      report.update();
      const double passed_s = std::chrono::duration<double>(Clock::now() - begin).count();
      const double done = run.done();
      progress.show_left(done > 0 ? std::optional{passed_s * (1 - done) / done} : std::nullopt, position_of(run));
    }
  } catch (...) {
    if (run.taken().size() < 2) throw;
    failure = std::current_exception();  // the samples taken before are still shown
  }
  progress.clear();
  console::show(report.finish(stdout_style(results.table)));
  if (failure) std::rethrow_exception(failure);
  if (!report.error().empty()) throw std::runtime_error(report.error());
  if (run.ended()) return 0;
  console::complain(fmt::format("stopped before the end: {:.0f} % of the steps were run", 100 * run.done()));
  return stop_status();
}

extern constinit const VerbInfo compare_verb{
    "compare", "runs two variants from the same bodies and measures how they diverge", create_verb<CompareVerb>};

}  // namespace orrery
