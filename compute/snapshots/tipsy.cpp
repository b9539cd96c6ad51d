#include "compute/snapshots/tipsy.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/host_memory.h"
#include "compute/snapshots/tipsy_format.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using namespace tipsy;

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void fail(const fs::path& file, const std::string& cause) {
  throw std::runtime_error("'" + file.string() + "': " + cause);
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::string plural(std::uint64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

struct Header {
  ByteOrder order;
  double time;
  std::array<std::uint64_t, record_kinds.size()> counts;  ///< gas, dark, star

  std::uint64_t bodies() const { return counts[0] + counts[1] + counts[2]; }
  std::uint64_t file_bytes() const {
    std::uint64_t bytes = header_bytes;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) bytes += counts[kind] * record_kinds[kind].bytes;
    return bytes;
  }
};

/// Throws where the counts contradict each other or the order of bytes cannot be told.
Header parsed_header(const fs::path& file, const std::byte* at) {
  const auto dimensions_fit = [at](ByteOrder order) {
    const std::uint32_t dimensions = Bytes{order}.load32(at + header::dimensions);
    return dimensions >= 1 && dimensions <= 3;
  };
  const bool little = dimensions_fit(ByteOrder::little);
  if (!little && !dimensions_fit(ByteOrder::big)) {
    fail(file, "not a TIPSY file: in neither byte order does its header have 1, 2 or 3 dimensions");
  }
  const ByteOrder order = little ? ByteOrder::little : ByteOrder::big;
  const Bytes bytes{order};
  Header head{order, bytes.load_double(at + header::time), {}};
  head.counts = {bytes.load32(at + header::gas), bytes.load32(at + header::dark), bytes.load32(at + header::star)};
  const std::uint64_t bodies = bytes.load32(at + header::bodies);
  if (bodies == head.bodies()) return head;

  // Bits 32 to 39 of the four counts may lie in the pad. But many writers leave it undefined, or put a version there
  // (2: Bonsai's, with ids for eps and phi, neither of which is read here), so it counts only if it makes them agree.
  const std::uint64_t pad = bytes.load32(at + header::pad);
  Header large = head;
  for (std::size_t kind = 0; kind < large.counts.size(); ++kind) {
    large.counts[kind] |= ((pad >> (8 * (kind + 1))) & 0xff) << 32;
  }
  if ((bodies | (pad & 0xff) << 32) == large.bodies()) return large;
  fail(file, "not a TIPSY file, or a damaged one: its header has " + plural(bodies, "body record") + ", but " +
                 std::to_string(head.counts[0]) + " gas + " + std::to_string(head.counts[1]) + " dark + " +
                 std::to_string(head.counts[2]) + " star");
}

/// Throws where the file is not exactly as long as its header says, or has more bodies than this program can hold.
void check_size(const fs::path& file, const Header& head, std::uint64_t size) {
  if (head.bodies() == 0) fail(file, "a TIPSY file without bodies");
  const std::uint64_t expected = head.file_bytes();
  const std::string has = "its header asks for " + plural(expected, "byte") + " (" +
                          plural(head.counts[0], "gas record") + ", " + std::to_string(head.counts[1]) + " dark, " +
                          std::to_string(head.counts[2]) + " star), it has " + std::to_string(size);
  if (size < expected) fail(file, "truncated, " + plural(expected - size, "byte") + " missing: " + has);
  if (size > expected) fail(file, "oversized, " + plural(size - expected, "byte") + " too many: " + has);
  if (head.bodies() > std::numeric_limits<int>::max()) {
    fail(file, plural(head.bodies(), "body record") + ", but at most 2147483647 can be used");
  }
  if (const std::int64_t fit = bodies_that_fit(); static_cast<std::int64_t>(head.bodies()) > fit) {
    fail(file, plural(head.bodies(), "body record") + ", but the free memory holds " + std::to_string(fit));
  }
}

std::uint64_t checked_size(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) fail(file, "no such file");
  if (error) fail(file, "cannot be read: " + error.message());
  if (fs::is_directory(status)) fail(file, "a folder, not a TIPSY file");
  if (!fs::is_regular_file(status)) fail(file, "not a regular file");
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) fail(file, "cannot be read: " + error.message());
  if (size == 0) fail(file, "empty");
  if (size < header_bytes) fail(file, "truncated: " + plural(size, "byte") + ", where the header alone has 32");
  return size;
}

void read_exactly(const fs::path& file, std::FILE* stream, std::byte* to, std::size_t size) {
  if (std::fread(to, 1, size, stream) == size) return;
  fail(file, std::ferror(stream) ? "cannot be read: " + reason(errno) : "became shorter while it was read");
}

bool finite(float a, float b, float c) {
  return std::isfinite(a) && std::isfinite(b) && std::isfinite(c);
}

bool too_large(float a, float b, float c) {
  return !(std::max({std::abs(a), std::abs(b), std::abs(c)}) <= TipsyLimits::largest);
}

