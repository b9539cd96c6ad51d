#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "app/features/runs/run_verb.h"
#include "app/recording/run_checkpoint.h"
#include "compute/core/temporary_folder.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery {
namespace {

/// Stands for a kernel on a GPU that is lost after some evaluations of 10 ms each.
class LosesItsDeviceLate final : public ForceKernel {
 public:
  explicit LosesItsDeviceLate(int evaluations) : left_{evaluations} {}
  void do_evaluate(const ForceArgs& args) override {
    if (left_-- == 0) throw test::LostDevice{"an illegal memory access"};
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    uniform_.do_evaluate(args);
  }

 private:
  int left_;
  test::UniformKernel uniform_{1};
};

/// The message of a run that keeps a checkpoint every second.
std::string message_of_loss(int evaluations, const std::string& checkpoint) {
  KernelCatalog kernels;
  kernels.put(test::kernel_info("loses-its-device", [evaluations](const Settings&, const cuda::Device*) {
    return std::make_unique<LosesItsDeviceLate>(evaluations);
  }));
  RunVerb verb;
  verb.scene.request = {.scene = "plummer", .count = 20};
  verb.physics.setup = {SelectKernel{"loses-its-device"}};
  verb.order.steps = 100'000;
  verb.order.checkpoint = checkpoint;
  verb.order.checkpoint_every_s = 1;
  verb.checkpoint_every_s = 1;
  return test::failure_of([&] { (void)verb.run({kernels}); }).message;
}

TEST(ARunThatLosesItsDevice, LeavesACheckpointAndHowToContinue) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.checkpoint").string();
  const std::string message = message_of_loss(250, file);
  EXPECT_EQ(message.find("the device failed: an illegal memory access; "), 0u) << message;
  EXPECT_NE(message.find("; continue with: orrery run --resume " + file), std::string::npos) << message;
  const FoundCheckpoint found = find_checkpoint(file);
  EXPECT_EQ(found.note, "");
  EXPECT_GT(found.checkpoint.step, 0);
}

TEST(ARunThatLosesItsDevice, NamesNoCheckpointThatIsNotThere) {
  const TemporaryFolder folder;
  const std::string message = message_of_loss(3, (folder / "a.checkpoint").string());
  EXPECT_EQ(message.find("the device failed: an illegal memory access; "), 0u) << message;
  EXPECT_EQ(message.find("--resume"), std::string::npos) << message;
}

}  // namespace
}  // namespace orrery
