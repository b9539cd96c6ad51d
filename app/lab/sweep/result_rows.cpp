// The rows of a sweep's results, as CSV, JSON and tables, in the format of a benchmark or of a published protocol.
#include "app/lab/sweep/result_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "app/lab/metadata.h"
#include "app/text/table.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

std::string block_of(const Measurement& row) {
  const auto block = row.values.find("block");
  return block != row.values.end() ? block->second : std::string{};
}

constexpr std::array<ResultColumn, 8> subject{{
    {"kernel", [](const Measurement& row, MeasuredRows) { return row.kernel_id; }},
    {"backend", [](const Measurement& row, MeasuredRows) { return std::string{to_string(row.kernel->backend)}; }},
    {"block", [](const Measurement& row, MeasuredRows) { return block_of(row); }},
    {"settings", [](const Measurement& row, MeasuredRows) { return row.settings; }},
    {"chosen", [](const Measurement& row, MeasuredRows) { return row.chosen; }},
    {"n", [](const Measurement& row, MeasuredRows) { return std::to_string(row.count); }},
    {"dt", [](const Measurement& row, MeasuredRows) { return csv_number(decimal(row.time_step), 9); }},
    {"softening", [](const Measurement& row, MeasuredRows) { return csv_number(decimal(row.law.softening), 9); }},
}};

/// Formats a field of the kernel card; empty if there is no card.
template <auto field>
std::string card_text(const Measurement& row, MeasuredRows) {
  return row.card ? csv_number(static_cast<double>((*row.card).*field)) : std::string{};
}

/// A value of a machine's state; empty if it is not known.
std::string state_text(const Json& state, const char* name) {
  const auto found = state.find(name);
  if (found == state.end()) return {};
  if (found->is_number()) return csv_number(found->get<double>());
  return found->is_array() ? fmt::format("{}", fmt::join(found->get<std::vector<std::string>>(), "; ")) : std::string{};
}

std::string before(const Measurement& row, const char* name) {
  return row.machine ? state_text(row.machine->before, name) : std::string{};
}

std::string during(const Measurement& row, const char* name) {
  return row.machine ? state_text(row.machine->during, name) : std::string{};
}

std::string after(const Measurement& row, const char* name) {
  return row.machine ? state_text(row.machine->after, name) : std::string{};
}

std::string rank_text(int rank) {
  return rank > 0 ? std::to_string(rank) : std::string{};
}

constexpr std::array<ResultColumn, 31> bench_columns{{
    {"samples", [](const Measurement& row, MeasuredRows) { return std::to_string(row.samples_ms.size()); }},
    {"steps_per_sample", [](const Measurement& row, MeasuredRows) { return std::to_string(row.steps_per_sample); }},
    {"median_ms", [](const Measurement& row, MeasuredRows) { return csv_number(row.step_ms.median); }},
    {"min_ms", [](const Measurement& row, MeasuredRows) { return csv_number(row.step_ms.min); }},
    {"low_ms", [](const Measurement& row, MeasuredRows) { return csv_number(row.step_ms.low); }},
    {"high_ms", [](const Measurement& row, MeasuredRows) { return csv_number(row.step_ms.high); }},
    {"interactions_per_s", [](const Measurement& row, MeasuredRows) { return csv_number(row.interactions_per_s); }},
    {"gflop_per_s", [](const Measurement& row, MeasuredRows) { return csv_number(row.gflop_per_s()); }},
    {"error_median", [](const Measurement& row, MeasuredRows) { return csv_number(row.errors().median); }},
    {"error_p99", [](const Measurement& row, MeasuredRows) { return csv_number(row.errors().p99); }},
    {"error_max", [](const Measurement& row, MeasuredRows) { return csv_number(row.errors().max); }},
    {"rank_first", [](const Measurement& row, MeasuredRows) { return rank_text(row.rank.first); }},
    {"rank_last", [](const Measurement& row, MeasuredRows) { return rank_text(row.rank.last); }},
    {"registers", card_text<&KernelCard::registers>},
    {"local_bytes", card_text<&KernelCard::local_bytes>},
    {"occupancy", card_text<&KernelCard::occupancy>},
    {"sm_clock_mhz_before", [](const Measurement& row, MeasuredRows) { return before(row, "clock_mhz"); }},
    {"sm_clock_mhz_during", [](const Measurement& row, MeasuredRows) { return during(row, "clock_mhz"); }},
    {"sm_clock_mhz_after", [](const Measurement& row, MeasuredRows) { return after(row, "clock_mhz"); }},
    {"memory_clock_mhz_before", [](const Measurement& row, MeasuredRows) { return before(row, "memory_clock_mhz"); }},
    {"memory_clock_mhz_during", [](const Measurement& row, MeasuredRows) { return during(row, "memory_clock_mhz"); }},
    {"memory_clock_mhz_after", [](const Measurement& row, MeasuredRows) { return after(row, "memory_clock_mhz"); }},
    {"power_w_before", [](const Measurement& row, MeasuredRows) { return before(row, "power_w"); }},
    {"power_w_during", [](const Measurement& row, MeasuredRows) { return during(row, "power_w"); }},
    {"power_w_after", [](const Measurement& row, MeasuredRows) { return after(row, "power_w"); }},
    {"temperature_c_before", [](const Measurement& row, MeasuredRows) { return before(row, "temperature_c"); }},
    {"temperature_c_during", [](const Measurement& row, MeasuredRows) { return during(row, "temperature_c"); }},
    {"temperature_c_after", [](const Measurement& row, MeasuredRows) { return after(row, "temperature_c"); }},
    {"slowed_by_before", [](const Measurement& row, MeasuredRows) { return before(row, "slowed_by"); }},
    {"slowed_by_during", [](const Measurement& row, MeasuredRows) { return during(row, "slowed_by"); }},
    {"slowed_by_after", [](const Measurement& row, MeasuredRows) { return after(row, "slowed_by"); }},
}};

