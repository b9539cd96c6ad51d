#pragma once

#include <imgui.h>

#include <optional>

namespace orrery {

/// Where the card of the picked body is, beside the side column.
enum class CardCorner { upper_left, lower_left, upper_right };

/// The part of the window in which a card may be.
struct CardRoom {
  ImVec2 low, high;
};

struct CardPlace {
  int body = -1;      ///< the picked one
  ImVec2 size{0, 0};  ///< of the card in the last frame
  CardCorner corner = CardCorner::upper_left;
};

/// The card's upper left corner in `room`.
ImVec2 card_position(const CardPlace& place, const CardRoom& room);

/// Moves the card to another corner if it covers `ring`, where the body is seen, and another corner is free. It stays
/// there until it covers the ring again: a body near its edge does not make it jump. Another body begins anew.
void keep_clear(CardPlace& place, int body, std::optional<ImVec2> ring, const CardRoom& room);

}  // namespace orrery
