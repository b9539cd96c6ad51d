// The workshop: a file that is saved again and again. Compiling and checking are this test's own, so it needs no GPU.
#include "app/features/workshop/workshop.h"

#include "app/features/workshop/kernel_workshop.h"
#include "app/process/kernel_processes.h"
#include "compute/core/error.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/kernel_texts.h"

namespace orrery::test {
namespace {

struct Workshop : testing::Test {
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
  expect_holds(second->file->text, {"an edit"});
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
  expect_holds(status.text, {"renamed"});
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
  expect_holds(status.versions[3].error, {"(1): no header"});
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
  expect_usage_error({refusal}, [&] { workshop.open(path); });
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
  expect_usage_error({"no version 9", "3"}, [&] { workshop.bring_back(9); });
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
  expect_holds(status.problem, {"No such file"});
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
  expect_usage_error({"no kernel file is open"}, [&] { workshop.save("x"); });
  expect_runtime_error({"none.cu"}, [&] { workshop.open((folder / "none.cu").string()); });
}

// A check's messages, and how a process that does not end is ended.

using namespace std::chrono_literals;

std::string document(const std::string& error, const std::string& result) {
  return R"({"results": [{"n": 1, "law": "gravity", "settings": {}, "error": {"median": 1e-7, "max": 3e-6},
             "tolerance": {"median": 5e-6, "max": 5e-3}, "result": "PASS"},
            {"n": 33, "law": "attract-repel", "settings": {"block": "64", "unroll": "8"}, "error": )" +
         error + R"(, "tolerance": {"median": 5e-6, "max": 5e-3}, "result": ")" + result + R"("}]})";
}

using KernelCheckTest = InFolder;

TEST_F(KernelCheckTest, AcceptsWhatPasses) {
  const KernelCheck check = read_check(document(R"({"median": 2e-7, "max": 4e-5})", "PASS"));
  EXPECT_EQ(check.problem, "");
  EXPECT_EQ(check.largest_error, 4e-5);
}

TEST_F(KernelCheckTest, ExplainsTheFirstFailure) {
  const auto expect = [](const std::string& json, std::initializer_list<const char*> parts) {
    const std::string problem = read_check(json).problem;
    for (const char* part : parts) EXPECT_NE(problem.find(part), std::string::npos) << part << " is not in " << problem;
    expect_lacks(problem, {"\n"});
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

struct CheckProcess : testing::Test {
  /// A program in the place of orrery.
  KernelChecker checker(const std::string& script) const {
    const auto program = folder / "orrery";
    std::ofstream{program} << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return {.program = program, .limit = 10s};
  }
  const TemporaryFolder folder;
  const KernelFile file = parse_kernel_file("folder/mine.cu", kernel_text());
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
  expect_holds(check.problem, {"0.2 s: the kernel hangs"});
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
  expect_holds(problem, {"not compiled within 0.3 s"});
  expect_lacks(problem, {"hangs"});
}

TEST_F(CheckProcess, IsEndedForANewerText) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(checker("exec sleep 60").check(file, [] { return true; }).cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(CheckProcess, MayEndWithoutAResult) {
  EXPECT_EQ(checker("echo 'orrery: no GPU here' >&2; exit 1").check(file, {}).problem, "no GPU here");
  expect_holds(checker("kill -9 $$").check(file, {}).problem, {"without a result"});
  KernelChecker missing{.program = folder / "none"};
  expect_holds(missing.check(file, {}).problem, {"the check did not run: "});
}

// The version of a kernel file that the catalog has. It is never created, so this needs no GPU.

struct Placed : testing::Test {
  static AcceptedKernel version(int number, const std::string& id) {
    const std::string text = with(kernel_text("  // " + std::to_string(number)), "mine", id);
    return {number, std::make_shared<const KernelFile>(parse_kernel_file("my.cu", text))};
  }
  /// The text of the kernel with this id in the catalog; empty if there is none.
  std::string text_of(const char* id) const {
    const KernelPtr kernel = kernels.find_or_null(id);
    return kernel ? kernel->file_text : "";
  }

  KernelCatalog kernels;
  PlacedKernel placed{kernels, [](KernelCatalog& catalog, const AcceptedKernel& kernel) {
                        if (kernel.file->id == "taken") throw std::runtime_error("taken");
                        KernelInfo info = *catalog.find("cpu-serial");
                        info.id = kernel.file->id.c_str();
                        info.file_text = kernel.file->text.c_str();
                        info.file_version = kernel.version;
                        return catalog.put(info);
                      }};
};

TEST_F(Placed, TakesARefusedVersionBack) {
  placed.put(version(1, "mine"));
  placed.put(version(2, "mine"));
  EXPECT_EQ(text_of("mine"), version(2, "mine").file->text);
  placed.take_back();
  EXPECT_EQ(text_of("mine"), version(1, "mine").file->text);
  EXPECT_EQ(placed.version(), 1);
  EXPECT_TRUE(placed.is("mine"));
}

TEST_F(Placed, HasTheKernelsOfAllVersionsOfTheOpenFile) {
  placed.put(version(1, "mine"));
  placed.put(version(2, "mine"));
  ASSERT_TRUE(placed.kernel_of(1));
  EXPECT_EQ(placed.kernel_of(1)->file_text, version(1, "mine").file->text);
  EXPECT_EQ(placed.kernel_of(2), kernels.find("mine"));
  EXPECT_FALSE(placed.kernel_of(3));
  placed.forget_numbers();
  EXPECT_FALSE(placed.kernel_of(1));
}

TEST_F(Placed, LeavesNothingOfAFirstVersionThatIsRefused) {
  placed.put(version(1, "mine"));
  placed.take_back();
  EXPECT_FALSE(kernels.find_or_null("mine"));
  EXPECT_FALSE(placed.is("mine"));
  EXPECT_EQ(placed.version(), 0);
}

TEST_F(Placed, TakesAVersionWithAnotherIdBack) {
  placed.put(version(1, "mine"));
  placed.put(version(2, "yours"));
  EXPECT_TRUE(placed.is("yours"));
  placed.take_back();
  EXPECT_FALSE(kernels.find_or_null("yours"));
  EXPECT_EQ(text_of("mine"), version(1, "mine").file->text);
  EXPECT_TRUE(placed.is("mine"));
}

TEST_F(Placed, ChangesNothingIfTheCatalogRefuses) {
  placed.put(version(1, "mine"));
  EXPECT_THROW(placed.put(version(2, "taken")), std::runtime_error);
  EXPECT_TRUE(placed.is("mine"));
  EXPECT_EQ(placed.version(), 1);
  placed.forget_numbers();
  EXPECT_TRUE(placed.is("mine"));
  EXPECT_EQ(placed.version(), 0);
  EXPECT_EQ(placed.version_of("mine", 1), 0);
}

TEST_F(Placed, KnowsVersionsThatWereReplaced) {
  placed.put(version(1, "mine"));
  placed.put(version(3, "mine"));
  placed.put(version(3, "mine"));  // compiled again
  EXPECT_EQ(kernels.find("mine")->revision, 2);
  EXPECT_EQ(placed.version_of("mine", 1), 1);
  EXPECT_EQ(placed.version_of("mine", 2), 3);
  EXPECT_EQ(placed.version_of("mine", 9), 0);
  EXPECT_EQ(placed.version_of("cpu-serial", 0), 0);
}

// Which changes of a folder are a save of the file.

namespace fs = std::filesystem;

struct Watch : testing::Test {
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
  expect_runtime_error({"cannot watch the folder"}, [&] { watch.watch((folder / "none/mine.cu").string()); });
  write("mine.cu");
  EXPECT_TRUE(watch.take());
}

}  // namespace
}  // namespace orrery::test