Json card_json(const KernelCard& card) {
  return {{"architecture", card.architecture},
          {"registers", card.registers},
          {"local_bytes", card.local_bytes},
          {"shared_bytes", card.shared_bytes},
          {"block", card.block},
          {"blocks", card.blocks},
          {"blocks_per_multiprocessor", card.blocks_per_multiprocessor},
          {"occupancy", json_number(card.occupancy)},
          {"best_block", card.best_block},
          {"best_occupancy", json_number(card.best_occupancy)},
          {"waves", json_number(card.waves)}};
}

/// Returns the loads of the devices in the latest timed evaluation; null with one device.
Json devices_json(const std::vector<DeviceLoad>& loads) {
  if (loads.empty()) return nullptr;
  Json devices = Json::array();
  for (const DeviceLoad& load : loads) {
    Json spans = Json::array();
    for (const DeviceSpan& span : load.spans) {
      spans.push_back({{"name", span.name},
                       {"communicates", span.communicates},
                       {"begin_ms", json_number(span.begin_ms)},
                       {"end_ms", json_number(span.end_ms)}});
    }
    devices.push_back({{"device", load.device},
                       {"work_ms", json_number(load.work_ms)},
                       {"copy_ms", json_number(load.copy_ms)},
                       {"wait_ms", json_number(load.wait_ms)},
                       {"spans", spans}});
  }
  return devices;
}

Json machine_json(const Measurement& row) {
  if (!row.machine || row.machine->before.is_null()) return nullptr;
  return {{"before", row.machine->before}, {"during", row.machine->during}, {"after", row.machine->after}};
}

Json bench_json(const Measurement& row, MeasuredRows) {
  const ForceError error = row.errors();
  return {{"samples", row.samples_ms.size()},
          {"steps_per_sample", row.steps_per_sample},
          {"step_ms",
           {{"median", json_number(row.step_ms.median)},
            {"min", json_number(row.step_ms.min)},
            {"low", json_number(row.step_ms.low)},
            {"high", json_number(row.step_ms.high)}}},
          {"interactions_per_s", json_number(row.interactions_per_s)},
          {"gflop_per_s", json_number(row.gflop_per_s())},
          {"error",
           {{"median", json_number(error.median)}, {"p99", json_number(error.p99)}, {"max", json_number(error.max)}}},
          {"rank", row.rank.first > 0 ? Json{{"first", row.rank.first}, {"last", row.rank.last}} : Json(nullptr)},
          {"card", row.card ? card_json(*row.card) : Json(nullptr)},
          {"devices", devices_json(row.device_loads)},
          {"machine", machine_json(row)}};
}

