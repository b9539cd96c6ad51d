// Conserved sums as rows of CSV, and their file next to a recording.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/recording/output_file.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"

namespace orrery {

/// First columns of every CSV file of conserved sums.
inline constexpr std::array<std::string_view, 13> conserved_columns{"step",
                                                                    "sim_time",
                                                                    "kinetic",
                                                                    "potential",
                                                                    "total",
                                                                    "total_drift",
                                                                    "momentum_x",
                                                                    "momentum_y",
                                                                    "momentum_z",
                                                                    "angular_momentum_x",
                                                                    "angular_momentum_y",
                                                                    "angular_momentum_z",
                                                                    "virial_ratio"};

/// These columns and then the columns of one file alone.
template <class... Names>
constexpr auto conserved_columns_and(Names... names) {
  std::array<std::string_view, conserved_columns.size() + sizeof...(names)> all{};
  std::size_t next = 0;
  for (const std::string_view name : conserved_columns) all[next++] = name;
  for (const std::string_view name : {std::string_view{names}...}) all[next++] = name;
  return all;
}

/// The fields of these columns. `drift` is that of the total energy, relative.
std::vector<std::string> conserved_cells(const ConservedProbe& probe, double drift);

/// The file beside a recording: "run-conserved.csv" for "run.csv".
std::string conserved_name(const std::string& recording);

/// A second CSV file next to a recording with the conserved sums that were measured during it. The file is made with
/// its first row.
class ConservedLog {
 public:
  static constexpr auto columns = conserved_columns_and("cost_ms");

  /// Writes to conserved_name(recording); nothing beside a stream. Ends what was written before.
  void start(const std::string& recording, const Json& metadata, Existing existing = Existing::keep);
  void stop();

  /// To be called once per frame, recording or not, with what was measured under the present law, the latest last:
  /// writes that if it is new and `wanted`. Returns an empty text, or one line that names the file and why nothing more
  /// is written to it.
  [[nodiscard]] std::string follow(std::span<const ConservedProbe> history, bool wanted);

  /// Name of the file of the current or last recording; empty if nothing was written.
  const std::string& file() const { return file_name_; }

 private:
  std::string write(const ConservedProbe& probe);

  std::string wanted_name_;  // of the file that the next row makes; empty: none
  std::string file_name_;
  Existing existing_ = Existing::keep;
  Json metadata_;
  std::optional<OutputFile> file_;
  double first_energy_ = 0;  // in the file
  std::optional<ConservedProbe> seen_;
};

}  // namespace orrery
