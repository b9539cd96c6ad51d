#include "app/bench_report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "app/recording/metadata.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 19> columns{
    "kernel",      "backend",      "block",     "settings", "chosen",
    "n",           "dt",           "softening", "repeats",  "steps_a_repeat",
    "median_ms",   "min_ms",       "low_ms",    "high_ms",  "interactions_per_s",
    "gflop_per_s", "error_median", "error_p99", "error_max"};

std::array<std::string, columns.size()> csv_fields(const Measurement& m) {
  const Status& s = m.status;
  return {s.kernel_id,
          to_string(s.backend),
          s.settings.text_or_none("block"),
          s.settings.to_string(),
          s.chosen,
          std::to_string(s.count),
          csv_number(decimal(s.time_step), 9),
          csv_number(decimal(s.law.softening), 9),
          std::to_string(m.repeats),
          std::to_string(m.steps_a_repeat),
          csv_number(m.step_ms.median),
          csv_number(m.step_ms.min),
          csv_number(m.step_ms.low),
          csv_number(m.step_ms.high),
          csv_number(m.interactions_per_s),
          csv_number(m.gflop_per_s()),
          csv_number(m.error.median),
          csv_number(m.error.p99),
          csv_number(m.error.max)};
}

Json json_row(const Measurement& m) {
  const Status& s = m.status;
  return {{"kernel", s.kernel_id},
          {"backend", to_string(s.backend)},
          {"settings", Json(s.settings.values())},
          {"chosen", s.chosen},
          {"n", s.count},
          {"dt", decimal(s.time_step)},
          {"softening", decimal(s.law.softening)},
          {"repeats", m.repeats},
          {"steps_a_repeat", m.steps_a_repeat},
          {"step_ms",
           {{"median", json_number(m.step_ms.median)},
            {"min", json_number(m.step_ms.min)},
            {"low", json_number(m.step_ms.low)},
            {"high", json_number(m.step_ms.high)}}},
          {"interactions_per_s", json_number(m.interactions_per_s)},
          {"gflop_per_s", json_number(m.gflop_per_s())},
          {"error",
           {{"median", json_number(m.error.median)},
            {"p99", json_number(m.error.p99)},
            {"max", json_number(m.error.max)}}}};
}

Json bench_metadata(const BenchOptions& options, const Status& first) {
  Json metadata = machine_metadata();
  add_simulations(metadata, first, options.counts);
  metadata["flop_per_interaction"] = 20;
  metadata["warmup_steps"] = made_warmup_steps(options);
  return metadata;
}

}  // namespace

BenchReport::BenchReport(const BenchOptions& options, const Status& first)
    : metadata_(bench_metadata(options, first)),  // braces would make an array of it
      files_{options.csv_file, options.json_file, metadata_, columns},
      table_{"llrrrrrrrrr",
             {"kernel", "settings", "n", "median ms", "min ms", "95% interval", "interactions/s", "GFLOP/s",
              "error median", "p99", "max"}} {}

void BenchReport::add(const Measurement& m) {
  const Status& s = m.status;
  const std::string interval =
      std::isfinite(m.step_ms.low) ? significant(m.step_ms.low) + " to " + significant(m.step_ms.high) : "-";
  const std::string chosen = s.chosen.empty() ? "" : " (" + s.chosen + ")";
  table_.add({s.kernel_id, s.settings.to_string() + chosen, std::to_string(s.count), significant(m.step_ms.median),
              significant(m.step_ms.min), interval, with_prefix(m.interactions_per_s), significant(m.gflop_per_s()),
              significant(m.error.median, 2), significant(m.error.p99, 2), significant(m.error.max, 2)});
  results_.push_back(json_row(m));
  files_.add(csv_fields(m));
}

std::string BenchReport::finish(const std::vector<Skipped>& skipped) {
  std::string text =
      table_.text() + "One step's time; GFLOP/s at 20 flop per interaction; force error |da|/|a| against fp64.\n";
  Json left_out = Json::array();
  for (const Skipped& skip : skipped) {
    left_out.push_back({{"kernel", skip.kernel_id}, {"settings", skip.settings}, {"reason", skip.reason}});
    text += fmt::format("skipped {}{}: {}\n", skip.kernel_id, skip.settings.empty() ? "" : " " + skip.settings,
                        skip.reason);
  }
  files_.finish({{"metadata", metadata_}, {"results", results_}, {"skipped", left_out}});
  text += files_.written();
  return text;
}

}  // namespace orrery
