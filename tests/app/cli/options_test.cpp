#include <fstream>

#include "app/cli/bench_verb.h"
#include "app/cli/verb.h"
#include "app/cli/verify_verb.h"
#include "app/cli/view_verb.h"
#include "app/features/compare/compare_verb.h"
#include "app/features/profile/profile_verb.h"
#include "app/features/race/race_verb.h"
#include "app/features/runs/run_verb.h"
#include "compute/core/temporary_folder.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

using Words = std::vector<std::string>;

template <class Kind>
Kind parsed(const Words& words) {
  return dynamic_cast<const Kind&>(*parse_options(test::catalog(), words));
}

/// The options of `orrery view` or `orrery render`.
ViewOptions shown(const Words& words) {
  return dynamic_cast<const ShownVerb&>(*parse_options(test::catalog(), words)).options;
}

/// The one command of this kind in a list.
template <class Kind>
Kind only(const Commands& commands) {
  const Kind* found = nullptr;
  for (const Command& command : commands) {
    if (const Kind* candidate = std::get_if<Kind>(&command)) {
      EXPECT_EQ(found, nullptr) << "given twice";
      found = candidate;
    }
  }
  return found ? *found : throw std::logic_error("no such command");
}

TEST(Options, MakeViewTheDefault) {
  const ViewOptions bare = shown({});
  EXPECT_EQ(bare.scene, SceneRequest{});
  ASSERT_EQ(bare.setup.size(), 1u);
  EXPECT_EQ(only<SelectKernel>(bare.setup).id, auto_kernel);
  EXPECT_TRUE(bare.panel && bare.vsync && !bare.offscreen && !bare.frames);
  EXPECT_EQ(shown({"-n", "4k"}).scene.count, 4096);
  EXPECT_EQ(shown({"view", "-n", "4k"}).scene.count, 4096);
  EXPECT_EQ(shown({"data/galaxy.bin"}).scene.file, "data/galaxy.bin");
  EXPECT_EQ(shown({"--", "-odd.bin"}).scene.file, "-odd.bin");
}

TEST(Options, TurnIntoCommands) {
  const ViewOptions view = shown({"--scene",
                                  "plummer",
                                  "-n",
                                  "100",
                                  "--seed",
                                  "7",
                                  "--kernel",
                                  "cpu-simd",
                                  "--set",
                                  "threads=1",
                                  "--set",
                                  "rows=4",
                                  "--integrator",
                                  "euler",
                                  "--law",
                                  "attract-repel",
                                  "--dt",
                                  "0.5",
                                  "--softening",
                                  "0.25",
                                  "--repulsion",
                                  "2",
                                  "--drag",
                                  "3",
                                  "--steps-per-frame",
                                  "9",
                                  "--size",
                                  "320x200",
                                  "--frames",
                                  "12",
                                  "--panel",
                                  "off",
                                  "--vsync",
                                  "off",
                                  "--record",
                                  "r.csv",
                                  "--screenshot",
                                  "s.png",
                                  "--save",
                                  "b.bin",
                                  "--byte-order",
                                  "little",
                                  "--theme",
                                  "light"});
  EXPECT_EQ(view.scene, (SceneRequest{.scene = "plummer", .file = "", .count = 100, .seed = 7}));
  const SelectKernel kernel = only<SelectKernel>(view.setup);
  EXPECT_EQ(kernel.id, "cpu-simd");
  EXPECT_EQ(kernel.settings.at("threads"), "1");
  EXPECT_EQ(kernel.settings.at("rows"), "4");
  EXPECT_EQ(only<SelectIntegrator>(view.setup).id, "euler");
  EXPECT_EQ(only<SelectLaw>(view.setup).id, "attract-repel");
  EXPECT_EQ(only<SetTimeStep>(view.setup).time_step, 0.5f);
  EXPECT_EQ(only<SetSoftening>(view.setup).softening, 0.25f);
  EXPECT_EQ(only<SetRepulsion>(view.setup).repulsion, 2.0f);
  EXPECT_EQ(only<SetDrag>(view.setup).drag, 3.0f);
  EXPECT_EQ(only<SetStepsPerFrame>(view.setup).steps, 9);
  EXPECT_EQ(view.size, (WindowSize{320, 200}));
  EXPECT_EQ(view.frames, 12);
  EXPECT_FALSE(view.panel || view.vsync);
  EXPECT_EQ(view.record_file + view.screenshot_file + view.save_file, "r.csvs.pngb.bin");
  EXPECT_EQ(view.save_order, ByteOrder::little);
  EXPECT_EQ(view.theme, render::Theme::light);
}

