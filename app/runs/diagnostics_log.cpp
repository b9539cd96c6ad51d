#include "app/runs/diagnostics_log.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "app/recording/conserved_cells.h"
#include "app/text/lines.h"
#include "compute/core/parse_number.h"
#include "compute/diagnostics/lagrangian_radii.h"
#include "compute/snapshots/checkpoint.h"

namespace orrery {
namespace {

constexpr auto columns = conserved_columns_and("radius_10", "radius_50", "radius_90", "state");
constexpr std::array<double, 3> shares{0.1, 0.5, 0.9};

std::string first_bytes(const std::string& file, std::int64_t bytes) {
  std::ifstream in{file, std::ios::binary};
  std::string text(static_cast<std::size_t>(bytes), '\0');
  if (!in.read(text.data(), bytes)) {
    throw std::runtime_error(fmt::format(
        "'{}': the rows that were written before the checkpoint are not there any more; name another --diagnostics",
        file));
  }
  return text;
}

/// The first field of the first row, which is behind the metadata and the names of the columns.
std::int64_t first_step_of(std::string_view text) {
  std::string_view line = take_line(text);
  while (line.starts_with('#')) line = take_line(text);
  const std::string_view row = take_line(text);
  return parsed_number<std::int64_t>(row.substr(0, row.find(','))).value_or(0);
}

}  // namespace

DiagnosticsLog::DiagnosticsLog(const std::string& file, const Json& metadata, Existing existing)
    : begin_{csv_header(metadata, columns)}, file_{OutputFile::create(file, existing)} {}

DiagnosticsLog::DiagnosticsLog(const std::string& file, const DiagnosticsPlace& place)
    : begin_{first_bytes(file, place.bytes)},
      file_{OutputFile::create(file, Existing::replace)},
      first_energy_{place.first_energy},
      first_step_{first_step_of(begin_)} {}

void DiagnosticsLog::add(const ConservedProbe& probe, const Bodies& bodies) {
  const double energy = probe.sums.energy(), first = first_energy_.value_or(energy);
  const double drift = (energy - first) / std::abs(first);
  std::vector<std::string> fields = conserved_cells(probe, first_energy_ ? drift : 0);
  for (const double radius : lagrangian_radii(bodies, shares)) fields.push_back(csv_number(radius));
  fields.push_back(fmt::format("{:08x}", checksum(bodies)));
  if (const std::string error = file_.append(begin_ + csv_line(fields)); !error.empty()) {
    throw std::runtime_error(error);
  }
  if (first_energy_) {
    energy_change_ = {.relative = drift, .since_step = first_step_};
  } else {
    first_energy_ = first, first_step_ = probe.step;
  }
  begin_.clear();
}

std::optional<DiagnosticsPlace> DiagnosticsLog::place() const {
  if (!first_energy_) return std::nullopt;
  return DiagnosticsPlace{file_.size() + static_cast<std::int64_t>(begin_.size()), *first_energy_};
}

}  // namespace orrery
