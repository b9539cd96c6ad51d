#pragma once

#include "compute/core/temporary_folder.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/test.h"

namespace orrery::test {

/// A TIPSY file put together byte by byte, apart from the program's own writer.
struct TipsyFile {
  ByteOrder order = ByteOrder::little;
  double time = 0;
  std::uint32_t bodies = 0, dimensions = 3, gas = 0, dark = 0, star = 0, pad = 0;
  std::vector<float> values{};

  /// A valid file whose record k of all has the mass 1 + k, the position (k, -k, 0.5) and the velocity (0.1, k, -1).
  static TipsyFile valid(std::uint32_t gas, std::uint32_t dark, std::uint32_t star) {
    TipsyFile file{.bodies = gas + dark + star, .gas = gas, .dark = dark, .star = star};
    for (std::uint32_t k = 0; k < file.bodies; ++k) {
      const std::size_t size = k < gas ? 12 : k < gas + dark ? 9 : 11;
      const auto f = static_cast<float>(k);
      std::vector<float> record{1 + f, f, -f, 0.5f, 0.1f, f, -1};
      record.resize(size, 7e7f);  // what is not read
      file.values.insert(file.values.end(), record.begin(), record.end());
    }
    return file;
  }

  std::string bytes() const {
    std::string all;
    const auto append = [&](auto value) {
      char raw[sizeof value];
      std::memcpy(raw, &value, sizeof value);
      if ((order == ByteOrder::little) != (std::endian::native == std::endian::little)) std::ranges::reverse(raw);
      all.append(raw, sizeof value);
    };
    append(time);
    for (const std::uint32_t word : {bodies, dimensions, gas, dark, star, pad}) append(word);
    for (const float value : values) append(value);
    return all;
  }
};

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream{file, std::ios::binary} << bytes;
}

inline std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// Whether a snapshot says something that has these words.
inline bool has_note(const Snapshot& snapshot, const std::string& words) {
  return std::ranges::any_of(snapshot.notes,
                             [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

/// One file in a folder, which each test writes and reads.
class SnapshotFileTest : public testing::Test {
 protected:
  explicit SnapshotFileTest(const char* name) : name_{name} {}

  Snapshot read(const std::string& bytes, const SnapshotHints& hints = {}) {
    write_bytes(folder_ / name_, bytes);
    return read_snapshot(folder_ / name_, hints);
  }
  /// Expects that a file of these bytes is refused in one line with its name and all of `parts`.
  template <class... Parts>
  void expect_refused(const std::string& bytes, const Parts&... parts) {
    write_bytes(folder_ / name_, bytes);
    EXPECT_RUNTIME_ERROR(read_snapshot(folder_ / name_), name_, parts...);
  }

  const char* const name_;
  TemporaryFolder folder_;
};

}  // namespace orrery::test
