#pragma once

#include <vector>

#include "render/passes/blend.h"

struct ImDrawData;

namespace orrery {

/// Rectangles that cover the same pixels, and none of them twice.
std::vector<render::PixelRect> merge_overlapping(std::vector<render::PixelRect> rects);

/// The panels as they were laid out last, as a picture: frames that change nothing in the panels lay it over the
/// bodies, at a small part of the cost of drawing every letter. Needs a current context, load_gl() done.
class PanelPicture {
 public:
  /// Takes what ImGui has laid out, for a canvas of this size.
  void take(ImDrawData& laid_out, int width, int height);
  /// The canvas has the size of the last take().
  void draw(const render::Canvas& canvas) const;

 private:
  render::Blend blend_;
  render::RenderTarget picture_;
  std::vector<render::PixelRect> parts_;
};

}  // namespace orrery