std::string interval_text(const Summary& step_ms) {
  return std::isfinite(step_ms.low) ? significant(step_ms.low) + " to " + significant(step_ms.high) : "-";
}

std::string results_table(std::span<const std::vector<Measurement>> counts, const TextStyle& style) {
  Table table{"ltrrrrrrrrrr",
              {"kernel", "settings", "n", "median ms", "min ms", "95% interval", "rank", "interactions/s", "GFLOP/s",
               "error median", "error p99", "error max"},
              {"min ms", "GFLOP/s", "error p99", "95% interval", "error max"}};
  const RowSettings settings{counts, style};
  for (const std::vector<Measurement>& rows : counts) {
    for (const Measurement& row : rows) {
      const ForceError error = row.errors();
      table.add({row.kernel_id, settings.text(row), format_count(row.count), significant(row.step_ms.median),
                 significant(row.step_ms.min), interval_text(row.step_ms), to_string(row.rank),
                 with_prefix(row.interactions_per_s), significant(row.gflop_per_s()), significant(error.median, 2),
                 significant(error.p99, 2), significant(error.max, 2)});
    }
  }
  return table.text(style);
}

constexpr const char* no_interval = "fewer than 6 samples give no interval, and so no rank";

/// Returns the ranking table of the rows with one count, fastest first.
std::string ranking(std::vector<Measurement> rows, const TextStyle& style) {
  const std::string n = format_count(rows.front().count);
  const auto open = std::ranges::count(rows, 0, [](const Measurement& row) { return row.rank.first; });
  if (open == std::ssize(rows)) return '\n' + paragraph(fmt::format("no ranking at n={}: {}", n, no_interval), style);
  std::ranges::stable_sort(rows, {}, [](const Measurement& row) { return row.step_ms.median; });
  Table table{"rltrr", {"rank", "kernel", "settings", "median ms", "95% interval"}};
  const RowSettings settings{{&rows, 1}, style};
  for (const Measurement& row : rows) {
    table.add({to_string(row.rank), row.kernel_id, settings.text(row), significant(row.step_ms.median),
               interval_text(row.step_ms)});
  }
  const std::string title = fmt::format("ranking at n={}; variants whose intervals overlap share their ranks", n);
  return '\n' + paragraph(title, style) + table.text(style) + (open > 0 ? paragraph(no_interval, style) : "");
}

std::string bench_table(std::span<const std::vector<Measurement>> counts, const TextStyle& style) {
  std::string text =
      results_table(counts, style) +
      paragraph(
          fmt::format(
              "One step's time; GFLOP/s at {} flop per interaction, none for trees; force error |da|/|a| against fp64.",
              flop_per_interaction),
          style);
  const auto has_no_rank = [](const auto& rows) { return rows.size() == 1 && rows.front().rank.first == 0; };
  if (std::ranges::any_of(counts, has_no_rank)) text += paragraph(no_interval, style);
  for (const std::vector<Measurement>& rows : counts) {
    if (rows.size() > 1) text += ranking(rows, style);
  }
  if (std::ranges::any_of(counts, [](const auto& rows) { return rows.size() > 1; })) {
    text += paragraph("Intervals cover the variation within this run; another run may rank close variants differently.",
                      style);
  }
  return text;
}

/// Returns the mean of the total times of the runs, in ms.
double mean_total_ms(const Measurement& result) {
  const double sum = std::accumulate(result.samples_ms.begin(), result.samples_ms.end(), 0.0);
  return sum / static_cast<double>(result.samples_ms.size()) * result.steps_per_sample;
}

double mean_step_ms(const Measurement& result) {
  return mean_total_ms(result) / result.steps_per_sample;
}

double steps_per_s(const Measurement& result) {
  return 1e3 / mean_step_ms(result);
}

/// Returns the speed-up over the latest measurement of cpu-serial in `rows`; NaN if there is none.
double speedup(const Measurement& row, MeasuredRows rows) {
  const auto serial = std::ranges::find(rows.rbegin(), rows.rend(), "cpu-serial", &Measurement::kernel_id);
  return serial != rows.rend() ? mean_total_ms(*serial) / mean_total_ms(row) : Measurement::unknown;
}

