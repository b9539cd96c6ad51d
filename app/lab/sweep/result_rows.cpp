#include "app/lab/sweep/result_rows.h"

#include <array>

#include "app/lab/metadata.h"

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

}  // namespace orrery
