// The workshop: a file that is saved again and again. Compiling and checking are this test's own, so it needs no GPU.
#include "app/workshop/kernel_workshop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "compute/core/error.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/kernel_texts.h"
#include "tests/compute/support/temporary_folder.h"

namespace orrery {
namespace {

using test::kernel_text;

class Workshop : public testing::Test {
 protected:
  void save(const std::string& text) const { std::ofstream{path} << text; }
  /// Waits until the text with this number was judged.
  void wait_for(int text_number) {
    for (int i = 0; i < 2000; ++i) {
      workshop.describe(status);
      if (status.text_number >= text_number && !workshop.busy()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    FAIL() << "the workshop waits for ever";
  }

  const test::TemporaryFolder folder;
  const std::string path = (folder / "mine.cu").string();
  KernelCheck result{.problem = "", .largest_error = 1e-6};
  std::atomic<bool> hangs = false;
  std::atomic<int> checks{0};
  WorkshopStatus status;
  KernelWorkshop workshop{
      {.compile =
           [](const KernelFile& file, const Settings::Values&) {
             if (file.text.find("wrong") != std::string::npos) {
               throw KernelFileError{file.name, {{7, true, "wrong is undefined"}}};
             }
             return std::vector<FileMessage>{{3, false, "a warning"}};
           },
       .check =
           [this](const KernelFile&, const Settings::Values&, const std::function<bool()>& cancelled) {
             ++checks;
             while (hangs) {
               if (cancelled()) return KernelCheck{.problem = "newer", .cancelled = true};
               std::this_thread::sleep_for(std::chrono::milliseconds{1});
             }
             return result;
           }}};
};

TEST_F(Workshop, TakesUpAFileWhenItIsOpenedAndWhenItIsSaved) {
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  EXPECT_EQ(status.state, WorkshopState::running);
  EXPECT_EQ(status.kernel_id, "mine");
  EXPECT_EQ(status.text, kernel_text());
  ASSERT_EQ(status.messages.size(), 1u);
  EXPECT_EQ(status.messages.front().text, "a warning");
  const auto first = workshop.take_accepted();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->version, 1);
  EXPECT_FALSE(workshop.take_accepted());

  save(kernel_text("  // an edit"));
  wait_for(2);
  const auto second = workshop.take_accepted();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->version, 2);
  EXPECT_NE(second->file->text.find("an edit"), std::string::npos);
  workshop.describe(status);
  EXPECT_EQ(status.running, 2);
  ASSERT_EQ(status.versions.size(), 2u);
  EXPECT_EQ(status.versions[1].largest_error, 1e-6);
  EXPECT_EQ(status.versions[1].time.size(), 8u);
}

TEST_F(Workshop, TakesUpAFileThatAnEditorRenames) {
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  std::ofstream{folder / "other"} << kernel_text("  // renamed");
  std::filesystem::rename(folder / "other", path);
  wait_for(2);
  EXPECT_NE(status.text.find("renamed"), std::string::npos);
}

TEST_F(Workshop, RejectsAtTheLineAndKeepsTheRunningVersion) {
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  ASSERT_TRUE(workshop.take_accepted());
  save(kernel_text("  wrong"));
  wait_for(2);
  EXPECT_EQ(status.state, WorkshopState::rejected);
  EXPECT_EQ(status.running, 1);
  EXPECT_FALSE(workshop.take_accepted());
  ASSERT_FALSE(status.messages.empty());
  EXPECT_EQ(status.messages.front().line, 7);
  EXPECT_EQ(status.versions[1].error, path + "(7): wrong is undefined");
  EXPECT_EQ(checks, 1) << "what does not compile is not checked";

  result = {.problem = "33 bodies: the kernel hangs"};
  save(kernel_text("  // hangs"));
  wait_for(3);
  EXPECT_EQ(status.state, WorkshopState::rejected);
  EXPECT_EQ(status.messages.front().text, result.problem);
  EXPECT_EQ(status.messages.front().line, 5) << "the function's";
  EXPECT_FALSE(status.versions[2].accepted);

  save("no kernel");
  wait_for(4);
  EXPECT_NE(status.versions[3].error.find("(1): no header"), std::string::npos);
}

TEST_F(Workshop, BringsAnEarlierVersionBackAsTheNewest) {
  save(kernel_text("  // one"));
  workshop.open(path);
  wait_for(1);
  save(kernel_text("  // two"));
  wait_for(2);
  workshop.bring_back(1);
  wait_for(3);
  EXPECT_EQ(status.text, kernel_text("  // one"));
  EXPECT_EQ(status.versions.size(), 3u);
  EXPECT_EQ(workshop.take_accepted()->version, 3);
  test::expect_failure(
      test::Failure::usage, [&] { workshop.bring_back(9); }, "no version 9", "3");
}

TEST_F(Workshop, LeavesACheckForANewerText) {
  hangs = true;
  save(kernel_text("  // one"));
  workshop.open(path);
  while (checks == 0) std::this_thread::yield();
  hangs = false;
  save(kernel_text("  // two"));
  wait_for(2);
  EXPECT_EQ(status.state, WorkshopState::running);
  EXPECT_EQ(workshop.take_accepted()->version, 2);
}

TEST_F(Workshop, CompilesTheSameTextOnlyOnDemand) {
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  save(kernel_text());
  workshop.compile_again();
  wait_for(2);
  EXPECT_EQ(status.versions.size(), 2u) << "saved unchanged, and asked for";
}

TEST_F(Workshop, RefusesWhatNeedsAFile) {
  test::expect_failure(
      test::Failure::usage, [&] { workshop.save("x"); }, "no kernel file is open");
  test::expect_failure(
      test::Failure::runtime, [&] { workshop.open((folder / "none.cu").string()); }, "none.cu");
}

}  // namespace
}  // namespace orrery
