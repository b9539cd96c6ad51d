// Names that are nearly right, and words in the wrong place: what the refusal suggests.
#include <gtest/gtest.h>

#include "app/cli/read_script.h"
#include "app/cli/verb.h"
#include "compute/core/names.h"
#include "compute/sim/backends.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;
using Words = std::vector<std::string>;

std::string refusal(const Words& words) {
  return test::failure_of([&] { (void)parse_options(test::catalog(), words); }).message;
}

bool asks(const std::string& message) {
  return message.find("did you mean") != std::string::npos;
}

TEST(NearMiss, IsHelpedWhereverANameIsLookedUp) {
  const struct {
    Words words;
    const char* meant;
  } misses[] = {{{"--scene", "Plummer"}, "plummer"},
                {{"--kernel", "CPU_SIMD"}, "cpu-simd"},
                {{"--kernel", "Auto"}, "auto"},
                {{"kernels", "cpu-smid"}, "cpu-simd"},
                {{"bench", "--kernels", "cpu-serial,cpu-openpm"}, "cpu-openmp"},
                {{"--integrator", "leap-frog"}, "leapfrog"},
                {{"--law", "Gravity"}, "gravity"},
                {{"--kernel", "cpu-simd", "--set", "thread=2"}, "threads"},
                {{"verify", "--kernels", "cpu-simd,cpu-serial", "--set", "row=2"}, "rows"},
                {{"--kernel", "cpu-simd", "--set", "threads=Auto"}, "auto"},
                {{"verify", "--kernels", "cpu-simd,cpu-openmp", "--set", "threads=Auto"}, "auto"},
                {{"--panel", "On"}, "on"},
                {{"--byte-order", "bog"}, "big"},
                {{"bench", "--protocol", "UTH"}, "uth"},
                {{"--kernle", "cpu-simd"}, "--kernel"},
                {{"bench", "-N", "1k"}, "-n"},
                {{"--bodies", "1k"}, "-n"},
                {{"bench", "--bodies", "1k"}, "-n"},
                {{"-v"}, "--vsync or --version"},
                {{"-k", "cpu-simd"}, "--kernel-file or --kernel"},
                {{"--threads", "4"}, "--set threads=4"},
                {{"bench", "--threads=4"}, "--set threads=4"},
                {{"benchmark"}, "bench"},
                {{"help", "verfiy"}, "verify"},
                {{"help", "keyz"}, "keys"},
                {{"bench", "1k"}, "-n 1k"},
                {{"16k"}, "-n 16k"},
                {{"plumer"}, "--scene plummer"},
                {{"verify", "cpu_simd"}, "--kernels cpu-simd"},
                {{"cpu-simd"}, "--kernel cpu-simd"}};
  for (const auto& [words, meant] : misses) {
    expect_failure(
        Failure::usage, [&words = words] { (void)parse_options(test::catalog(), words); },
        "; did you mean " + std::string{meant} + "?");
  }
}

TEST(NearMiss, StandsBeforeAList) {
  const auto starts_with = [](const Words& words, const std::string& begin) {
    EXPECT_EQ(refusal(words).substr(0, begin.size()), begin);
  };
  starts_with({"--scene", "Plummer"}, "unknown scene 'Plummer'; did you mean plummer? Known scenes: collision, ");
  starts_with({"--scene", "galaxy"}, "unknown scene 'galaxy'; known scenes: collision, ");
  starts_with({"--kernel", "CPU_SIMD"}, "unknown kernel 'CPU_SIMD'; did you mean cpu-simd? Known kernels: cpu-");
  starts_with({"--kernel", "cpu-simd", "--set", "thread=2"},
              "kernel cpu-simd has no setting 'thread'; did you mean threads? It has: threads, rows");
  starts_with({"--kernel", "cpu-simd", "--set", "threads=Auto"},
              "cpu-simd: threads cannot be 'Auto'; did you mean auto? Allowed values: ");
  starts_with({"benchmark"}, "'benchmark' is neither a subcommand nor a file here; did you mean bench? Subcommands: ");
}

