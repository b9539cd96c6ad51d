#include "app/runs/diagnostics_log.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "compute/diagnostics/lagrangian_radii.h"
#include "compute/snapshots/checkpoint.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 17> columns{"step",
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
                                                   "virial_ratio",
                                                   "radius_10",
                                                   "radius_50",
                                                   "radius_90",
                                                   "state"};
constexpr std::array<double, 3> shares{0.1, 0.5, 0.9};
constexpr int digits = 12;  // drifts are small differences of what is written here

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

}  // namespace

DiagnosticsLog::DiagnosticsLog(const std::string& file, const Json& metadata, Existing existing)
    : begin_{csv_header(metadata, columns)}, file_{OutputFile::create(file, existing)} {}

DiagnosticsLog::DiagnosticsLog(const std::string& file, const DiagnosticsPlace& place)
    : begin_{first_bytes(file, place.bytes)},
      file_{OutputFile::create(file, Existing::replace)},
      first_energy_{place.first_energy} {}

void DiagnosticsLog::add(const ConservedProbe& probe, const Bodies& bodies) {
  const Conserved& sums = probe.sums;
  const double energy = sums.energy();
  if (first_energy_) {
    energy_drift_ = (energy - *first_energy_) / std::abs(*first_energy_);
  } else {
    first_energy_ = energy;
  }
  const std::vector<double> radii = lagrangian_radii(bodies, shares);
  const std::array<std::string, columns.size()> fields{std::to_string(probe.step),
                                                       csv_number(probe.sim_time, digits),
                                                       csv_number(sums.kinetic, digits),
                                                       csv_number(sums.potential, digits),
                                                       csv_number(energy, digits),
                                                       csv_number(energy_drift_.value_or(0)),
                                                       csv_number(sums.momentum.x, digits),
                                                       csv_number(sums.momentum.y, digits),
                                                       csv_number(sums.momentum.z, digits),
                                                       csv_number(sums.angular_momentum.x, digits),
                                                       csv_number(sums.angular_momentum.y, digits),
                                                       csv_number(sums.angular_momentum.z, digits),
                                                       csv_number(2 * sums.kinetic / std::abs(sums.potential)),
                                                       csv_number(radii[0]),
                                                       csv_number(radii[1]),
                                                       csv_number(radii[2]),
                                                       fmt::format("{:08x}", checksum(bodies))};
  if (const std::string error = file_.append(begin_ + csv_line(fields)); !error.empty()) {
    throw std::runtime_error(error);
  }
  begin_.clear();
}

std::optional<DiagnosticsPlace> DiagnosticsLog::place() const {
  if (!first_energy_) return std::nullopt;
  return DiagnosticsPlace{file_.size() + static_cast<std::int64_t>(begin_.size()), *first_energy_};
}

}  // namespace orrery
