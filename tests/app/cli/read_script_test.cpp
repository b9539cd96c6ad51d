#include "app/cli/view_verb.h"
#include "app/features/sweep/sweep.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

Script parsed(const std::string& text, const char* kernel = "cpu-serial") {
  const KernelPtr first = find_kernel_or_auto(catalog(), kernel);
  return parse_script(text, "demo.txt", catalog(),
                      first ? KernelSelection{.kernels = {first}} : KernelSelection{.kernels = {}, .automatic = true});
}

template <class Kind>
Kind command(const ScriptLine& line) {
  return std::get<Kind>(std::get<Command>(line.request));
}
template <class Kind>
Kind view_command(const ScriptLine& line) {
  const Kind* const wanted = command_if<Kind>(line.request);
  if (!wanted) throw std::runtime_error("another command");
  return *wanted;
}

using ScriptTest = InFolder;

TEST_F(ScriptTest, KnowsEveryCommand) {
  const Script script = parsed(
      "0 kernel cpu-simd\n1 set threads 2\n2 integrator euler\n3 law attract-repel\n4 dt 0.5\n5 softening 0.25\n6 "
      "pause\n"
      "7 resume\n8 step\n9 reset\n10 record run 1.csv\n11 stop-record\n12 screenshot a.png\n13 save b.bin\n14 quit\n15 "
      "restart\n");
  ASSERT_EQ(script.size(), 16u);
  for (std::size_t i = 0; i < script.size(); ++i) {
    EXPECT_EQ(script[i].frame, static_cast<std::int64_t>(i));
    EXPECT_EQ(script[i].line, static_cast<int>(i) + 1);
  }
  EXPECT_EQ(command<SelectKernel>(script[0]).id, "cpu-simd");
  EXPECT_EQ(command<SetTunable>(script[1]).name, "threads");
  EXPECT_EQ(command<SetTunable>(script[1]).value, "2");
  EXPECT_EQ(command<SelectIntegrator>(script[2]).id, "euler");
  EXPECT_EQ(command<SelectLaw>(script[3]).id, "attract-repel");
  EXPECT_EQ(command<SetTimeStep>(script[4]).time_step, 0.5f);
  EXPECT_EQ(command<SetSoftening>(script[5]).softening, 0.25f);
  EXPECT_TRUE(command<SetPaused>(script[6]).paused);
  EXPECT_FALSE(command<SetPaused>(script[7]).paused);
  command<StepOnce>(script[8]);
  command<Reset>(script[9]);
  EXPECT_EQ(view_command<StartRecording>(script[10]).file, "run 1.csv") << "a file's name may hold blanks";
  view_command<StopRecording>(script[11]);
  EXPECT_EQ(view_command<SaveScreenshot>(script[12]).file, "a.png");
  EXPECT_EQ(view_command<SaveSnapshot>(script[13]).file, "b.bin");
  view_command<Quit>(script[14]);
  command<Restart>(script[15]);
}

TEST_F(ScriptTest, SaysWhatAutoKeepsTo) {
  const Script script = parsed("0 accuracy 1e-4\n1 accuracy exact\n");
  EXPECT_EQ(command<SetAccuracy>(script[0]).median_error, 1e-4);
  EXPECT_EQ(command<SetAccuracy>(script[1]).median_error, 0);
  expect_usage_error({"demo.txt:1: ", "accuracy", "exact"}, [] { parsed("0 accuracy 0\n"); });
}

TEST_F(ScriptTest, SetsWhatIsExaminedAndHowOften) {
  const Script script = parsed("0 probe off\n1 probe on\n2 conserved 0.5\n3 conserved 0\n");
  EXPECT_EQ(view_command<SetDiagnostics>(script[0]).probe, false);
  EXPECT_EQ(view_command<SetDiagnostics>(script[1]).probe, true);
  EXPECT_FALSE(view_command<SetDiagnostics>(script[1]).conserved_interval_s) << "the other stays";
  EXPECT_EQ(view_command<SetDiagnostics>(script[2]).conserved_interval_s, 0.5);
  EXPECT_EQ(view_command<SetDiagnostics>(script[3]).conserved_interval_s, 0);
  expect_usage_error({"demo.txt:1: ", "'often'"}, [] { parsed("0 probe often\n"); });
  expect_usage_error({"demo.txt:1: ", "'-1'"}, [] { parsed("0 conserved -1\n"); });
}

