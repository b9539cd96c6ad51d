// The built program as a person runs it: exit statuses, what it prints where, what it writes.
#include "compute/kernels/kernel.h"
#include "compute/sim/backends.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/app/lessons/lesson_text.h"
#include "tests/app/support/program.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

struct BadInput {
  Words arguments;
  Words said;  ///< what the one line on stderr must contain
};

void expect_all_refused(int status, const std::vector<BadInput>& inputs) {
  for (const BadInput& input : inputs) {
    std::string command = "orrery";
    for (const std::string& word : input.arguments) command.append(" '").append(word).append("'");
    SCOPED_TRACE(command);
    const Outcome outcome = run_orrery(input.arguments);
    expect_refused(outcome, status, input.said);
  }
}

// Whatever is wrong with a request, one line says so; options_test.cpp has the requests.
using CommandLineTest = ProgramTest;

TEST_F(CommandLineTest, RefusesInOneLine) {
  const std::string script = path("demo.txt");
  std::ofstream{script} << "0 pause\n1 kernel fast\n";
  expect_all_refused(2, {{{"bnech"}, {"bnech", "inspect, kernels, info"}},
                         {"--set theta=0.5 --offscreen --frames 2"_words,
                          {"--set theta needs the kernel that it is for: add --kernel with one of: cpu-tree"}},
                         {"run --steps 1 --set theta=0.5"_words, {"--kernel with one of: cpu-tree"}},
                         {{"--script", script}, {"demo.txt:2: ", "'fast'", "cpu-serial"}}});
  expect_all_refused(1, {{{"--script", path("none.txt")}, {"none.txt", "No such file"}}});
}

TEST_F(CommandLineTest, FailsWhereAFileCannotBeUsed) {
  const std::string missing = path("none.bin"), empty = path("empty.bin");
  std::ofstream{empty} << "";
  const Words quick = "bench --kernels cpu-serial -n 8 --repeat 1"_words;
  expect_all_refused(1, {{{"bench", missing}, {"none.bin"}},
                         {{"verify", missing}, {"none.bin"}},
                         {{"bench", empty}, {"empty.bin"}},
                         {quick + Words{"--csv", path("none/a.csv")}, {"a.csv", "No such file"}},
                         {quick + Words{"--json", path("none/a.json")}, {"a.json", "No such file"}},
                         {quick + Words{"--csv", "/dev/full"}, {"/dev/full", "No space left"}}});
}

// One body whose forces overflow: infinity times the zero distance to itself.
TEST_F(CommandLineTest, FailsWhereForcesAreNotFinite) {
  const std::string heavy = path("heavy.tipsy");
  write_snapshot(heavy, {{{{0, 0, 0, 1e15f}}, {{0, 0, 0, 0}}}});
  const Outcome outcome = run_orrery({"bench", heavy, "--kernels", "cpu-serial", "--repeat", "1", "--law",
                                      "attract-repel", "--softening", "1e-6", "--repulsion", "1e6"});
  expect_refused(outcome, 1, {"cpu-serial n=1", "not finite"});
}

