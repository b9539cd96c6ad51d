#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace orrery {

/// Returns the index of `A` among a variant's alternatives; their number if it is none of them.
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
/// compiled once, by `template struct OneOf<List>` in one source file. The header that names the list declares that by
/// `extern template struct OneOf<List>`.
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
