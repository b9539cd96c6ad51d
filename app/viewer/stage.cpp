#include "app/viewer/stage.h"

#include <algorithm>
#include <cmath>

namespace orrery {

glm::vec2 StagePart::to_window(glm::vec2 place) const {
  if (window_width < 1) return place;
  const auto left = static_cast<float>(canvas.left), width = static_cast<float>(canvas.width);
  return {(left + place.x * width) / static_cast<float>(window_width), place.y};
}

glm::vec2 StagePart::from_window(glm::vec2 place) const {
  if (window_width < 1) return place;
  const auto left = static_cast<float>(canvas.left), width = static_cast<float>(std::max(canvas.width, 1));
  return {(place.x * static_cast<float>(window_width) - left) / width, place.y};
}

StagePart whole_stage(const render::Canvas& window, glm::vec3 covered) {
  const float aspect = static_cast<float>(window.width) / static_cast<float>(std::max(window.height, 1));
  return {.canvas = window,
          .share = std::min((1 - covered.x - covered.z) * aspect, 1 - covered.y),
          .middle = {covered.x - covered.z, covered.y},
          .window_width = window.width};
}

std::array<StagePart, 2> split_stage(const render::Canvas& window, glm::vec3 covered) {
  const auto width = static_cast<float>(window.width), height = static_cast<float>(std::max(window.height, 1));
  const float begin = covered.x * width, end = (1 - covered.z) * width;
  const float split = std::clamp(std::round(0.5f * (begin + end)), 1.0f, std::max(width - 1, 1.0f));
  StagePart left{.canvas = window,
                 .share = std::min((end - split) / height, 1 - covered.y),
                 .middle = {begin / split, covered.y},
                 .window_width = window.width};
  StagePart right = left;
  right.middle.x = (end - width) / (width - split);
  left.canvas.width = static_cast<int>(split);
  right.canvas.left = window.left + left.canvas.width;
  right.canvas.width = std::max(window.width - left.canvas.width, 0);
  return {left, right};
}

}  // namespace orrery
