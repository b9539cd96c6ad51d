// `orrery render` as a person runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "compute/core/text.h"
#include "tests/app/support/program.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::run_orrery;
using Words = std::vector<std::string>;

Words render(const Words& more) {
  Words words{"render", "--kernel", "cpu-simd", "-n", "500", "--size", "64x48"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::map<std::string, std::string> files(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator{folder}) {
    files[entry.path().filename()] = test::contents(entry.path().string());
  }
  return files;
}

TEST(RenderCommand, AStoppedFolderIsContinuedToTheSameBytes) {
  const TemporaryFolder folder;
  const std::string parts = (folder / "parts").string(), whole = (folder / "whole").string();
  const Outcome stopped = run_orrery(render({"--out", parts, "--frames", "100000"}),
                                     {.interrupt_when_exists = parts + "/frame-000003.png"});
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_NE(stopped.out.find("stopped before the end"), std::string::npos) << stopped.out;
  const auto made = files(parts).size() - 1;
  const std::string frames = std::to_string(made + 5);
  const Outcome continued = run_orrery(render({"--out", parts, "--frames", frames, "--progress"}));
  EXPECT_EQ(continued.status, 0) << continued.err;
  const std::string kept = "kept " + format_count(static_cast<std::int64_t>(made)) + " of ";
  EXPECT_NE(continued.out.find(kept), std::string::npos) << continued.out;
  const std::string all = ": " + frames + " frames (" + std::to_string(made) + " kept), ";
  EXPECT_NE(continued.out.find(all), std::string::npos) << continued.out;
  EXPECT_NE(continued.err.find("frame 1 of "), std::string::npos) << continued.err;
  EXPECT_EQ(run_orrery(render({"--out", whole, "--frames", frames})).status, 0);
  EXPECT_EQ(files(parts), files(whole));
}

TEST(RenderCommand, WhatCannotBeRenderedIsOneLine) {
  const TemporaryFolder folder;
  const std::string film = (folder / "a.mp4").string();
  struct Bad {
    Words words;
    int status;
    std::string said;
  };
  const std::vector<Bad> all{{{"--frames", "9"}, 2, "--out"},
                             {{"--out", "a.avi"}, 2, ".mp4"},
                             {{"--out", "-"}, 2, ".mp4"},
                             {{"--out", film, "--frames", "0"}, 2, "--frames"},
                             {{"--out", film, "--fps", "0"}, 2, "--fps"},
                             {{"--out", (folder / "none").string() + "/a.mp4"}, 1, "--out: "},
                             {{"--out", "/proc/none"}, 1, "/proc/none"},
                             {{"--out", film, "--path", (folder / "none.txt").string()}, 1, "none.txt"},
                             {{"--out", film, "--save", film}, 2, "--out"}};
  for (const auto& [words, status, said] : all) {
    const Outcome outcome = run_orrery(render(words));
    EXPECT_EQ(outcome.status, status) << said << ": " << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(film));
  }
}

}  // namespace
}  // namespace orrery
