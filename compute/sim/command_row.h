#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"

namespace orrery {

/// The element type of an std::optional or a std::vector; any other type itself.
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
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// Form of an argument's text, in addition to its type.
enum class Form {
  plain,
  file,          ///< the name of a file that is read
  written_file,  ///< the name of a file that is written
  count,         ///< a number of bodies, also "16k" or "1M"
  kernels,       ///< ids of kernels, or "all"
  settings,      ///< names of settings: of the kernels in the command, or else of the selected kernel
};

/// Has the type of the struct that a pointer to member belongs to. Used only in decltype.
template <class C, class T>
C struct_of(T C::*);

/// Whether EnumWords lists words for the values of a type.
template <class E>
inline constexpr bool has_words = std::is_enum_v<E>;

/// Words for the values of an enumeration, or of another type that has_words. A specialization has `all()`, which
/// returns a range of pairs (value, word).
template <class E>
struct EnumWords;

/// Returns the word for a value.
template <class E>
std::string_view word_of(E value) {
  const auto words = EnumWords<E>::all();
  return std::ranges::find(words, value, [](const auto& pair) { return pair.first; })->second;
}

/// Description of an argument that sets a member of type `M`, for scripts, JSON and help.
template <class M>
struct ArgumentOf {
  using Member = M;
  using Value = typename Element<Member>::type;
  using Number = std::conditional_t<is_number<Value>, Value, int>;

  const char* name;
  bool optional = false;       ///< may be left out; its value is then the one in a value-initialized command
  Range<Number> range{};       ///< range of a number, as users write it
  const char* word = nullptr;  ///< word for `word_number`; for a required std::optional member, word for no value
  Number word_number{};
  std::span<const std::string_view> names{};  ///< names of the numbers 0, 1 and so on
  Number first = 0;                           ///< number that users write for the value 0, such as 1 for rows
  Form form = Form::plain;
  void (*check)(const std::string& name) = nullptr;        ///< throws UsageError that lists the known names
  std::span<const std::string_view> (*words)() = nullptr;  ///< all allowed texts; null: `check` decides

  /// Returns whether `word` means an optional without a value.
  constexpr bool word_is_none() const { return word && is_optional<Member> && !optional; }
  constexpr bool allows(Number number) const {
    return (word && !word_is_none() && number == word_number) || range.contains(number + first);
  }
  /// Returns the allowed numbers as text, such as "a number above 0 and below 1, or exact".
  std::string allowed() const {
    std::string text;
    for (const std::string_view name : names) text.append(name).append(", ");
    return text + range.to_string() + (word ? std::string{", or "} + word : "");
  }
  /// Returns the number that the word `text` names; nothing if it names none.
  constexpr std::optional<Number> number_of_word(std::string_view text) const {
    if (word && !word_is_none() && text == word) return word_number;
    const auto named = std::ranges::find(names, text);
    return named == names.end() ? std::nullopt : std::optional{static_cast<Number>(named - names.begin())};
  }
};

/// Returns the member of `command` (may be const) to which the chain of member pointers `first`, `rest` leads.
constexpr auto& member_of(auto& command, auto first, auto... rest) {
  return ((command.*first).*....*rest);
}
template <auto First, auto... Rest>
using MemberOf =
    std::remove_reference_t<decltype(member_of(std::declval<decltype(struct_of(First))&>(), First, Rest...))>;

/// One argument of a command: the member to which the chain `First`, `Rest` leads, and its description.
template <auto First, auto... Rest>
struct Argument : ArgumentOf<MemberOf<First, Rest...>> {
  using Command = decltype(struct_of(First));
  static constexpr auto& of(auto& command) { return member_of(command, First, Rest...); }
};

/// A word that replaces the beginning of a command's text: "resume" for "pause off".
struct ShortForm {
  const char* word = nullptr;
  const char* text = nullptr;
};

/// Returns an argument's name in messages: "dt" if the command has one argument, "sweep n" if `count` > 1.
inline std::string argument_label(std::string_view command, std::size_t count, std::string_view argument) {
  std::string label{command};
  if (count > 1) label.append(" ").append(argument);
  return label;
}

/// Description of one command.
template <class C, class... Arguments>
struct CommandRow {
  using Command = C;
  const char* name;      ///< name in scripts and in JSON
  const char* sentence;  ///< effect of the command
  std::tuple<Arguments...> arguments;
  std::array<ShortForm, 2> short_forms{};  ///< unused ones have no word