TEST_F(CommandLineTest, LeavesNoFileBehindWhereNothingWasMeasured) {
  const Outcome outcome = run("bench --kernels cpu-serial -n 8 --csv a.csv --json none/b.json"_words);
  expect_refused(outcome, 1, {"b.json", "No such file"});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Measurements are still shown when a file cannot take them.
TEST_F(CommandLineTest, LosesNoResultsToAFullDisk) {
  const Outcome json = run_orrery("bench --kernels cpu-serial -n 8 --json /dev/full"_words);
  expect_complaint(json, 1, {"/dev/full", "No space left"});
  expect_holds(json.out, {"cpu-serial"});

  const std::string file = path("a.csv");
  const Outcome csv = run_orrery({"verify", "--kernels", "cpu-serial", "--csv", file}, {.most_file_bytes = 2048});
  expect_complaint(csv, 1, {file, "File too large"});
  expect_holds(csv.out, {"20 checks, 0 failed"});
  EXPECT_EQ(contents(file).back(), '\n');

  expect_refused(run_orrery({"kernels"}, {.stdout_to = "/dev/full"}), 1, {"stdout", "No space left"});
}

TEST_F(CommandLineTest, NamesTheReasonForADeviceThatIsNotHere) {
  if (backends().status(Backend::cuda).available) GTEST_SKIP() << "there is one";
  const std::string& reason = backends().status(Backend::cuda).reason;
  expect_all_refused(1, {{{"bench", "--device", "0"}, {"device 0", reason}},
                         {{"bench", "--devices", "all"}, {"device 0", reason}},
                         {{"verify", "--devices", "1,0"}, {"device 1", reason}},
                         {"run --steps 1 --devices 0,1"_words, {"device 0", reason}},
                         {"view --offscreen --devices 0,1"_words, {"device 0", reason}}});
  for (const KernelPtr& kernel : kernels()) {
    if (kernel->backend == Backend::cuda) {
      expect_all_refused(1, {{{"bench", "--kernels", kernel->id}, {kernel->id, reason}}});
    }
  }
  expect_holds(run_orrery({"info", "--wide"}).out, {"unavailable: " + reason});
  EXPECT_EQ(nlohmann::json::parse(run_orrery({"info", "--json"}).out)["cuda"]["reason"], reason);
  if (ORRERY_HAVE_CUDA) {
    expect_holds(run_orrery({"kernels", "--wide"}).out, {"unavailable: " + reason});
  }
}

TEST_F(CommandLineTest, ShowsHelpAndVersion) {
  for (const Words& arguments : {Words{"--help"},
                                 {"view", "--help"},
                                 {"bench", "-h"},
                                 {"verify", "-h"},
                                 {"kernels", "-h"},
                                 {"info", "-h"},
                                 {"help"},
                                 {"help", "bench"},
                                 {"--version"},
                                 {"version"}}) {
    const Outcome outcome = run_orrery(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    expect_holds(outcome.out, {"orrery"});
    for (const std::string& line : lines(outcome.out)) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST_F(CommandLineTest, ListsEveryKernel) {
  const Outcome json = run_orrery({"kernels", "--json"}), text = run_orrery({"kernels"});
  EXPECT_EQ(json.status + text.status, 0);
  const auto list = nlohmann::json::parse(json.out);
  ASSERT_EQ(list.size(), kernels().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const KernelInfo& kernel = *kernels()[i];
    EXPECT_EQ(list[i]["id"], kernel.id);
    EXPECT_EQ(list[i]["tunables"].size(), kernel.tunables.size());
    EXPECT_EQ(list[i]["available"], backends().status(kernel.backend).available);
    EXPECT_EQ(list[i]["lesson"], kernel.lesson);
    EXPECT_EQ(list[i]["repeatable"], kernel.repeatable);
    EXPECT_EQ(list[i]["takes_targets"], kernel.takes_targets);
    EXPECT_EQ(list[i]["gives_jerks"], kernel.gives_jerks);
    EXPECT_EQ(list[i]["tolerance"]["max"], kernel.tolerance.max);
    expect_holds(text.out, {kernel.id});
  }
}

TEST_F(CommandLineTest, DescribesOneKernel) {
  const KernelInfo& kernel = *find_kernel("cpu-simd");
  const Outcome json = run_orrery({"kernels", "cpu-simd", "--json"}),
                text = run_orrery({"kernels", "cpu-simd", "--wide"});
  EXPECT_EQ(json.status + text.status, 0) << json.err << text.err;
  const auto list = nlohmann::json::parse(json.out);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["id"], "cpu-simd");
  expect_holds(text.out, {kernel.lesson});
  expect_lacks(text.out, {"cpu-serial"});
}

TEST_F(CommandLineTest, DescribesTheMachine) {
  const Outcome json = run_orrery({"info", "--json"}), text = run_orrery({"info"});
  const auto info = nlohmann::json::parse(json.out);
  const std::map<std::string, int> statuses{{"healthy", 0}, {"degraded", 3}, {"broken", 4}};
  ASSERT_TRUE(statuses.contains(info["health"])) << info["health"];
  EXPECT_EQ(json.status, statuses.at(info["health"])) << json.err;
  EXPECT_EQ(text.status, json.status) << text.err;
  EXPECT_EQ(run_orrery({"doctor"}).status, json.status);
  for (const auto& finding : info["findings"]) EXPECT_TRUE(finding["health"] == "healthy" || finding["cure"] != "");
  EXPECT_TRUE(info["health"] == "healthy" || !info["findings"].empty());
  EXPECT_EQ(info["ranks"], 1);
  EXPECT_EQ(info["cpu"]["name"], backends().status(Backend::cpu).device);
  EXPECT_GT(info["cpu"]["peak_rates"]["fma_per_s"], 0);
  EXPECT_TRUE(info["cpu"]["peak_rates"].contains("memory_bytes_per_s"));
  EXPECT_EQ(info["cuda"]["available"], backends().status(Backend::cuda).available);
  EXPECT_EQ(info["cuda"]["built_for"].get<std::string>().find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-,"),
            std::string::npos)
      << "not a list of architectures: " << info["cuda"]["built_for"];
  EXPECT_TRUE(info["gl"].contains("renderer"));
  expect_holds(text.out, {"OpenGL"});
  const std::string why = backends().status(Backend::cuda).reason.substr(0, 30);  // more may be on the next line
  const std::size_t first = text.out.find(why);
  EXPECT_TRUE(why.empty() || text.out.find(why, first + 1) == std::string::npos) << "once is enough: " << text.out;
}

TEST_F(CommandLineTest, SaysThatTheViewerWasNotBuilt) {
  const auto info = nlohmann::json::parse(run_orrery({"info", "--json"}).out);
  if (info["gl"]["problem"] != "the viewer was not built") GTEST_SKIP() << "it was";
  expect_all_refused(
      1, {{{}, {"viewer was not built", "ORRERY_VIEWER"}}, {{"view", "-n", "8"}, {"viewer was not built"}}});
}

TEST_F(CommandLineTest, Benches) {
  const Words arguments =
      "bench --kernels cpu-serial,cpu-simd -n 8,64 --set threads=1,2 --repeat 6 --csv a.csv --json a.json"_words;
  expect_holds(succeed(arguments).err, {"cpu-serial has no setting 'threads'"});
  const auto csv = lines(read("a.csv"));
  ASSERT_EQ(csv.size(), 2u + 6u) << "2 counts of (cpu-serial, cpu-simd with 1 thread, with 2)";
  const auto metadata = nlohmann::json::parse(csv[0].substr(2));
  for (const char* name : {"program", "version", "git", "build_flags", "date", "cpu", "gpu", "driver", "scene", "n",
                           "seed", "integrator", "law", "dt", "softening"}) {
    EXPECT_TRUE(metadata.contains(name)) << name;
  }
  EXPECT_EQ(metadata["warmup_steps"], 3);
  EXPECT_NE(metadata["build_flags"].get<std::string>().find(" -"), std::string::npos)
      << "the compiler's flags: " << metadata["build_flags"];
  EXPECT_EQ(csv[2].find("cpu-serial,cpu,"), 0u);
  const auto json = read_json("a.json");
  ASSERT_EQ(json["results"].size(), 6u);
  EXPECT_EQ(json["metadata"], metadata);
  for (const auto& result : json["results"]) {
    EXPECT_GT(result["interactions_per_s"].get<double>(), 0);
    EXPECT_LE(result["step_ms"]["min"].get<double>(), result["step_ms"]["median"].get<double>());
    EXPECT_LE(result["step_ms"]["low"].get<double>(), result["step_ms"]["median"].get<double>());
    EXPECT_LT(result["error"]["median"].get<double>(), 1e-5);
  }
  EXPECT_EQ(run(arguments).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "a-1.csv") && std::filesystem::exists(folder / "a-1.json"));
}

TEST_F(CommandLineTest, RecordsTheWarmUpStepsThatAreAlwaysMade) {
  const Outcome outcome = succeed("bench --kernels cpu-serial -n 8 --repeat 1 --warmup 0 --json a.json"_words);
  EXPECT_EQ(read_json("a.json")["metadata"]["warmup_steps"], 2);
}

TEST_F(CommandLineTest, BenchesAllThatCanRunAndListsTheRest) {
  const Outcome outcome = run_orrery("bench -n 8 --repeat 1"_words);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::size_t first = outcome.out.find("skipped ");
  const std::string measured = outcome.out.substr(0, first), skipped = outcome.out.substr(measured.size());
  for (const KernelPtr& kernel : kernels()) {
    const bool available = backends().status(kernel->backend).available;
    EXPECT_EQ(measured.find(std::string{kernel->id} + ' ') != std::string::npos, available) << kernel->id;
    EXPECT_TRUE(available || skipped.find(kernel->id) != std::string::npos) << kernel->id;
  }
  EXPECT_EQ(skipped.find("skipped ", 1), std::string::npos) << "one reason, once: " << skipped;
}

TEST_F(CommandLineTest, ShowsProgressWhereAskedFor) {
  const Words quick = "verify --kernels cpu-serial -n 8"_words;
  EXPECT_EQ(run_orrery(quick).err, "") << "stderr is no terminal here";
  Words asked = quick;
  asked.push_back("--progress");
  expect_holds(run_orrery(asked).err, {"%"});
}

// `orrery lesson` of the built program.

using LessonCommand = ProgramTest;

TEST_F(LessonCommand, ListsTheLessons) {
  const Outcome outcome = run_orrery({"lesson"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome, "The double loop") && says(outcome, "Your own kernel")) << outcome.out;
}

TEST_F(LessonCommand, MeasuresAndAnswersWithoutATerminal) {
  const Outcome outcome = run_orrery({"lesson", "1", "--cpu"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* words : {"Lesson 1: The double loop", "Predict", "a)  ", "Measured here and now: ", "cpu-serial",
                            "time large / medium = ", "Answer", "Vliora", "Change"}) {
    EXPECT_TRUE(says(outcome, words)) << words << " is not in\n" << outcome.out;
  }
  EXPECT_FALSE(says(outcome, "Your prediction")) << "there is no terminal";
  expect_lacks(outcome.out, {"{"});
}

TEST_F(LessonCommand, RunsALecturersFile) {
  std::ofstream{folder / "mine.md"} << lesson_text();
  const Outcome outcome = succeed("lesson --file mine.md --no-wait"_words);
  EXPECT_TRUE(says(outcome, "A lesson") && says(outcome, "29 times")) << outcome.out;
}

TEST_F(LessonCommand, RefusesWhatIsNoLesson) {
  std::ofstream{folder / "wrong.md"} << lesson_with("cpu-serial n=16", "cpu-seriel n=16");
  expect_refused(run({"lesson", "--file", "wrong.md"}), 2, {"wrong.md:27:", "cpu-serial"});
  expect_refused(run({"lesson", "--file", "none.md"}), 1, {"none.md"});
  expect_refused(run_orrery({"lesson", "13"}), 2, {"'13'", "from 1 to 12"});
  expect_refused(run_orrery({"lesson", "one"}), 2, {"'one'", "from 1 to 12"});
  expect_refused(run("lesson 1 --file wrong.md"_words), 2, {"--file"});
  expect_refused(run_orrery({"lesson", "1", "2"}), 2, {"2"});
}

}  // namespace
}  // namespace orrery::test
