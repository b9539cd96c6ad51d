#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace orrery {

/// Appends values to a message between ranks as raw bytes: all ranks run the same program on equal processors.
class MessageWriter {
 public:
  void clear() { bytes_.clear(); }
  std::span<const std::byte> bytes() const { return bytes_; }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put_bytes(&value, sizeof value); }
  void put_text(std::string_view text) {
    put(text.size());
    put_bytes(text.data(), text.size());
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put_values(std::span<const T> values) { put_bytes(values.data(), values.size_bytes()); }
  /// Appends the number of values, then the values.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put_all(const std::vector<T>& values) {
    put(values.size());
    put_bytes(values.data(), values.size() * sizeof(T));
  }
  /// Appends array[i] for each i of `indices`.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put_entries(const T* array, std::span<const int> indices) {
    std::byte* to = grown(indices.size() * sizeof(T));
    for (const int i : indices) {
      std::memcpy(to, array + i, sizeof(T));
      to += sizeof(T);
    }
  }

 private:
  std::byte* grown(std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + (bytes_.size() - size);
  }
  void put_bytes(const void* from, std::size_t size) {
    if (size > 0) std::memcpy(grown(size), from, size);
  }

  std::vector<std::byte> bytes_;
};

/// Reads what a MessageWriter wrote, in the same order. Throws std::logic_error if the message is too short.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : rest_{bytes} {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, taken(sizeof value), sizeof value);
    return value;
  }
  std::string get_text() {
    const auto size = get<std::size_t>();
    return {reinterpret_cast<const char*>(taken(size)), size};
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get_values(std::span<T> values) {
    if (!values.empty()) std::memcpy(values.data(), taken(values.size_bytes()), values.size_bytes());
  }
  /// Reads what put_all() wrote, and appends it to `values`.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get_all(std::vector<T>& values) {
    const auto count = get<std::size_t>();
    if (count > rest_.size() / sizeof(T)) throw too_short();
    const std::size_t before = values.size();
    values.resize(before + count);
    if (count > 0) std::memcpy(values.data() + before, taken(count * sizeof(T)), count * sizeof(T));
  }
  /// Reads array[i] for each i of `indices`.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get_entries(T* array, std::span<const int> indices) {
    const std::byte* from = taken(indices.size() * sizeof(T));
    for (const int i : indices) {
      std::memcpy(array + i, from, sizeof(T));
      from += sizeof(T);
    }
  }

 private:
  static std::logic_error too_short() { return std::logic_error("a message between ranks is too short"); }
  const std::byte* taken(std::size_t size) {
    if (size > rest_.size()) throw too_short();
    const std::byte* const begin = rest_.data();
    rest_ = rest_.subspan(size);
    return begin;
  }

  std::span<const std::byte> rest_;
};

}  // namespace orrery
