#include "app/viewer/scene_view.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace orrery {
namespace {

struct Row {
  std::string_view scene;
  SceneView view;
};

/// Scenes that are not listed have the initial view. `cosmic-web` starts small in a picture that its web fills at t =
/// 0.6.
constexpr std::array rows{
    Row{"antennae", {.azimuth = -1.4f, .elevation = 1.25f}},
    Row{"collapse", {.azimuth = -0.9f, .elevation = 0.5f, .least_radius = 0.8f}},
    Row{"collision", {.azimuth = -1.1f, .elevation = 0.9f}},
    Row{"cosmic-web", {.azimuth = -0.7f, .elevation = 0.4f, .least_radius = 1.2f, .appearance = {.colour_map = 3}}},
    Row{"spiral", {.azimuth = -1.1f, .elevation = 1.0f}},
};

}  // namespace

SceneView scene_view(const SceneRequest& scene) {
  const auto row = std::ranges::find(rows, scene.scene, &Row::scene);
  return scene.file.empty() && row != rows.end() ? row->view : SceneView{};
}

}  // namespace orrery
