// The rows of a sweep's results: as CSV, as JSON and as tables, in the format of a benchmark or of a protocol.
#include "app/lab/sweep/result_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "app/lab/metadata.h"
#include "app/text/table.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

const Status& status(const ResultRow& row) {
  return row.result().status;
}

constexpr std::array<ResultColumn, 8> subject{{
    {"kernel", [](const ResultRow& row) { return status(row).kernel_id; }},
    {"backend", [](const ResultRow& row) { return std::string{to_string(status(row).backend)}; }},
    {"block", [](const ResultRow& row) { return status(row).settings.text_or_none("block"); }},
    {"settings", [](const ResultRow& row) { return status(row).settings.to_string(); }},
    {"chosen", [](const ResultRow& row) { return status(row).chosen; }},
    {"n", [](const ResultRow& row) { return std::to_string(status(row).count); }},
    {"dt", [](const ResultRow& row) { return csv_number(decimal(status(row).time_step), 9); }},
    {"softening", [](const ResultRow& row) { return csv_number(decimal(status(row).law.softening), 9); }},
}};

/// A field of the kernel card; empty if there is none.
template <auto field>
std::string card_text(const ResultRow& row) {
  const auto& card = row.result().status.card;
  return card ? csv_number(static_cast<double>((*card).*field)) : std::string{};
}

/// A member of a machine's state; empty if it is not known.
template <auto state>
std::string state_text(const ResultRow& row, const char* name) {
  const Json& all = row.result().*state;
  const auto found = all.find(name);
  if (found == all.end()) return {};
  if (found->is_number()) return csv_number(found->template get<double>());
  return found->is_array() ? fmt::format("{}", fmt::join(found->template get<std::vector<std::string>>(), "; "))
                           : std::string{};
}

constexpr auto before = state_text<&VariantResult::machine_before>;
constexpr auto during = state_text<&VariantResult::machine_during>;
constexpr auto after = state_text<&VariantResult::machine_after>;

std::string rank_text(int rank) {
  return rank > 0 ? std::to_string(rank) : std::string{};
}

