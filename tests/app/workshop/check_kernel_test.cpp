// A check's messages, and how a process that does not end is ended.
#include "app/process/check_kernel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "tests/compute/support/kernel_texts.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

std::string document(const std::string& error, const std::string& result) {
  return R"({"results": [{"n": 1, "law": "gravity", "settings": {}, "error": {"median": 1e-7, "max": 3e-6},
             "tolerance": {"median": 5e-6, "max": 5e-3}, "result": "PASS"},
            {"n": 33, "law": "attract-repel", "settings": {"block": "64", "unroll": "8"}, "error": )" +
         error + R"(, "tolerance": {"median": 5e-6, "max": 5e-3}, "result": ")" + result + R"("}]})";
}

TEST(KernelCheck, AcceptsWhatPasses) {
  const KernelCheck check = read_check(document(R"({"median": 2e-7, "max": 4e-5})", "PASS"));
  EXPECT_EQ(check.problem, "");
  EXPECT_EQ(check.largest_error, 4e-5);
}

TEST(KernelCheck, ExplainsTheFirstFailure) {
  const auto expect = [](const std::string& json, std::initializer_list<const char*> parts) {
    const std::string problem = read_check(json).problem;
    for (const char* part : parts) EXPECT_NE(problem.find(part), std::string::npos) << part << " is not in " << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos);
  };
  expect(document(R"({"median": 0.25, "max": 0.5})", "FAIL: the median error is 0.25, allowed is 5e-06"),
         {"33 bodies, attract-repel, block=64 unroll=8: the median error is 0.25, allowed is 5e-06"});
  expect(document(R"({"median": null, "max": null})", "FAIL"), {"33 bodies", "not finite"});
  expect(document("null", "FAIL: sync: an illegal memory access was encountered (cudaErrorIllegalAddress)"),
         {"33 bodies", "outside of its arrays", "cudaErrorIllegalAddress"});
  expect(document("null", "skipped: my.cu: block=64: needs shared memory"), {"33 bodies", "shared memory"});
  expect("[", {"cannot be read"});
  expect(R"({"results": []})", {"did not run"});
}

class CheckProcess : public testing::Test {
 protected:
  /// A program in the place of orrery.
  KernelChecker checker(const std::string& script) const {
    const auto program = folder / "orrery";
    std::ofstream{program} << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return {.program = program, .limit = 10s};
  }
  const TemporaryFolder folder;
  const KernelFile file = parse_kernel_file("folder/mine.cu", test::kernel_text());
};

TEST_F(CheckProcess, GetsACopyOfTheFileAndIsRead) {
  const KernelCheck check = checker("grep -q 'id: mine' \"$3\" && [ $(basename \"$3\") = mine.cu ] && echo '" +
                                    document(R"({"median": 2e-7, "max": 4e-5})", "PASS") + "' > \"$5\"")
                                .check(file, {});
  EXPECT_EQ(check.problem, "");
}

TEST_F(CheckProcess, PlacesAProblemAtItsLineOfTheFile) {
  const KernelCheck compiled =
      checker("echo \"orrery: $3(7): with block=64: identifier a is undefined\" >&2; exit 2").check(file, {});
  EXPECT_EQ(compiled.problem, "folder/mine.cu(7): with block=64: identifier a is undefined");
  EXPECT_EQ(compiled.line, 7);
  const KernelCheck row = checker("echo '" + document("null", "skipped: COPY(3): a block needs too much") +
                                  "' | sed \"s|COPY|$3|\" > \"$5\"")
                              .check(file, {});
  EXPECT_EQ(row.problem, "33 bodies, attract-repel, block=64 unroll=8: folder/mine.cu(3): a block needs too much");
  EXPECT_EQ(row.line, 3);
  EXPECT_FALSE(checker("echo 'orrery: no GPU here' >&2; exit 1").check(file, {}).line);
}

TEST_F(CheckProcess, ChecksTheShownBodiesToo) {
  const std::string good = document(R"({"median": 2e-7, "max": 4e-5})", "PASS");
  const std::string bad = document(R"({"median": 0.25, "max": 0.5})", "FAIL");
  std::filesystem::path written;
  const auto write_shown = [&](const TemporaryFolder& temporary) {
    written = temporary.write("bodies", "two bodies");
    return KernelChecker::Shown{.runs = {{written.string(), "--softening", "0.1"}}};
  };
  // The second run has further arguments.
  const auto check = [&](const std::string& end) {
    return checker("{ " + end + "; } > \"$5\"").check(file, {}, write_shown);
  };
  const std::string first = "if [ $# -le 5 ]; then echo '" + good + "'; else grep -q two \"$6\" && echo '";
  EXPECT_EQ(check(first + good + "'; fi").problem, "");
  EXPECT_FALSE(std::filesystem::exists(written)) << "it goes with the check";
  const std::string problem = check(first + bad + "'; fi").problem;
  EXPECT_TRUE(problem.starts_with("with the bodies that are shown: 33 bodies")) << problem;
  const std::string own = check("echo '" + bad + "'").problem;
  EXPECT_TRUE(own.starts_with("33 bodies")) << "the first run says enough: " << own;
}

