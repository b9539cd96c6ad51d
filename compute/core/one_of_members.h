#pragma once

#include <array>

#include "compute/core/one_of.h"

namespace orrery {

// The members that one_of.h declares; for the source file that instantiates a OneOf.

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