TEST(Options, SetTheDefaultKernelWhereNoneIsNamed) {
  const ViewOptions view = shown({"--set", "rows=4"});
  EXPECT_EQ(view.settings, (Settings::Values{{"rows", "4"}})) << "which kernel that is depends on the device";
  for (const Command& command : view.setup) EXPECT_FALSE(std::holds_alternative<SelectKernel>(command));
  expect_failure(
      Failure::usage,
      [] {
        shown({"--set", "wings=2"});
      },
      "wings", "rows");
  expect_failure(
      Failure::usage,
      [] {
        shown({"--set", "rows=all", "--kernel", "cpu-simd"});
      },
      "rows", "all");
}

TEST(Options, OnlyStoreTheDevice) {
  EXPECT_EQ(shown({"--device", "99"}).device, 99);
  EXPECT_EQ(parsed<BenchVerb>({"bench", "--device", "99"}).sweep.device.device, 99);
  EXPECT_EQ(parsed<VerifyVerb>({"verify", "--device", "99"}).device.device, 99);
  EXPECT_FALSE(parsed<BenchVerb>({"bench"}).sweep.device.device);
  for (const char* wrong : {"-1", "one", "", "0.5"}) {
    expect_failure(
        Failure::usage,
        [&] {
          parsed<BenchVerb>({"bench", "--device", wrong});
        },
        "--device");
  }
}

TEST(Options, NameOneDeviceOrSeveral) {
  const DeviceList both{.ordinals = {0, 1}};
  EXPECT_EQ(parsed<BenchVerb>({"bench", "--devices", "0,1"}).sweep.device.devices, both);
  EXPECT_EQ(parsed<VerifyVerb>({"verify", "--devices", "0,1"}).device.devices, both);
  EXPECT_EQ(parsed<RunVerb>({"run", "--steps", "1", "--devices", "0,1"}).device.devices, both);
  EXPECT_EQ(shown({"view", "--devices", "0,1"}).devices, both);
  EXPECT_EQ(shown({"render", "--out", "a.mp4", "--frames", "1", "--devices", "0,1"}).devices, both);
  EXPECT_TRUE(parsed<BenchVerb>({"bench", "--devices", "all"}).sweep.device.devices->all);
  EXPECT_FALSE(parsed<BenchVerb>({"bench"}).sweep.device.devices);
  expect_failure(
      Failure::usage,
      [] {
        shown({"view", "--devices", "0,1", "--device", "0"});
      },
      "--device and --devices are both given");
}

TEST(Options, SayWhatAutoKeepsTo) {
  const ViewOptions view = shown({"--accuracy", "1e-3"});
  EXPECT_EQ(only<SetAccuracy>(view.setup).median_error, 1e-3);
  EXPECT_TRUE(std::holds_alternative<SelectKernel>(view.setup.back())) << "the accuracy comes before";
  EXPECT_EQ(only<SetAccuracy>(shown({"--kernel", "auto", "--accuracy", "exact"}).setup).median_error, 0);
  EXPECT_EQ(parsed<BenchVerb>({"bench", "--kernels", "auto", "--accuracy", "2e-4"}).sweep.kernels.accuracy_or_default(),
            2e-4);
  EXPECT_EQ(parsed<BenchVerb>({"bench"}).sweep.kernels.accuracy_or_default(), default_accuracy);
  for (const char* wrong : {"0", "1", "-1e-4", "nan", "inf", "close", ""}) {
    const Words words{"--accuracy", wrong};
    expect_failure(
        Failure::usage, [&] { parse_options(test::catalog(), words); }, "--accuracy", "exact");
  }
  for (const Words& words : {Words{"--kernel", "cpu-simd", "--accuracy", "1e-3"},
                             Words{"bench", "--kernels", "cpu-simd", "--accuracy", "1e-3"}}) {
    expect_failure(
        Failure::usage, [&] { parse_options(test::catalog(), words); }, "--accuracy", "auto");
  }
}

