#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/lab/measurement.h"
#include "app/lab/sampling.h"
#include "app/lab/variants.h"
#include "app/text/csv.h"
#include "app/text/table.h"

namespace orrery::uth_protocol {

inline constexpr std::array counts{30'000, 64'000, 128'000};
inline constexpr const char* integrator = "euler";
inline constexpr Sampling sampling{.warmup_steps = 0, .samples = 10, .fresh_steps = 10};

}  // namespace orrery::uth_protocol

namespace orrery {

/// Measured variants with the same number of bodies.
using MeasuredRows = std::span<const Measurement>;

struct ResultColumn {
  std::string_view name;
  std::string (*text)(const Measurement& row, MeasuredRows rows);  ///< `row` is one of `rows`
};

/// Format of results in a benchmark or a published protocol. In a CSV, the columns that identify the variant (kernel,
/// settings, n, ...) come before these columns.
struct ResultFormat {
  std::span<const ResultColumn> columns;                    ///< columns of the CSV
  Json (*json)(const Measurement& row, MeasuredRows rows);  ///< returns an object
  /// Returns a table for a terminal. `counts` holds the rows of each number of bodies.
  std::string (*table)(std::span<const std::vector<Measurement>> counts, const TextStyle& style);
};

/// Median, interval, rank, force error, kernel card and machine state.
extern const ResultFormat bench_format;

/// Mean over the runs; see uth_protocol.
extern const ResultFormat uth_format;

std::vector<std::string_view> csv_names(const ResultFormat& format);
std::string csv_row(const ResultFormat& format, const Measurement& row, MeasuredRows rows);
Json json_row(const ResultFormat& format, const Measurement& row, MeasuredRows rows);

/// Formats the settings in a table of these rows. A wide table also shows the values that `auto` settings chose:
/// "block=256 split=auto (split 8)".
class RowSettings {
 public:
  RowSettings(std::span<const std::vector<Measurement>> counts, const TextStyle& style);
  std::string text(const Measurement& row) const;

 private:
  SettingsCells cells_;
  bool with_chosen_;
};

}  // namespace orrery
