#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "app/panels/kit/format.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/panels.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/ui_state/camera_commands.h"

namespace orrery {
namespace {

/// The part of the window in which the card may be.
struct CardRoom {
  ImVec2 low, high;
};

/// Returns the card's upper left corner in `room`.
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

/// Returns whether the card is nearer to `point` than `distance`, in pixels.
bool near(const CardPlace& place, const CardRoom& room, ImVec2 point, float distance) {
  const ImVec2 low = card_position(place, room), size = place.size();
  return point.x > low.x - distance && point.x < low.x + size.x + distance && point.y > low.y - distance &&
         point.y < low.y + size.y + distance;
}

/// Enlarges the card to `extent` if it then keeps `distance` to `point`. Returns whether it did.
bool grow(CardPlace& place, CardExtent extent, const CardRoom& room, ImVec2 point, float distance) {
  CardPlace larger = place;
  larger.extent = extent;
  if (near(larger, room, point, distance)) return false;
  place = larger;
  return true;
}

/// Moves the card to the first corner with `distance` to `point`. Returns whether there is one.
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

/// Keeps the card clear of `ring`, which marks the body: moves it to another corner or, if none is free, reduces it.
/// The card grows again only when the ring is well clear, so that it does not flicker. A new body resets the card.
void keep_clear(CardPlace& place, int body, std::optional<ImVec2> ring, const CardRoom& room) {
  const float covered = theme::em(0.8f), clear = theme::em(2);
  constexpr std::array extents{CardExtent::whole, CardExtent::brief, CardExtent::head};
  if (place.body != body) place = {.body = body, .width = place.width, .heights = place.heights};
  if (!ring) return;
  for (const CardExtent extent : extents) {
    if (!(extent < place.extent)) break;
    if (grow(place, extent, room, *ring, clear)) return;
    // The title row alone shows no data of the body, so another corner is better.
    if (place.extent == CardExtent::head && take_corner(place, extent, room, *ring, clear)) return;
  }
  if (!near(place, room, *ring, covered)) return;
  for (const CardExtent extent : extents) {
    for (const float distance : {clear, covered}) {
      if (take_corner(place, extent, room, *ring, distance)) return;
    }
  }
}

using theme::em;

constexpr float card_ems = 18, label_ems = 4.6f;

/// Returns the pixel at which the body is drawn.
std::optional<ImVec2> middle_of(const PickedBody& body) {
  if (!body.place) return {};
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  return ImVec2{(*body.place)[0] * display.x, (*body.place)[1] * display.y};
}

/// Draws a ring on the picture, below all windows.
void ring(ImVec2 middle) {
  ImDrawList& draw = *ImGui::GetBackgroundDrawList();
  const float radius = em(0.7f);
  draw.AddCircle(middle, radius, theme::faded(theme::on_accent, 0.8f), 0, em(0.25f));
  draw.AddCircle(middle, radius, theme::accent, 0, em(0.12f));
}

void row(const char* label, const std::string& value, std::string_view notes, std::string_view more = {}) {
  text(label, theme::dim);
  ImGui::SameLine(em(label_ems));
  text(value);
  tooltip(notes, more);
}

/// Draws the body's force error with the current kernel, from the latest force comparison.
void error_row(int body, const Status& status, const ViewStatus& view) {
  const ForceProbe* const probe = status.force_probe ? &*status.force_probe : nullptr;
  const std::optional<double> error = probe && probe->bodies ? probe->bodies->of(body) : std::nullopt;
  if (error) {
    row("error", format_error(*error) + " of |a|",
        fmt::format("The force error |da|/|a| of {}: its acceleration compared with a sum in double precision.",
                    status.kernel_id),
        fmt::format("At step {}.", format_count(probe->step)));
  } else if (view.diagnostics.probe) {
    row("error", "with the next comparison", "The force error of the kernel is known after the next comparison.");
  } else {
    row("error", "forces are not compared", "To know it, set Compare in the tab Speed.");
  }
  ui_mark("picked.error");
}

/// Draws the acceleration: while paused, the kernel's at the current step; otherwise a mean, which costs no force sums.
void acceleration_row(const PickedBody& body, const Status& status) {
  const auto shown = [&](std::span<const float> numbers) {
    return shown_text(status.units, dimension::acceleration, numbers);
  };
  const ForceProbe* const probe = status.force_probe ? &*status.force_probe : nullptr;
  const bool is_of_now = status.paused && probe && probe->bodies && probe->step == status.step;
  if (const auto known = is_of_now ? probe->bodies->acceleration_of(body.number) : std::nullopt) {
    row("a, kernel", shown(std::array{known->x, known->y, known->z}),
        fmt::format("The acceleration along x, y and z as {} computes it at this step, without drag.",
                    status.kernel_id));
  } else if (body.acceleration) {
    row("a, mean", shown(*body.acceleration),
        "The acceleration along x, y and z: the mean since the reading before, from the velocities.");
  }
}

void head(const PickedBody& body, bool followed, float width, Requests& out) {
  const char* const follow = followed ? "Stop following" : "Follow";
  const float padding = 2 * ImGui::GetStyle().FramePadding.x, close = em(1.6f), gap = em(0.3f);
  const float button = ImGui::CalcTextSize(follow).x + padding;
  ImGui::AlignTextToFramePadding();
  text(shortened(fmt::format("Body {}", format_count(body.number)), width - button - close - 2 * gap), theme::text);
  ui_mark("picked");
  ImGui::SameLine(ImGui::GetWindowContentRegionMin().x + width - button - close - gap);
  if (ImGui::Button(follow)) out.push_back(Follow{followed ? Followed::nothing : Followed::body});
  ui_mark("picked.follow");
  tooltip("Moves the camera with this body.", "Shift+F. Ends with F and Home.");
  ImGui::SameLine(0, gap);
  if (ImGui::Button("\u00d7", {close, 0})) out.push_back(Unpick{});
  ui_mark("picked.close");
  tooltip(row_in<Unpick>(camera_commands).sentence, "Esc");
}

/// Draws the body's own state and error.
void brief_rows(const PickedBody& body, const Status& status, const ViewStatus& view) {
  const auto shown = [&](const Dimension& dimension, std::span<const float> numbers) {
    return shown_text(status.units, dimension, numbers);
  };
  row("mass", shown(dimension::mass, {&body.mass, 1}), "The body's mass.");
  if (!body.part.empty()) row("part", body.part, "A part of the scene, or the species in the scene's file.");
  row("position", shown(dimension::length, body.position), "x, y and z.");
  row("velocity", shown(dimension::velocity, body.velocity), "The velocity along x, y and z.");
  acceleration_row(body, status);
  error_row(body.number, status, view);
}

void other_rows(const PickedBody& body, const Status& status) {
  const float speed = std::hypot(body.velocity[0], body.velocity[1], body.velocity[2]);
  row("speed", shown_text(status.units, dimension::velocity, {&speed, 1}), "The magnitude of the velocity.");
  row("to target", shown_text(status.units, dimension::length, {&body.distance, 1}),
      "The distance from the camera's target.");
  if (body.walk) {
    row("walk", counted(body.walk->cells, "cell") + ", " + counted_bodies(body.walk->bodies),
        "What it meets in the tree with its group of neighbours: cells as a whole, and bodies one by one.");
    ui_mark("picked.walk");
  }
  text(status.units ? "Physical units, from those of the file" : "Units of G = 1", theme::dim, theme::Font::small);
}

/// Stores the card's width, and the height drawn so far as the height of `extent`.
void measure_card(CardPlace& card, CardExtent extent) {
  const ImGuiStyle& style = ImGui::GetStyle();
  card.width = ImGui::GetWindowSize().x;
  card.height(extent) = ImGui::GetCursorPosY() - style.ItemSpacing.y + style.WindowPadding.y;
}

}  // namespace

void picked_panel(const Status& status, const ViewStatus& view, PanelState& state, float captions_end, Requests& out) {
  const CardPlace place = std::exchange(state.card, {});  // the legend leaves no room for a card that is not drawn
  if (!view.picked || (!view.panel && !view.in_window)) return;
  const PickedBody& body = *view.picked;
  const std::optional<ImVec2> seen_at = middle_of(body);
  if (seen_at) ring(*seen_at);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float margin = em(0.75f), left = std::max(side_column_width(view), margin), width = em(card_ems);
  const float right = display.x - lesson_width(view);
  if (!view.panel || right - left < width + 4 * margin || display.y < em(14)) return;
  const CardRoom room{{left, std::max(stage_top(view), captions_end + margin / 2)},
                      {right - margin, display.y - state.lab.covered - margin}};
  state.card = place;
  keep_clear(state.card, body.number, seen_at, room);
  state.card.low = card_position(state.card, room);
  ImGui::SetNextWindowPos(state.card.low);
  if (ImGui::Begin("Picked body", nullptr, base_window | ImGuiWindowFlags_AlwaysAutoResize)) {
    head(body, view.followed.what == Followed::body, width, out);
    measure_card(state.card, CardExtent::head);
    if (state.card.extent != CardExtent::head) {
      brief_rows(body, status, view);
      measure_card(state.card, CardExtent::brief);
    }
    if (state.card.extent == CardExtent::whole) {
      other_rows(body, status);
      measure_card(state.card, CardExtent::whole);
    }
  }
  ImGui::End();
}

}  // namespace orrery
