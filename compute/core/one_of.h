#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace orrery {

/// The place of `A` among a variant's alternatives; their number if it is none of them.
template <class A, class... Alternatives>
constexpr std::size_t place_among(std::type_identity<std::variant<Alternatives...>>) {
  std::size_t place = 0;
  (void)((std::is_same_v<A, Alternatives> || (++place, false)) || ...);
  return place;
}

/// Whether `A` is one of the variant's alternatives.
template <class A, class Variant>
concept AlternativeOf = (place_among<A>(std::type_identity<Variant>{}) < std::variant_size_v<Variant>);

/// A std::variant of many alternatives, List::Variant, that is cheap to compile: its copies, moves and destructor are
/// compiled once, by `template struct OneOf<List>` in a source file that includes one_of_members.h.
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

}  // namespace orrery
