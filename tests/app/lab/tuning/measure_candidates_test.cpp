// The candidates of this machine, and their measurement.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "app/lab/tuning/auto_chooser.h"
#include "app/lab/tuning/candidates.h"
#include "compute/core/text.h"
#include "compute/scenes/scene.h"
#include "compute/sim/simulation.h"
#include "tests/app/lab/tuning/rows_variant.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

TEST(Candidates, AreRealVariantsOfOneBackend) {
  for (const KernelPtr& kernel : test::kernels()) {
    std::vector<Settings> seen;
    for (const char* text : kernel->candidates) {
      Settings settings{*kernel};
      for (const auto& [name, value] : Settings::values_of(text)) settings.set(name, value);
      EXPECT_EQ(settings.changes(), text) << kernel->id << ": only what differs, in the order of the names";
      EXPECT_EQ(std::ranges::find(seen, settings), seen.end()) << kernel->id << " " << text << " twice";
      seen.push_back(settings);
    }
  }
  const std::vector<Variant> here = candidates_here(test::backends());
  ASSERT_FALSE(here.empty()) << "CPU kernels are candidates everywhere";
  for (const Variant& variant : here) {
    EXPECT_EQ(variant.kernel->backend, here.front().kernel->backend);
    EXPECT_TRUE(test::backends().status(variant.kernel->backend).available);
  }
}

TEST(Candidates, AreThoseOfTheCatalogNow) {
  KernelCatalog catalog;
  const Backends backends{catalog};
  const AutoChooser::Environment environment = AutoChooser::this_machine(backends);
  const std::vector<Variant> before = environment.candidates();
  KernelInfo copy = *before.front().kernel;
  copy.id = "copy";
  for (const char* time : {"added", "replaced"}) {
    const KernelPtr added = catalog.put(copy);
    const std::vector<Variant> now = environment.candidates();
    EXPECT_EQ(now.size(), before.size() + copy.candidates.size()) << time;
    EXPECT_EQ(now.back().kernel, added) << time;
  }
}

TEST(Candidates, HaveAFasterKernelOnlyIfThatOneIsACandidate) {
  for (const KernelPtr& kernel : test::kernels()) {
    if (!kernel->faster) continue;
    const KernelPtr faster = test::find_kernel(kernel->faster);
    EXPECT_EQ(faster->backend, kernel->backend) << kernel->id;
    EXPECT_FALSE(faster->candidates.empty()) << kernel->id;
    EXPECT_LT(kernel->tolerance.median, faster->tolerance.median) << kernel->id << " would never be chosen";
  }
}

TEST(Candidates, TreesStartTheirSearchAtTheirInitialSettings) {
  for (const KernelPtr& kernel : test::kernels()) {
    const Tunable* tunable = kernel->accuracy_tunable();
    EXPECT_EQ(tunable != nullptr, kernel->is_tree && !kernel->candidates.empty()) << kernel->id;
    if (!tunable) continue;
    ASSERT_TRUE(tunable->numbers) << kernel->id;
    EXPECT_GT(tunable->numbers->least, 0);
    const std::vector<double> values = two_digit_numbers(*tunable->numbers);
    EXPECT_NE(std::ranges::find(values, parsed_number<double>(tunable->initial).value()), values.end()) << kernel->id;
    for (const double value : values) EXPECT_TRUE(tunable->allows(shortest_text(value))) << kernel->id << ' ' << value;
  }
}

