#include "app/overlays/crowding.h"

#include <optional>

namespace orrery {

void Crowding::add(glm::vec3 place, float amount) {
  for (const Share& share : shares_of(place)) amounts_[share.square] += share.weight * amount;
}

float Crowding::around(glm::vec3 place) const {
  float sum = 0;
  for (const Share& share : shares_of(place)) {
    const auto found = amounts_.find(share.square);
    if (found != amounts_.end()) sum += share.weight * found->second;
  }
  return sum;
}

std::array<Crowding::Share, 4> Crowding::shares_of(glm::vec3 place) const {
  constexpr float outermost = 1e6f;  // squares from the middle of the picture
  const std::optional<glm::vec2> seen = camera_.seen_at(place, 1.0f);
  if (!seen) return {};
  const glm::vec2 at = glm::clamp(*seen / (2.0f * side_), -outermost, outermost), low = glm::floor(at), part = at - low;
  const auto x = static_cast<int>(low.x), y = static_cast<int>(low.y);
  return {{{{x, y}, (1 - part.x) * (1 - part.y)},
           {{x + 1, y}, part.x * (1 - part.y)},
           {{x, y + 1}, (1 - part.x) * part.y},
           {{x + 1, y + 1}, part.x * part.y}}};
}

}  // namespace orrery
