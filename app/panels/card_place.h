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
  int body = -1;                   ///< the picked one
  ImVec2 whole{0, 0}, head{0, 0};  ///< sizes, as far as they were drawn
  CardCorner corner = CardCorner::upper_left;
  bool head_only = false;  ///< the whole card would cover the body in every corner

  ImVec2 size() const { return head_only ? head : whole; }
};

/// The card's upper left corner in `room`.
ImVec2 card_position(const CardPlace& place, const CardRoom& room);

/// Moves the card to another corner if it covers `ring`, where the body is seen; if it does so in every corner, only
/// its head remains. It stays so until it covers the ring again, or until the whole card is well clear of it: a body
/// near its edge does not make it jump. Another body begins anew.
void keep_clear(CardPlace& place, int body, std::optional<ImVec2> ring, const CardRoom& room);

}  // namespace orrery
