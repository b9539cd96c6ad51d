#include "compute/snapshots/snapshot_input.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

template <class Number>
bool finite(Number a, Number b, Number c) {
  return std::isfinite(a) && std::isfinite(b) && std::isfinite(c);
}

bool too_large(float a, float b, float c) {
  return !(std::max({std::abs(a), std::abs(b), std::abs(c)}) <= SnapshotLimits::largest);
}

}  // namespace

float single_precision(double value) {
  constexpr double most = std::numeric_limits<float>::max();
  return static_cast<float>(std::isfinite(value) ? std::clamp(value, -most, most) : value);
}

std::string unusable_property(double value) {
  if (!std::isfinite(value)) return "not finite";
  return std::isfinite(static_cast<float>(value)) ? "" : "beyond the range of single precision";
}

std::string no_body(const Vec3d& position, double mass, const Vec3d& velocity) {
  if (!finite(position.x, position.y, position.z)) return "a position that is not finite";
  if (!finite(velocity.x, velocity.y, velocity.z)) return "a velocity that is not finite";
  if (!std::isfinite(mass)) return "a mass that is not finite";
  return mass < 0 ? "a mass below 0" : "";
}

std::string no_body(const Snapshot& snapshot, std::size_t body, bool place, bool velocity, bool mass) {
  // Only the arrays that the caller asks for are read: the others may still be empty.
  const auto vector_at = [body](const std::vector<Vec4>& all, bool asked) {
    return asked ? Vec3d{all[body].x, all[body].y, all[body].z} : Vec3d{};
  };
  const Bodies& bodies = snapshot.bodies;
  const std::vector<double>& masses = snapshot.wide.masses;
  const double weight = !mass ? 1 : masses.empty() ? bodies.positions[body].w : masses[body];
  return no_body(vector_at(bodies.positions, place), weight, vector_at(bodies.velocities, velocity));
}

std::string unusable(const Vec4& position, const Vec4& velocity) {
  const auto& [x, y, z, m] = position;
  const auto& [vx, vy, vz, unused] = velocity;
  if (std::string cause = no_body({x, y, z}, m, {vx, vy, vz}); !cause.empty()) return cause;
  const char* cure =
      ", which single precision cannot work with: rescale the units of the file, or name them with --units";
  if (too_large(x, y, z)) return std::string{"a coordinate beyond 1e15"} + cure;
  if (too_large(vx, vy, vz)) return std::string{"a velocity beyond 1e15"} + cure;
  if (m > SnapshotLimits::largest) return std::string{"a mass above 1e15"} + cure;
  if (m != 0 && m < SnapshotLimits::smallest_mass) return std::string{"a mass below 1e-30"} + cure;
  return {};
}

void give_equal_masses(Snapshot& snapshot) {
  std::vector<Vec4>& positions = snapshot.bodies.positions;
  for (Vec4& position : positions) position.w = 1.0f / static_cast<float>(positions.size());
  snapshot.notes.emplace_back("no masses in the file: each body has the same, 1 in total");
}

SnapshotInput::SnapshotInput(const fs::path& file, const SnapshotHints& hints, std::int64_t bytes_per_body)
    : file_{file}, hints_{hints}, bytes_per_body_{bytes_per_body} {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) fail("no such file");
  if (error) fail("cannot be read: " + error.message());
  if (fs::is_directory(status)) fail("a folder, not a snapshot file");
  if (!fs::is_regular_file(status)) fail("not a regular file");
  size_ = fs::file_size(file, error);
  if (error) fail("cannot be read: " + error.message());
  if (size_ == 0) fail("empty");
  stream_.reset(std::fopen(file.c_str(), "rb"));
  if (!stream_) fail("cannot be read: " + reason(errno));
  head_.resize(std::min<std::uint64_t>(size_, head_bytes));
  read(head_.data(), head_.size());
  std::rewind(stream_.get());
  offset_ = 0;
}

void SnapshotInput::read(std::byte* to, std::size_t size) {
  const std::size_t got = std::fread(to, 1, size, stream_.get());
  offset_ += got;
  if (got == size) return;
  fail(std::ferror(stream_.get()) ? "cannot be read: " + reason(errno) : "became shorter while it was read");
}

void SnapshotInput::seek(std::uint64_t byte) {
  offset_ = byte;
  if (fseeko(stream_.get(), static_cast<off_t>(offset_), SEEK_SET) != 0) fail("cannot be read: " + reason(errno));
}

void SnapshotInput::require_room_for(std::uint64_t bodies) const {
  if (bodies > static_cast<std::uint64_t>(body_counts.most)) {
    fail(counted(bodies, "body record") + ", but at most " + format_count(body_counts.most) + " can be used");
  }
  if (const std::int64_t fit = bodies_that_fit(bytes_per_body_); static_cast<std::int64_t>(bodies) > fit) {
    fail(counted(bodies, "body record") + ", but the free memory holds " + format_count(fit));
  }
}

void SnapshotInput::fail(const std::string& cause) const {
  throw std::runtime_error("'" + file_.string() + "': " + cause);
}

void SnapshotInput::fail_at(std::uint64_t byte, const std::string& field, const std::string& cause) const {
  fail("byte " + std::to_string(byte) + ", " + field + ": " + cause);
}

}  // namespace orrery
