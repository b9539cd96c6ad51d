#include "app/viewer/panel_picture.h"

#include <glad/gl.h>
#include <imgui.h>
#include <imgui/backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace orrery {
namespace {

using render::PixelRect;

bool overlap(const PixelRect& a, const PixelRect& b) {
  return a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top;
}

PixelRect around(const PixelRect& a, const PixelRect& b) {
  return {std::min(a.left, b.left), std::min(a.bottom, b.bottom), std::max(a.right, b.right), std::max(a.top, b.top)};
}

/// The pixels of all that a window draws, before it is clipped.
PixelRect pixels_of(const ImDrawList& list, const ImDrawData& all, int width, int height) {
  constexpr float far = std::numeric_limits<float>::max();
  ImVec2 low{far, far}, high{-far, -far};
  for (const ImDrawVert& vertex : list.VtxBuffer) {
    low = {std::min(low.x, vertex.pos.x), std::min(low.y, vertex.pos.y)};
    high = {std::max(high.x, vertex.pos.x), std::max(high.y, vertex.pos.y)};
  }
  const auto column = [&](float x) {
    return std::clamp((x - all.DisplayPos.x) * all.FramebufferScale.x, 0.0f, static_cast<float>(width));
  };
  const auto row = [&](float y) {
    return std::clamp((y - all.DisplayPos.y) * all.FramebufferScale.y, 0.0f, static_cast<float>(height));
  };
  return {static_cast<int>(std::floor(column(low.x))), height - static_cast<int>(std::ceil(row(high.y))),
          static_cast<int>(std::ceil(column(high.x))), height - static_cast<int>(std::floor(row(low.y)))};
}

}  // namespace

std::vector<PixelRect> merge_overlapping(std::vector<PixelRect> rects) {
  std::vector<PixelRect> apart;
  while (!rects.empty()) {
    const PixelRect next = rects.back();
    rects.pop_back();
    if (next.left >= next.right || next.bottom >= next.top) continue;
    const auto met = std::ranges::find_if(apart, [&](const PixelRect& other) { return overlap(next, other); });
    if (met == apart.end()) {
      apart.push_back(next);
    } else {  // the greater one may meet others
      rects.push_back(around(next, *met));
      apart.erase(met);
    }
  }
  return apart;
}

void PanelPicture::take(ImDrawData& laid_out, int width, int height) {
  if (width < 1 || height < 1) return;
  if (picture_.width() != width || picture_.height() != height) picture_ = {GL_RGBA8, width, height};
  parts_.clear();
  for (int i = 0; i < laid_out.CmdListsCount; ++i) {
    parts_.push_back(pixels_of(*laid_out.CmdLists[i], laid_out, width, height));
  }
  parts_ = merge_overlapping(std::move(parts_));
  glBindFramebuffer(GL_FRAMEBUFFER, picture_.framebuffer());
  constexpr float nothing[4] = {};
  glClearBufferfv(GL_COLOR, 0, nothing);
  ImGui_ImplOpenGL3_RenderDrawData(&laid_out);
}

void PanelPicture::draw(const render::Canvas& canvas) const {
  if (canvas.width == picture_.width() && canvas.height == picture_.height()) blend_.draw(picture_, parts_, canvas);
}

}  // namespace orrery
