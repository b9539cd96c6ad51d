#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <optional>

namespace orrery {

/// Where the card of the picked body is, beside the side column.
enum class CardCorner { upper_left, lower_left, upper_right };

/// How much of the card is drawn: all rows; those of the body's own state and error; only its head.
enum class CardExtent { whole, brief, head };

/// The part of the window in which a card may be.
struct CardRoom {
  ImVec2 low, high;
};

struct CardPlace {
  int body = -1;                    ///< the picked one
  float width = 0;                  ///< in pixels, as drawn last; 0: it is not drawn
  ImVec2 low{};                     ///< the upper left corner, as drawn last
  std::array<float, 3> heights{0};  ///< of each extent, in pixels, as far as it was drawn
  CardCorner corner = CardCorner::upper_left;
  CardExtent extent = CardExtent::whole;  ///< less than the whole if that would cover the body in every corner

  float& height(CardExtent of) { return heights[static_cast<std::size_t>(of)]; }
  ImVec2 size() const { return {width, heights[static_cast<std::size_t>(extent)]}; }
};

/// The card's upper left corner in `room`.
ImVec2 card_position(const CardPlace& place, const CardRoom& room);

/// Moves the card to another corner if it covers `ring`, where the body is seen; if it does so in every corner, less of
/// it remains. It stays there until it covers the ring again; more of it is drawn once that is well clear of the ring,
/// so a body near its edge does not make it jump. Another body begins anew.
void keep_clear(CardPlace& place, int body, std::optional<ImVec2> ring, const CardRoom& room);

}  // namespace orrery
