// The section Physics.
#include <array>
#include <string>

#include "tests/app/panels/panels_fixture.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

TEST_F(Panels, MarkWhatIsNotTheScenesOwnAndRestoreItByADoubleClick) {
  status.law.id = status.scene_physics.law.id = LawId::attract_repel;
  const std::array fields{"integrator", "law", "dt", "softening", "repulsion", "drag"};
  const auto marked = [](const std::string& field) { return seen(field + ".differs"); };
  frame();
  for (const std::string field : fields) {
    EXPECT_FALSE(marked(field)) << field;
    EXPECT_TRUE(double_click(field + ".label").empty()) << field << " is the scene's own";
  }
  Physics& own = status.scene_physics;
  own = {.integrator_id = "euler",
         .law = {.id = LawId::gravity, .softening = 0.5f, .repulsion = 0.25f, .drag = 0.001f},
         .time_step = 0.002f};
  frame();
  for (const std::string field : fields) EXPECT_TRUE(marked(field)) << field;
  EXPECT_EQ(only<SelectIntegrator>(double_click("integrator.label")).id, "euler");
  EXPECT_EQ(only<SelectLaw>(double_click("law.label")).id, "gravity");
  EXPECT_EQ(only<SetTimeStep>(double_click("dt.label")).time_step, own.time_step);
  EXPECT_EQ(only<SetSoftening>(double_click("softening.label")).softening, own.law.softening);
  EXPECT_EQ(only<SetRepulsion>(double_click("repulsion.label")).repulsion, own.law.repulsion);
  EXPECT_EQ(only<SetDrag>(double_click("drag.label")).drag, own.law.drag);
}

TEST_F(Panels, RestoreTheScenesOwnByADoubleClickOnTheFieldItself) {
  status.scene_physics = {.integrator_id = "euler", .law = {.softening = 0.5f}, .time_step = 0.002f};
  frame();
  const Requests steps = double_click("dt");  // the first click moves the grab
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(request<SetTimeStep>(steps, steps.size() - 1).time_step, 0.002f) << "and nothing after it";
  const Requests lengths = double_click("softening");
  ASSERT_FALSE(lengths.empty());
  EXPECT_EQ(request<SetSoftening>(lengths, lengths.size() - 1).softening, 0.5f);
  EXPECT_EQ(only<SelectIntegrator>(double_click("integrator")).id, "euler");
  EXPECT_FALSE(seen("integrator.euler")) << "no list stays open";
}

TEST_F(Panels, PickIntegratorAndBothLaws) {
  EXPECT_EQ(only<SelectIntegrator>(pick("integrator", "euler")).id, "euler");
  EXPECT_EQ(only<SelectLaw>(pick("law", "attract-repel")).id, "attract-repel");
  EXPECT_FALSE(seen("repulsion") || seen("drag"));
  status.law.id = LawId::attract_repel;
  frame();
  EXPECT_TRUE(seen("repulsion") && seen("drag"));
  EXPECT_EQ(only<SelectLaw>(pick("law", "gravity")).id, "gravity");
}

TEST_F(Panels, PickTheDigits) {
  EXPECT_EQ(only<SetDigits>(pick("digits", "compensated")).digits, Digits::compensated);
  status.digits = Digits::compensated;
  frame();
  EXPECT_EQ(only<SetDigits>(pick("digits", "float")).digits, Digits::single);
  EXPECT_EQ(only<SetDigits>(double_click("digits")).digits, Digits::single) << "the scene's";
}

TEST_F(Panels, ShowTheLevelsOfBlockStepsAndWarnOfKernelsThatEvaluateAllBodies) {
  frame();
  EXPECT_FALSE(seen("eta") || seen("levels"));
  status.integrator_id = "leapfrog-blocks";
  status.block_steps = true;
  frame();
  EXPECT_TRUE(seen("eta"));
  EXPECT_FALSE(seen("levels")) << "not known yet";
  status.levels = {600, 300, 0, 100};
  select(test::find_kernel("cpu-simd"));
  std::string text = side_column_text();
  EXPECT_TRUE(seen("levels"));
  EXPECT_NE(text.find("2.00 evaluations of a body per dt"), std::string::npos)
      << text;  // (600 + 2 * 300 + 8 * 100) / 1000
  EXPECT_EQ(text.find("all bodies"), std::string::npos) << text;
  select(test::find_kernel("cpu-symmetric"));
  text = side_column_text();
  EXPECT_NE(text.find("evaluates all bodies 8 times per dt"), std::string::npos) << text;
  status.scene_physics.eta = 0.5f;
  frame();
  EXPECT_EQ(only<SetEta>(double_click("eta.label")).eta, 0.5f);
}

}  // namespace
}  // namespace orrery::test