constexpr std::array<ResultColumn, 6> uth_columns{{
    {"runs", [](const Measurement& row, MeasuredRows) { return std::to_string(row.samples_ms.size()); }},
    {"steps_per_run", [](const Measurement& row, MeasuredRows) { return std::to_string(row.steps_per_sample); }},
    {"mean_total_ms", [](const Measurement& row, MeasuredRows) { return csv_number(mean_total_ms(row)); }},
    {"mean_step_ms", [](const Measurement& row, MeasuredRows) { return csv_number(mean_step_ms(row)); }},
    {"steps_per_s", [](const Measurement& row, MeasuredRows) { return csv_number(steps_per_s(row)); }},
    {"speedup_over_serial", [](const Measurement& row, MeasuredRows rows) { return csv_number(speedup(row, rows)); }},
}};

Json uth_json(const Measurement& row, MeasuredRows rows) {
  return {{"runs", row.samples_ms.size()},
          {"steps_per_run", row.steps_per_sample},
          {"mean_total_ms", json_number(mean_total_ms(row))},
          {"mean_step_ms", json_number(mean_step_ms(row))},
          {"steps_per_s", json_number(steps_per_s(row))},
          {"speedup_over_serial", json_number(speedup(row, rows))}};
}

std::string uth_table(std::span<const std::vector<Measurement>> counts, const TextStyle& style) {
  Table table{"ltrrrrrr",
              {"kernel", "settings", "n", "runs", "mean total ms", "mean step ms", "steps/s", "over cpu-serial"}};
  const RowSettings settings{counts, style};
  for (const std::vector<Measurement>& rows : counts) {
    for (const Measurement& row : rows) {
      table.add({row.kernel_id, settings.text(row), format_count(row.count), format_count(std::ssize(row.samples_ms)),
                 significant(mean_total_ms(row)), significant(mean_step_ms(row)), significant(steps_per_s(row)),
                 significant(speedup(row, rows))});
    }
  }
  return table.text(style) +
         paragraph(fmt::format("Mean of the runs of {} each, the first included; the protocol of Vliora & "
                               "Liaskonis (2025) has {}.",
                               counted(uth_protocol::sampling.fresh_steps, "step"), uth_protocol::sampling.samples),
                   style);
}

}  // namespace

std::vector<std::string_view> csv_names(const ResultFormat& format) {
  std::vector<std::string_view> names;
  for (const std::span<const ResultColumn> columns : {std::span<const ResultColumn>{subject}, format.columns}) {
    for (const ResultColumn& column : columns) names.push_back(column.name);
  }
  return names;
}

std::string csv_row(const ResultFormat& format, const Measurement& row, MeasuredRows rows) {
  std::vector<std::string> fields;
  for (const std::span<const ResultColumn> columns : {std::span<const ResultColumn>{subject}, format.columns}) {
    for (const ResultColumn& column : columns) fields.push_back(column.text(row, rows));
  }
  return csv_line(fields);
}

Json json_row(const ResultFormat& format, const Measurement& row, MeasuredRows rows) {
  Json json{{"kernel", row.kernel_id},
            {"backend", to_string(row.kernel->backend)},
            {"settings", Json(row.values)},
            {"chosen", row.chosen},
            {"n", row.count},
            {"dt", decimal(row.time_step)},
            {"softening", decimal(row.law.softening)}};
  json.update(format.json(row, rows));
  return json;
}

RowSettings::RowSettings(std::span<const std::vector<Measurement>> counts, const TextStyle& style)
    : cells_{style}, with_chosen_{style.wide()} {
  for (const std::vector<Measurement>& rows : counts) {
    for (const Measurement& row : rows) {
      cells_.add(row.kernel_id, row.values, row.kernel.get());
    }
  }
}

std::string RowSettings::text(const Measurement& row) const {
  const std::string settings = cells_.text(row.kernel_id, row.values);
  if (!with_chosen_ || row.chosen.empty()) return settings;
  return settings + (settings.empty() ? "(" : " (") + row.chosen + ")";
}

constinit const ResultFormat bench_format{bench_columns, bench_json, bench_table};
constinit const ResultFormat uth_format{uth_columns, uth_json, uth_table};

}  // namespace orrery
