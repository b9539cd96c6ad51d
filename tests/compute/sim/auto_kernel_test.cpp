// When a simulation whose kernel is left to the program asks which one it is to be.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::Failure;

/// Says what the test tells it to, and remembers what it was asked.
class ToldChooser final : public KernelChooser {
 public:
  KernelChoice choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token&) override {
    asked.push_back(demand);
    softening = system.law.softening;
    bodies = system.bodies;
    if (fails) throw std::runtime_error("nothing can be measured");
    const KernelPtr kernel = test::find_kernel(answer);
    Settings settings{*kernel};
    for (const auto& [name, value] : values) settings.set(name, value);
    return {kernel, settings, "told"};
  }

  std::string answer = "cpu-simd";
  Settings::Values values{{"rows", "2"}};
  bool fails = false;
  std::vector<KernelDemand> asked;
  float softening = 0;  // of the system that was shown last, as its bodies
  Bodies bodies;
};

class AutoKernel : public testing::Test {
 protected:
  void answer(const std::string& id, const Settings::Values& values = {}) {
    chooser.answer = id;
    chooser.values = values;
  }

  ToldChooser chooser;
  Simulation sim{
      test::backends(), {.scene = "plummer", .count = 100}, test::find_kernel("cpu-openmp"), nullptr, &chooser};
};

TEST_F(AutoKernel, IsAskedForOnlyWhenItIsSelected) {
  EXPECT_TRUE(chooser.asked.empty());
  EXPECT_FALSE(sim.status().auto_choice);
  sim.apply(SelectKernel{auto_kernel});
  ASSERT_EQ(chooser.asked.size(), 1u);
  EXPECT_EQ(chooser.asked[0].count, 100);
  EXPECT_EQ(chooser.asked[0].law, LawId::gravity);
  const Status status = sim.status();
  EXPECT_EQ(status.kernel_id, "cpu-simd") << "the real one";
  EXPECT_EQ(status.settings.text("rows"), "2");
  ASSERT_TRUE(status.auto_choice);
  EXPECT_EQ(status.auto_choice->name, "auto: cpu-simd rows=2");
  EXPECT_EQ(status.auto_choice->how, "told");
  EXPECT_EQ(sim.run(2).steps, 2);
}

TEST_F(AutoKernel, IsChosenAnewForOtherNumbersOfBodiesAndLawsOnly) {
  sim.apply(SelectKernel{auto_kernel});
  const Bodies before = sim.bodies();
  answer("cpu-serial");
  sim.apply(SelectLaw{"attract-repel"});
  ASSERT_EQ(chooser.asked.size(), 2u);
  EXPECT_EQ(chooser.asked[1].law, LawId::attract_repel);
  EXPECT_EQ(sim.status().kernel_id, "cpu-serial");
  EXPECT_EQ(sim.status().auto_choice->name, "auto: cpu-serial");
  EXPECT_EQ(sim.bodies(), before);

  answer("cpu-simd", {{"rows", "4"}});
  sim.apply(LoadScene{{.scene = "plummer", .count = 257}});
  ASSERT_EQ(chooser.asked.size(), 3u);
  EXPECT_EQ(chooser.asked[2].count, 257);
  EXPECT_EQ(chooser.asked[2].law, LawId::attract_repel);
  EXPECT_EQ(sim.status().kernel_id, "cpu-simd");
  EXPECT_EQ(sim.status().settings.text("rows"), "4");
  EXPECT_EQ(sim.status().count, 257);

  sim.apply(Restart{});
  sim.apply(SelectLaw{"attract-repel"});
  sim.apply(SelectIntegrator{"euler"});
  sim.apply(SetSoftening{0.5f});
  sim.apply(LoadScene{{.scene = "plummer", .count = 257}});
  EXPECT_EQ(chooser.asked.size(), 3u) << "neither the bodies nor the law is another";
  sim.apply(LoadScene{{.scene = "plummer", .count = 257, .seed = 9}});
  EXPECT_EQ(chooser.asked.size(), 4u) << "errors may be others";
  EXPECT_TRUE(sim.status().auto_choice);
  EXPECT_EQ(sim.run(3).steps, 3);
}