TEST(Options, LeaveTheKernelToTheProgram) {
  const ViewOptions view = shown({"--kernel", "auto", "--law", "attract-repel"});
  EXPECT_EQ(only<SelectKernel>(view.setup).id, auto_kernel);
  EXPECT_TRUE(only<SelectKernel>(view.setup).settings.empty());
  EXPECT_TRUE(std::holds_alternative<SelectKernel>(view.setup.back())) << "the law that it is chosen for comes before";
  expect_failure(
      Failure::usage,
      [] {
        parse_options(test::catalog(), {"--kernel", "auto", "--set", "threads=1"});
      },
      "threads", "--kernel auto", "cpu-simd");
  expect_failure(
      Failure::usage,
      [] {
        parse_options(test::catalog(), {"--kernel", "fast"});
      },
      "'fast'", "cpu-simd", "auto");
  EXPECT_TRUE(parsed<BenchVerb>({"bench", "--kernels", "auto"}).sweep.kernels.selection.automatic);
  const BenchVerb both = parsed<BenchVerb>({"bench", "--kernels", "cpu-serial,auto"});
  EXPECT_TRUE(both.sweep.kernels.selection.automatic);
  EXPECT_EQ(both.sweep.kernels.selection.kernels.size(), 1u);
  const VerifyVerb verify = parsed<VerifyVerb>({"verify", "--kernels", "auto", "--accuracy", "1e-3"});
  EXPECT_TRUE(verify.kernels.selection.automatic && verify.kernels.selection.kernels.empty());
  EXPECT_EQ(verify.kernels.accuracy, 1e-3);
  EXPECT_TRUE(parsed<ProfileVerb>({"profile", "--kernels", "auto"}).kernels.selection.automatic);
  const RaceVerb race = parsed<RaceVerb>({"race", "--kernels", "auto", "--until", "1"});
  ASSERT_TRUE(race.kernels.named);
  EXPECT_TRUE(race.kernels.selection.automatic);
  EXPECT_GT(race.integrator_ids.size(), 3u) << "auto gives jerks where they are needed";
  const CompareVerb compare =
      parsed<CompareVerb>({"compare", "--a", "auto,dt=0.01", "--b", "cpu-simd", "--accuracy", "1e-3"});
  EXPECT_FALSE(compare.variants[0]->variant.kernel) << "chosen once the bodies are there";
  EXPECT_EQ(compare.variants[0]->time_step, 0.01f);
  EXPECT_EQ(compare.kernels.accuracy, 1e-3);
  for (const Words& refused : {Words{"compare", "--a", "auto,threads=1", "--b", "cpu-simd"},
                               Words{"race", "--until", "1", "--kernels", "auto", "--set", "threads=1"},
                               Words{"verify", "--kernels", "cpu-simd", "--accuracy", "1e-3"}}) {
    expect_failure(
        Failure::usage, [&] { parse_options(test::catalog(), refused); }, "auto");
  }
  const Words words{"bench", "--kernels", "auto", "--block", "64"};
  expect_failure(
      Failure::usage, [&] { parse_options(test::catalog(), words); }, "block", "--kernels auto");
}

