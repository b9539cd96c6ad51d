// Programs that are run for what they write.
#include "app/process/child_process.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(ChildOutput, IsWhatTheProgramWroteForItsArgumentsAsTheyAre) {
  const auto echo = find_program("echo");
  ASSERT_TRUE(echo);
  EXPECT_EQ(child_output(*echo, {"a b", "$HOME;`ls`", ""}), "a b $HOME;`ls` \n");
}

TEST(ChildOutput, MayBeLongerThanAPipeHolds) {
  const auto head = find_program("head");
  ASSERT_TRUE(head);
  const auto text = child_output(*head, {"-c", "1000000", "/dev/zero"});
  ASSERT_TRUE(text);
  EXPECT_EQ(text->size(), 1'000'000u);
}

TEST(ChildOutput, IsNoneOfAProgramThatFailsOrIsNotThere) {
  EXPECT_FALSE(child_output(find_program("false").value(), {}));
  EXPECT_FALSE(child_output("/no/such/program", {}));
}

TEST(ChildOutput, EndsAProgramThatNobodyWaitsForAnyMore) {
  std::stop_source stop;
  stop.request_stop();  // were it not to end, the test would meet its time limit
  EXPECT_FALSE(child_output(find_program("sleep").value(), {"1000"}, stop.get_token()));
}

TEST(FindProgram, LooksInFurtherFoldersAndForPrograms) {
  EXPECT_FALSE(find_program("no-such-program"));
  EXPECT_FALSE(find_program("hostname", {"/etc"}) == std::filesystem::path{"/etc/hostname"}) << "it cannot be run";
  EXPECT_FALSE(find_program("", {"/"})) << "a folder is no program";
}

}  // namespace
}  // namespace orrery
