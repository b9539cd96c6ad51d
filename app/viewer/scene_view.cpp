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

constexpr int ember = 1, aurora = 2, nebula = 3;  // in render::colour_maps()

/// One row per scene. At 60 frames per second, what a scene is about happens within 5 to 20 s. `cosmic-web` starts
/// small in a picture that its web fills at t = 0.6. Without a map, the colours are those of stars.
constexpr std::array rows{
    Row{"antennae",
        {.azimuth = -1.4f,
         .elevation = 1.25f,
         .appearance = {.colour_by = render::ColourBy::species},
         .steps_per_frame = 2}},
    Row{"cold-collapse",
        {.azimuth = -0.8f, .elevation = 0.35f, .appearance = {.colour_map = ember}, .steps_per_frame = 2}},
    Row{"collapse",
        {.azimuth = -0.9f,
         .elevation = 0.5f,
         .least_radius = 0.8f,
         .appearance = {.colour_map = aurora},
         .steps_per_frame = 2}},
    Row{"collision", {.azimuth = -1.1f, .elevation = 0.9f}},
    Row{"cosmic-web",
        {.azimuth = -0.7f, .elevation = 0.4f, .least_radius = 1.2f, .appearance = {.colour_map = nebula}}},
    Row{"disc", {.azimuth = -1.2f, .elevation = 0.75f}},
    Row{"plummer", {}},
    Row{"spiral", {.azimuth = -1.1f, .elevation = 1.0f, .steps_per_frame = 2}},
    Row{"two-body", {.azimuth = -1.57f, .elevation = 1.0f, .steps_per_frame = 4}},
};

}  // namespace

SceneView scene_view(const SceneRequest& scene) {
  const auto row = std::ranges::find(rows, scene.scene, &Row::scene);
  return scene.file.empty() && row != rows.end() ? row->view : SceneView{};
}

}  // namespace orrery