TEST(Options, EndAnOffscreenRun) {
  EXPECT_EQ(shown({"--offscreen"}).frames, 300);
  EXPECT_EQ(shown({"--offscreen", "--frames", "7"}).frames, 7);
  EXPECT_FALSE(shown({"--offscreen"}).panel);
  EXPECT_TRUE(shown({"--offscreen", "--panel", "on"}).panel);
  EXPECT_TRUE(shown({"--offscreen"}).legend);
  EXPECT_FALSE(shown({"--offscreen", "--legend", "off"}).legend);
  EXPECT_FALSE(shown({"--panel", "off"}).legend);
  EXPECT_TRUE(shown({"--panel", "off", "--legend", "on"}).legend);

  const TemporaryFolder folder;
  const std::string script = (folder / "script.txt").string();
  std::ofstream{script} << "5 kernel cpu-serial\n9 quit\n";
  const ViewOptions scripted = shown({"--offscreen", "--script", script});
  EXPECT_EQ(scripted.script.size(), 2u);
  EXPECT_EQ(scripted.script_file, script);
  EXPECT_FALSE(scripted.frames) << "the script quits by itself";
}

TEST(Options, OfBenchTakeLists) {
  const BenchVerb bench = parsed<BenchVerb>({"bench", "--kernels", "cpu-simd", "-n", "1k,4k", "--set", "rows=1,4",
                                             "--repeat", "20", "--warmup", "0", "--csv", "a.csv", "--json", "a.json"});
  EXPECT_EQ(bench.sweep.scene.counts, (std::vector{1024, 4096}));
  ASSERT_EQ(bench.sweep.kernels.axes.size(), 1u);
  EXPECT_EQ(bench.sweep.kernels.axes[0].values, (Words{"1", "4"}));
  EXPECT_EQ(bench.sweep.repeats, 20);
  EXPECT_EQ(bench.sweep.warmup_steps, 0);
  EXPECT_EQ(bench.results.names.csv + bench.results.names.json, "a.csva.json");
  EXPECT_EQ(parsed<BenchVerb>({"bench"}).sweep.scene.counts, std::vector{0}) << "the scene's own";
  EXPECT_TRUE(parsed<BenchVerb>({"bench"}).sweep.kernels.selection.all);
}

TEST(Options, OfVerifyStandForTheWholeMatrix) {
  const VerifyVerb verify = parsed<VerifyVerb>({"verify"});
  EXPECT_EQ(verify.scene.counts, (std::vector{1, 2, 31, 32, 33, 255, 256, 257, 1000, 4097}));
  EXPECT_EQ(verify.laws.size(), 2u);
  EXPECT_EQ(verify.sample, 4096);
  EXPECT_FALSE(verify.histogram || verify.digits);
  EXPECT_EQ(parsed<VerifyVerb>({"verify", "--law", "gravity"}).laws, std::vector{LawId::gravity});
  EXPECT_EQ(parsed<VerifyVerb>({"verify", "--scene", "two-body"}).scene.counts, std::vector{0});
  EXPECT_EQ(parsed<VerifyVerb>({"verify", "a.bin"}).scene.counts, std::vector{0});
  EXPECT_EQ(parsed<VerifyVerb>({"verify", "--scene", "collision"}).scene.counts.front(), 2) << "its least number";
}

TEST(Options, ShowHelpAndVersion) {
  for (const Words& words :
       {Words{"--help"}, {"-h"}, {"bench", "--help"}, {"verify", "--help"}, {"-n", "5", "--help"}}) {
    EXPECT_NE(parsed<ShowText>(words).text.find("Usage: orrery"), std::string::npos);
  }
  EXPECT_NE(parsed<ShowText>({"bench", "--help"}).text.find("--repeat"), std::string::npos);
  EXPECT_EQ(parsed<ShowText>({"--version"}).text.find("orrery "), 0u);
}

