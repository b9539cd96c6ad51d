#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "app/recording/output_file.h"
#include "app/recording/recorder.h"
#include "app/recording/result_files.h"
#include "app/text/csv.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

FrameRow row(std::int64_t frame, double time_s, int steps = 0) {
  return {.frame = frame, .time_s = time_s, .kernel = "cpu-simd", .n = 16384, .steps = steps, .draw_ms = 0.5};
}

using RecorderTest = InFolder;

TEST_F(RecorderTest, WritesMetadataColumnsAndOneRowAFrame) {
  Recorder recorder;
  EXPECT_FALSE(recorder.active());
  EXPECT_EQ(recorder.append(row(0, 0)), "") << "nothing is recorded yet";
  const std::string file = recorder.open(path("run.csv"), {{"program", "orrery"}});
  EXPECT_EQ(file, path("run.csv"));
  EXPECT_TRUE(recorder.active());
  EXPECT_EQ(recorder.append(row(1, 10.0)), "");
  EXPECT_EQ(recorder.append(row(2, 10.1)), "");
  EXPECT_EQ(recorder.close(), "");
  EXPECT_FALSE(recorder.active());
  const auto text = lines(contents(file));
  ASSERT_EQ(text.size(), 4u);
  EXPECT_EQ(text[0], "# {\"program\":\"orrery\"}");
  EXPECT_EQ(
      text[1],
      "frame,time_s,step,sim_time,kernel,backend,block,settings,n,steps,map_ms,force_ms,integrate_ms,step_ms,unmap_ms,"
      "draw_ms,gui_ms,frame_ms,interactions_per_s,interop,error_median,error_p99,error_max,evaluations");
  EXPECT_EQ(text[2].substr(0, 5), "1,10,");
  EXPECT_EQ(text[3].substr(0, 7), "2,10.1,");
  EXPECT_EQ(recorder.rows(), 2);
  EXPECT_EQ(recorder.file(), file);
}

TEST_F(RecorderTest, WritesErrorsOfForcesWhereTheyCameIn) {
  Recorder recorder;
  const std::string file = recorder.open(path("run.csv"), {});
  FrameRow compared = row(0, 10.0);
  compared.error = ForceError{.rms = 4, .median = 1, .p99 = 2, .max = 3};
  EXPECT_EQ(recorder.append(compared), "");
  EXPECT_EQ(recorder.append(row(1, 10.1)), "");
  EXPECT_EQ(recorder.close(), "");
  const auto text = lines(contents(file));
  ASSERT_EQ(text.size(), 4u);
  EXPECT_TRUE(text[2].ends_with(",1,2,3,")) << text[2];
  EXPECT_TRUE(text[3].ends_with(",,,,")) << text[3];
}

TEST_F(RecorderTest, KeepsAnExistingFile) {
  const std::string target = write("run.csv", "precious\n");
  Recorder recorder;
  EXPECT_EQ(recorder.open(target, {}), path("run-1.csv"));
  EXPECT_EQ(recorder.open(target, {}), path("run-2.csv")) << "a second recording ends the first";
  EXPECT_EQ(contents(target), "precious\n");
}

// The file as it is while the recorder lives: a kill would leave it behind.
TEST_F(RecorderTest, LosesNoMoreThanASecond) {
  Recorder recorder;
  const std::string file = recorder.open(path("run.csv"), {});
  for (int frame = 0; frame <= 300; ++frame) ASSERT_EQ(recorder.append(row(frame, frame / 100.0)), "");
  EXPECT_GE(lines(contents(file)).size(), 2u + 200u) << "of 3 s at 100 frames/s, the first 2 s";
  EXPECT_EQ(contents(file).back(), '\n');
}

TEST_F(RecorderTest, WritesFramesDuringALongStepAndTheRowOfTheStepAtItsEnd) {
  Recorder recorder;
  const std::string file = recorder.open(path("run.csv"), {});
  EXPECT_EQ(recorder.append(row(0, 0.0, 1)), "");
  for (int frame = 1; frame <= 50; ++frame) ASSERT_EQ(recorder.append(row(frame, frame / 10.0)), "");
  EXPECT_GE(lines(contents(file)).size(), 2u + 40u) << "a step of 5 s holds nothing up";
  EXPECT_EQ(contents(file).find("\n0,"), std::string::npos) << "its row is not complete";
  recorder.fill({.tag = 0, .steps = 1, .step_ms = 5000});
  for (int frame = 51; frame <= 60; ++frame) ASSERT_EQ(recorder.append(row(frame, frame / 10.0)), "");
  expect_holds(contents(file), {"\n0,0,0,0,cpu-simd,,,,16384,1,0,0,0,5000,"});
  EXPECT_EQ(recorder.close(), "");
  auto text = lines(contents(file));
  ASSERT_EQ(text.size(), 2u + 61u);
  std::vector<int> frames;
  for (std::size_t i = 2; i < text.size(); ++i) frames.push_back(std::stoi(text[i]));
  std::ranges::sort(frames);
  for (int i = 0; i <= 60; ++i) EXPECT_EQ(frames[static_cast<std::size_t>(i)], i) << "each once";
}

