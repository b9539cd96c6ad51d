#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/range.h"

namespace orrery {

/// What an std::optional or a std::vector holds; any other type itself.
template <class T>
struct Element {
  using type = T;
};
template <class T>
struct Element<std::optional<T>> {
  using type = T;
};
template <class T>
struct Element<std::vector<T>> {
  using type = T;
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// How the text of an argument is read, in addition to its type.
enum class Form {
  plain,
  file,   ///< the name of a file
  count,  ///< a number of bodies, also "16k" or "1M"
};

/// The command struct that a member, or a member of a member, belongs to.
template <class C, class T>
C struct_of(T C::*);

/// The words for the values of an enumeration: a specialization has `all()`, a range of pairs of value and word.
template <class E>
struct EnumWords;

/// One argument of a command: the member that `First` and `Rest` lead to, and what scripts, JSON and help need to know.
template <auto First, auto... Rest>
struct Argument {
  using Command = decltype(struct_of(First));
  /// The member of `command`, which may be const.
  static constexpr auto& of(auto& command) { return ((command.*First).*....*Rest); }

  using Member = std::remove_reference_t<decltype(of(std::declval<Command&>()))>;
  using Value = typename Element<Member>::type;
  using Number = std::conditional_t<is_number<Value>, Value, int>;

  const char* name;
  bool optional = false;  ///< if left out: as in a value-initialized command
  Range<Number> range{};  ///< of a number, as users write it
  const char* word =
      nullptr;  ///< stands for `word_number`; for no value if the member is an optional that must be given
  Number word_number{};
  Number first = 0;  ///< what users write for 0: 1 for rows, which they count from 1
  Form form = Form::plain;
  void (*check)(const std::string& name) = nullptr;  ///< throws UsageError that lists the known names

  /// Whether `word` stands for an optional without a value.
  constexpr bool word_is_none() const { return word && is_optional<Member> && !optional; }
  constexpr bool allows(Number number) const {
    return (word && !word_is_none() && number == word_number) || range.contains(number + first);
  }
  /// What a number may be: "a number above 0 and below 1, or exact".
  std::string allowed() const { return range.to_string() + (word ? std::string{", or "} + word : ""); }
};

/// A word that stands for the beginning of a command's text: "resume" for "pause off".
struct ShortForm {
  const char* word = nullptr;
  const char* text = nullptr;
};

/// What there is to know of one command.
template <class C, class... Arguments>
struct CommandRow {
  using Command = C;
  const char* name;      ///< in scripts and in JSON
  const char* sentence;  ///< what it does
  std::tuple<Arguments...> arguments;
  std::array<ShortForm, 2> short_forms{};  ///< those without a word are none

  constexpr CommandRow also(const char* word, const char* text) const {
    CommandRow copy = *this;
    for (ShortForm& form : copy.short_forms) {
      if (form.word) continue;
      form = {word, text};
      break;
    }
    return copy;
  }
  /// How messages call an argument: "dt", "sweep n".
  std::string label(const char* argument) const {
    return sizeof...(Arguments) == 1 ? name : std::string{name} + ' ' + argument;
  }
};

template <class C, class... Arguments>
constexpr CommandRow<C, Arguments...> command_row(const char* name, const char* sentence, Arguments... arguments) {
  return {.name = name, .sentence = sentence, .arguments = {arguments...}};
}

template <class Table>
struct CommandsOf;
template <class... Rows>
struct CommandsOf<const std::tuple<Rows...>> {
  using type = std::variant<typename Rows::Command...>;
};
/// The variant of a table's commands, in the order of its rows.
template <class Table>
using VariantOf = typename CommandsOf<Table>::type;

/// Calls visit(row) for each row of a table, or visit(argument) for each argument of a row.
template <class Tuple, class Visit>
constexpr void for_each_of(const Tuple& tuple, Visit&& visit) {
  std::apply([&](const auto&... element) { (visit(element), ...); }, tuple);
}

template <class C, class Table>
constexpr std::size_t row_index() {
  return []<class... Rows>(std::type_identity<const std::tuple<Rows...>>) {
    constexpr std::array same{std::is_same_v<C, typename Rows::Command>...};
    std::size_t index = 0;
    while (index < same.size() && !same[index]) ++index;
    return index;
  }(std::type_identity<Table>{});
}

/// Throws UsageError that names the argument and what is allowed, unless each number is in its range and each name
/// known.
template <class Row>
void check_arguments(const Row& row, const typename Row::Command& command) {
  const typename Row::Command initial{};
  for_each_of(row.arguments, [&](const auto& argument) {
    using A = std::remove_cvref_t<decltype(argument)>;
    const auto check = [&](const typename A::Value& value) {
      if constexpr (is_number<typename A::Value>) {
        if (argument.allows(value)) return;
        throw UsageError(row.label(argument.name) + " cannot be " + shortest_text(value + argument.first) +
                         "; it must be " + argument.allowed());
      } else if constexpr (std::is_same_v<typename A::Value, std::string>) {
        if (argument.check) argument.check(value);
      }
    };
    const auto& value = A::of(command);
    if (argument.optional && value == A::of(initial)) return;
    if constexpr (is_optional<typename A::Member>) {
      if (value) check(*value);
    } else if constexpr (std::is_same_v<typename A::Member, std::vector<typename A::Value>>) {
      for (const auto& one : value) check(one);
    } else {
      check(value);
    }
  });
}

}  // namespace orrery