TEST(NearMiss, IsNotGuessedWhereNothingIsNear) {
  for (const Words& words : {Words{"--scene", "galaxy"},
                             {"--kernel", "fast"},
                             {"--warp", "9"},
                             {"banana"},
                             {"--kernel", "cpu-simd", "--set", "threads=9999"}}) {
    const std::string message = refusal(words);
    EXPECT_NE(message, "");
    EXPECT_FALSE(asks(message)) << message;
  }
}

TEST(NearMiss, NamesTheSubcommandThatTakesTheOption) {
  const auto refused = [](const Words& words, const char* part) {
    const std::string message = refusal(words);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_FALSE(asks(message)) << message;
  };
  refused({"view", "--repeat", "3"},
          "unknown option '--repeat', which 'orrery bench' and 'orrery report' take; options of 'orrery view': ");
  refused({"--repeat=3"}, "which 'orrery bench' and 'orrery report' take; ");
  refused({"verify", "--frames", "3"}, "which 'orrery view' and 'orrery render' take; ");
  refused({"kernels", "-n", "3"},
          "which 'orrery view', 'orrery render', 'orrery bench', 'orrery report', 'orrery verify', "
          "'orrery profile', 'orrery compare', 'orrery race', 'orrery run' and 'orrery info' "
          "take; ");
  EXPECT_EQ(refusal({"view", "--warp", "3"}).find("which"), std::string::npos);
}

TEST(NearMiss, OfAScriptIsHelped) {
  const auto refused = [](const std::string& line, const char* meant) {
    expect_failure(
        Failure::usage, [&] { (void)parse_script(line, "s", test::catalog(), {.kernels = {}, .automatic = true}); },
        "; did you mean " + std::string{meant} + "?");
  };
  refused("0 Pause", "pause");
  refused("0 lab results-table", "results");
  refused("0 kernel simd", "cpu-simd");
}

TEST(NearMiss, OfAnyLengthIsAnsweredAtOnce) {
  const std::string_view known[] = {"cpu-simd"};
  EXPECT_EQ(did_you_mean(std::string(50'000'000, 'c'), known), "");
}

TEST(NearMiss, MayBeSeveralNames) {
  const std::string_view known[] = {"cpu-tree", "disc", "cuda-tree"};
  EXPECT_EQ(did_you_mean("Tree", known), "; did you mean cpu-tree or cuda-tree?");
  EXPECT_EQ(did_you_mean("4096", known), "");
  EXPECT_EQ(did_you_mean("", known), "");
}

TEST(Help, AndVersionAreWordsAsWell) {
  const auto text = [](const Words& words) {
    return dynamic_cast<const ShowText&>(*parse_options(test::catalog(), words)).text;
  };
  EXPECT_EQ(text({"help"}), text({"--help"}));
  EXPECT_EQ(text({"help", "bench"}), text({"bench", "--help"}));
  EXPECT_EQ(text({"version"}), text({"--version"}));
  EXPECT_EQ(text({"help", "help"}), text({"--help"}));
  EXPECT_EQ(text({"help", "version"}), text({"--help"}));
  EXPECT_NE(text({"help", "script"}).find("\nsteps-per-frame STEPS\n"), std::string::npos);
  EXPECT_EQ(text({"help", "script", "--markdown"}).find("| command |"), 0u);
  for (const bool markdown : {false, true}) {
    Words words{"help", "keys"};
    if (markdown) words.emplace_back("--markdown");
    EXPECT_EQ(dynamic_cast<const ShowKeys&>(*parse_options(test::catalog(), words)).markdown, markdown);
  }
  for (const Words& words : {Words{"version", "x"}, {"help", "bench", "x"}, {"help", "help", "x"}}) {
    expect_failure(
        Failure::usage, [&] { (void)parse_options(test::catalog(), words); }, "unexpected argument 'x'");
  }
}

TEST(Flags, TakeNoValue) {
  for (const char* flag : {"--offscreen", "--offscreen=false"}) {
    const bool valued = std::string_view{flag}.find('=') != std::string_view::npos;
    EXPECT_EQ(refusal({flag}) == "", !valued) << flag;
  }
  expect_failure(
      Failure::usage, [] { (void)parse_options(test::catalog(), {"--offscreen=3"}); }, "--offscreen takes no value");
  expect_failure(
      Failure::usage,
      [] {
        (void)parse_options(test::catalog(), {"bench", "--card=on"});
      },
      "--card takes no value");
}

}  // namespace
}  // namespace orrery
