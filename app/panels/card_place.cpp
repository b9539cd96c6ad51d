#include "app/panels/card_place.h"

#include <algorithm>
#include <array>

#include "app/panels/kit/theme.h"

namespace orrery {
namespace {

/// Whether the card is nearer to the point than `distance`.
bool near(const CardPlace& place, const CardRoom& room, ImVec2 point, float distance) {
  const ImVec2 low = card_position(place, room), size = place.size();
  return point.x > low.x - distance && point.x < low.x + size.x + distance && point.y > low.y - distance &&
         point.y < low.y + size.y + distance;
}

/// Draws more of the card where it is, if that is as far from the point. Whether it is so.
bool grow(CardPlace& place, CardExtent extent, const CardRoom& room, ImVec2 point, float distance) {
  CardPlace larger = place;
  larger.extent = extent;
  if (near(larger, room, point, distance)) return false;
  place = larger;
  return true;
}

/// Takes the first corner that is as far from the point. Whether there is one.
bool take_corner(CardPlace& place, CardExtent extent, const CardRoom& room, ImVec2 point, float distance) {
  CardPlace other = place;
  other.extent = extent;
  for (const CardCorner corner : {CardCorner::upper_left, CardCorner::lower_left, CardCorner::upper_right}) {
    other.corner = corner;
    if (near(other, room, point, distance)) continue;
    place = other;
    return true;
  }
  return false;
}

}  // namespace

ImVec2 card_position(const CardPlace& place, const CardRoom& room) {
  const ImVec2 size = place.size();
  const ImVec2 last{std::max(room.high.x - size.x, room.low.x), std::max(room.high.y - size.y, room.low.y)};
  switch (place.corner) {
    case CardCorner::lower_left:
      return {room.low.x, last.y};
    case CardCorner::upper_right:
      return {last.x, room.low.y};
    default:
      return room.low;
  }
}

void keep_clear(CardPlace& place, int body, std::optional<ImVec2> ring, const CardRoom& room) {
  const float covered = theme::em(0.8f), clear = theme::em(2);
  constexpr std::array extents{CardExtent::whole, CardExtent::brief, CardExtent::head};
  if (place.body != body) place = {.body = body, .width = place.width, .heights = place.heights};
  if (!ring) return;
  for (const CardExtent extent : extents) {
    if (!(extent < place.extent)) break;
    if (grow(place, extent, room, *ring, clear)) return;
    // The head alone says nothing of the body: that is worth a move.
    if (place.extent == CardExtent::head && take_corner(place, extent, room, *ring, clear)) return;
  }
  if (!near(place, room, *ring, covered)) return;
  for (const CardExtent extent : extents) {
    for (const float distance : {clear, covered}) {
      if (take_corner(place, extent, room, *ring, distance)) return;
    }
  }
}

}  // namespace orrery
