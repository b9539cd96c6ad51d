// The choices that `auto` keeps from one run of the program to the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "compute/core/text.h"
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

TEST_F(AutoCommand, IsTakenByEveryCommandThatTakesKernels) {
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{"verify", "--kernels", "auto", "-n", "64", "--law", "gravity"},
        Words{"verify", "--kernels", "auto,cpu-serial", "-n", "64", "--law", "gravity"},
        Words{"bench", "--kernels", "cpu-serial,auto", "-n", "64", "--repeat", "1"},
        Words{"race", "--scene", "plummer", "-n", "64", "--until", "0.01", "--kernels", "auto", "--integrators",
              "leapfrog,hermite4", "--dt", "0.01"},
        Words{"compare", "--a", "auto", "--b", "cpu-serial", "--scene", "plummer", "-n", "64", "--steps", "4"},
        Words{"profile", "--kernels", "auto", "--scene", "plummer", "-n", "64"}}) {
    const Outcome outcome = run_orrery(words, {.folder = folder.path().string(), .cache_folder = cache});
    EXPECT_EQ(outcome.status, 0) << words.front() << ": " << outcome.err;
    const std::string before = " bodies, gravity: auto: ";
    const std::size_t at = outcome.err.find(before);
    ASSERT_NE(at, std::string::npos) << words.front() << ": " << outcome.err;
    const std::string rest = outcome.err.substr(at + before.size());
    const std::string kernel = rest.substr(0, rest.find_first_of(" ,\n"));
    EXPECT_NE(outcome.out.find(kernel), std::string::npos) << kernel << " is not in " << outcome.out;
  }
}

TEST_F(AutoCommand, ARunSaysWhatAutoChose) {
  const Outcome outcome =
      run_orrery({"run", "--scene", "plummer", "-n", "4096", "--steps", "1", "--diagnostics", "d.csv"},
                 {.folder = folder.path().string(), .cache_folder = cache});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("auto chose the kernel (accuracy 0.0005): "), std::string::npos) << outcome.out;
  const std::string first = test::lines(contents(folder / "d.csv")).front();
  const json metadata = json::parse(first.substr(first.find('{')));
  EXPECT_NE(outcome.out.find("kernel " + metadata["kernel"].get<std::string>()), std::string::npos) << outcome.out;
  EXPECT_FALSE(metadata["settings"].empty());
  EXPECT_EQ(metadata["auto"]["accuracy"], 5e-4);
  const Outcome named =
      run_orrery({"run", "--scene", "plummer", "-n", "64", "--steps", "1", "--kernel", "cpu-simd", "--set", "rows=2"},
                 {.folder = folder.path().string(), .cache_folder = cache});
  EXPECT_NE(named.out.find("kernel cpu-simd rows=2\n"), std::string::npos) << named.out;
  EXPECT_EQ(named.out.find("auto chose"), std::string::npos) << named.out;
}

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