/// The rows of a file that a recorder writes. Its frames are a second apart: each is written as soon as it is complete.
struct Rows : testing::Test {
  static FrameRow row(std::int64_t frame, int steps, bool drawn = true) {
    FrameRow row{.frame = frame, .time_s = 1.0 * static_cast<double>(frame), .kernel = "k", .n = 8, .steps = steps};
    if (drawn) row.draw_ms = 0.5;
    return row;
  }
  static StepTiming timing(std::int64_t frame, double step_ms) {
    return {.tag = frame, .steps = 1, .step_ms = step_ms};
  }
  static std::string csv(FrameRow row, double step_ms) {
    row.timing = timing(row.frame, step_ms);
    return row.csv();
  }

  std::string written() const { return contents(file).substr(head.size()); }

  const TemporaryFolder folder;
  Recorder recorder;
  const std::string file = recorder.open((folder / "run.csv").string(), {});
  const std::string head = contents(file);
};

TEST_F(Rows, AreWrittenOnceWhenTheyAreComplete) {
  std::string before = head;
  const auto expect_growth = [&] {
    const std::string now = contents(file);
    EXPECT_TRUE(now.starts_with(before)) << "rows in the file stay as they are";
    before = now;
  };
  ASSERT_EQ(recorder.append(row(1, 1)), "");
  EXPECT_EQ(written(), "");
  recorder.fill(timing(1, 7));
  ASSERT_EQ(recorder.append(row(2, 1)), "");
  expect_growth();
  EXPECT_EQ(written(), csv(row(1, 1), 7));
  recorder.fill(timing(2, 8));
  ASSERT_EQ(recorder.append(row(3, 0)), "");
  expect_growth();
  EXPECT_EQ(written(), csv(row(1, 1), 7) + csv(row(2, 1), 8) + row(3, 0).csv());
}

TEST_F(Rows, AreInTheOrderOfTheirFramesIfStepsAreShort) {
  const auto early = [](std::int64_t frame, int steps) {
    FrameRow one = row(frame, steps);
    one.time_s = 10.5 + 0.11 * static_cast<double>(frame - 11);
    return one;
  };
  ASSERT_EQ(recorder.append(row(0, 0)), "");
  ASSERT_EQ(recorder.append(row(10, 0)), "");
  ASSERT_EQ(recorder.append(early(11, 1)), "");
  for (int frame = 12; frame <= 16; ++frame) ASSERT_EQ(recorder.append(early(frame, 0)), "");
  std::string expected = row(0, 0).csv() + row(10, 0).csv();
  EXPECT_EQ(written(), expected) << "frames 12 to 16 need nothing, but come after frame 11, and are 0.44 s old at most";
  recorder.fill(timing(11, 7));
  ASSERT_EQ(recorder.close(), "");
  expected += csv(early(11, 1), 7);
  for (int frame = 12; frame <= 16; ++frame) expected += early(frame, 0).csv();
  EXPECT_EQ(written(), expected);
}

TEST_F(Rows, WaitForDrawingAndStepsSeparately) {
  ASSERT_EQ(recorder.append(row(1, 1, false)), "");
  recorder.fill_draw(1, 0.25);
  ASSERT_EQ(recorder.append(row(2, 1, false)), "");
  EXPECT_EQ(written(), "");
  recorder.fill(timing(2, 9));
  ASSERT_EQ(recorder.append(row(3, 1, false)), "");
  FrameRow untimed = row(1, 1);
  untimed.draw_ms = 0.25;
  EXPECT_EQ(written(), untimed.csv()) << "its batch was overtaken: the kernel was switched";
  recorder.fill_draw(3, 0.5);
  ASSERT_EQ(recorder.append(row(4, 1, false)), "");
  EXPECT_EQ(written(), untimed.csv() + csv(row(2, 1, false), 9)) << "its drawing was overtaken";
  recorder.fill(timing(3, 10));
  ASSERT_EQ(recorder.append(row(5, 1, false)), "");
  EXPECT_EQ(written(), untimed.csv() + csv(row(2, 1, false), 9) + csv(row(3, 1), 10));
}