constexpr std::array<ResultColumn, 31> bench_columns{{
    {"samples", [](const ResultRow& row) { return std::to_string(row.result().samples_ms.size()); }},
    {"steps_per_sample", [](const ResultRow& row) { return std::to_string(row.result().steps_per_sample); }},
    {"median_ms", [](const ResultRow& row) { return csv_number(row.result().step_ms.median); }},
    {"min_ms", [](const ResultRow& row) { return csv_number(row.result().step_ms.min); }},
    {"low_ms", [](const ResultRow& row) { return csv_number(row.result().step_ms.low); }},
    {"high_ms", [](const ResultRow& row) { return csv_number(row.result().step_ms.high); }},
    {"interactions_per_s", [](const ResultRow& row) { return csv_number(row.result().interactions_per_s()); }},
    {"gflop_per_s", [](const ResultRow& row) { return csv_number(row.result().gflop_per_s()); }},
    {"error_median", [](const ResultRow& row) { return csv_number(row.result().error().median); }},
    {"error_p99", [](const ResultRow& row) { return csv_number(row.result().error().p99); }},
    {"error_max", [](const ResultRow& row) { return csv_number(row.result().error().max); }},
    {"rank_first", [](const ResultRow& row) { return rank_text(row.rank.first); }},
    {"rank_last", [](const ResultRow& row) { return rank_text(row.rank.last); }},
    {"registers", card_text<&KernelCard::registers>},
    {"local_bytes", card_text<&KernelCard::local_bytes>},
    {"occupancy", card_text<&KernelCard::occupancy>},
    {"sm_clock_mhz_before", [](const ResultRow& row) { return before(row, "clock_mhz"); }},
    {"sm_clock_mhz_during", [](const ResultRow& row) { return during(row, "clock_mhz"); }},
    {"sm_clock_mhz_after", [](const ResultRow& row) { return after(row, "clock_mhz"); }},
    {"memory_clock_mhz_before", [](const ResultRow& row) { return before(row, "memory_clock_mhz"); }},
    {"memory_clock_mhz_during", [](const ResultRow& row) { return during(row, "memory_clock_mhz"); }},
    {"memory_clock_mhz_after", [](const ResultRow& row) { return after(row, "memory_clock_mhz"); }},
    {"power_w_before", [](const ResultRow& row) { return before(row, "power_w"); }},
    {"power_w_during", [](const ResultRow& row) { return during(row, "power_w"); }},
    {"power_w_after", [](const ResultRow& row) { return after(row, "power_w"); }},
    {"temperature_c_before", [](const ResultRow& row) { return before(row, "temperature_c"); }},
    {"temperature_c_during", [](const ResultRow& row) { return during(row, "temperature_c"); }},
    {"temperature_c_after", [](const ResultRow& row) { return after(row, "temperature_c"); }},
    {"slowed_by_before", [](const ResultRow& row) { return before(row, "slowed_by"); }},
    {"slowed_by_during", [](const ResultRow& row) { return during(row, "slowed_by"); }},
    {"slowed_by_after", [](const ResultRow& row) { return after(row, "slowed_by"); }},
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

/// The loads of the devices in the latest evaluation that was timed; null with one device.
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

Json bench_json(const ResultRow& row) {
  const VariantResult& r = row.result();
  const ForceError error = r.error();
  const auto& card = r.status.card;
  return {
      {"samples", r.samples_ms.size()},
      {"steps_per_sample", r.steps_per_sample},
      {"step_ms",
       {{"median", json_number(r.step_ms.median)},
        {"min", json_number(r.step_ms.min)},
        {"low", json_number(r.step_ms.low)},
        {"high", json_number(r.step_ms.high)}}},
      {"interactions_per_s", json_number(r.interactions_per_s())},
      {"gflop_per_s", json_number(r.gflop_per_s())},
      {"error",
       {{"median", json_number(error.median)}, {"p99", json_number(error.p99)}, {"max", json_number(error.max)}}},
      {"rank", row.rank.first > 0 ? Json{{"first", row.rank.first}, {"last", row.rank.last}} : Json(nullptr)},
      {"card", card ? card_json(*card) : Json(nullptr)},
      {"devices", devices_json(r.status.device_loads)},
      {"machine", r.machine_before.is_null()
                      ? Json(nullptr)
                      : Json{{"before", r.machine_before}, {"during", r.machine_during}, {"after", r.machine_after}}}};
}

std::string interval_text(const Summary& step_ms) {
  return std::isfinite(step_ms.low) ? significant(step_ms.low) + " to " + significant(step_ms.high) : "-";
}

std::string results_table(std::span<const std::vector<ResultRow>> counts, const TextStyle& style) {
  Table table{"ltrrrrrrrrrr",
              {"kernel", "settings", "n", "median ms", "min ms", "95% interval", "rank", "interactions/s", "GFLOP/s",
               "error median", "error p99", "error max"},
              {"min ms", "GFLOP/s", "error p99", "95% interval", "error max"}};
  const RowSettings settings{counts, style};
  for (const std::vector<ResultRow>& rows : counts) {
    for (const ResultRow& row : rows) {
      const VariantResult& r = row.result();
      const ForceError error = r.error();
      table.add({r.status.kernel_id, settings.text(r.status), format_count(r.status.count),
                 significant(r.step_ms.median), significant(r.step_ms.min), interval_text(r.step_ms),
                 to_string(row.rank), with_prefix(r.interactions_per_s()), significant(r.gflop_per_s()),
                 significant(error.median, 2), significant(error.p99, 2), significant(error.max, 2)});
    }
  }
  return table.text(style);
}

constexpr const char* no_interval = "fewer than 6 samples give no interval, and so no rank";

/// The rows of one count, the fastest first.
std::string ranking(std::vector<ResultRow> rows, const TextStyle& style) {
  const std::string n = format_count(rows.front().result().status.count);
  const auto open = std::ranges::count(rows, 0, [](const ResultRow& row) { return row.rank.first; });
  if (open == std::ssize(rows)) return '\n' + paragraph(fmt::format("no ranking at n={}: {}", n, no_interval), style);
  std::ranges::stable_sort(rows, {}, [](const ResultRow& row) { return row.result().step_ms.median; });
  Table table{"rltrr", {"rank", "kernel", "settings", "median ms", "95% interval"}};
  const RowSettings settings{{&rows, 1}, style};
  for (const ResultRow& row : rows) {
    const VariantResult& r = row.result();
    table.add({to_string(row.rank), r.status.kernel_id, settings.text(r.status), significant(r.step_ms.median),
               interval_text(r.step_ms)});
  }
  const std::string title = fmt::format("ranking at n={}; variants whose intervals overlap share their ranks", n);
  return '\n' + paragraph(title, style) + table.text(style) + (open > 0 ? paragraph(no_interval, style) : "");
}

std::string bench_table(std::span<const std::vector<ResultRow>> counts, const TextStyle& style) {
  std::string text =
      results_table(counts, style) +
      paragraph(
          fmt::format(
              "One step's time; GFLOP/s at {} flop per interaction, none for trees; force error |da|/|a| against fp64.",
              flop_per_interaction),
          style);
  const auto has_no_rank = [](const auto& rows) { return rows.size() == 1 && rows.front().rank.first == 0; };
  if (std::ranges::any_of(counts, has_no_rank)) text += paragraph(no_interval, style);
  for (const std::vector<ResultRow>& rows : counts) {
    if (rows.size() > 1) text += ranking(rows, style);
  }
  if (std::ranges::any_of(counts, [](const auto& rows) { return rows.size() > 1; })) {
    text += paragraph("Intervals cover the variation within this run; another run may rank close variants differently.",
                      style);
  }
  return text;
}

/// The mean of the runs' total times.
double mean_total_ms(const VariantResult& result) {
  const double sum = std::accumulate(result.samples_ms.begin(), result.samples_ms.end(), 0.0);
  return sum / static_cast<double>(result.samples_ms.size()) * result.steps_per_sample;
}

double mean_step_ms(const VariantResult& result) {
  return mean_total_ms(result) / result.steps_per_sample;
}

double steps_per_s(const VariantResult& result) {
  return 1e3 / mean_step_ms(result);
}

double speedup(const ResultRow& row) {
  return row.serial ? mean_total_ms(*row.serial) / mean_total_ms(row.result())
                    : std::numeric_limits<double>::quiet_NaN();
}

constexpr std::array<ResultColumn, 6> uth_columns{{
    {"runs", [](const ResultRow& row) { return std::to_string(row.result().samples_ms.size()); }},
    {"steps_per_run", [](const ResultRow& row) { return std::to_string(row.result().steps_per_sample); }},
    {"mean_total_ms", [](const ResultRow& row) { return csv_number(mean_total_ms(row.result())); }},
    {"mean_step_ms", [](const ResultRow& row) { return csv_number(mean_step_ms(row.result())); }},
    {"steps_per_s", [](const ResultRow& row) { return csv_number(steps_per_s(row.result())); }},
    {"speedup_over_serial", [](const ResultRow& row) { return csv_number(speedup(row)); }},
}};

Json uth_json(const ResultRow& row) {
  const VariantResult& r = row.result();
  return {{"runs", r.samples_ms.size()},
          {"steps_per_run", r.steps_per_sample},
          {"mean_total_ms", json_number(mean_total_ms(r))},
          {"mean_step_ms", json_number(mean_step_ms(r))},
          {"steps_per_s", json_number(steps_per_s(r))},
          {"speedup_over_serial", json_number(speedup(row))}};
}

std::string uth_table(std::span<const std::vector<ResultRow>> counts, const TextStyle& style) {
  Table table{"ltrrrrrr",
              {"kernel", "settings", "n", "runs", "mean total ms", "mean step ms", "steps/s", "over cpu-serial"}};
  const RowSettings settings{counts, style};
  for (const std::vector<ResultRow>& rows : counts) {
    for (const ResultRow& row : rows) {
      const VariantResult& r = row.result();
      table.add({r.status.kernel_id, settings.text(r.status), format_count(r.status.count),
                 format_count(std::ssize(r.samples_ms)), significant(mean_total_ms(r)), significant(mean_step_ms(r)),
                 significant(steps_per_s(r)), significant(speedup(row))});
    }
  }
  return table.text(style) +
         paragraph(fmt::format("Mean of the runs of {} each, the first included; the protocol of Vliora & "
                               "Liaskonis (2025) has {}.",
                               counted(uth_protocol::sampling.fresh_steps, "step"), uth_protocol::sampling.samples),
                   style);
}

}  // namespace

std::vector<ResultRow> result_rows(std::span<const SweepEntry> entries) {
  std::vector<ResultRow> rows;
  std::vector<Summary> times;
  const VariantResult* serial = nullptr;
  for (const SweepEntry& entry : entries) {
    if (!entry.result) continue;
    rows.push_back({.entry = &entry, .rank = {}, .serial = nullptr});
    times.push_back(entry.result->step_ms);
    if (entry.result->status.kernel_id == "cpu-serial") serial = &*entry.result;
  }
  const std::vector<Rank> places = ranks(times);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].rank = places[i];
    rows[i].serial = serial;
  }
  return rows;
}

