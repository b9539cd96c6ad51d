// Kernels that are wrong, checked by the built program in a process of its own: each is rejected with an explanation.
#include "app/process/kernel_processes.h"
#include "compute/cuda/nvrtc.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/kernel_texts.h"

namespace orrery::test {
namespace {

using namespace std::chrono_literals;

struct BrokenKernel : testing::Test {
  void SetUp() override {
    ORRERY_SKIP_WITHOUT_BACKEND();
    if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  }

  static KernelCheck check(const std::string& text, std::chrono::milliseconds limit = 60s) {
    const KernelChecker checker{.program = ORRERY_PROGRAM, .limit = limit};
    return checker.check(parse_kernel_file("mine.cu", text), {});
  }
  static void expect_problem(const std::string& text, std::initializer_list<const char*> parts,
                             std::chrono::milliseconds limit = 60s) {
    const KernelCheck found = check(text, limit);
    RecordProperty("message", found.problem);
    expect_lacks(found.problem, {"\n"});
    for (const char* part : parts) {
      expect_holds(found.problem, {part});
    }
  }
};

TEST_F(BrokenKernel, IsNotTheOneThatIsCorrect) {
  const KernelCheck found = check(kernel_text());
  EXPECT_EQ(found.problem, "");
  ASSERT_TRUE(found.largest_error);
  EXPECT_LT(*found.largest_error, 5e-3);
}

TEST_F(BrokenKernel, Hangs) {
  // clock64() keeps the compiler from removing the loop.
  expect_problem(kernel_text("  while (clock64() != 0) {\n  }"), {"did not end within 15 s", "hangs"}, 15s);
}

TEST_F(BrokenKernel, ReadsFarOutside) {
  expect_problem(kernel_text("  sum.x += sources.bodies[1ll << 34].x;"), {"1 body", "outside of its arrays"});
}

TEST_F(BrokenKernel, ReadsOneBodyPastTheEnd) {
  expect_problem(with(kernel_text(), "j < sources.count", "j <= sources.count"), {"not finite"});
}

TEST_F(BrokenKernel, WritesPastTheEnd) {
  expect_problem(kernel_text("  if (i == 0) epilogue.finish(sources.count, 1, sum);"), {"bodies that do not exist"});
}

TEST_F(BrokenKernel, GivesNaN) {
  expect_problem(kernel_text("  if (i == 30) sum.y = 0.0f / (sum.y - sum.y);"), {"31 bodies", "not finite"});
}

TEST_F(BrokenKernel, LeavesBodiesOut) {
  expect_problem(kernel_text("  if (i == 32) return;"), {"33 bodies", "not finite"});
}

TEST_F(BrokenKernel, IsWrongForOneLawOnly) {
  expect_problem(kernel_text("  if (law_id == LawId::attract_repel) sum.x = 1.1f * sum.x;"),
                 {"attract-repel", "error is", "allowed is"});
}

TEST_F(BrokenKernel, IsWrongForOneValueOnly) {
  expect_problem(kernel_text("  if (block == 32 && sources.count > 1) sum.x = 2 * sum.x;"), {"block=32"});
}

TEST_F(BrokenKernel, AddsToTheSumsOfTheCallBefore) {
  expect_problem(
      with(kernel_text("  sum.x = kept[i] += sum.x;"), "__global__", "__device__ float kept[8192];\n\n__global__"),
      {"31 bodies", "keeps something from one call to the next"});
}

TEST_F(BrokenKernel, KeepsItsFirstSources) {
  const std::string statements =
      "  if (i == 0 && sources.count == 33 && !full) full = 1, kept = sum.x;\n"
      "  if (i == 0 && sources.count == 33) sum.x = kept;";
  expect_problem(
      with(kernel_text(statements), "__global__", "__device__ int full;\n__device__ float kept;\n\n__global__"),
      {"33 bodies", "error is", "allowed is"});
}

TEST_F(BrokenKernel, TakesPlacesForBodies) {
  expect_problem(with(kernel_text(), "targets.body(place)", "place"), {"31 bodies", "targets.body(k)"});
}

TEST_F(BrokenKernel, HasWrongParameters) {
  expect_problem(with(kernel_text(), "PairLaw law", "Law law"), {"mine.cu(5)", "the function must be"});
}

TEST_F(BrokenKernel, NeedsTooMuchSharedMemory) {
  expect_problem(with(with(kernel_text(), "\n\n", "\n// shared-per-thread: 1024\n\n"), "32 [128]", "32 [1024]"),
                 {"mine.cu(4)", "a block of 1024 threads", "bytes of shared memory"});
}

TEST_F(BrokenKernel, Traps) {
  expect_problem(kernel_text("  if (sources.count > 31) asm(\"trap;\");"), {"33 bodies"});
}

}  // namespace
}  // namespace orrery::test