TEST_F(CheckProcess, ChecksTheShownBodiesInSeveralWays) {
  const std::string good = document(R"({"median": 2e-7, "max": 4e-5})", "PASS");
  const std::string bad = document(R"({"median": 0.25, "max": 0.5})", "FAIL");
  const auto write_shown = [](const TemporaryFolder&) {
    return KernelChecker::Shown{.runs = {{"whole"}, {"sample"}}, .remark = "with 10 of the 20 bodies"};
  };
  const auto check = [&](const std::string& failing) {
    return checker("if [ \"$6\" = " + failing + " ]; then echo '" + bad + "'; else echo '" + good + "'; fi > \"$5\"")
        .check(file, {}, write_shown);
  };
  EXPECT_EQ(check("none").problem, "");
  EXPECT_EQ(check("none").remark, "with 10 of the 20 bodies");
  for (const char* const failing : {"whole", "sample"}) {
    EXPECT_TRUE(check(failing).problem.starts_with("with the bodies that are shown: 33 bodies")) << failing;
  }
}

TEST_F(CheckProcess, BothProcessesEndForANewerTextOrAFailure) {
  const auto write_shown = [](const TemporaryFolder& temporary) {
    return KernelChecker::Shown{.runs = {{temporary.write("bodies", "two bodies").string()}}};
  };
  const std::string good = document(R"({"median": 2e-7, "max": 4e-5})", "PASS");
  const std::string bad = document(R"({"median": 0.25, "max": 0.5})", "FAIL");
  const auto slow_second = [&](const std::string& first) {
    return checker("if [ $# -le 5 ]; then echo '" + first + "' > \"$5\"; else exec sleep 60; fi");
  };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(slow_second(bad).check(file, {}, write_shown).problem.empty());
  const auto later = [begin] { return std::chrono::steady_clock::now() - begin > 500ms; };
  EXPECT_TRUE(slow_second(good).check(file, later, write_shown).cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(CheckProcess, IsEndedAfterItsTime) {
  KernelChecker slow = checker("echo 'note: " + compiled_note("mine", 249) + "' >&2; exec sleep 60");
  slow.limit = 200ms;
  const KernelCheck check = slow.check(file, {});
  EXPECT_NE(check.problem.find("0.2 s: the kernel hangs"), std::string::npos) << check.problem;
}

TEST_F(CheckProcess, DoesNotTakeASlowCompilerForAKernelThatHangs) {
  const std::string note = "echo 'note: " + compiled_note("mine", 249) + "' >&2; ";
  const std::string result = "echo '" + document(R"({"median": 2e-7, "max": 4e-5})", "PASS") + "' > \"$5\"";
  KernelChecker slow = checker("sleep 3; " + note + result);
  slow.limit = 2s;
  EXPECT_EQ(slow.check(file, {}).problem, "") << "it takes longer than the limit to compile, and less to run";
  slow = checker("exec sleep 60");
  slow.compile_limit = 300ms;
  slow.limit = 100ms;
  const std::string problem = slow.check(file, {}).problem;
  EXPECT_NE(problem.find("not compiled within 0.3 s"), std::string::npos) << problem;
  EXPECT_EQ(problem.find("hangs"), std::string::npos) << problem;
}

TEST_F(CheckProcess, IsEndedForANewerText) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(checker("exec sleep 60").check(file, [] { return true; }).cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(CheckProcess, MayEndWithoutAResult) {
  EXPECT_EQ(checker("echo 'orrery: no GPU here' >&2; exit 1").check(file, {}).problem, "no GPU here");
  EXPECT_NE(checker("kill -9 $$").check(file, {}).problem.find("without a result"), std::string::npos);
  KernelChecker missing{.program = folder / "none"};
  EXPECT_NE(missing.check(file, {}).problem.find("the check did not run: "), std::string::npos);
}

}  // namespace
}  // namespace orrery
