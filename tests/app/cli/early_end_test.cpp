// One line, whatever ends the program early.
#include <cerrno>
#include <csignal>
#include <system_error>

#include "app/cli/verb.h"
#include "app/process/this_program.h"
#include "app/recording/run_checkpoint.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/kernel_doubles.h"

namespace orrery::test {
namespace {

TEST(EarlyEnd, OfALibraryThatExitsHasALine) {
  EXPECT_EXIT((report_early_end(), std::exit(1)), testing::ExitedWithCode(1),
              "^orrery: a library has ended the program");
  EXPECT_EXIT((report_early_end(), end_as_planned(), std::exit(3)), testing::ExitedWithCode(3), "^$");
}

#ifndef ORRERY_SANITIZED
TEST(EarlyEnd, OfACrashHasALine) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS}) {
    EXPECT_EXIT((report_early_end(), std::raise(signal)), testing::KilledBySignal(signal),
                "^orrery: the program crashed");
  }
}

TEST(EarlyEnd, OfAnExceptionInAThreadHasItsCauseInOwnWords) {
  const auto throws = [](auto failure) { std::thread{[failure] { throw failure; }}.join(); };
  EXPECT_EXIT((report_early_end(), throws(std::system_error(EMFILE, std::generic_category(), "raw"))),
              testing::KilledBySignal(SIGABRT), "^orrery: the program must end: Too many open files\n$");
  EXPECT_EXIT((report_early_end(), throws(std::runtime_error("'a': no such file"))), testing::KilledBySignal(SIGABRT),
              "^orrery: the program must end: 'a': no such file\n$");
}
#endif

/// Stands for a kernel on a GPU that is lost after some evaluations of 10 ms each.
class LosesItsDeviceLate final : public ForceKernel {
 public:
  explicit LosesItsDeviceLate(int evaluations) : left_{evaluations} {}
  void do_evaluate(const ForceArgs& args) override {
    if (left_-- == 0) throw LostDevice{"an illegal memory access"};
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    uniform_.do_evaluate(args);
  }

 private:
  int left_;
  UniformKernel uniform_{1};
};

/// The message of a run that keeps a checkpoint every second.
std::string message_of_loss(int evaluations, const std::string& checkpoint) {
  KernelCatalog kernels;
  kernels.put(kernel_info("loses-its-device", [evaluations](const Settings&, const cuda::Device*) {
    return std::make_unique<LosesItsDeviceLate>(evaluations);
  }));
  const std::unique_ptr<Verb> verb =
      parse_options(kernels, {"run", "--scene", "plummer", "-n", "20", "--kernel", "loses-its-device", "--steps",
                              "100000", "--checkpoint", checkpoint, "--every-s", "1"});
  return failure_of([&] { (void)verb->run({kernels}); }).message;
}

using ARunThatLosesItsDevice = InFolder;

TEST_F(ARunThatLosesItsDevice, LeavesACheckpointAndHowToContinue) {
  const std::string file = path("a.checkpoint");
  const std::string message = message_of_loss(250, file);
  EXPECT_EQ(message.find("the device failed: an illegal memory access; "), 0u) << message;
  expect_holds(message, {"; continue with: orrery run --resume " + file});
  const FoundCheckpoint found = find_checkpoint(file);
  EXPECT_EQ(found.note, "");
  EXPECT_GT(found.checkpoint.step, 0);
}

TEST_F(ARunThatLosesItsDevice, NamesNoCheckpointThatIsNotThere) {
  const std::string message = message_of_loss(3, path("a.checkpoint"));
  EXPECT_EQ(message.find("the device failed: an illegal memory access; "), 0u) << message;
  expect_lacks(message, {"--resume"});
}

}  // namespace
}  // namespace orrery::test