TEST_F(AutoKernel, IsChosenAnewWhereResetRestoresTheLaw) {
  sim.apply(SelectKernel{auto_kernel});
  sim.apply(SelectLaw{"attract-repel"});
  ASSERT_EQ(chooser.asked.size(), 2u);
  sim.apply(Reset{});
  ASSERT_EQ(chooser.asked.size(), 3u);
  EXPECT_EQ(chooser.asked[2].law, LawId::gravity);
}

TEST_F(AutoKernel, ComesBackAsItWasWithoutAnotherChoice) {
  answer("cpu-simd", {{"rows", "4"}});
  sim.apply(SelectKernel{auto_kernel});
  const Status before = sim.status();
  sim.apply(ReturnToRun{{.scene = {.scene = "disc", .count = 33},
                         .physics = before.scene_physics,
                         .kernel_id = "cpu-serial",
                         .settings = {}}});
  EXPECT_FALSE(sim.status().auto_choice) << "a row names its kernel";
  sim.apply(UndoReturn{});
  ASSERT_TRUE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().auto_choice->name, before.auto_choice->name);
  EXPECT_EQ(sim.status().settings, before.settings);
  EXPECT_EQ(chooser.asked.size(), 1u);
}

TEST_F(AutoKernel, IsChosenAnewForAnotherAccuracy) {
  sim.apply(SetAccuracy{1e-3});
  EXPECT_TRUE(chooser.asked.empty()) << "it is for when auto is selected";
  EXPECT_EQ(sim.status().accuracy, 1e-3);
  sim.apply(SelectKernel{auto_kernel});
  ASSERT_EQ(chooser.asked.size(), 1u);
  EXPECT_EQ(chooser.asked[0].accuracy, 1e-3);
  sim.apply(SetAccuracy{1e-3});
  EXPECT_EQ(chooser.asked.size(), 1u);
  answer("cpu-tree", {{"theta", "0.5"}});
  sim.apply(SetAccuracy{0});
  ASSERT_EQ(chooser.asked.size(), 2u);
  EXPECT_EQ(chooser.asked[1].accuracy, 0);
  EXPECT_EQ(sim.status().auto_choice->name, "auto: cpu-tree theta=0.5");
  for (const double wrong : {-1e-4, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(sim.apply(SetAccuracy{wrong}), UsageError) << wrong;
  }
  EXPECT_EQ(sim.status().accuracy, 0);
  EXPECT_EQ(chooser.asked.size(), 2u);
}

TEST_F(AutoKernel, IsChosenForTheBodiesAsTheyAre) {
  sim.run(3);
  sim.apply(SelectKernel{auto_kernel});
  EXPECT_EQ(chooser.bodies, sim.bodies());
  sim.apply(LoadScene{{.scene = "plummer", .count = 500}});
  EXPECT_EQ(chooser.bodies, sim.bodies());
  EXPECT_EQ(chooser.softening, sim.status().law.softening) << "the new scene's";
}

TEST_F(AutoKernel, IsChosenAnewWhereMassesAreEqualNoMore) {
  sim.apply(SelectKernel{auto_kernel});
  EXPECT_TRUE(chooser.asked.back().equal_masses);
  Bodies bodies = sim.bodies();
  sim.set_bodies(bodies);
  EXPECT_EQ(chooser.asked.size(), 1u);
  bodies.positions[7].w *= 2;
  sim.set_bodies(bodies);
  ASSERT_EQ(chooser.asked.size(), 2u);
  EXPECT_FALSE(chooser.asked.back().equal_masses);
  sim.apply(SelectLaw{"attract-repel"});
  EXPECT_FALSE(chooser.asked.back().equal_masses);
}

TEST_F(AutoKernel, MovesTheBodiesWithTheKernelThatWasChosen) {
  answer("cpu-serial");
  sim.apply(SelectKernel{auto_kernel});
  answer("cpu-simd");
  sim.apply(LoadScene{{.scene = "plummer", .count = 333}});
  sim.run(4);
  Simulation named{test::backends(), {.scene = "plummer", .count = 333}, test::find_kernel("cpu-simd")};
  named.run(4);
  EXPECT_EQ(sim.bodies(), named.bodies());
}

TEST_F(AutoKernel, EndsWithAKernelThatIsNamed) {
  sim.apply(SelectKernel{auto_kernel});
  sim.apply(SelectKernel{"cpu-simd"});
  EXPECT_FALSE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().settings.text("rows"), "auto") << "nobody asked for what was chosen";
  sim.apply(LoadScene{{.scene = "plummer", .count = 64}});
  sim.apply(SelectLaw{"attract-repel"});
  EXPECT_EQ(chooser.asked.size(), 1u);
}

