#include "app/panels/kit/ui_mark.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>

namespace orrery {
namespace {

struct Mark {
  UiRect rect;
  int frame = -1;
  bool cut_off = false;
};

// Kept from frame to frame, so that a name is allocated once, but not from one ImGui context to the next.
std::map<std::string, Mark, std::less<>>& marks() {
  static std::map<std::string, Mark, std::less<>> all;
  static int latest = 0;
  if (ImGui::GetFrameCount() < latest) all.clear();
  latest = ImGui::GetFrameCount();
  return all;
}

}  // namespace

void ui_mark(std::string_view name) {
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const ImVec2 clip_low = ImGui::GetWindowDrawList()->GetClipRectMin();
  const ImVec2 clip_high = ImGui::GetWindowDrawList()->GetClipRectMax();
  const UiRect rect{std::max(low.x, clip_low.x), std::max(low.y, clip_low.y), std::min(high.x, clip_high.x),
                    std::min(high.y, clip_high.y)};
  if (!(rect.x0 < rect.x1 && rect.y0 < rect.y1)) return;  // scrolled out of sight
  auto found = marks().find(name);
  if (found == marks().end()) found = marks().emplace(name, Mark{}).first;
  const float hidden = (high.x - low.x) - (rect.x1 - rect.x0);
  found->second = {rect, ImGui::GetFrameCount(), hidden > 1};  // a pixel may be rounded away
}

void ui_mark(std::string_view group, std::string_view item) {
  std::array<char, 96> text;
  const auto end = fmt::format_to_n(text.data(), text.size(), "{}.{}", group, item);
  ui_mark(std::string_view{text.data(), std::min(end.size, text.size())});
}

UiRect ui_marked(std::string_view name) {
  const auto found = marks().find(name);
  return found != marks().end() && found->second.frame == ImGui::GetFrameCount() ? found->second.rect : UiRect{};
}

std::vector<std::string> ui_cut_off() {
  std::vector<std::string> names;
  for (const auto& [name, mark] : marks()) {
    if (mark.frame == ImGui::GetFrameCount() && mark.cut_off) names.push_back(name);
  }
  return names;
}

std::string ui_layout() {
  std::string text;
  for (const auto& [name, mark] : marks()) {
    if (mark.frame != ImGui::GetFrameCount()) continue;
    const UiRect& r = mark.rect;
    fmt::format_to(std::back_inserter(text), "{} {:.0f} {:.0f} {:.0f} {:.0f}\n", name, r.x0, r.y0, r.x1, r.y1);
  }
  return text;
}

}  // namespace orrery