/// What keeps a body from being simulated; empty for none.
std::string fault(const Vec4& position, const Vec4& velocity) {
  const auto& [x, y, z, m] = position;
  const auto& [vx, vy, vz, unused] = velocity;
  if (!finite(x, y, z)) return "a position that is not finite";
  if (!finite(vx, vy, vz)) return "a velocity that is not finite";
  if (!std::isfinite(m)) return "a mass that is not finite";
  if (!(m > 0)) return "a mass that is not positive";
  const char* cure = ", which single precision cannot work with: rescale the units of the file";
  if (too_large(x, y, z)) return std::string{"a coordinate beyond 1e15"} + cure;
  if (too_large(vx, vy, vz)) return std::string{"a velocity beyond 1e15"} + cure;
  if (m > TipsyLimits::largest) return std::string{"a mass above 1e15"} + cure;
  if (m < TipsyLimits::smallest_mass) return std::string{"a mass below 1e-30"} + cure;
  return {};
}

/// Reads `count` records of one kind and appends their bodies.
void append_records(const fs::path& file, std::FILE* stream, Bytes bytes, const RecordKind& kind, std::uint64_t count,
                    Bodies& bodies) {
  std::vector<std::byte> block(records_a_block * kind.bytes);
  for (std::uint64_t first = 0; first < count; first += records_a_block) {
    const std::uint64_t here = std::min<std::uint64_t>(records_a_block, count - first);
    read_exactly(file, stream, block.data(), here * kind.bytes);
    for (std::uint64_t i = 0; i < here; ++i) {
      std::array<float, 7> f;
      for (std::size_t k = 0; k < f.size(); ++k) f[k] = bytes.load_float(&block[i * kind.bytes + k * sizeof(float)]);
      const auto [m, x, y, z, vx, vy, vz] = f;
      const Vec4 position{x, y, z, m}, velocity{vx, vy, vz, 0.0f};
      if (const std::string cause = fault(position, velocity); !cause.empty()) {
        fail(file, std::string{kind.name} + " record " + std::to_string(first + i) + " (counted from 0): " + cause);
      }
      bodies.positions.push_back(position);
      bodies.velocities.push_back(velocity);
    }
  }
}

/// A run may have gone astray: what it left is no snapshot that anybody could start from.
void check_finite(const fs::path& file, const Bodies& bodies) {
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const Vec4 &p = bodies.positions[i], &v = bodies.velocities[i];
    const bool place = finite(p.x, p.y, p.z) && std::isfinite(p.w);
    if (place && finite(v.x, v.y, v.z)) continue;
    fail(file, "not written: the " + std::string{place ? "velocity" : "position or mass"} + " of body " +
                   std::to_string(i) +
                   " (counted from 0) is not finite; a smaller dt or a larger softening may keep it so");
  }
}

}  // namespace

TipsySnapshot read_tipsy(const fs::path& file) {
  const std::uint64_t size = checked_size(file);
  const File stream{std::fopen(file.c_str(), "rb")};
  if (!stream) fail(file, "cannot be read: " + reason(errno));
  std::array<std::byte, header_bytes> raw_header;
  read_exactly(file, stream.get(), raw_header.data(), raw_header.size());
  const Header head = parsed_header(file, raw_header.data());
  check_size(file, head, size);

  TipsySnapshot snapshot;
  snapshot.time = head.time;
  snapshot.bodies.positions.reserve(head.bodies());
  snapshot.bodies.velocities.reserve(head.bodies());
  for (std::size_t kind = 0; kind < record_kinds.size(); ++kind) {
    append_records(file, stream.get(), Bytes{head.order}, record_kinds[kind], head.counts[kind], snapshot.bodies);
  }
  return snapshot;
}

fs::path write_tipsy(const fs::path& file, const TipsySnapshot& snapshot, float softening, ByteOrder order,
                     Existing existing) {
  check_finite(file, snapshot.bodies);
  AtomicFile out{file, existing};
  const auto write = [&out](const std::vector<std::byte>& block, std::size_t size) {
    out.write({reinterpret_cast<const char*>(block.data()), size});
  };
  const Bytes bytes{order};
  const RecordKind& dark = record_kinds[1];
  const auto count = snapshot.bodies.positions.size();
  std::vector<std::byte> block(records_a_block * dark.bytes);

  bytes.store_double(&block[header::time], snapshot.time);
  bytes.store32(&block[header::bodies], static_cast<std::uint32_t>(count));
  bytes.store32(&block[header::dimensions], 3);
  bytes.store32(&block[header::dark], static_cast<std::uint32_t>(count));
  write(block, header_bytes);

  for (std::size_t first = 0; first < count; first += records_a_block) {
    const std::size_t here = std::min(records_a_block, count - first);
    for (std::size_t i = 0; i < here; ++i) {
      const Vec4& p = snapshot.bodies.positions[first + i];
      const Vec4& v = snapshot.bodies.velocities[first + i];
      std::byte* at = &block[i * dark.bytes];
      for (const float value : {p.w, p.x, p.y, p.z, v.x, v.y, v.z, softening, 0.0f}) {
        bytes.store_float(at, value);
        at += sizeof(float);
      }
    }
    write(block, here * dark.bytes);
  }
  return out.commit();
}

}  // namespace orrery
