#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "compute/core/text.h"

namespace orrery {

/// The order of a run without a window. Steps are counted from the scene's first state. The time starts at that of the
/// file.
struct RunOrder {
  std::optional<std::int64_t> steps{};  ///< ends after this step
  std::optional<double> until{};        ///< ends with the first step that reaches this time
  std::optional<double> every{};        ///< time between snapshots and between rows of diagnostics
  std::string snapshots{};              ///< their folder; empty: none are written
  std::string snapshot_format = "tipsy";
  std::string diagnostics{};  ///< a CSV file; empty: none
  std::string checkpoint{};   ///< empty: one is written only if the run is stopped
  double checkpoint_every_s = 60;

  static constexpr Range<double> ends{-1e30, 1e30}, times{0, 1e30, "", true}, checkpoint_times{1, 1e6, "s"};

  friend bool operator==(const RunOrder&, const RunOrder&) = default;
};

/// All but the name of the checkpoint, which is the name of the file that holds this JSON.
Json to_json(const RunOrder& order);
/// Throws UsageError, one line, for what to_json() would not make.
RunOrder run_order_of(const JsonObject& json);

}  // namespace orrery
