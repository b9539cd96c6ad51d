#include <fmt/format.h>

#include <array>
#include <iterator>
#include <limits>
#include <numeric>

#include "app/lab/sweep/result_rows.h"
#include "app/lab/sweep/uth_protocol.h"
#include "app/text/table.h"
#include "compute/core/format_count.h"

namespace orrery {
namespace {

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
         paragraph(fmt::format("Mean of the runs of {} each, the first included; the protocol has {} "
                               "(literature.md, row 21).",
                               counted(uth_protocol::sampling.fresh_steps, "step"), uth_protocol::sampling.samples),
                   style);
}

}  // namespace

constinit const ResultFormat uth_format{uth_columns, uth_json, uth_table};

}  // namespace orrery
