#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace orrery {

enum class ByteOrder { big, little };
constexpr const char* name_of(ByteOrder order) {
  return order == ByteOrder::big ? "big-endian" : "little-endian";
}

/// Loads and stores values of one byte order at any address.
class Bytes {
 public:
  explicit Bytes(ByteOrder order)
      : swap_{(order == ByteOrder::little) != (std::endian::native == std::endian::little)} {}

  std::uint16_t load16(const std::byte* at) const { return load<std::uint16_t>(at); }
  std::uint32_t load32(const std::byte* at) const { return load<std::uint32_t>(at); }
  std::uint64_t load64(const std::byte* at) const { return load<std::uint64_t>(at); }
  float load_float(const std::byte* at) const { return std::bit_cast<float>(load32(at)); }
  double load_double(const std::byte* at) const { return std::bit_cast<double>(load64(at)); }

  void store32(std::byte* at, std::uint32_t value) const { store(at, value); }
  void store64(std::byte* at, std::uint64_t value) const { store(at, value); }
  void store_float(std::byte* at, float value) const { store(at, std::bit_cast<std::uint32_t>(value)); }
  void store_double(std::byte* at, double value) const { store(at, std::bit_cast<std::uint64_t>(value)); }

 private:
  static std::uint16_t swapped(std::uint16_t v) { return __builtin_bswap16(v); }
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

}  // namespace orrery
