#include "app/bench_report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "app/recording/metadata.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 19> columns{
    "kernel",      "backend",      "block",     "settings", "chosen",
    "n",           "dt",           "softening", "repeats",  "steps_a_repeat",
    "median_ms",   "min_ms",       "low_ms",    "high_ms",  "interactions_per_s",
    "gflop_per_s", "error_median", "error_p99", "error_max"};

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::string csv_row(const Measurement& m) {
  const Status& s = m.status;
  const std::array<std::string, columns.size()> fields{s.kernel_id,
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
  return csv_line(fields);
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
           {{"median", number(m.step_ms.median)},
            {"min", number(m.step_ms.min)},
            {"low", number(m.step_ms.low)},
            {"high", number(m.step_ms.high)}}},
          {"interactions_per_s", number(m.interactions_per_s)},
          {"gflop_per_s", number(m.gflop_per_s())},
          {"error", {{"median", number(m.error.median)}, {"p99", number(m.error.p99)}, {"max", number(m.error.max)}}}};
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
      table_{"llrrrrrrrrr",
             {"kernel", "settings", "n", "median ms", "min ms", "95% interval", "interactions/s", "GFLOP/s",
              "error median", "p99", "max"}} {
  if (!options.csv_file.empty()) csv_ = OutputFile::create(options.csv_file);
  if (!options.json_file.empty()) json_ = OutputFile::create(options.json_file);
  write(csv_, csv_header(metadata_, columns));
  if (!error_.empty()) throw std::runtime_error(error_);
}

void BenchReport::discard() {
  if (csv_ && csv_->rewritable()) (void)csv_->replace_tail(0, "");  // an empty file goes with its owner
  csv_.reset();
  json_.reset();
}

void BenchReport::write(std::optional<OutputFile>& file, const std::string& text) {
  if (!file) return;
  const std::string error = file->append(text);
  if (error.empty()) return;
  if (error_.empty()) error_ = error;
  file.reset();
}

void BenchReport::add(const Measurement& m) {
  const Status& s = m.status;
  const std::string interval =
      std::isfinite(m.step_ms.low) ? significant(m.step_ms.low) + " to " + significant(m.step_ms.high) : "-";
  const std::string chosen = s.chosen.empty() ? "" : " (" + s.chosen + ")";
  table_.add({s.kernel_id, s.settings.to_string() + chosen, std::to_string(s.count), significant(m.step_ms.median),
              significant(m.step_ms.min), interval, with_prefix(m.interactions_per_s), significant(m.gflop_per_s()),
              significant(m.error.median, 2), significant(m.error.p99, 2), significant(m.error.max, 2)});
  results_.push_back(json_row(m));
  write(csv_, csv_row(m));
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
  if (json_) {
    const Json whole{{"metadata", metadata_}, {"results", results_}, {"skipped", left_out}};
    write(json_, json_text(whole, 2) + '\n');
  }
  if (csv_) text += "wrote " + csv_->path() + '\n';
  if (json_) text += "wrote " + json_->path() + '\n';
  return text;
}

}  // namespace orrery
