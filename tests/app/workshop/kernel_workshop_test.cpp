// The workshop: a file that is saved again and again. Compiling and checking are this test's own, so it needs no GPU.
#include "app/features/workshop/kernel_workshop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "compute/core/error.h"
#include "compute/core/temporary_folder.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/kernel_texts.h"

namespace orrery {
namespace {

using test::kernel_text;

class Workshop : public testing::Test {
 protected:
  void TearDown() override { hangs = false; }
  void save(const std::string& text) const { std::ofstream{path} << text; }
  /// Waits until the text with this number was judged, and the status says so. The workshop may end a check just after
  /// it described itself, so its not being busy now is not enough.
  void wait_for(int text_number) {
    wait_until([&] {
      const bool judging = status.state == WorkshopState::compiling || status.state == WorkshopState::checking;
      return status.text_number >= text_number && !judging && !workshop.busy();
    });
  }
  template <class Condition>
  void wait_until(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      workshop.describe(status);
      if (condition()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    FAIL() << "the workshop waits for ever";
  }

  const TemporaryFolder folder;
  const std::string path = (folder / "mine.cu").string();
  KernelCheck result{.problem = "", .largest_error = 1e-6};
  std::atomic<bool> hangs = true;  // the check of a text with this word
  std::atomic<int> checks{0};
  WorkshopStatus status;
  KernelWorkshop workshop{
      {.compile =
           [this](const KernelFile& file, const Settings::Values&, const std::function<bool()>& cancelled) {
             while (hangs && file.text.find("endless") != std::string::npos) {
               if (cancelled()) throw std::runtime_error("the compiler was stopped");
               std::this_thread::sleep_for(std::chrono::milliseconds{1});
             }
             if (file.text.find("wrong") != std::string::npos) {
               throw KernelFileError{file.name, {{7, true, "wrong is undefined"}}};
             }
             return std::vector<FileMessage>{{3, false, "a warning"}};
           },
       .check =
           [this](const KernelFile& file, const Settings::Values&, const std::function<bool()>& cancelled) {
             ++checks;
             do {
               if (cancelled()) return KernelCheck{.problem = "newer", .cancelled = true};
               std::this_thread::sleep_for(std::chrono::milliseconds{1});
             } while (hangs && file.text.find("hangs") != std::string::npos);
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
  ASSERT_EQ(status.versions.size(), 2u);
  EXPECT_EQ(status.versions[1].largest_error, 1e-6);
  EXPECT_EQ(status.versions[1].time.size(), 8u);
}

TEST_F(Workshop, GoesOnWithTheVersionsOfAnotherProcess) {
  save(kernel_text("  // two"));  // as the other one left it
  KernelHistory left{
      .file = path,
      .kernel_id = "mine",
      .versions = {
          {{.time = "12:00:00", .accepted = true, .largest_error = 1e-7, .remark = "with some", .compile_ms = 70},
           kernel_text()},
          {{.time = "12:01:00", .error = "the device failed with it"}, kernel_text("  // two")}}};
  KernelHistory history = history_of(history_json(left));
  for (std::size_t i = 0; i < history.versions.size(); ++i) history.versions[i].text = left.versions[i].text;
  workshop.restore(history);
  workshop.describe(status);
  EXPECT_EQ(status.state, WorkshopState::rejected);
  EXPECT_EQ(status.problem, "the device failed with it");
  EXPECT_EQ(status.text, kernel_text("  // two"));
  ASSERT_EQ(status.versions.size(), 2u);
  EXPECT_TRUE(status.versions[0].accepted);
  EXPECT_EQ(status.versions[0].largest_error, 1e-7);
  EXPECT_EQ(status.versions[0].compile_ms, 70);
  EXPECT_EQ(status.versions[0].remark, "with some");
  save(kernel_text("  // two"));  // the same text once more
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  EXPECT_EQ(checks, 0) << "it made the device fail";
  workshop.bring_back(1);
  wait_for(3);
  const auto accepted = workshop.take_accepted();
  ASSERT_TRUE(accepted);
  EXPECT_EQ(accepted->version, 3);
  EXPECT_EQ(accepted->file->text, kernel_text());
  EXPECT_EQ(checks, 1);
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
  EXPECT_FALSE(workshop.take_accepted());
  ASSERT_FALSE(status.messages.empty());
  EXPECT_EQ(status.messages.front().line, 7);
  EXPECT_EQ(status.versions[1].error, path + "(7): wrong is undefined");
  EXPECT_EQ(checks, 1) << "what does not compile is not checked";

  result = {.problem = "33 bodies: the kernel hangs"};
  save(kernel_text("  // a loop"));
  wait_for(3);
  EXPECT_EQ(status.state, WorkshopState::rejected);
  EXPECT_EQ(status.messages.front().text, result.problem);
  EXPECT_EQ(status.messages.front().line, 5) << "the function's";
  EXPECT_FALSE(status.versions[2].accepted);

  save("no kernel");
  wait_for(4);
  EXPECT_NE(status.versions[3].error.find("(1): no header"), std::string::npos);
}

TEST_F(Workshop, RejectsAtTheLineThatTheCheckNames) {
  result = {.problem = "mine.cu(9): with block=32: a is undefined", .line = 9};
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  EXPECT_EQ(status.state, WorkshopState::rejected);
  ASSERT_FALSE(status.messages.empty());
  EXPECT_EQ(status.messages.front().line, 9);
}

TEST_F(Workshop, RefusesTenMegabytesOfTextAtAFileAndALine) {
  const std::string long_text(10 << 20, '/');
  save(long_text);
  const std::string refusal = path + "(1): the file has 10485760 bytes; a kernel file has at most 262144";
  test::expect_failure(
      test::Failure::usage, [&] { workshop.open(path); }, refusal);
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  save(long_text);
  wait_until([&] { return status.state == WorkshopState::rejected; });
  EXPECT_EQ(status.problem, refusal);
  ASSERT_FALSE(status.messages.empty());
  EXPECT_EQ(status.messages.front().line, 1);
}

TEST_F(Workshop, AcceptsNothingThatCannotBeCheckedHere) {
  result = {.not_here = true};
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  EXPECT_EQ(status.state, WorkshopState::unchecked);
  EXPECT_EQ(status.problem, "");
  EXPECT_FALSE(workshop.take_accepted());
  save(kernel_text("  // two"));
  wait_for(2);
  EXPECT_EQ(status.versions[0].error, "") << "it was not left for the newer one";
  EXPECT_TRUE(status.versions[0].compiles);
  EXPECT_FALSE(status.versions[0].accepted);
}

TEST_F(Workshop, KeepsWhatACheckLeftOut) {
  result.remark = "with 10 of the 20 bodies that are shown";
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  EXPECT_EQ(status.versions[0].remark, result.remark);
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

TEST_F(Workshop, LeavesACompilerForANewerText) {
  save(kernel_text("  // endless"));
  workshop.open(path);
  wait_until([&] { return status.state == WorkshopState::compiling; });
  save(kernel_text("  // two"));
  wait_for(2);
  EXPECT_EQ(status.state, WorkshopState::running);
  EXPECT_EQ(status.versions[0].error, "a newer text was saved");
  save(kernel_text("  // endless again"));
  wait_until([&] { return status.state == WorkshopState::compiling; });  // its end does not wait for the compiler
}

TEST_F(Workshop, LeavesACheckForANewerText) {
  save(kernel_text("  // hangs"));
  workshop.open(path);
  wait_until([&] { return checks == 1; });
  save(kernel_text("  // two"));
  wait_for(2);
  EXPECT_EQ(status.state, WorkshopState::running);
  EXPECT_EQ(status.versions[0].error, "a newer text was saved");
  EXPECT_EQ(workshop.take_accepted()->version, 2);
}

TEST_F(Workshop, ChecksTheSameTextAgainIfItIsSavedDuringTheCheck) {
  save(kernel_text("  // hangs"));
  workshop.open(path);
  wait_until([&] { return checks == 1; });
  workshop.save(kernel_text("  // hangs"));
  wait_until([&] { return checks == 2; });
  workshop.compile_again();
  wait_until([&] { return checks == 3; });
  EXPECT_TRUE(workshop.busy());
  hangs = false;
  wait_for(1);
  EXPECT_EQ(status.state, WorkshopState::running);
  EXPECT_EQ(status.versions.size(), 1u);
  EXPECT_EQ(workshop.take_accepted()->version, 1);
}

TEST_F(Workshop, DoesNotTakeItsOwnSaveForANewerOne) {
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  for (int version = 2; version < 12; ++version) {
    workshop.save(kernel_text("  // " + std::to_string(version)));
    wait_for(version);
    EXPECT_EQ(status.state, WorkshopState::running) << status.problem;
    EXPECT_EQ(checks, version);
    const auto accepted = workshop.take_accepted();
    ASSERT_TRUE(accepted);
    EXPECT_EQ(accepted->version, version);
  }
}

TEST_F(Workshop, KeepsTheTextOfAFileThatCannotBeRead) {
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  std::filesystem::remove(path);
  wait_until([&] { return status.state == WorkshopState::rejected && !workshop.busy(); });
  EXPECT_NE(status.problem.find("No such file"), std::string::npos) << status.problem;
  ASSERT_EQ(status.messages.size(), 1u);
  EXPECT_EQ(status.messages.front().line, 0);
  EXPECT_EQ(status.text, kernel_text());
  EXPECT_EQ(status.versions.size(), 1u);

  save(std::string(KernelFile::most_bytes + 1, 'x'));
  wait_until([&] { return status.problem.find("262145 bytes") != std::string::npos; });
  EXPECT_EQ(status.text, kernel_text());

  save(kernel_text());
  wait_until([&] { return status.state == WorkshopState::running; });
  EXPECT_EQ(status.versions.size(), 1u) << "the same text as before";
  EXPECT_TRUE(status.problem.empty());
}

TEST_F(Workshop, RejectsAVersionThatCouldNotBeUsed) {
  save(kernel_text());
  workshop.open(path);
  wait_for(1);
  workshop.reject(1, "too much shared memory");
  workshop.reject(0, "none");
  workshop.describe(status);
  EXPECT_EQ(status.state, WorkshopState::rejected);
  EXPECT_EQ(status.problem, "too much shared memory");
  EXPECT_EQ(status.versions[0].error, status.problem);
  save(kernel_text("  // two"));
  wait_for(2);
  workshop.reject(1, "late");
  workshop.describe(status);
  EXPECT_EQ(status.state, WorkshopState::running) << "another version is the latest";
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
