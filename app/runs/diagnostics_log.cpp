#include "app/runs/diagnostics_log.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/recording/conserved_cells.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "compute/core/text.h"
#include "compute/diagnostics/structure.h"
#include "compute/snapshots/checkpoint.h"

namespace orrery {
namespace {

constexpr auto columns = conserved_columns_and("radius_10", "radius_50", "radius_90", "state");
constexpr std::array<double, 3> shares{0.1, 0.5, 0.9};

constexpr std::size_t most_header_bytes = 65'536;

std::string first_bytes(const std::string& file, const DiagnosticsPlace& place, const std::string& id) {
  require_rows(file, place, id);
  std::ifstream in{file, std::ios::binary};
  std::string text(static_cast<std::size_t>(place.bytes), '\0');
  if (!in.read(text.data(), place.bytes)) throw std::runtime_error(fmt::format("'{}': cannot be read", file));
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

DiagnosticsLog::DiagnosticsLog(const std::string& file, const DiagnosticsPlace& place, const std::string& id)
    : begin_{first_bytes(file, place, id)},
      file_{OutputFile::create(file, Existing::replace_here)},
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

void require_rows(const std::string& file, const DiagnosticsPlace& place, const std::string& id) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(file, error);
  if (place.bytes == 0 && !std::filesystem::exists(status)) return;  // its first row is still due
  if (!std::filesystem::is_regular_file(status) ||
      std::filesystem::file_size(file, error) < static_cast<std::uintmax_t>(place.bytes) || error) {
    throw std::runtime_error(fmt::format(
        "'{}': the rows that were written before the checkpoint are not there any more; name another --diagnostics",
        file));
  }
  if (belongs_to_run(file, id)) return;
  throw std::runtime_error(
      fmt::format("'{}' is not the file of diagnostics that this run wrote; name another --diagnostics", file));
}

bool belongs_to_run(const std::string& file, const std::string& id) {
  std::ifstream in{file, std::ios::binary};
  std::string text(most_header_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  std::string_view rest{text}, metadata = take_line(rest);
  const std::string_view names = take_line(rest);
  if (!metadata.starts_with("# ") || names != fmt::format("{}", fmt::join(columns, ","))) return false;
  metadata.remove_prefix(2);
  std::string cause;
  const std::optional<Json> json = checked_json(metadata, cause);
  if (!json || !json->is_object() || json->value("program", Json{}) != "orrery") return false;
  return json->value("run", Json{}) == (id.empty() ? Json{} : Json(id));
}

}  // namespace orrery
