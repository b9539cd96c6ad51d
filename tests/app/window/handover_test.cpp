// A window's legacy to the program that goes on in its place.
#include "app/window/handover.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/commands/command_text.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/run_view.h"
#include "compute/core/process.h"
#include "compute/core/temporary_folder.h"
#include "compute/kernels/runtime/kernel_file.h"

namespace orrery {
namespace {

TEST(HandoverTest, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  Handover left{.message = "the device failed",
                .window = {},
                .requests = {SetStepsPerFrame{3}, ShowLegend{false}},
                .picks = {PickBody{7}},
                .camera = {.azimuth = 0.25, .elevation = -0.5, .distance = 3, .target = {1, 2, 4}},
                .recording = "",
                .kernel = Handover::Kernel{.file = "my.cu", .text = "// id: my \xff\n", .version = 4},
                .workshop = KernelHistory{.file = "my.cu", .kernel_id = "my", .versions = {{{}, "// id: my\n"}}},
                .same_kernel = true};
  left.window.sections = {{"scene", true}};
  left.window.place = WindowPlace{10, 20, {800, 600}};
  write_handover(folder.path(), left);
  const Handover read = read_handover(folder.path());
  EXPECT_EQ(read.message, left.message);
  EXPECT_EQ(read.window.place, left.window.place);
  EXPECT_EQ(read.window.sections, left.window.sections);
  ASSERT_EQ(read.requests.size(), 2u);
  EXPECT_EQ(command_json(read.requests[0]), command_json(left.requests[0]));
  EXPECT_EQ(command_json(read.requests[1]), command_json(left.requests[1]));
  ASSERT_EQ(read.picks.size(), 1u);
  EXPECT_EQ(command_json(read.picks[0]), command_json(left.picks[0]));
  EXPECT_EQ(read.camera.azimuth, 0.25);
  EXPECT_EQ(read.camera.target.z, 4);
  EXPECT_EQ(read.recording, "") << "one in the usual file";
  ASSERT_TRUE(read.kernel && read.workshop);
  EXPECT_EQ(read.kernel->version, 4);
  EXPECT_EQ(read.kernel->text, left.kernel->text) << "also what is no UTF-8";
  EXPECT_EQ(read.workshop->versions.front().text, "// id: my\n");
  EXPECT_TRUE(read.same_kernel);

  left.recording.reset();
  left.kernel.reset();
  left.workshop.reset();
  write_handover(folder.path(), left);
  const Handover without = read_handover(folder.path());
  EXPECT_FALSE(without.recording || without.kernel || without.workshop);
}

TEST(HandoverTest, HasTheLongestTextsOfKernelFiles) {
  const TemporaryFolder folder;
  const std::string text(KernelFile::most_bytes, '/');
  Handover left;
  left.kernel = Handover::Kernel{.file = "my.cu", .text = text, .version = 2};
  left.workshop = KernelHistory{.file = "my.cu", .kernel_id = "my", .versions = {{{}, text}, {{}, text + '\n'}}};
  write_handover(folder.path(), left);
  const Handover read = read_handover(folder.path());
  EXPECT_EQ(read.kernel->text, text);
  ASSERT_EQ(read.workshop->versions.size(), 2u);
  EXPECT_EQ(read.workshop->versions[0].text, text);
  EXPECT_EQ(read.workshop->versions[1].text, text + '\n');
}

TEST(HandoverTest, IsRemovedWithoutTheFilesOfOthers) {
  const TemporaryFolder parent;
  const std::filesystem::path folder = parent / "handover", other = folder / "other.txt";
  std::filesystem::create_directory(folder);
  Handover left;
  left.kernel = Handover::Kernel{.file = "my.cu", .text = "// id: my\n", .version = 2};
  left.workshop = KernelHistory{.file = "my.cu", .kernel_id = "my", .versions = {{{}, "1"}, {{}, "2"}}};
  std::ofstream{other} << "of another program";
  write_handover(folder, left);
  std::ofstream{Handover::checkpoint_in(folder)} << "a run";
  remove_handover(folder);
  ASSERT_TRUE(std::filesystem::remove(other));
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "all of its own files are gone";
  write_handover(folder, left);
  remove_handover(folder);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(HandoverTest, ThatIsDamagedIsOneLine) {
  const TemporaryFolder folder;
  for (const char* const text : {"", "{}", "[]", "{\"message\": 1}"}) {
    std::ofstream{folder / "handover.json"} << text;
    try {
      (void)read_handover(folder.path());
      ADD_FAILURE() << text;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos) << error.what();
    }
  }
}

TEST(HandoverTest, LeavesTheOptionsThatConcernTheEnd) {
  ViewOptions given;
  given.scene.file = "bodies.tipsy";
  given.setup = {SetPaused{true}};
  given.record_file = "a.csv";
  given.kernel_file = "my.cu";
  given.save_file = "end.tipsy";
  const ViewOptions next = options_after_handover(given, "/tmp/x");
  EXPECT_TRUE(next.scene.file.empty() && next.setup.empty() && next.record_file.empty() && next.kernel_file.empty());
  EXPECT_EQ(next.save_file, "end.tipsy");
  EXPECT_EQ(next.resume_file, "/tmp/x/run.checkpoint");
  EXPECT_EQ(next.handover, "/tmp/x");
}

TEST(HandoverTest, IsNamedForTheUserWhileItIsThere) {
  const TemporaryFolder folder;
  EXPECT_EQ(continuation(folder.path()), "") << "taken over";
  const std::string checkpoint = Handover::checkpoint_in(folder.path()).string();
  std::ofstream{checkpoint} << "a run";
  EXPECT_EQ(continuation(folder.path()), "'orrery view --resume " + checkpoint + "' continues");
}

TEST(HandoverTest, IsNotTakenOverAfterAStopRequest) {
  const TemporaryFolder folder;
  std::ofstream{Handover::checkpoint_in(folder.path())} << "a run";
  const auto end = [&] {
    watch_stop_signals();
    std::raise(SIGTERM);
    std::fputs(start_anew(folder.path(), {"--help"}).c_str(), stderr);
    std::_Exit(stop_status());
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(128 + SIGTERM), "orrery view --resume .*run.checkpoint' continues");
}

TEST(HandoverTest, OnlyTheProgramsOwnWordsAreTakenAway) {
  std::vector<std::string> words{"view", "take-over-window", "-n", "5"};
  EXPECT_FALSE(take_handover(words));
  EXPECT_EQ(words.size(), 4u);
  words = {"take-over-window", "/tmp/x", "view", "-n", "5"};
  EXPECT_EQ(take_handover(words), "/tmp/x");
  EXPECT_EQ(words, (std::vector<std::string>{"view", "-n", "5"}));
}

}  // namespace
}  // namespace orrery
