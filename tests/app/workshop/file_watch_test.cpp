// Which changes of a folder are a save of the file.
#include "app/features/workshop/file_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "compute/core/temporary_folder.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class Watch : public testing::Test {
 protected:
  void write(const std::string& file) const { std::ofstream{folder / file.c_str()} << "text"; }

  /// Waits until take() returns true.
  void expect_soon() {
    for (int i = 0; i < 2000; ++i) {
      if (watch.take()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    FAIL() << "nothing was seen";
  }

  const TemporaryFolder folder;
  FileWatch watch;
};

TEST_F(Watch, SeesTheFileOnly) {
  write("mine.cu");
  watch.watch((folder / "mine.cu").string());
  EXPECT_FALSE(watch.take());
  write("other.cu");
  EXPECT_FALSE(watch.take());
  write("mine.cu");
  EXPECT_TRUE(watch.take());
  EXPECT_FALSE(watch.take());
  watch.wake();
  EXPECT_TRUE(watch.take());
}

TEST_F(Watch, SeesAFileThatIsDeletedAndWrittenAgain) {
  write("mine.cu");
  watch.watch((folder / "mine.cu").string());
  fs::remove(folder / "mine.cu");
  EXPECT_FALSE(watch.take());
  for (int i = 0; i < 2; ++i) {
    write("mine.cu");
    EXPECT_TRUE(watch.take());
  }
}

TEST_F(Watch, TakesADeletedFileForASaveIfNoneFollows) {
  write("mine.cu");
  watch.watch((folder / "mine.cu").string());
  for (const bool moved : {false, true}) {
    if (moved) {
      fs::rename(folder / "mine.cu", folder / "other.cu");
    } else {
      fs::remove(folder / "mine.cu");
    }
    EXPECT_FALSE(watch.take());
    expect_soon();
    write("mine.cu");
    EXPECT_TRUE(watch.take());
    EXPECT_FALSE(watch.take());
  }
}

TEST_F(Watch, SurvivesThatItsFolderIsReplaced) {
  fs::create_directories(folder / "a/b");
  write("a/b/mine.cu");
  watch.watch((folder / "a/b/mine.cu").string());
  fs::remove_all(folder / "a");  // as a change of the branch does
  expect_soon();
  fs::create_directories(folder / "a/b");
  write("a/b/mine.cu");
  expect_soon();
  write("a/b/mine.cu");
  EXPECT_TRUE(watch.take());

  fs::rename(folder / "a/b", folder / "moved");
  expect_soon();
  fs::create_directory(folder / "a/b");
  write("a/b/mine.cu");
  expect_soon();
  write("moved/mine.cu");
  EXPECT_FALSE(watch.take());
}

TEST_F(Watch, FollowsLinks) {
  for (const char* name : {"a", "b", "c"}) fs::create_directory(folder / name);
  write("b/real.cu");
  write("c/next.cu");
  fs::create_symlink("../b/real.cu", folder / "a/second.cu");
  fs::create_symlink(folder / "a/second.cu", folder / "first.cu");
  watch.watch((folder / "first.cu").string());
  write("b/real.cu");
  EXPECT_TRUE(watch.take());

  fs::create_symlink("../c/next.cu", folder / "a/new");
  EXPECT_FALSE(watch.take());
  fs::rename(folder / "a/new", folder / "a/second.cu");
  EXPECT_TRUE(watch.take()) << "a link that is replaced";
  write("b/real.cu");
  EXPECT_FALSE(watch.take()) << "it leads elsewhere";
  write("c/next.cu");
  EXPECT_TRUE(watch.take());
}

TEST_F(Watch, EndsForLinksThatLeadInACircle) {
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  EXPECT_NO_THROW(watch.watch((folder / "a").string()));
}

TEST_F(Watch, KeepsTheFileBeforeIfTheNextHasNoFolder) {
  write("mine.cu");
  watch.watch((folder / "mine.cu").string());
  test::expect_failure(
      test::Failure::runtime, [&] { watch.watch((folder / "none/mine.cu").string()); }, "cannot watch the folder");
  write("mine.cu");
  EXPECT_TRUE(watch.take());
}

}  // namespace
}  // namespace orrery