TEST_F(Rows, DoNotWaitForDrawingsForEver) {
  for (int frame = 0; frame <= 2 * Recorder::most_frames_in_flight; ++frame) {
    ASSERT_EQ(recorder.append(row(frame, 0, false)), "");
  }
  EXPECT_EQ(lines(written()).size(), static_cast<std::size_t>(Recorder::most_frames_in_flight));
}

TEST_F(Rows, AreAllWrittenAtTheEnd) {
  ASSERT_EQ(recorder.append(row(1, 1, false)), "");
  ASSERT_EQ(recorder.close(), "");
  EXPECT_EQ(written(), row(1, 1, false).csv());
}

TEST(FrameRow, LeavesUnknownTimesEmpty) {
  FrameRow empty{.frame = 7, .time_s = 0.7, .kernel = "k", .n = 8, .draw_ms = 0.5};
  FrameRow timed = empty;
  empty.settings = "block=256 split=auto";
  empty.block = "256";
  empty.interop = "mapped";
  EXPECT_EQ(empty.csv(), "7,0.7,0,0,k,,256,block=256 split=auto,8,0,,,,,,0.5,0,0,,mapped,,,,\n");
  timed.steps = 1;
  timed.timing = StepTiming{.tag = 7, .steps = 1, .step_ms = 2.5};
  EXPECT_EQ(timed.csv(), "7,0.7,0,0,k,,,,8,1,0,0,0,2.5,0,0.5,0,0,0,,,,,0\n");
}

TEST_F(RecorderTest, EndsByItselfWhereTheDiskIsFull) {
  Recorder recorder;
  expect_runtime_error({"/dev/full", "No space left"}, [&] { recorder.open("/dev/full", {}); });
  EXPECT_FALSE(recorder.active());
}

TEST_F(RecorderTest, KeepsWholeRowsWhereAFileMayNotGrow) {
  Recorder recorder;
  const std::string file = recorder.open(path("run.csv"), {});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string error;
  int frame = 0;
  for (; frame < 1000 && error.empty(); ++frame) error = recorder.append(row(frame, frame / 10.0));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  expect_holds(error, {file, "File too large"});
  EXPECT_LT(frame, 1000);
  EXPECT_FALSE(recorder.active());
  EXPECT_EQ(recorder.append(row(frame, 1e3)), "") << "it is said once";
  const std::string text = contents(file);
  EXPECT_LE(text.size(), 1000u);
  EXPECT_GT(lines(text).size(), 5u);
  EXPECT_EQ(text.back(), '\n') << "no torn row";
}

TEST(NumberedPath, NumbersBeforeTheExtension) {
  EXPECT_EQ(numbered_path("runs/a.csv", 0), "runs/a.csv");
  EXPECT_EQ(numbered_path("runs/a.csv", 2), "runs/a-2.csv");
  EXPECT_EQ(numbered_path("runs.d/a", 1), "runs.d/a-1");
  EXPECT_EQ(numbered_path(".hidden", 1), ".hidden-1");
}

using OutputFileTest = InFolder;

TEST_F(OutputFileTest, NeverOverwrites) {
  const std::string target = write("a.csv", "precious");
  OutputFile file = OutputFile::create(target);
  EXPECT_EQ(file.append("one\n"), "");
  EXPECT_EQ(file.path(), path("a-1.csv"));
  EXPECT_EQ(file.append("two\n"), "");
  EXPECT_EQ(contents(target), "precious");
  EXPECT_EQ(contents(file.path()), "one\ntwo\n") << "with no flush or close";
}

TEST_F(OutputFileTest, ReplacesAFileFromTheFirstWriteOn) {
  const std::string target = write("a.csv", "a long old content");
  { const OutputFile unused = OutputFile::create(target, Existing::replace); }
  EXPECT_EQ(contents(target), "a long old content") << "nothing was written";
  OutputFile file = OutputFile::create(target, Existing::replace);
  EXPECT_EQ(file.append("one\n"), "");
  EXPECT_EQ(file.path(), target);
  EXPECT_EQ(contents(target), "one\n");
}

