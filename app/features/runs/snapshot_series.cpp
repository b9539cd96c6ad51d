#include "app/features/runs/snapshot_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/snapshots/checkpoint.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "snapshot_";
constexpr std::uint64_t marked_bytes = 65536;  // at each end of a file

std::string name_of(std::int64_t number, std::string_view ending) {
  return fmt::format("{}{:05}{}", prefix, number, ending);
}

/// The number of the snapshot to which a file of this name belongs; none: it belongs to none of this format.
std::optional<std::int64_t> number_of(const std::string& name, const SnapshotFormat& format) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view stem = std::string_view{name}.substr(0, name.find('.'));
  const auto number = parsed_number<std::int64_t>(stem.substr(prefix.size()));
  if (!number) return std::nullopt;
  for (const std::string_view ending : {format.endings.front(), format.companion}) {
    if (!ending.empty() && name == name_of(*number, ending)) return number;
  }
  return std::nullopt;
}

SnapshotMark mark_of_file(const fs::path& file) {
  std::ifstream in{file, std::ios::binary | std::ios::ate};
  SnapshotMark mark{.name = file.filename().string()};
  if (in) mark.bytes = static_cast<std::uint64_t>(in.tellg());
  std::vector<char> block(std::min(mark.bytes, marked_bytes));
  for (const std::uint64_t at : {std::uint64_t{0}, mark.bytes - block.size()}) {
    in.seekg(static_cast<std::streamoff>(at));
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (!in) throw std::runtime_error(fmt::format("'{}': cannot be read", file.string()));
    mark.checksum = next_checksum(mark.checksum, reinterpret_cast<const std::byte*>(block.data()), block.size());
  }
  return mark;
}

/// Ascending.
std::vector<double> mass_shares(const Bodies& bodies) {
  std::vector<double> shares;
  double total = 0;
  for (const Vec4& position : bodies.positions) {
    shares.push_back(position.w);
    total += position.w;
  }
  for (double& share : shares) share /= total;
  std::ranges::sort(shares);
  return shares;
}

}  // namespace

SnapshotSeries::SnapshotSeries(fs::path folder, const std::string& format)
    : folder_{std::move(folder)}, format_{find_named(snapshot_formats(), format, "format")} {}

fs::path SnapshotSeries::file(std::int64_t number) const {
  return folder_ / name_of(number, format_->endings.front());
}

bool SnapshotSeries::is_snapshot(const fs::path& file) const {
  return takes(file.filename().string()) && file.filename().string().ends_with(format_->endings.front());
}

bool SnapshotSeries::takes(const std::string& name) const {
  return number_of(name, *format_).has_value();
}

std::vector<fs::path> SnapshotSeries::files_from(std::int64_t number) const {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at{folder_, error}; !error && at != fs::directory_iterator{}; at.increment(error)) {
    const std::optional<std::int64_t> found = number_of(at->path().filename().string(), *format_);
    std::error_code gone;
    if (found && *found >= number && fs::is_regular_file(at->symlink_status(gone))) files.push_back(at->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw std::runtime_error(fmt::format("the folder '{}' cannot be read: {}", folder_.string(), error.message()));
  }
  return files;
}

void SnapshotSeries::remove_from(std::int64_t number) const {
  for (const fs::path& file : files_from(number)) {
    std::error_code error;
    fs::remove(file, error);
    if (error) throw std::runtime_error(fmt::format("'{}': not removed: {}", file.string(), error.message()));
  }
}

SnapshotMark SnapshotSeries::mark_of(std::int64_t number) const {
  return mark_of_file(file(number));
}

bool SnapshotSeries::is_of_bodies(const fs::path& file, const Bodies& bodies) {
  constexpr double tolerance = 1e-5;  // relative: masses were rounded in other units
  try {
    const std::vector<double> found = mass_shares(read_snapshot(file).bodies), wanted = mass_shares(bodies);
    return std::ranges::equal(found, wanted, [](double a, double b) { return std::abs(a - b) <= tolerance * b; });
  } catch (const std::runtime_error&) {
    return false;
  }
}

bool SnapshotSeries::has(const SnapshotMark& mark) const {
  const fs::path file = folder_ / mark.name;
  std::error_code missing;
  if (mark.name.find('/') != mark.name.npos || !fs::is_regular_file(fs::symlink_status(file, missing))) return false;
  try {
    return mark_of_file(file) == mark;
  } catch (const std::runtime_error&) {
    return false;  // it cannot be read: nothing shows whose it is
  }
}

}  // namespace orrery