TEST_F(ScriptTest, SweepsOneOrSeveralTunables) {
  const Script script = parsed("0 sweep threads\n1 sweep rows threads\n2 stop-sweep\n", "cpu-simd");
  EXPECT_EQ(view_command<StartSweep>(script[0]).tunables, std::vector<std::string>{"threads"});
  EXPECT_EQ(view_command<StartSweep>(script[1]).tunables, (std::vector<std::string>{"rows", "threads"}));
  view_command<StopSweep>(script[2]);
  expect_usage_error({"demo.txt:2: ", "'warp'", "threads"}, [] { parsed("0 kernel cpu-simd\n1 sweep warp\n"); });
}

TEST_F(ScriptTest, SweepsOverCountsAndKernels) {
  const Script script =
      parsed("0 sweep threads n=4k,16k kernels=cpu-openmp,cpu-simd\n1 sweep kernels=all\n2 sweep n=7\n");
  const auto both = view_command<StartSweep>(script[0]);
  EXPECT_EQ(both.tunables, std::vector<std::string>{"threads"});
  EXPECT_EQ(both.counts, (std::vector{4096, 16384}));
  EXPECT_EQ(both.kernels, (std::vector<std::string>{"cpu-openmp", "cpu-simd"}));
  const auto all = view_command<StartSweep>(script[1]);
  EXPECT_TRUE(all.tunables.empty() && all.counts.empty());
  EXPECT_EQ(all.kernels, std::vector<std::string>{"all"});
  EXPECT_TRUE(view_command<StartSweep>(script[2]).kernels.empty());
  expect_usage_error({"demo.txt:1: ", "'many'"}, [] { parsed("0 sweep n=many\n"); });
  expect_usage_error({"demo.txt:1: ", "'fast'"}, [] { parsed("0 race 1 kernels=fast\n"); });
  expect_usage_error({"demo.txt:1: ", "until"}, [] { parsed("0 race 0\n"); });
  expect_usage_error({"demo.txt:1: ", "'hasty'"}, [] { parsed("0 race 1 integrators=hasty\n"); });
  expect_usage_error({"demo.txt:1: ", "'fast'"}, [] { parsed("0 sweep kernels=fast\n"); });
  expect_usage_error({"demo.txt:1: ", "'threads'"}, [] { parsed("0 sweep threads kernels=cpu-serial\n"); });
}

TEST_F(ScriptTest, ReturnsToRowsAndPinsThem) {
  const Script script = parsed("0 return 1\n1 undo\n2 pin 3\n3 unpin 3\n");
  EXPECT_EQ(view_command<ReturnToResult>(script[0]).row, 0) << "rows count from 1";
  command<UndoReturn>(script[1]);
  EXPECT_EQ(view_command<PinResult>(script[2]).row, 2);
  EXPECT_TRUE(view_command<PinResult>(script[2]).pinned);
  EXPECT_FALSE(view_command<PinResult>(script[3]).pinned);
  expect_usage_error({"demo.txt:1: ", "pin", "'0'"}, [] { parsed("0 pin 0\n"); });
}

TEST_F(ScriptTest, ShowsPartsOfTheLaboratory) {
  const Script script = parsed("0 lab speed-error\n1 lab fold\n2 measure-conserved\n");
  EXPECT_EQ(view_command<ShowLab>(script[0]).tab, "speed-error");
  EXPECT_FALSE(view_command<ShowLab>(script[1]).tab);
  expect_usage_error({"demo.txt:1: ", "'kitchen'", "conservation", "fold"}, [] { parsed("0 lab kitchen\n"); });
}

