// Hundreds of switches between kernels, resets and other numbers of bodies. With the preset asan, they leave no memory
// behind; with any, they leave no trace in what is computed after them.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "app/features/runs/replay.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

constexpr int disturbances = 200;
constexpr int least_bodies = 2, most_bodies = 300;

/// Commands in the order of a seed.
class Disturber {
 public:
  explicit Disturber(std::uint32_t seed) : random_{seed} {
    for (const KernelPtr& kernel : test::kernels()) {
      if (kernel->backend == Backend::cpu) kernels_.push_back(kernel);
    }
  }

  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint32_t>(end)); }

  SelectKernel a_kernel() {
    const KernelPtr kernel = one_of(kernels_);
    Settings::Values settings;
    for (const Tunable& tunable : kernel->tunables) {
      settings[tunable.name] = one_of(tunable.values_to_measure());
    }
    return {kernel->id, settings};
  }
  LoadScene a_scene() {
    const int count = least_bodies + below(most_bodies - least_bodies);
    return {{.scene = "plummer", .count = count, .seed = random_()}};
  }
  Command a_reset() { return below(2) == 0 ? Command{Reset{}} : Command{Restart{}}; }

 private:
  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

  std::mt19937 random_;
  std::vector<KernelPtr> kernels_;
};

std::vector<Command> last_commands(Disturber& disturber) {
  return {disturber.a_scene(), disturber.a_kernel(), SelectIntegrator{"leapfrog"}, Reset{},
          SetTimeStep{0.002f}, SetPaused{false}};
}

TEST(Disturbances, LeaveNoTrace) {
  Disturber disturber{2026};
  Simulation disturbed{test::backends(), {.scene = "two-body"}, test::find_kernel("cpu-serial")};
  RunHistory history{/*lockstep=*/true};
  history.begin(disturbed);
  const auto apply = [&](const Command& command) {
    disturbed.apply(command);
    history.took(command, disturbed);
  };
  for (int i = 0; i < disturbances; ++i) {
    apply(disturber.a_kernel());
    apply(disturber.a_reset());
    apply(disturber.a_scene());
    apply(SetStepsPerFrame{1 + disturber.below(20)});
    (void)disturbed.collect();
    history.follow(disturbed);
    (void)disturbed.advance_frame(i);  // the next commands come while its steps run, or wait for them
    if (disturber.below(2) == 0) disturbed.wait();
  }
  const std::vector<Command> commands = last_commands(disturber);
  Simulation undisturbed{test::backends(), {.scene = "two-body"}, test::find_kernel("cpu-serial")};
  for (const Command& command : commands) {
    apply(command);
    undisturbed.apply(command);
  }
  (void)disturbed.run(50);
  (void)undisturbed.run(50);
  EXPECT_EQ(disturbed.bodies(), undisturbed.bodies());
  const ReplayOutcome again = play_replay(
      test::backends(), parse_replay(replay_text(replay_of(history, disturbed, test::backends())), "a.replay"),
      "a.replay", [] { return false; }, [](const ReplayProgress&) {});
  EXPECT_FALSE(again.different) << again.different->what << " in line " << again.different->line;
  EXPECT_GT(again.starts, disturbances);
}

}  // namespace
}  // namespace orrery
