#include "compute/core/law.h"

#include <array>

#include "compute/core/names.h"

namespace orrery {
namespace {

constexpr std::array known{
    LawInfo{LawId::gravity, "gravity", "Gravity",
            "a = G m r / (r^2 + eps^2)^(3/2), G = 1: Plummer-softened attraction."},
    LawInfo{LawId::attract_repel, "attract-repel", "Attract-repel",
            "F = G m1 m2 / r^2 - H m1 m2 / r^4, with drag: v += ((F - D v) / m) dt."},
};

}  // namespace

std::span<const LawInfo> laws() {
  return known;
}

const LawInfo& law_info(LawId law) {
  return known.at(static_cast<std::size_t>(law));
}

LawId find_law(std::string_view id) {
  return find_named(known, id, "law").law;
}

}  // namespace orrery