TEST(Options, HaveHelpWhoseDescriptionsStayInTheirColumn) {
  const auto lines = [](const Words& words) { return fitted_help(parsed<ShowText>(words).text, {.columns = 60}); };
  const std::string blanks(30, ' ');
  EXPECT_NE(lines({"help"}).find("\n" + blanks + "window, with snapshots and\n"), std::string::npos);
  EXPECT_NE(lines({"help", "bench"}).find("\n" + blanks + "from, instead of a generated\n"), std::string::npos);
}

TEST(Options, HaveAHelpWhoseParagraphsBreakWhereTheTerminalDoes) {
  for (const char* subcommand :
       {"view", "render", "bench", "report", "verify", "profile", "compare", "race", "run", "lesson"}) {
    const std::string text = parsed<ShowText>({"help", subcommand}).text;
    const std::string last = text.substr(text.rfind("\n\n") + 2);
    EXPECT_EQ(last.find('\n'), last.size() - 1) << last;
  }
}

TEST(Options, RefuseWhatContradictsItself) {
  const auto refused = [](const Words& words, const auto&... parts) {
    expect_failure(
        Failure::usage, [&] { parse_options(test::catalog(), words); }, parts...);
  };
  refused({"a.bin", "-n", "5"}, "-n", "a.bin");
  refused({"a.bin", "--scene", "plummer"}, "--scene", "a.bin");
  refused({"bench", "a.bin", "--seed", "5"}, "--seed", "a.bin");
  refused({"--offscreen", "--vsync", "on"}, "--vsync", "--offscreen");
  refused({"--kernel", "cpu-simd", "--set", "threads=1", "--set", "threads=2"}, "threads", "twice");
  refused({"--kernel", "cpu-simd", "--set", "threads=1,2"}, "threads", "one value");
  refused({"-n", "4", "-n", "5"}, "-n", "2 times");
  refused({"--drag", "1"}, "--drag", "--law attract-repel");
  refused({"--law", "gravity", "--repulsion", "1"}, "--repulsion", "--law attract-repel");
  refused({"bench", "--repulsion", "1"}, "--repulsion", "--law attract-repel");
  refused({"verify", "--law", "gravity", "--repulsion", "1"}, "--repulsion", "--law attract-repel");
  refused({"verify", "--drag", "1"}, "unknown option '--drag'");
  refused({"--byte-order", "little"}, "--byte-order", "--save FILE");
  refused({"--scene", "two-body", "--seed", "2"}, "--seed", "two-body", "leave it out");
  refused({"bench", "--seed", "2", "--scene", "two-body"}, "--seed", "two-body");
  refused({"bench", "--scene", "collision", "-n", "1k,1"}, "collision", "1 body", "from 2");
  refused({"verify", "--scene", "collision", "-n", "1000,1"}, "collision", "1 body", "from 2");
  refused({"bench", "-n", "1k,2000M"}, "memory");
  refused({std::string(300, 'x')}, "neither a subcommand nor a file");
  refused({"bnech"}, "bnech",
          "view, render, bench, report, verify, profile, compare, race, run, replay, convert, inspect, kernels, info");
}

TEST(Options, OfALawGoWithIt) {
  EXPECT_EQ(only<SetDrag>(shown({"--law", "attract-repel", "--drag", "1"}).setup).drag, 1.0f);
  EXPECT_EQ(only<SetRepulsion>(parsed<VerifyVerb>({"verify", "--repulsion", "1"}).physics.setup).repulsion, 1.0f)
      << "verify takes both laws";
  const TemporaryFolder folder;
  const std::string script = (folder / "script.txt").string();
  std::ofstream{script} << "5 law attract-repel\n";
  EXPECT_EQ(only<SetDrag>(shown({"--script", script, "--drag", "1"}).setup).drag, 1.0f);
}

