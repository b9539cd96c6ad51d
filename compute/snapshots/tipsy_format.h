#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compute/snapshots/tipsy.h"

/// The byte facts of TIPSY files that the reader and the writer share.
namespace orrery::tipsy {

/// Loads and stores values of one byte order, wherever they lie.
class Bytes {
 public:
  explicit Bytes(ByteOrder order)
      : swap_{(order == ByteOrder::little) != (std::endian::native == std::endian::little)} {}

  std::uint32_t load32(const std::byte* at) const { return load<std::uint32_t>(at); }
  float load_float(const std::byte* at) const { return std::bit_cast<float>(load<std::uint32_t>(at)); }
  double load_double(const std::byte* at) const { return std::bit_cast<double>(load<std::uint64_t>(at)); }

  void store32(std::byte* at, std::uint32_t value) const { store(at, value); }
  void store_float(std::byte* at, float value) const { store(at, std::bit_cast<std::uint32_t>(value)); }
  void store_double(std::byte* at, double value) const { store(at, std::bit_cast<std::uint64_t>(value)); }

 private:
  static std::uint32_t swapped(std::uint32_t v) { return __builtin_bswap32(v); }
  static std::uint64_t swapped(std::uint64_t v) { return __builtin_bswap64(v); }
  template <class Word>
  Word load(const std::byte* at) const {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return swap_ ? swapped(word) : word;
  }
  template <class Word>
  void store(std::byte* at, Word word) const {
    if (swap_) word = swapped(word);
    std::memcpy(at, &word, sizeof word);
  }

  bool swap_;
};

inline constexpr std::size_t header_bytes = 32;
/// Where the header's fields start.
namespace header {
inline constexpr std::size_t time = 0, bodies = 8, dimensions = 12, gas = 16, dark = 20, star = 24, pad = 28;
}

/// Every record starts with seven floats: mass, x, y, z, vx, vy, vz.
struct RecordKind {
  const char* name;
  std::size_t bytes;
};
inline constexpr std::array<RecordKind, 3> record_kinds{{{"gas", 48}, {"dark", 36}, {"star", 44}}};
inline constexpr std::size_t dark_softening = 28;  ///< where a dark record's eps starts; its potential follows

inline constexpr std::size_t records_a_block = 16384;  ///< read or written at once

}  // namespace orrery::tipsy