  constexpr CommandRow also(const char* word, const char* text) const {
    CommandRow copy = *this;
    for (ShortForm& form : copy.short_forms) {
      if (form.word) continue;
      form = {word, text};
      break;
    }
    return copy;
  }
};

template <class C, class... Arguments>
constexpr CommandRow<C, Arguments...> command_row(const char* name, const char* sentence, Arguments... arguments) {
  return {.name = name, .sentence = sentence, .arguments = {arguments...}};
}

/// Calls visit(argument) for each argument of a row.
template <class Tuple, class Visit>
constexpr void for_each_of(const Tuple& tuple, Visit&& visit) {
  std::apply([&](const auto&... element) { (visit(element), ...); }, tuple);
}

/// Returns the row of command `C` in a table of rows, a std::tuple.
template <class C, class... Rows>
constexpr const auto& row_in(const std::tuple<Rows...>& table) {
  constexpr std::array is_it{std::is_same_v<C, typename Rows::Command>...};
  constexpr auto place = static_cast<std::size_t>(std::ranges::find(is_it, true) - is_it.begin());
  static_assert(place < is_it.size(), "the table has no row of this command");
  return std::get<place>(table);
}

/// Throws UsageError if a number is out of the argument's range or a name is unknown. The message begins with `label`
/// and lists the allowed values.
template <class M>
void check_argument(const ArgumentOf<M>& argument, const std::string& label, const M& member) {
  using Value = typename ArgumentOf<M>::Value;
  const auto check = [&](const Value& value) {
    if constexpr (is_number<Value>) {
      if (argument.allows(value)) return;
      throw UsageError(label + " cannot be " + shortest_text(value + argument.first) + "; it must be " +
                       argument.allowed());
    } else if constexpr (std::is_same_v<Value, std::string>) {
      if (argument.check) argument.check(value);
      if (argument.words && std::ranges::find(argument.words(), value) == argument.words().end()) {
        throw unknown_name(argument.name, value, argument.words());
      }
    }
  };
  if constexpr (is_optional<M>) {
    if (member) check(*member);
  } else if constexpr (is_list<M>) {
    for (const auto& one : member) check(one);
  } else {
    check(member);
  }
}

/// Checks all arguments of a command against its row, except optional ones that are left out.
template <class C, class... Arguments>
void check_arguments(const CommandRow<C, Arguments...>& row, const C& command) {
  const C initial{};
  for_each_of(row.arguments, [&](const auto& argument) {
    const auto& member = argument.of(command);
    if (argument.optional && member == argument.of(initial)) return;
    check_argument(argument, argument_label(row.name, sizeof...(Arguments), argument.name), member);
  });
}

/// Returns the index of `A` among a variant's alternatives; the number of alternatives if `A` is none of them.
template <class A, class... Alternatives>
constexpr std::size_t place_among(std::type_identity<std::variant<Alternatives...>>) {
  std::size_t place = 0;
  (void)((std::is_same_v<A, Alternatives> || (++place, false)) || ...);
  return place;
}

/// Whether `A` is one of the variant's alternatives.
template <class A, class Variant>
concept AlternativeOf = (place_among<A>(std::type_identity<Variant>{}) < std::variant_size_v<Variant>);

/// The std::variant List::Variant, made cheap to compile if it has many alternatives. Copies, moves and the destructor
/// are compiled once, by `template struct OneOf<List>` in one source file. The header with the list declares `extern
/// template struct OneOf<List>`.
template <class List>
struct OneOf : List::Variant {
  using Variant = typename List::Variant;

  template <AlternativeOf<Variant> A>
  OneOf(A alternative) : OneOf{&alternative, place_among<A>(std::type_identity<Variant>{})} {}

  OneOf();
  OneOf(const OneOf& other);
  OneOf(OneOf&& other) noexcept;
  OneOf& operator=(const OneOf& other);
  OneOf& operator=(OneOf&& other) noexcept;
  ~OneOf();

 private:
  OneOf(void* alternative, std::size_t place);
};

template <class List>
OneOf<List>::OneOf() = default;

template <class List>
OneOf<List>::OneOf(const OneOf& other) = default;

template <class List>
OneOf<List>::OneOf(OneOf&& other) noexcept = default;

template <class List>
OneOf<List>& OneOf<List>::operator=(const OneOf& other) = default;

template <class List>
OneOf<List>& OneOf<List>::operator=(OneOf&& other) noexcept = default;

template <class List>
OneOf<List>::~OneOf() = default;

template <class List>
OneOf<List>::OneOf(void* alternative, std::size_t place) {
  const auto take = [&]<class... Alternatives>(std::type_identity<std::variant<Alternatives...>>) {
    using Take = void (*)(Variant&, void*);
    constexpr std::array<Take, sizeof...(Alternatives)> takes{[](Variant& to, void* from) {
      to.template emplace<Alternatives>(std::move(*static_cast<Alternatives*>(from)));
    }...};
    takes[place](*this, alternative);
  };
  take(std::type_identity<Variant>{});
}

}  // namespace orrery