TEST(Candidates, OfATreeMeetEveryAccuracyDownToOneHundredThousandth) {
  const Bodies bodies = load_scene({.scene = "plummer", .count = 10'000}).bodies;
  for (const KernelPtr& kernel : test::kernels()) {
    if (!kernel->accuracy_tunable() || !test::backends().status(kernel->backend).available) continue;
    for (const double accuracy : {1e-2, 1e-3, 1e-4, 1e-5}) {
      const AccuracyTrials trials =
          measure_accuracy(test::backends(), {{kernel, Settings{*kernel}}},
                           {.count = bodies.count(), .accuracy = accuracy}, {bodies, {.softening = 0.01f}}, {});
      const Candidate& tree = trials.candidates.front();
      const std::string name = words_for(*kernel, tree.variant.settings);
      EXPECT_FALSE(tree.problem) << name << ": " << tree.problem.text;
      ASSERT_TRUE(tree.error);
      EXPECT_LE(tree.error->median, accuracy_margin * accuracy) << name;
      EXPECT_LE(tree.error->p99, largest_p99_error(accuracy)) << name;
      if (accuracy < 5e-4) {
        EXPECT_GT(std::max(tree.error->median, tree.error->p99 / p99_over_accuracy), 0.4 * accuracy)
            << name << ": not more accurate than needed";
      }
    }
  }
}

/// 30,000 bodies, of which a direct sum needs many times as long as a tree.
// Which one wins is a matter of times, and no test's.
TEST(Candidates, ATreeThatIsAccurateEnoughIsMeasuredBesideTheDirectSum) {
  const Bodies bodies = load_scene({.scene = "plummer", .count = 30'000}).bodies;
  const std::vector<Variant> candidates{test::rows_variant("auto"), test::tree_variant("0.7")};
  const auto measured_tree = [&](double accuracy) {
    const KernelDemand demand{.count = bodies.count(), .accuracy = accuracy};
    const ForceSystem system{bodies, {.softening = 0.01f}};
    const AccuracyTrials trials = measure_accuracy(test::backends(), candidates, demand, system, {});
    EXPECT_GT(trials.pilot_ms, 0);
    const TuningResult result = measure_candidates(test::backends(), trials, demand, system, {});
    EXPECT_EQ(result.count, bodies.count());
    EXPECT_GT(result.candidates[0].step_ms, 0);
    EXPECT_GT(result.candidates[0].forecast_from, 0) << "some thousand bodies say enough of n^2";
    return result.candidates[1].step_ms > 0;
  };
  EXPECT_TRUE(measured_tree(1e-1));
  EXPECT_TRUE(measured_tree(2e-4));
  EXPECT_FALSE(measured_tree(1e-9));
}

TEST(Candidates, FullFp32IsTriedWithFewOfManyBodies) {
  const Bodies bodies = load_scene({.scene = "plummer", .count = 200'000}).bodies;
  const KernelDemand demand{.count = bodies.count(), .accuracy = 5e-7};
  const auto begin = std::chrono::steady_clock::now();
  const AccuracyTrials trials =
      measure_accuracy(test::backends(), {test::rows_variant("auto")}, demand, {bodies, {.softening = 0.01f}}, {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(trials.candidates[0].error);
  EXPECT_FALSE(trials.candidates[0].problem) << trials.candidates[0].problem.text;
  EXPECT_GT(trials.candidates[0].error->median, 0);
  EXPECT_LT(took.count(), 0.2 * trials.pilot_ms * 1e-3 * 1e4) << "a step with all of them takes 10,000 pilots";
}

TEST(Candidates, AreMeasuredForAsManyBodiesAsAskedForIfFew) {
  const KernelPtr kernel = test::find_kernel("cpu-simd");
  const TuningResult result =
      measure_candidates(test::backends(), {.candidates = {{{kernel, Settings{*kernel}}}}},
                         {.count = 300, .law = LawId::attract_repel, .equal_masses = false}, {Bodies{}, {}}, {});
  EXPECT_EQ(result.count, 300);
  ASSERT_EQ(result.preference().size(), 1u);
  EXPECT_GT(result.candidates[0].step_ms, 0);
  EXPECT_EQ(result.date.size(), 20u) << result.date;
}

/// On the best backend of this machine, as a window does it.
TEST(Candidates, AreMeasuredBesideAProgramThatGoesOn) {
  AutoChooser::Environment environment = AutoChooser::this_machine(test::backends());
  environment.cache_file.clear();
  AutoChooser chooser{std::move(environment)};
  Simulation sim{test::backends(), SceneRequest{.scene = "plummer", .count = 20'000}, nullptr, nullptr, &chooser,
                 Choosing::beside};
  sim.apply(SelectKernel{auto_kernel});
  int looks = 0;
  for (; sim.measuring() && looks < 60'000; ++looks) {
    EXPECT_EQ(sim.advance_frame(looks), 0);
    sim.collect();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  ASSERT_FALSE(sim.measuring());
  EXPECT_GT(looks, 1) << "nobody waited";
  const Status status = sim.status();
  EXPECT_EQ(status.last_error, "");
  EXPECT_EQ(status.backend, candidates_here(test::backends()).front().kernel->backend);
  EXPECT_NE(status.auto_choice.value().how.find("measured"), std::string::npos);
  EXPECT_EQ(sim.run(2).steps, 2);
}

}  // namespace
}  // namespace orrery
