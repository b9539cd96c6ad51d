// A process of the program that prepares itself, and then waits for its command line.
#include "app/process/child_process.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

const std::filesystem::path program = ORRERY_PROGRAM;

bool never() {
  return false;
}

TEST(SpareProcess, RunsTheCommandThatItWaitedFor) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "two words\nof two lines.json";
  const std::unique_ptr<ChildProcess> spare = start_spare(program, {"profile"});
  const ChildResult end = spare->result(
      never, std::chrono::minutes{2},
      packed_words({"profile", "--kernels", "cpu-serial", "--scene", "plummer", "-n", "64", "--json", file.string()}));
  EXPECT_EQ(end.status, 0) << end.error;
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(SpareProcess, EndsWithoutACommand) {
  const std::unique_ptr<ChildProcess> spare = start_spare(program, {"profile"});
  EXPECT_EQ(spare->result(never, std::chrono::minutes{2}).status, 0);
}

TEST(SpareProcess, ReportsAWrongCommand) {
  const std::unique_ptr<ChildProcess> spare = start_spare(program, {"profile"});
  const ChildResult end = spare->result(never, std::chrono::minutes{2}, packed_words({"profile", "--kernels", "none"}));
  EXPECT_EQ(end.status, 2);
  expect_holds(last_complaint(end), {"'none'"});
}

}  // namespace
}  // namespace orrery::test