TEST_F(ScriptTest, IgnoresCommentsBlanksTabsAndCarriageReturns) {
  const Script script =
      parsed("# a demonstration\r\n\r\n \t\n\t10\tkernel\t cpu-simd \t# the fast one\r\n20 screenshot a#1.png");
  ASSERT_EQ(script.size(), 2u);
  EXPECT_EQ(command<SelectKernel>(script[0]).id, "cpu-simd");
  EXPECT_EQ(script[0].line, 4);
  EXPECT_EQ(view_command<SaveScreenshot>(script[1]).file, "a#1.png") << "a comment starts after a blank";
  EXPECT_TRUE(parsed("").empty());
  EXPECT_EQ(view_command<StartRecording>(parsed("0 record # later.csv").front()).file, "") << "a new file";
  EXPECT_EQ(view_command<StartRecording>(parsed("0 record \"a # b.csv\" # c").front()).file, "a # b.csv");
}

TEST_F(ScriptTest, IsSortedByFrameAndKeepsTheOrderWithinOne) {
  const Script script = parsed("20 quit\n10 pause\n10 step\n0 reset\n");
  ASSERT_EQ(script.size(), 4u);
  EXPECT_EQ(script[0].line, 4);
  EXPECT_EQ(script[1].line, 2);
  EXPECT_EQ(script[2].line, 3);
  EXPECT_EQ(script[3].line, 1);
}

TEST_F(ScriptTest, ChecksTunablesAgainstTheKernelOfTheirFrame) {
  EXPECT_EQ(parsed("5 set threads 2\n", "cpu-simd").size(), 1u);
  EXPECT_EQ(parsed("5 set threads 2\n0 kernel cpu-simd\n").size(), 2u) << "frame 0 comes first";
  expect_usage_error({"demo.txt:1: ", "cpu-serial", "threads"}, [] { parsed("5 set threads 2\n"); });
  expect_usage_error({"demo.txt:3: ", "threads", "auto"}, [] { parsed("0 kernel cpu-simd\n\n5 set threads 0\n"); });
  expect_usage_error({"demo.txt:2: ", "cpu-serial"}, [] { parsed("9 kernel cpu-simd\n5 set threads 2\n"); });
}

TEST_F(ScriptTest, NamesTheKernelOfAFileThatIsOpen) {
  const std::string use =
      "1 kernel mine settings=block=7\n2 set block 9\n3 sweep block\n4 race 1 mine\n5 kernel cpu-simd\n6 set threads "
      "2\n";
  for (const char* open : {"0 workshop-open mine.cu\n", "0 workshop-new mine\n"}) {
    EXPECT_EQ(parsed(open + use).size(), 7u) << open;
    expect_usage_error({"demo.txt:1: unknown kernel 'mine'"}, [&] { parsed(use + "9" + open); });
    expect_usage_error({"demo.txt:8: "}, [&] { parsed(open + use + "7 set threads many\n"); });
  }
  EXPECT_EQ(parse_script(use, "demo.txt", catalog(), {}, /*kernel_file=*/true).size(), 6u);
}

TEST_F(ScriptTest, LeavesTheKernelToTheProgram) {
  EXPECT_EQ(command<SelectKernel>(parsed("3 kernel auto\n").front()).id, auto_kernel);
  EXPECT_EQ(parsed("6 sweep rows\n", "auto").size(), 1u) << "some kernel has them";
  EXPECT_EQ(parsed("0 kernel auto\n5 kernel cpu-simd\n5 set threads 2\n", "auto").size(), 3u);
  expect_usage_error({"demo.txt:2: ", "threads", "cpu-simd"}, [] { parsed("0 kernel auto\n5 set threads 2\n"); });
  expect_usage_error({"demo.txt:1: ", "wings"}, [] { parsed("5 set wings 2\n", "auto"); });
  expect_usage_error({"demo.txt:1: ", "wings"}, [] { parsed("5 sweep wings\n", "auto"); });
}

