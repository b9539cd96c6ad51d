#include "app/panels/card_place.h"

#include <algorithm>
#include <array>

#include "app/panels/kit/theme.h"

namespace orrery {
namespace {

/// Whether the card is nearer to the point than `distance`.
bool near(const CardPlace& place, const CardRoom& room, ImVec2 point, float distance) {
  const ImVec2 low = card_position(place, room);
  return point.x > low.x - distance && point.x < low.x + place.size.x + distance && point.y > low.y - distance &&
         point.y < low.y + place.size.y + distance;
}

}  // namespace

ImVec2 card_position(const CardPlace& place, const CardRoom& room) {
  const ImVec2 last{std::max(room.high.x - place.size.x, room.low.x), std::max(room.high.y - place.size.y, room.low.y)};
  return {place.corner == CardCorner::upper_right ? last.x : room.low.x,
          place.corner == CardCorner::lower_left ? last.y : room.low.y};
}

void keep_clear(CardPlace& place, int body, std::optional<ImVec2> ring, const CardRoom& room) {
  const float covered = theme::em(0.8f), clear = theme::em(2);
  if (place.body != body) place = {body, place.size};
  if (!ring || !near(place, room, *ring, covered)) return;
  for (const float distance : {clear, covered}) {
    for (const CardCorner corner : {CardCorner::upper_left, CardCorner::lower_left, CardCorner::upper_right}) {
      const CardPlace other{body, place.size, corner};
      if (near(other, room, *ring, distance)) continue;
      place = other;
      return;
    }
  }
}

}  // namespace orrery