TEST_F(OutputFileTest, ReplacesNoReadOnlyFile) {
  const std::string target = write("a.csv", "precious");
  std::filesystem::permissions(target, std::filesystem::perms{0444});
  expect_runtime_error({"a.csv", "Permission denied"}, [&] { OutputFile::create(target, Existing::replace); });
  EXPECT_EQ(contents(target), "precious");
}

TEST_F(OutputFileTest, LeavesNoEmptyFileBehind) {
  const std::string target = path("a.csv");
  { const OutputFile unused = OutputFile::create(target); }
  EXPECT_FALSE(std::filesystem::exists(target));
  {
    OutputFile used = OutputFile::create(target);
    EXPECT_EQ(used.append("one\n"), "");
    const OutputFile moved = std::move(used);
  }
  EXPECT_EQ(contents(target), "one\n");
}

TEST_F(OutputFileTest, ReplacesItsTail) {
  OutputFile file = OutputFile::create(path("a"));
  EXPECT_EQ(file.append("one\ntwo\nthree\n"), "");
  EXPECT_EQ(file.replace_tail(4, "2\n"), "");
  EXPECT_EQ(contents(file.path()), "one\n2\n") << "a shorter tail leaves nothing of the old one";
  EXPECT_EQ(file.append("3\n"), "");
  EXPECT_EQ(contents(file.path()), "one\n2\n3\n");
  OutputFile moved = std::move(file);
  EXPECT_EQ(moved.append("4\n"), "");
  EXPECT_EQ(moved.size(), 10);
}

TEST_F(OutputFileTest, SaysWhatIsWrong) {
  expect_runtime_error({"a.csv", "No such file"}, [&] { OutputFile::create(path("none") + "/a.csv"); });
  expect_runtime_error({"no name"}, [] { OutputFile::create(""); });
  OutputFile full = OutputFile::create("/dev/full");
  EXPECT_EQ(full.path(), "/dev/full");
  EXPECT_EQ(full.append("x\n"), "cannot write '/dev/full': No space left on device");
}

using Csv = InFolder;

TEST_F(Csv, QuotesWhatNeedsIt) {
  const std::vector<std::string> fields{"a", "", "b,c", "say \"x\"", "two\nlines", "sp ace"};
  EXPECT_EQ(csv_line(fields), "a,,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",sp ace\n");
  EXPECT_EQ(csv_fields("a,,\"b,c\",\"say \"\"x\"\"\",sp ace\n"),
            (std::vector<std::string>{"a", "", "b,c", "say \"x\"", "sp ace"}));
  EXPECT_EQ(csv_fields("\"\",\"\"\"\",\r\n"), (std::vector<std::string>{"", "\"", ""}));
  EXPECT_EQ(csv_fields(""), std::vector<std::string>{""});
  EXPECT_EQ(csv_number(0.5), "0.5");
  EXPECT_EQ(csv_number(1.834e12), "1.834e+12");
  EXPECT_EQ(csv_number(std::nullopt), "");
  EXPECT_EQ(csv_number(0.0 / 0.0), "");
}

TEST_F(Csv, HeadsAFileWithItsMetadataInOneLine) {
  const std::vector<std::string_view> columns{"a", "b"};
  EXPECT_EQ(csv_header({{"scene", "two\nlines"}, {"n", 3}}, columns), "# {\"scene\":\"two\\nlines\",\"n\":3}\na,b\n");
  EXPECT_NO_THROW(csv_header({{"scene", "\xff.bin"}}, columns)) << "a file's name need not be UTF-8";
}

ConservedProbe probe(std::int64_t step, double kinetic) {
  return {.step = step,
          .sim_time = 0.5,
          .sums = {.kinetic = kinetic, .potential = -4, .momentum = {1, 2, 3}, .angular_momentum = {4, 5, 6}},
          .ms = 7};
}

struct ConservedLogTest : testing::Test {
  ConservedLogTest() { std::ofstream{recording} << "rows\n"; }
  std::string path(const char* name) const { return (folder / name).string(); }

  const TemporaryFolder folder;
  const std::string recording = path("run.csv");
  std::vector<ConservedProbe> history;
  ConservedLog log;
};

TEST_F(ConservedLogTest, WritesWhatIsNewBesideTheRecording) {
  log.start(recording, {{"n", 8}});
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), "");
  EXPECT_FALSE(std::filesystem::exists(path("run-conserved.csv"))) << "there is no row yet";
  history.push_back(probe(10, 2));
  EXPECT_EQ(log.follow(history, true) + log.follow(history, true), "");
  history.push_back(probe(20, 3));
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), path("run-conserved.csv"));
  const auto text = lines(contents(log.file()));
  ASSERT_EQ(text.size(), 4u);
  EXPECT_EQ(text[0], "# {\"n\":8}");
  EXPECT_EQ(text[1],
            "step,sim_time,kinetic,potential,total,total_drift,momentum_x,momentum_y,momentum_z,angular_momentum_x,"
            "angular_momentum_y,angular_momentum_z,virial_ratio,cost_ms");
  EXPECT_EQ(text[2], "10,0.5,2,-4,-2,0,1,2,3,4,5,6,1,7");
  EXPECT_EQ(text[3], "20,0.5,3,-4,-1,0.5,1,2,3,4,5,6,1.5,7");
}

