#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "app/lab/profile/kernel_profile.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/profile_parts.h"

namespace orrery {
namespace {

using theme::em;

/// Eight colours that colour-blind people can tell apart, then shades of them.
constexpr std::array<ImU32, 8> hues{
    IM_COL32(86, 180, 233, 255), IM_COL32(230, 159, 0, 255), IM_COL32(0, 158, 115, 255), IM_COL32(204, 121, 167, 255),
    IM_COL32(240, 228, 66, 255), IM_COL32(213, 94, 0, 255),  IM_COL32(0, 114, 178, 255), IM_COL32(153, 153, 153, 255)};

/// The same in every bar, whatever its place.
ImU32 colour_of(const StallReason& reason) {
  const auto at = static_cast<std::size_t>(&reason - stall_reasons().data());
  const ImU32 hue = hues[at % hues.size()];
  return at < hues.size() ? hue : theme::faded(hue, at < 2 * hues.size() ? 0.65f : 0.4f);
}

float label_width() {
  return std::min(em(7.5f), 0.35f * ImGui::GetContentRegionMax().x);
}

void stacked_bar(const char* id, const std::string& label, const KernelProfile& profile, double most_warps) {
  const std::vector<StallShare> shares = stall_shares(profile);
  text(shortened(label, label_width()), theme::dim, theme::Font::small);
  ImGui::SameLine(label_width() + em(0.4f));
  const ImVec2 low = ImGui::GetCursorScreenPos(), size{ImGui::GetContentRegionAvail().x, em(0.85f)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.2f));
  float left = low.x;
  for (const StallShare& share : shares) {
    const float width = most_warps > 0 ? size.x * static_cast<float>(share.warps / most_warps) : 0;
    const ImVec2 from{left, low.y}, to{left + width, low.y + size.y};
    draw.AddRectFilled(from, to, colour_of(*share.reason));
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(from, to)) {
      show_tooltip(fmt::format("{}: {:.2f} warps, {}", share.reason->title, share.warps, share_text(share.share)),
                   share.reason->meaning);
    }
    left += width;
  }
  ImGui::Dummy(size);
  ui_mark(id);
}

double all_warps(const KernelProfile& profile) {
  double sum = 0;
  for (const StallShare& share : stall_shares(profile)) sum += share.warps;
  return sum;
}

void reason_row(const StallShare& share, const KernelProfile* before) {
  ImGui::BeginGroup();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + em(0.15f)}, {at.x + em(0.6f), at.y + em(0.75f)},
                                            colour_of(*share.reason));
  ImGui::Dummy({em(0.6f), em(0.6f)});
  ImGui::SameLine(0, em(0.35f));
  const std::string change =
      before ? "   " + change_text(relative_change(before->stall(share.reason->id), share.warps)) : std::string{};
  labelled_value(share.reason->title, share_text(share.share) + change, theme::text);
  wrapped_text(fmt::format("{} {}", share.reason->meaning, share.reason->remedy), theme::dim, theme::Font::small);
  ImGui::EndGroup();
  ui_mark("profile.reason", share.reason->id);
}

/// Reasons that take so little that their rows are shown on request only.
void small_reasons(std::span<const StallShare> shares, const KernelProfile* before) {
  if (shares.empty()) return;
  double sum = 0;
  for (const StallShare& share : shares) sum += share.share;
  const std::string title = fmt::format("others, {} reason{}", shares.size(), shares.size() == 1 ? "" : "s");
  if (!section("small stalls", title.c_str(), false, share_text(sum))) return;
  for (const StallShare& share : shares) reason_row(share, before);
}

}  // namespace

void labelled_value(const char* name, const std::string& value, ImU32 name_colour) {
  const float room = ImGui::GetContentRegionAvail().x;
  ImGui::PushFont(theme::font(theme::Font::small));
  const std::string shown = shortened(name, std::max(room - ImGui::CalcTextSize(value.c_str()).x - em(0.5f), em(2)));
  ImGui::PopFont();
  const float right = ImGui::GetCursorPosX() + room;
  text(shown, name_colour, theme::Font::small);
  ImGui::SameLine();
  text_to(right, value, theme::text, theme::Font::small);
}

void stall_bars(const KernelProfile& profile, const KernelProfile* before) {
  const double most = std::max(all_warps(profile), before ? all_warps(*before) : 0.0);
  stacked_bar("profile.bar", profile.label(), profile, most);
  if (before && !before->stalls.empty()) stacked_bar("profile.bar before", before->label(), *before, most);
  ImGui::Dummy({0, em(0.15f)});
  const std::vector<StallShare> shares = stall_shares(profile);
  const auto small = std::ranges::find_if(shares, [](const StallShare& share) { return share.share < small_share; });
  for (auto share = shares.begin(); share != small; ++share) reason_row(*share, before);
  small_reasons({small, shares.end()}, before);
}

}  // namespace orrery
