// Programs that are run for what they write.
#include "app/process/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/app/support/test.h"

namespace orrery::test {
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

TEST(ChildResult, TellsAProgramThatDidNotStartFromOneThatFailed) {
  const auto never = [] { return false; };
  EXPECT_EQ(child_result("/no/such/program", {}, never).not_started,
            "'/no/such/program' cannot be started: No such file or directory");
  EXPECT_EQ(child_result(find_program("false").value(), {}, never).not_started, "");
}

TEST(ChildResult, OfAProgramThatReadsItsInput) {
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(child_result(
                find_program("cat").value(), {}, [] { return false; }, {}, text)
                .text,
            text);
  EXPECT_EQ(child_output(find_program("cat").value(), {}), "") << "there is none";
}

TEST(ThisProgram, CanBeStartedAfterItsFileWasReplaced) {
  const TemporaryFolder folder;
  const auto copy = folder / "copy";
  std::filesystem::copy_file("/proc/self/exe", copy);
  // The copy deletes its file, and starts itself.
  const auto words = {std::string{"--gtest_filter=ThisProgram.DISABLED_StartsItself"},
                      std::string{"--gtest_also_run_disabled_tests"}};
  const ChildResult result = child_result(copy, words, [] { return false; });
  EXPECT_EQ(result.status, 0) << result.text << result.error;
}
TEST(ThisProgram, DISABLED_StartsItself) {
  std::filesystem::remove(std::filesystem::read_symlink("/proc/self/exe"));
  const ChildResult result = child_result(this_program(), {"--gtest_list_tests"}, [] { return false; });
  EXPECT_EQ(result.not_started, "");
  EXPECT_EQ(result.status, 0);
}

TEST(ChildOutput, EndsAProgramThatNobodyWaitsForAnyMore) {
  std::stop_source stop;
  stop.request_stop();  // were it not to end, the test would meet its time limit
  EXPECT_FALSE(child_output(find_program("sleep").value(), {"1000"}, stop.get_token()));
}

TEST(ChildOutput, TellsTheChildWhoWaitsForIt) {
  EXPECT_EQ(child_output("/bin/sh", {"-c", "[ \"$ORRERY_PARENT\" = $PPID ] && echo yes"}), "yes\n");
}

TEST(EndWithParent, KillsAChildWhoseParentIsKilled) {
  // This process forks the parent, and that one the child, whose end closes the pipe.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    const std::string number = std::to_string(getpid());
    if (fork() != 0) {
      pause();
      _exit(0);
    }
    setenv(parent_variable, number.c_str(), 1);
    end_with_parent();
    (void)!write(ends[1], std::getenv(parent_variable) ? "?" : "!", 1);
    pause();
    _exit(0);
  }
  close(ends[1]);
  char said = 0;
  ASSERT_EQ(read(ends[0], &said, 1), 1);
  EXPECT_EQ(said, '!') << "the variable is not for the child's own children";
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_EQ(read(ends[0], &said, 1), 0) << "were the child alive, the test would meet its time limit";
  close(ends[0]);
}

TEST(FindProgram, LooksInFurtherFoldersAndForPrograms) {
  const TemporaryFolder folder;
  const auto program = folder.write("orrery-test-program", "#!/bin/sh\n");
  EXPECT_FALSE(find_program("orrery-test-program", {folder.path()})) << "it cannot be run";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_FALSE(find_program("no-such-program"));
  EXPECT_EQ(find_program("orrery-test-program", {folder.path()}), folder / "orrery-test-program");
  EXPECT_FALSE(find_program("", {"/"})) << "a folder is no program";
}

}  // namespace
}  // namespace orrery::test