std::vector<std::string_view> csv_names(const ResultFormat& format) {
  std::vector<std::string_view> names;
  for (const std::span<const ResultColumn> columns : {std::span<const ResultColumn>{subject}, format.columns}) {
    for (const ResultColumn& column : columns) names.push_back(column.name);
  }
  return names;
}

std::string csv_row(const ResultFormat& format, const ResultRow& row) {
  std::vector<std::string> fields;
  for (const std::span<const ResultColumn> columns : {std::span<const ResultColumn>{subject}, format.columns}) {
    for (const ResultColumn& column : columns) fields.push_back(column.text(row));
  }
  return csv_line(fields);
}

Json json_row(const ResultFormat& format, const ResultRow& row) {
  const Status& s = status(row);
  Json json{{"kernel", s.kernel_id},
            {"backend", to_string(s.backend)},
            {"settings", Json(s.settings.values())},
            {"chosen", s.chosen},
            {"n", s.count},
            {"dt", decimal(s.time_step)},
            {"softening", decimal(s.law.softening)}};
  json.update(format.json(row));
  return json;
}

RowSettings::RowSettings(std::span<const std::vector<ResultRow>> counts, const TextStyle& style)
    : cells_{style}, with_chosen_{style.wide()} {
  for (const std::vector<ResultRow>& rows : counts) {
    for (const ResultRow& row : rows) {
      cells_.add(status(row).kernel_id, status(row).settings.values(), status(row).kernel.get());
    }
  }
}

std::string RowSettings::text(const Status& s) const {
  const std::string settings = cells_.text(s.kernel_id, s.settings.values());
  if (!with_chosen_ || s.chosen.empty()) return settings;
  return settings + (settings.empty() ? "(" : " (") + s.chosen + ")";
}

constinit const ResultFormat bench_format{bench_columns, bench_json, bench_table};
constinit const ResultFormat uth_format{uth_columns, uth_json, uth_table};

}  // namespace orrery
