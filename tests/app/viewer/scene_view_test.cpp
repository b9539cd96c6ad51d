#include "app/viewer/scene_view.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(SceneView, ListsScenesThatExist) {
  int listed = 0;
  for (const SceneInfo* scene : scenes()) {
    const SceneView view = scene_view({.scene = scene->id});
    listed += view.elevation != SceneView{}.elevation;
    EXPECT_LT(view.appearance.colour_map, render::colour_map_count);
  }
  EXPECT_EQ(listed, 5) << "each row of the table names a scene";
}

TEST(SceneView, AFileHasTheInitialView) {
  EXPECT_EQ(scene_view({.scene = "spiral", .file = "a.tipsy"}).elevation, SceneView{}.elevation);
}

}  // namespace
}  // namespace orrery