TEST_F(ConservedLogTest, WritesOnlyWhatIsMeasuredWhileItIsWanted) {
  history.push_back(probe(10, 2));
  EXPECT_EQ(log.follow(history, false), "");
  log.start(recording, {});
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), "") << "it was measured before the recording";
  history.push_back(probe(20, 3));
  log.stop();
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), "");
}

TEST_F(ConservedLogTest, KeepsAnExistingFile) {
  std::ofstream{path("run-conserved.csv")} << "precious\n";
  log.start(recording, {});
  history.push_back(probe(10, 2));
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), path("run-conserved-1.csv"));
  EXPECT_EQ(contents(path("run-conserved.csv")), "precious\n");
}

TEST_F(ConservedLogTest, SaysOnceThatItCannotWrite) {
  std::filesystem::create_directory(path("gone"));
  std::ofstream{path("gone/run.csv")} << "rows\n";
  log.start(path("gone/run.csv"), {});
  std::filesystem::remove_all(path("gone"));
  history.push_back(probe(10, 2));
  expect_holds(log.follow(history, true), {"run-conserved.csv"});
  history.push_back(probe(20, 3));
  EXPECT_EQ(log.follow(history, true), "");
}

TEST_F(ConservedLogTest, WritesNothingBesideADevice) {
  log.start("/dev/null", {});
  history.push_back(probe(10, 2));
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), "");
}

ResultFiles json_only(const std::string& path) {
  return {{.json = path}, Json::object(), {}};
}

using ResultFilesTest = InFolder;

TEST_F(ResultFilesTest, KeepsTheJsonThatWasSavedWhateverBecomesOfTheRest) {
  const std::string target = path("a.json");
  { json_only(target).save({{"results", {1, 2, 3}}}); }
  EXPECT_EQ(Json::parse(contents(target))["results"].size(), 3u);
}

TEST_F(ResultFilesTest, ReplacesTheJsonThatWasSaved) {
  const std::string target = path("a.json");
  ResultFiles files = json_only(target);
  files.save({{"results", {1, 2, 3}}});
  files.finish({{"results", {4}}});
  EXPECT_EQ(files.error(), "");
  EXPECT_EQ(Json::parse(contents(target)), (Json{{"results", {4}}}));
}

TEST_F(ResultFilesTest, WritesOneJsonIntoAPipe) {
  const std::string target = path("pipe");
  ASSERT_EQ(mkfifo(target.c_str(), 0600), 0);
  const int reader = open(target.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  {
    ResultFiles files = json_only(target);
    files.save({{"results", {1, 2, 3}}});
    files.finish({{"results", {4}}});
  }
  std::array<char, 4096> text;
  const ssize_t size = ::read(reader, text.data(), text.size());
  close(reader);
  ASSERT_GT(size, 0);
  EXPECT_EQ(Json::parse(std::string(text.data(), static_cast<std::size_t>(size))), (Json{{"results", {4}}}));
}

TEST_F(ResultFilesTest, KeepsTheCsvToBeReplacedWhereNothingWasMeasured) {
  const std::string target = write("a.csv", "precious");
  const std::array<std::string_view, 1> columns{"n"};
  {
    ResultFiles files{{.csv = target, .existing = Existing::replace}, Json::object(), columns};
    files.discard();
  }
  EXPECT_EQ(contents(target), "precious");
  ResultFiles files{{.csv = target, .existing = Existing::replace}, Json::object(), columns};
  files.add(std::array<std::string, 1>{"7"});
  expect_holds(contents(target), {"\nn\n7\n"});
}

}  // namespace
}  // namespace orrery::test