TEST(Options, TakeTheDigits) {
  const auto digits_of = [](const Commands& setup) { return only<SetDigits>(setup).digits; };
  EXPECT_EQ(digits_of(parsed<RunVerb>({"run", "--steps", "1", "--digits", "compensated"}).physics.setup),
            Digits::compensated);
  EXPECT_EQ(digits_of(parsed<RaceVerb>({"race", "--until", "1", "--digits", "compensated"}).physics.setup),
            Digits::compensated);
  EXPECT_EQ(digits_of(shown({"--digits", "float"}).setup), Digits::single);
  expect_failure(
      Failure::usage,
      [&] {
        parse_options(test::catalog(), Words{"bench", "--digits", "double"});
      },
      "--digits", "float", "compensated");
}

TEST(Options, TakeAnAccuracyOfBlockStepsOnlyWhereAnIntegratorUsesIt) {
  for (const Words& words : {Words{"bench", "--eta", "0.01"},
                             {"bench", "--integrator", "leapfrog", "--eta", "0.01"},
                             {"run", "--steps", "1", "--eta", "0.01"},
                             {"race", "--until", "1", "--integrators", "leapfrog,yoshida4", "--eta", "0.01"},
                             {"compare", "--a", "cpu-simd", "--b", "cpu-simd integrator=euler", "--eta", "0.01"}}) {
    expect_failure(
        Failure::usage, [&] { parse_options(test::catalog(), words); }, "--eta", "leapfrog-blocks");
  }
  const auto eta_of = [](const Commands& setup) { return only<SetEta>(setup).eta; };
  EXPECT_EQ(
      eta_of(
          parsed<RunVerb>({"run", "--steps", "1", "--eta", "0.01", "--integrator", "leapfrog-blocks"}).physics.setup),
      0.01f);
  EXPECT_EQ(eta_of(parsed<RaceVerb>({"race", "--until", "1", "--eta", "0.01"}).physics.setup), 0.01f)
      << "races them all";
  EXPECT_EQ(eta_of(parsed<CompareVerb>(
                       {"compare", "--a", "cpu-simd", "--b", "cpu-simd integrator=leapfrog-blocks", "--eta", "0.01"})
                       .physics.setup),
            0.01f);
  EXPECT_EQ(eta_of(shown({"--eta", "0.01"}).setup), 0.01f) << "the window can change the integrator";
}

TEST(Options, OfAWindowThatIsTakenOverMayNameFilesThatAreGone) {
  const TemporaryFolder folder;
  const std::string broken = (folder / "half-edited.cu").string(), gone = (folder / "moved.path").string();
  std::ofstream{broken} << "// no kernel";
  for (const Words& words : {Words{"--kernel-file", broken}, Words{"--path", gone}, Words{"gone"}}) {
    EXPECT_ANY_THROW((void)parse_options(test::catalog(), words)) << words.front();
    EXPECT_NO_THROW((void)parse_options(test::catalog(), words, /*takes_over=*/true)) << words.front();
  }
}

TEST(Options, RefuseScriptLinesThatNoFrameReaches) {
  const TemporaryFolder folder;
  const std::string script = (folder / "script.txt").string();
  const auto write = [&](const char* text) { std::ofstream{script} << text; };
  write("0 pause\n400 resume\n");
  EXPECT_EQ(shown({"--script", script, "--frames", "401"}).script.size(), 2u);
  expect_failure(
      Failure::usage,
      [&] {
        parse_options(test::catalog(), {"--script", script, "--frames", "400"});
      },
      "script.txt:2: ", "frame 400", "--frames 401");
  expect_failure(
      Failure::usage,
      [&] {
        parse_options(test::catalog(), {"--script", script, "--offscreen"});
      },
      "script.txt:2: ", "--frames 401");
  write("9 quit\n9 pause\n10 resume\n");
  expect_failure(
      Failure::usage,
      [&] {
        parse_options(test::catalog(), {"--script", script});
      },
      "script.txt:3: ", "line 1 quits at frame 9");
  expect_failure(
      Failure::runtime,
      [&] {
        parse_options(test::catalog(), {"--script", std::string(300, 'x')});
      },
      "File name too long");
}

}  // namespace
}  // namespace orrery