TEST_F(ScriptTest, NamesTheLineThatIsWrong) {
  const auto refused = [](const std::string& line, const auto&... parts) {
    expect_usage_error({"demo.txt:2: ", parts...}, [&] { parsed("# first\n" + line + "\n9 quit\n"); });
  };
  refused("kernel cpu-simd", "'kernel'", "whole number");
  refused("-1 pause", "'-1'");
  refused("1.5 pause", "'1.5'");
  refused("99999999999999999999 pause", "whole number");
  refused("5", "command is missing", "screenshot");
  refused("5 jump", "'jump'", "kernel", "resume", "screenshot", "quit");
  refused("5 kernel", "'kernel' takes ID");
  refused("5 kernel cpu-simd now", "'kernel' takes ID", "cpu-simd now");
  refused("5 kernel fast", "'fast'", "cpu-serial", "auto");
  refused("5 set threads", "NAME VALUE");
  refused("5 set threads 2 3", "NAME VALUE");
  refused("5 integrator rk4", "'rk4'", "leapfrog");
  refused("5 law push", "'push'", "gravity");
  refused("5 dt 0", "dt", "above 0");
  refused("5 dt nan", "dt", "above 0");
  refused("5 softening 0", "softening");
  refused("5 pause now", "pause", "'now'", "on or off");
  refused("5 step now", "'step' takes no argument");
  refused("5 kernel cpu-simd settings=wings=2", "wings", "threads");
  refused("5 return-to fast euler 0.1", "'fast'", "cpu-serial");
}

TEST_F(ScriptTest, PrintsNoBytesOfABinaryFile) {
  for (const char* content : {"\x89PNG\r\n\x1a\n",
                              "\x7f"
                              "ELF\x02\x01",
                              "5 \xc3(", "\xe2\x82", "5 jump\x1b[2J"}) {
    expect_usage_error({"demo.txt:1: this is not a text file"}, [&] { parsed(content); });
  }
  expect_usage_error({"h\u00fcpf"}, [] { parsed("5 h\u00fcpf\n"); });
}

TEST_F(ScriptTest, SaysWhyAFileCannotBeRead) {
  const KernelSelection first = parse_kernels(catalog(), "cpu-serial");
  const std::string missing = path("none.txt");
  expect_runtime_error({missing, "No such file"}, [&] { read_script(missing, catalog(), first); });
  expect_runtime_error({"folder"}, [&] { read_script(folder.path().string(), catalog(), first); });
  expect_runtime_error({"/dev/null", "not a regular file"}, [&] { read_script("/dev/null", catalog(), first); });
  expect_runtime_error({"/proc/self/mem", "Input/output error"},
                       [&] { read_script("/proc/self/mem", catalog(), first); });
}

TEST_F(ScriptTest, HasAMillionCommandsAtMost) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "0 step\n\n";
  EXPECT_EQ(parsed(text).size(), 1'000'000u);
  expect_usage_error({"demo.txt:2000001: ", "1000000 commands"}, [&] { parsed(text + "0 quit"); });
}

TEST_F(ScriptTest, HasLinesOfReasonableLength) {
  EXPECT_EQ(parsed("0 record " + std::string(65'536 - 9, 'x')).size(), 1u);
  expect_usage_error({"demo.txt:1: ", "65536 bytes"}, [&] { parsed("0 record " + std::string(65'536 - 8, 'x')); });
}

TEST_F(ScriptTest, HasNoFrameThatCannotBeCounted) {
  EXPECT_EQ(parsed("9223372036854775806 quit").front().frame, ScriptLine::last_frame);
  expect_usage_error({"demo.txt:1: ", "9223372036854775806"}, [&] { parsed("9223372036854775807 quit"); });
}

}  // namespace
}  // namespace orrery::test