TEST_F(AutoKernel, LeavesTheSettingsOfKernelsThatWereNamed) {
  sim.apply(SelectKernel{"cpu-simd", {{"rows", "4"}}});
  sim.apply(SelectKernel{auto_kernel});
  EXPECT_EQ(sim.status().settings.text("rows"), "2");
  sim.apply(LoadScene{{.scene = "plummer", .count = 64}});
  sim.apply(SelectKernel{"cpu-simd"});
  EXPECT_EQ(sim.status().settings.text("rows"), "4");
}

TEST_F(AutoKernel, EndsWithATunableThatIsSet) {
  sim.apply(SelectKernel{auto_kernel});
  sim.apply(SetTunable{"rows", "4"});
  EXPECT_FALSE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().kernel_id, "cpu-simd");
  EXPECT_EQ(sim.status().settings.text("rows"), "4");
  sim.apply(LoadScene{{.scene = "plummer", .count = 64}});
  EXPECT_EQ(chooser.asked.size(), 1u);
}

TEST_F(AutoKernel, TakesNoSettings) {
  test::expect_failure(
      Failure::usage,
      [&] {
        sim.apply(SelectKernel{auto_kernel, {{"rows", "4"}}});
      },
      "rows", "auto", "cpu-simd");
  EXPECT_FALSE(sim.status().auto_choice);
  EXPECT_EQ(sim.status().kernel_id, "cpu-openmp");
}

TEST_F(AutoKernel, ChangesNothingWhereNothingCanBeChosen) {
  sim.apply(SelectKernel{auto_kernel});
  chooser.fails = true;
  EXPECT_THROW(sim.apply(LoadScene{{.scene = "plummer", .count = 200}}), std::runtime_error);
  EXPECT_THROW(sim.apply(SelectLaw{"attract-repel"}), std::runtime_error);
  const Status status = sim.status();
  EXPECT_EQ(status.count, 100);
  EXPECT_EQ(status.law.id, LawId::gravity);
  EXPECT_EQ(status.kernel_id, "cpu-simd");
  EXPECT_TRUE(status.auto_choice);
}

TEST_F(AutoKernel, IsTheDefaultWhereNobodyChooses) {
  Simulation alone{test::backends(), {.scene = "plummer", .count = 100}};
  alone.apply(SelectKernel{auto_kernel});
  EXPECT_EQ(alone.status().kernel_id, test::backends().default_kernel()->id);
  EXPECT_TRUE(alone.status().auto_choice);
}

TEST_F(AutoKernel, IsNamedBesideTheKernelsWhereOneIsUnknown) {
  test::expect_failure(
      Failure::usage, [&] { sim.apply(SelectKernel{"cpu-smd"}); }, "cpu-smd", "cpu-simd", "auto");
  EXPECT_EQ(find_kernel_or_auto(test::catalog(), auto_kernel), nullptr);
  EXPECT_EQ(find_kernel_or_auto(test::catalog(), "cpu-simd"), test::find_kernel("cpu-simd"));
}

}  // namespace
}  // namespace orrery
