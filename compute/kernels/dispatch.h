#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace orrery::dispatch_detail {

template <int number>
struct Digits {
  static constexpr std::size_t count = [] {
    std::size_t digits = 1;
    for (int rest = number; rest >= 10; rest /= 10) ++digits;
    return digits;
  }();
  static constexpr std::array<char, count + 1> text = [] {
    std::array<char, count + 1> digits{};
    for (std::size_t i = 0, rest = number; i < count; ++i, rest /= 10) {
      digits[count - 1 - i] = static_cast<char>('0' + rest % 10);
    }
    return digits;
  }();
};

}  // namespace orrery::dispatch_detail

namespace orrery {

/// Values of a setting, all of one type and each with a name. A kernel is compiled for each value.
template <auto first, auto... rest>
class Values {
 public:
  using Value = std::remove_const_t<decltype(first)>;
  static constexpr std::size_t count = 1 + sizeof...(rest);
  static constexpr std::array<Value, count> all{first, rest...};
  /// Largest value. Buffers and launches must have room for it.
  static constexpr Value largest = std::max({first, rest...});

  /// Gives the values these names, in the same order.
  template <class... Names>
  constexpr explicit Values(const char* first_name, Names... other_names) : names_{first_name, other_names...} {
    static_assert(1 + sizeof...(Names) == count, "each value needs a name");
  }
  /// Names whole numbers >= 0 by their digits.
  constexpr Values() requires std::is_same_v<Value, int>
      : names_{dispatch_detail::Digits<first>::text.data(), dispatch_detail::Digits<rest>::text.data()...} {}

  /// Returns the names, for Tunable::values.
  constexpr const std::array<const char*, count>& names() const { return names_; }
  /// Returns another name, such as "auto", followed by the names. The caller picks the value for that other name.
  constexpr std::array<const char*, count + 1> names_after(const char* other) const {
    std::array<const char*, count + 1> names{other};
    std::copy(names_.begin(), names_.end(), names.begin() + 1);
    return names;
  }

  /// Returns the value with this name. Throws std::logic_error if there is none.
  Value find(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) throw std::logic_error("no instance is compiled for '" + std::string{name} + "'");
    return all[static_cast<std::size_t>(found - names_.begin())];
  }

  /// Returns use(std::integral_constant<Value, value>), with the value as a constant. Throws std::logic_error if it is
  /// not in the list.
  template <class Use>
  static auto dispatch(Value value, const Use& use) {
    return try_in_turn<first, rest...>(value, use);
  }

 private:
  template <auto next, auto... others, class Use>
  static auto try_in_turn(Value value, const Use& use) {
    if (value == next) return use(std::integral_constant<Value, next>{});
    if constexpr (sizeof...(others) > 0) {
      return try_in_turn<others...>(value, use);
    } else {
      throw std::logic_error("no instance is compiled for this value");
    }
  }

  std::array<const char*, count> names_;
};

/// Values of the setting `block`, the number of threads in a block. The kernel card compares their occupancies.
inline constexpr Values<32, 64, 128, 256, 512, 1024> block_values;
inline constexpr int max_block = block_values.largest;

}  // namespace orrery
