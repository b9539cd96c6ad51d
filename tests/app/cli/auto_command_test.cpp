// What `auto` keeps from one run of the program to the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute/core/format_count.h"
#include "compute/core/temporary_folder.h"
#include "tests/app/support/program.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

using nlohmann::json;
using test::contents;
using test::Outcome;
using test::run_orrery;

class AutoCommand : public testing::Test {
 protected:
  /// Lines on stderr that are no notes of bench.
  static int complaints(const Outcome& outcome) {
    return static_cast<int>(std::ranges::count_if(
        test::lines(outcome.err), [](const std::string& line) { return line.starts_with("orrery: "); }));
  }
  Outcome choose(const std::string& cache_folder, const std::string& count = "64") const {
    const Outcome outcome = run_orrery({"bench", "--kernels", "auto", "-n", count, "--repeat", "1"},
                                       {.folder = folder.path().string(), .cache_folder = cache_folder});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("note: " + format_count(std::stoi(count)) + " bodies, gravity: auto: "),
              std::string::npos)
        << outcome.err;
    return outcome;
  }
  json info() const {
    const Outcome outcome = run_orrery({"info", "--json"}, {.cache_folder = cache});
    EXPECT_NE(outcome.status, 1) << outcome.err;
    return json::parse(outcome.out)["auto"];
  }

  const TemporaryFolder folder;
  const std::string cache = (folder / "cache").string();
  const std::filesystem::path file = folder / "cache" / "orrery" / "auto-kernels.json";
};

TEST_F(AutoCommand, KeepsWhatItMeasuredAndTells) {
  EXPECT_EQ(info()["choices"].size(), 0u);
  EXPECT_EQ(complaints(choose(cache)), 0);
  const std::string cached = contents(file);
  EXPECT_EQ(complaints(choose(cache)), 0);
  EXPECT_EQ(contents(file), cached) << "nothing is measured again";
  const json told = info();
  EXPECT_EQ(told["cache"], file.string());
  EXPECT_EQ(told["problem"], "");
  ASSERT_EQ(told["choices"].size(), 1u);
  EXPECT_EQ(told["choices"][0]["law"], "gravity");
  EXPECT_EQ(told["choices"][0]["bodies"], 64);
  EXPECT_GT(told["choices"][0]["step_ms"], 0);
  const Outcome text = run_orrery({"info", "--wide"}, {.cache_folder = cache});
  EXPECT_NE(text.out.find(file.string()), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("gravity, about 64 bodies"), std::string::npos) << text.out;
}

TEST_F(AutoCommand, TellsForWhichTreesItMeasured) {
  choose(cache, "8192");
  const std::string cached = contents(file);
  choose(cache, "8192");
  EXPECT_EQ(contents(file), cached) << "the same ones meet the accuracy";
  const json told = info();
  ASSERT_EQ(told["choices"].size(), 1u);
  const json trees = told["choices"][0]["accurate_variants"];
  ASSERT_GE(trees.size(), 1u) << told;
  const Outcome text = run_orrery({"info", "--wide"}, {.cache_folder = cache});
  const std::string line = "accuracy 0.0005 (met by " + trees[0].get<std::string>();
  EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
}

TEST_F(AutoCommand, GoesOnWithoutACacheThatCanBeUsed) {
  choose(cache);
  std::ofstream{file} << "rubbish";
  const Outcome corrupt = choose(cache);
  EXPECT_EQ(complaints(corrupt), 1) << corrupt.err;
  EXPECT_NE(corrupt.err.find(file.string()), std::string::npos) << corrupt.err;
  EXPECT_EQ(complaints(choose(cache)), 0) << "it was written anew";

  std::ofstream{file} << std::string(300'000, '[');
  EXPECT_NE(info()["problem"].get<std::string>().find(file.string()), std::string::npos);
  EXPECT_EQ(complaints(choose(cache)), 1);

  std::ofstream{folder / "file"} << "in the way";
  const Outcome blocked = choose((folder / "file").string());
  EXPECT_EQ(complaints(blocked), 1) << blocked.err;
  EXPECT_NE(blocked.err.find("cannot be cached"), std::string::npos) << blocked.err;
}

}  // namespace
}  // namespace orrery
