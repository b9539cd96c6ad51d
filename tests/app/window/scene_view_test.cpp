#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "app/window/camera_control.h"
#include "compute/sim/command.h"

namespace orrery {
namespace {

/// So that each has a row, too: the initial view is that of one scene.
TEST(SceneView, EverySceneHasOneOfItsOwn) {
  for (const SceneInfo* scene : scenes()) {
    const SceneView view = scene_view({.scene = scene->id});
    for (const SceneInfo* other : scenes()) {
      if (other == scene) continue;
      EXPECT_FALSE(view == scene_view({.scene = other->id})) << scene->id << " and " << other->id;
    }
  }
}

TEST(SceneView, CanBeShown) {
  for (const SceneInfo* scene : scenes()) {
    SCOPED_TRACE(scene->id);
    const SceneView view = scene_view({.scene = scene->id});
    EXPECT_LT(view.appearance.colour_map, render::colour_map_count);
    EXPECT_GE(view.steps_per_frame, SetStepsPerFrame::range.least);
    EXPECT_LE(view.steps_per_frame, SetStepsPerFrame::range.most);
    EXPECT_LE(std::abs(view.elevation), 1.5708f);
  }
}

TEST(SceneView, AFileHasTheInitialView) {
  for (const SceneInfo* scene : scenes()) {
    EXPECT_TRUE(scene_view({.scene = scene->id, .file = "a.tipsy"}) == SceneView{}) << scene->id;
  }
}

}  // namespace
}  // namespace orrery
