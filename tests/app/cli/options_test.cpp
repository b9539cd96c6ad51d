#include "app/cli/measuring.h"
#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/cli/view_verb.h"
#include "compute/core/names.h"
#include "compute/sim/backends.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

template <class Kind>
Kind parsed(const Words& words) {
  return dynamic_cast<const Kind&>(*parse_options(catalog(), words));
}

/// The options of `orrery view` or `orrery render`.
ViewOptions shown(const Words& words) {
  return dynamic_cast<const ShownVerb&>(*parse_options(catalog(), words)).options;
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

using Options = InFolder;

TEST_F(Options, MakeViewTheDefault) {
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

TEST_F(Options, TurnIntoCommands) {
  const ViewOptions view = shown(
      "--scene plummer -n 100 --seed 7 --kernel cpu-simd --set threads=1 --set rows=4 --integrator euler "
      "--law attract-repel --dt 0.5 --softening 0.25 --repulsion 2 --drag 3 --steps-per-frame 9 --size 320x200 "
      "--frames 12 --panel off --vsync off --record r.csv --screenshot s.png --save b.bin --byte-order little "
      "--theme light"_words);
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

TEST_F(Options, SetTheDefaultKernelWhereNoneIsNamed) {
  const ViewOptions view = shown({"--set", "rows=4"});
  EXPECT_EQ(view.settings, (Settings::Values{{"rows", "4"}})) << "which kernel that is depends on the device";
  for (const Command& command : view.setup) EXPECT_FALSE(std::holds_alternative<SelectKernel>(command));
  expect_usage_error({"wings", "rows"}, [] { shown({"--set", "wings=2"}); });
  expect_usage_error({"rows", "all"}, [] { shown("--set rows=all --kernel cpu-simd"_words); });
}

TEST_F(Options, OnlyStoreTheDevice) {
  EXPECT_EQ(shown({"--device", "99"}).device, 99);
  EXPECT_EQ(parsed<BenchVerb>({"bench", "--device", "99"}).sweep.device.device, 99);
  EXPECT_EQ(parsed<VerifyVerb>({"verify", "--device", "99"}).device.device, 99);
  EXPECT_FALSE(parsed<BenchVerb>({"bench"}).sweep.device.device);
  for (const char* wrong : {"-1", "one", "", "0.5"}) {
    expect_usage_error({"--device"}, [&] { parsed<BenchVerb>({"bench", "--device", wrong}); });
  }
}

TEST_F(Options, NameOneDeviceOrSeveral) {
  const DeviceList both{.ordinals = {0, 1}};
  EXPECT_EQ(parsed<BenchVerb>({"bench", "--devices", "0,1"}).sweep.device.devices, both);
  EXPECT_EQ(parsed<VerifyVerb>({"verify", "--devices", "0,1"}).device.devices, both);
  EXPECT_EQ(parsed<SystemOptions>("run --steps 1 --devices 0,1"_words).device.devices, both);
  EXPECT_EQ(shown({"view", "--devices", "0,1"}).devices, both);
  EXPECT_EQ(shown("render --out a.mp4 --frames 1 --devices 0,1"_words).devices, both);
  EXPECT_TRUE(parsed<BenchVerb>({"bench", "--devices", "all"}).sweep.device.devices->all);
  EXPECT_FALSE(parsed<BenchVerb>({"bench"}).sweep.device.devices);
  expect_usage_error({"--device and --devices are both given"}, [] { shown("view --devices 0,1 --device 0"_words); });
}

TEST_F(Options, SayWhatAutoKeepsTo) {
  const ViewOptions view = shown({"--accuracy", "1e-3"});
  EXPECT_EQ(only<SetAccuracy>(view.setup).median_error, 1e-3);
  EXPECT_TRUE(std::holds_alternative<SelectKernel>(view.setup.back())) << "the accuracy comes before";
  EXPECT_EQ(only<SetAccuracy>(shown("--kernel auto --accuracy exact"_words).setup).median_error, 0);
  EXPECT_EQ(parsed<BenchVerb>("bench --kernels auto --accuracy 2e-4"_words).sweep.kernels.accuracy_or_default(), 2e-4);
  EXPECT_EQ(parsed<BenchVerb>({"bench"}).sweep.kernels.accuracy_or_default(), default_accuracy);
  for (const char* wrong : {"0", "1", "-1e-4", "nan", "inf", "close", ""}) {
    const Words words{"--accuracy", wrong};
    expect_usage_error({"--accuracy", "exact"}, [&] { parse_options(catalog(), words); });
  }
  for (const Words& words :
       {"--kernel cpu-simd --accuracy 1e-3"_words, "bench --kernels cpu-simd --accuracy 1e-3"_words}) {
    expect_usage_error({"--accuracy", "auto"}, [&] { parse_options(catalog(), words); });
  }
}

TEST_F(Options, LeaveTheKernelToTheProgram) {
  const ViewOptions view = shown("--kernel auto --law attract-repel"_words);
  EXPECT_EQ(only<SelectKernel>(view.setup).id, auto_kernel);
  EXPECT_TRUE(only<SelectKernel>(view.setup).settings.empty());
  EXPECT_TRUE(std::holds_alternative<SelectKernel>(view.setup.back())) << "the law that it is chosen for comes before";
  expect_usage_error({"threads", "--kernel auto", "cpu-simd"},
                     [] { parse_options(catalog(), "--kernel auto --set threads=1"_words); });
  expect_usage_error({"'fast'", "cpu-simd", "auto"}, [] { parse_options(catalog(), {"--kernel", "fast"}); });
  EXPECT_TRUE(parsed<BenchVerb>({"bench", "--kernels", "auto"}).sweep.kernels.selection.automatic);
  const BenchVerb both = parsed<BenchVerb>({"bench", "--kernels", "cpu-serial,auto"});
  EXPECT_TRUE(both.sweep.kernels.selection.automatic);
  EXPECT_EQ(both.sweep.kernels.selection.kernels.size(), 1u);
  const VerifyVerb verify = parsed<VerifyVerb>("verify --kernels auto --accuracy 1e-3"_words);
  EXPECT_TRUE(verify.kernels.selection.automatic && verify.kernels.selection.kernels.empty());
  EXPECT_EQ(verify.kernels.accuracy, 1e-3);
  EXPECT_TRUE(parsed<SystemOptions>({"profile", "--kernels", "auto"}).kernels.selection.automatic);
  const SystemOptions race = parsed<SystemOptions>("race --kernels auto --until 1"_words);
  ASSERT_TRUE(race.kernels.named);
  EXPECT_TRUE(race.kernels.selection.automatic);
  EXPECT_EQ(parsed<SystemOptions>("compare --a auto,dt=0.01 --b cpu-simd --accuracy 1e-3"_words).kernels.accuracy,
            1e-3);
  for (const Words& refused :
       {"compare --a auto,threads=1 --b cpu-simd"_words, "race --until 1 --kernels auto --set threads=1"_words,
        "verify --kernels cpu-simd --accuracy 1e-3"_words}) {
    expect_usage_error({"auto"}, [&] { parse_options(catalog(), refused); });
  }
  const Words words = "bench --kernels auto --block 64"_words;
  expect_usage_error({"block", "--kernels auto"}, [&] { parse_options(catalog(), words); });
}

TEST_F(Options, EndAnOffscreenRun) {
  EXPECT_EQ(shown({"--offscreen"}).frames, 300);
  EXPECT_EQ(shown({"--offscreen", "--frames", "7"}).frames, 7);
  EXPECT_FALSE(shown({"--offscreen"}).panel);
  EXPECT_TRUE(shown({"--offscreen", "--panel", "on"}).panel);
  EXPECT_TRUE(shown({"--offscreen"}).legend);
  EXPECT_FALSE(shown({"--offscreen", "--legend", "off"}).legend);
  EXPECT_FALSE(shown({"--panel", "off"}).legend);
  EXPECT_TRUE(shown("--panel off --legend on"_words).legend);

  const std::string script = write("script.txt", "5 kernel cpu-serial\n9 quit\n");
  const ViewOptions scripted = shown({"--offscreen", "--script", script});
  EXPECT_EQ(scripted.script.size(), 2u);
  EXPECT_EQ(scripted.script_file, script);
  EXPECT_FALSE(scripted.frames) << "the script quits by itself";
}

TEST_F(Options, OfBenchTakeLists) {
  const BenchVerb bench = parsed<BenchVerb>(
      "bench --kernels cpu-simd -n 1k,4k --set rows=1,4 --repeat 20 --warmup 0 --csv a.csv --json a.json"_words);
  EXPECT_EQ(bench.sweep.scene.counts, (std::vector{1024, 4096}));
  ASSERT_EQ(bench.sweep.kernels.axes.size(), 1u);
  EXPECT_EQ(bench.sweep.kernels.axes[0].values, (Words{"1", "4"}));
  EXPECT_EQ(bench.sweep.repeats, 20);
  EXPECT_EQ(bench.sweep.warmup_steps, 0);
  EXPECT_EQ(bench.results.names.csv + bench.results.names.json, "a.csva.json");
  EXPECT_EQ(parsed<BenchVerb>({"bench"}).sweep.scene.counts, std::vector{0}) << "the scene's own";
  EXPECT_TRUE(parsed<BenchVerb>({"bench"}).sweep.kernels.selection.all);
}

TEST_F(Options, OfVerifyStandForTheWholeMatrix) {
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

TEST_F(Options, ShowHelpAndVersion) {
  for (const Words& words :
       {Words{"--help"}, {"-h"}, {"bench", "--help"}, {"verify", "--help"}, {"-n", "5", "--help"}}) {
    expect_holds(parsed<ShowText>(words).text, {"Usage: orrery"});
  }
  expect_holds(parsed<ShowText>({"bench", "--help"}).text, {"--repeat"});
  EXPECT_EQ(parsed<ShowText>({"--version"}).text.find("orrery "), 0u);
}

TEST_F(Options, HaveHelpWhoseDescriptionsStayInTheirColumn) {
  const auto lines = [](const Words& words) { return fitted_help(parsed<ShowText>(words).text, {.columns = 60}); };
  const std::string blanks(30, ' ');
  expect_holds(lines({"help"}), {"\n" + blanks + "window, with snapshots and\n"});
  expect_holds(lines({"help", "bench"}), {"\n" + blanks + "from, instead of a generated\n"});
}

TEST_F(Options, HaveAHelpWhoseParagraphsBreakWhereTheTerminalDoes) {
  for (const char* subcommand :
       {"view", "render", "bench", "report", "verify", "profile", "compare", "race", "run", "lesson"}) {
    const std::string text = parsed<ShowText>({"help", subcommand}).text;
    const std::string last = text.substr(text.rfind("\n\n") + 2);
    EXPECT_EQ(last.find('\n'), last.size() - 1) << last;
  }
}

struct Refused {
  const char* words;
  std::vector<std::string> said;
};

void expect_all_refused(const std::vector<Refused>& rows) {
  for (const auto& [words, said] : rows) {
    SCOPED_TRACE(words);
    const Failure failure = failure_of([&, words = words] { parse_options(catalog(), operator""_words(words, 0)); });
    EXPECT_EQ(failure.kind, Failure::usage);
    EXPECT_FALSE(holds(failure.message, "\n"));
    for (const std::string& part : said) expect_holds(failure.message, {part});
  }
}

TEST_F(Options, RefuseUnknownNames) {
  expect_all_refused({{"--kernle cpu-simd", {"--kernle", "--kernel"}},
                      {"bench --frames 3", {"--frames", "--repeat"}},
                      {"kernels --csv a", {"--csv", "--json"}},
                      {"kernels fast", {"'fast'", "cpu-serial"}},
                      {"kernels cpu-simd cpu-serial", {"'cpu-serial'", "one ID"}},
                      {"info all", {"'all'", "--json"}},
                      {"bnech",
                       {"bnech",
                        "view, render, bench, report, verify, profile, compare, race, run, replay, convert, inspect, "
                        "kernels, info"}},
                      {"bench a.bin b.bin", {"b.bin", "one FILE"}},
                      {"--kernel fast", {"'fast'", "cpu-serial"}},
                      {"bench --kernels cpu-simd,fast", {"'fast'", "cpu-serial"}},
                      {"--kernel cpu-simd --set warp=3", {"'warp'", "threads"}},
                      {"--kernel cpu-simd --set threads=0", {"threads", "'0'", "auto"}},
                      {"--kernel cpu-simd --block 64", {"'block'", "threads"}},
                      {"--integrator rk4", {"'rk4'", "leapfrog", "euler"}},
                      {"--law push", {"'push'", "gravity", "attract-repel"}},
                      {"verify --law push", {"'push'", "gravity", "attract-repel"}},
                      {"--scene galaxy", {"'galaxy'", "collision", "two-body"}},
                      {"--byte-order middle", {"'middle'", "big", "little"}},
                      {"render --theme pink", {"'pink'", "dark", "light"}}});
}

TEST_F(Options, RefuseValuesOutOfRange) {
  for (const std::string count : {"0", "-1", "abc", "", "1.5", "99999999999", "k"}) {
    for (const Words& before : {Words{}, {"bench"}, {"verify"}}) {
      expect_usage_error({"-n", "'" + count + "'"}, [&] { parse_options(catalog(), before + Words{"-n", count}); });
    }
  }
  for (const char* step : {"0", "-0.1", "nan", "inf", "fast"}) {
    expect_usage_error({"--dt", "above 0"}, [&] { parse_options(catalog(), {"--dt", step}); });
  }
  expect_usage_error({"--record"}, [] { parse_options(catalog(), {"--record", ""}); });
  expect_usage_error({"neither a subcommand nor a file"}, [] { parse_options(catalog(), {std::string(300, 'x')}); });
  expect_all_refused({{"--size 640", {"--size", "1280x720"}},
                      {"--softening 0", {"--softening", "from 1e-10 to 1e12"}},
                      {"--softening 2e12", {"--softening", "from 1e-10 to 1e12"}},
                      {"--repulsion -1", {"--repulsion", "from 0 to 1e6"}},
                      {"--repulsion 2e6", {"--repulsion", "from 0 to 1e6"}},
                      {"--drag nan", {"--drag", "from 0 to 1e6"}},
                      {"--drag inf", {"--drag", "from 0 to 1e6"}},
                      {"bench -n 8,2000M", {"memory"}},
                      {"bench -n 2147483647", {"2147483647", "memory"}},
                      {"--frames 0", {"--frames", "at least 1"}},
                      {"--steps-per-frame 1001", {"--steps-per-frame", "1 to 1000"}},
                      {"--seed -1", {"--seed"}},
                      {"--panel yes", {"--panel", "on or off"}},
                      {"--device -1", {"--device"}},
                      {"bench --devices 0,,1", {"--devices", "0,,1", "all"}},
                      {"bench --repeat 0", {"--repeat"}},
                      {"bench --warmup -1", {"--warmup"}},
                      {"bench -n 1k,,2k", {"-n", "1k,,2k"}},
                      {"bench --scene two-body -n 3", {"two-body", "3", "2"}},
                      {"verify --sample 0", {"--sample", "'0'", "all"}},
                      {"verify --sample some", {"--sample", "'some'", "all"}},
                      {"verify --set warp=all", {"'warp'", "threads"}},
                      {"-n", {"-n needs a value"}},
                      {"--kernel", {"--kernel needs a value"}}});
}

TEST_F(Options, RefuseWhatContradictsItself) {
  expect_all_refused({{"a.bin -n 5", {"-n", "a.bin"}},
                      {"a.bin --scene plummer", {"--scene", "a.bin"}},
                      {"bench a.bin --seed 5", {"--seed", "a.bin"}},
                      {"--offscreen --vsync on", {"--vsync", "--offscreen"}},
                      {"--kernel cpu-simd --set threads=1 --set threads=2", {"threads", "twice"}},
                      {"--kernel cpu-simd --set threads=1,2", {"threads", "one value"}},
                      {"-n 4 -n 5", {"-n", "2 times"}},
                      {"--drag 1", {"--drag", "--law attract-repel"}},
                      {"--law gravity --repulsion 1", {"--repulsion", "--law attract-repel"}},
                      {"bench --repulsion 1", {"--repulsion", "--law attract-repel"}},
                      {"verify --law gravity --repulsion 1", {"--repulsion", "--law attract-repel"}},
                      {"verify --drag 1", {"unknown option '--drag'"}},
                      {"--byte-order little", {"--byte-order", "--save FILE"}},
                      {"--scene two-body --seed 2", {"--seed", "two-body", "leave it out"}},
                      {"bench --seed 2 --scene two-body", {"--seed", "two-body"}},
                      {"bench --scene collision -n 1k,1", {"collision", "1 body", "from 2"}},
                      {"verify --scene collision -n 1000,1", {"collision", "1 body", "from 2"}}});
}

TEST_F(Options, OfALawGoWithIt) {
  EXPECT_EQ(only<SetDrag>(shown("--law attract-repel --drag 1"_words).setup).drag, 1.0f);
  EXPECT_EQ(only<SetRepulsion>(parsed<VerifyVerb>({"verify", "--repulsion", "1"}).physics.setup).repulsion, 1.0f)
      << "verify takes both laws";
  const std::string script = write("script.txt", "5 law attract-repel\n");
  EXPECT_EQ(only<SetDrag>(shown({"--script", script, "--drag", "1"}).setup).drag, 1.0f);
}

TEST_F(Options, TakeTheDigits) {
  const auto digits_of = [](const Commands& setup) { return only<SetDigits>(setup).digits; };
  EXPECT_EQ(digits_of(parsed<SystemOptions>("run --steps 1 --digits compensated"_words).physics.setup),
            Digits::compensated);
  EXPECT_EQ(digits_of(parsed<SystemOptions>("race --until 1 --digits compensated"_words).physics.setup),
            Digits::compensated);
  EXPECT_EQ(digits_of(shown({"--digits", "float"}).setup), Digits::single);
  expect_usage_error({"--digits", "float", "compensated"}, [&] {
    parse_options(catalog(), Words{"bench", "--digits", "double"});
  });
}

TEST_F(Options, TakeAnAccuracyOfBlockStepsOnlyWhereAnIntegratorUsesIt) {
  for (const Words& words : {Words{"bench", "--eta", "0.01"},
                             "bench --integrator leapfrog --eta 0.01"_words,
                             "run --steps 1 --eta 0.01"_words,
                             "race --until 1 --integrators leapfrog,yoshida4 --eta 0.01"_words,
                             {"compare", "--a", "cpu-simd", "--b", "cpu-simd integrator=euler", "--eta", "0.01"}}) {
    expect_usage_error({"--eta", "leapfrog-blocks"}, [&] { parse_options(catalog(), words); });
  }
  const auto eta_of = [](const Commands& setup) { return only<SetEta>(setup).eta; };
  EXPECT_EQ(eta_of(parsed<SystemOptions>("run --steps 1 --eta 0.01 --integrator leapfrog-blocks"_words).physics.setup),
            0.01f);
  EXPECT_EQ(eta_of(parsed<SystemOptions>("race --until 1 --eta 0.01"_words).physics.setup), 0.01f) << "races them all";
  EXPECT_EQ(eta_of(parsed<SystemOptions>(
                       {"compare", "--a", "cpu-simd", "--b", "cpu-simd integrator=leapfrog-blocks", "--eta", "0.01"})
                       .physics.setup),
            0.01f);
  EXPECT_EQ(eta_of(shown({"--eta", "0.01"}).setup), 0.01f) << "the window can change the integrator";
}

TEST_F(Options, OfAWindowThatIsTakenOverMayNameFilesThatAreGone) {
  const std::string broken = path("half-edited.cu"), gone = path("moved.path");
  std::ofstream{broken} << "// no kernel";
  for (const Words& words : {Words{"--kernel-file", broken}, Words{"--path", gone}, Words{"gone"}}) {
    EXPECT_ANY_THROW((void)parse_options(catalog(), words)) << words.front();
    EXPECT_NO_THROW((void)parse_options(catalog(), words, /*takes_over=*/true)) << words.front();
  }
}

TEST_F(Options, RefuseScriptLinesThatNoFrameReaches) {
  const std::string script = path("script.txt");
  const auto write = [&](const char* text) { std::ofstream{script} << text; };
  write("0 pause\n400 resume\n");
  EXPECT_EQ(shown({"--script", script, "--frames", "401"}).script.size(), 2u);
  expect_usage_error({"script.txt:2: ", "frame 400", "--frames 401"}, [&] {
    parse_options(catalog(), {"--script", script, "--frames", "400"});
  });
  expect_usage_error({"script.txt:2: ", "--frames 401"}, [&] {
    parse_options(catalog(), {"--script", script, "--offscreen"});
  });
  write("9 quit\n9 pause\n10 resume\n");
  expect_usage_error({"script.txt:3: ", "line 1 quits at frame 9"}, [&] {
    parse_options(catalog(), {"--script", script});
  });
  expect_runtime_error({"File name too long"}, [&] { parse_options(catalog(), {"--script", std::string(300, 'x')}); });
}

// Names that are nearly right, and words in the wrong place: what the refusal suggests.

std::string refusal(const Words& words) {
  return failure_of([&] { (void)parse_options(catalog(), words); }).message;
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
                {"--kernel cpu-simd --set thread=2"_words, "threads"},
                {"verify --kernels cpu-simd,cpu-serial --set row=2"_words, "rows"},
                {"--kernel cpu-simd --set threads=Auto"_words, "auto"},
                {"verify --kernels cpu-simd,cpu-openmp --set threads=Auto"_words, "auto"},
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
    expect_usage_error({"; did you mean " + std::string{meant} + "?"},
                       [&words = words] { (void)parse_options(catalog(), words); });
  }
}

TEST(NearMiss, StandsBeforeAList) {
  const auto starts_with = [](const Words& words, const std::string& begin) {
    EXPECT_EQ(refusal(words).substr(0, begin.size()), begin);
  };
  starts_with({"--scene", "Plummer"}, "unknown scene 'Plummer'; did you mean plummer? Known scenes: collision, ");
  starts_with({"--scene", "galaxy"}, "unknown scene 'galaxy'; known scenes: collision, ");
  starts_with({"--kernel", "CPU_SIMD"}, "unknown kernel 'CPU_SIMD'; did you mean cpu-simd? Known kernels: cpu-");
  starts_with("--kernel cpu-simd --set thread=2"_words,
              "kernel cpu-simd has no setting 'thread'; did you mean threads? It has: threads, rows");
  starts_with("--kernel cpu-simd --set threads=Auto"_words,
              "cpu-simd: threads cannot be 'Auto'; did you mean auto? Allowed values: ");
  starts_with({"benchmark"}, "'benchmark' is neither a subcommand nor a file here; did you mean bench? Subcommands: ");
}

TEST(NearMiss, IsNotGuessedWhereNothingIsNear) {
  for (const Words& words : {Words{"--scene", "galaxy"},
                             {"--kernel", "fast"},
                             {"--warp", "9"},
                             {"banana"},
                             "--kernel cpu-simd --set threads=9999"_words}) {
    const std::string message = refusal(words);
    EXPECT_NE(message, "");
    EXPECT_FALSE(asks(message)) << message;
  }
}

TEST(NearMiss, NamesTheSubcommandThatTakesTheOption) {
  const auto refused = [](const Words& words, const char* part) {
    const std::string message = refusal(words);
    expect_holds(message, {part});
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
  expect_lacks(refusal({"view", "--warp", "3"}), {"which"});
}

TEST(NearMiss, OfAScriptIsHelped) {
  const auto refused = [](const std::string& line, const char* meant) {
    expect_usage_error({"; did you mean " + std::string{meant} + "?"},
                       [&] { (void)parse_script(line, "s", catalog(), {.kernels = {}, .automatic = true}); });
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
    return dynamic_cast<const ShowText&>(*parse_options(catalog(), words)).text;
  };
  EXPECT_EQ(text({"help"}), text({"--help"}));
  EXPECT_EQ(text({"help", "bench"}), text({"bench", "--help"}));
  EXPECT_EQ(text({"version"}), text({"--version"}));
  EXPECT_EQ(text({"help", "help"}), text({"--help"}));
  EXPECT_EQ(text({"help", "version"}), text({"--help"}));
  expect_holds(text({"help", "script"}), {"\nsteps-per-frame STEPS\n"});
  EXPECT_EQ(text({"help", "script", "--markdown"}).find("| command |"), 0u);
  for (const bool markdown : {false, true}) {
    Words words{"help", "keys"};
    if (markdown) words.emplace_back("--markdown");
    EXPECT_EQ(dynamic_cast<const ShowKeys&>(*parse_options(catalog(), words)).markdown, markdown);
  }
  for (const Words& words : {Words{"version", "x"}, {"help", "bench", "x"}, {"help", "help", "x"}}) {
    expect_usage_error({"unexpected argument 'x'"}, [&] { (void)parse_options(catalog(), words); });
  }
}

TEST(Flags, TakeNoValue) {
  for (const char* flag : {"--offscreen", "--offscreen=false"}) {
    const bool valued = std::string_view{flag}.find('=') != std::string_view::npos;
    EXPECT_EQ(refusal({flag}) == "", !valued) << flag;
  }
  expect_usage_error({"--offscreen takes no value"}, [] { (void)parse_options(catalog(), {"--offscreen=3"}); });
  expect_usage_error({"--card takes no value"}, [] { (void)parse_options(catalog(), {"bench", "--card=on"}); });
}

// How small and how large a window or a picture may be.

TEST(SizeOption, HasOneRuleForEachCase) {
  expect_all_refused({{"--size 10x10", {"--size cannot be 10x10; with the panel it must be at least 320x200"}},
                      {"--size 319x200", {"at least 320x200"}},
                      {"--offscreen --panel on --size 100x100", {"with the panel it must be at least 320x200"}},
                      {"--offscreen --size 10x10", {"without the panel it must be at least 16x16"}},
                      {"render --out a --size 16x15", {"without the panel it must be at least 16x16"}},
                      {"report --out a.html --size 10x10", {"at least 16x16"}},
                      {"--size 8193x200", {"each side at most 8192 pixels"}}});
  const std::unique_ptr<Verb> smallest = parse_options(catalog(), {"--offscreen", "--size", "16x16"});
  EXPECT_EQ(dynamic_cast<const ShownVerb&>(*smallest).options.size, (WindowSize{16, 16}));
}

// The options of `orrery render`.

ViewOptions rendered(Words words) {
  words.insert(words.begin(), "render");
  return dynamic_cast<const ShownVerb&>(*parse_options(catalog(), words)).options;
}

template <class... Parts>
void refused(const Words& words, const Parts&... parts) {
  expect_usage_error({parts...}, [&] { (void)rendered(words); });
}

using RenderOptions = InFolder;

TEST_F(RenderOptions, AreThoseOfAnOffscreenViewWithAFilm) {
  const ViewOptions film = rendered({"--out", "a.mp4"});
  ASSERT_TRUE(film.film.has_value());
  EXPECT_FALSE(film.film->folder);
  EXPECT_EQ(film.film->fps, 30);
  EXPECT_TRUE(film.offscreen);
  EXPECT_FALSE(film.panel || film.vsync);
  EXPECT_EQ(film.frames, 300);
  const ViewOptions frames =
      rendered("--out frames --fps 23.976 --frames 7 -n 4k --panel on --size 7680x4320 --scene plummer"_words);
  EXPECT_TRUE(frames.film->folder && frames.panel);
  EXPECT_EQ(frames.film->fps, 23.976);
  EXPECT_EQ(frames.frames, 7);
  EXPECT_EQ(frames.scene.count, 4096);
  EXPECT_EQ(frames.size, (WindowSize{7680, 4320}));
}

TEST_F(RenderOptions, AFolderHasNoExtensionOrIsThere) {
  std::filesystem::create_directory(folder / "take.2");
  for (const std::string& out : {path("take.2"), std::string{"new/"}, std::string{"v1.0/"}}) {
    EXPECT_TRUE(rendered({"--out", out}).film->folder) << out;
  }
  for (const char* out : {"a.avi", "a.png", "a.MP4.part", "take.3"}) refused({"--out", out}, "--out", out, ".mp4");
}

TEST_F(RenderOptions, WithoutFramesAFilmIsAsLongAsItsPathOrScript) {
  const std::string orbit = path("orbit.txt"), script = path("tour.txt");
  std::ofstream{orbit} << "0 0 0 5 0 0 0\n2.5 90 0 5 0 0 0\n";
  std::ofstream{script} << "0 pause\n12 quit\n";
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", orbit}).frames, 76) << "the last frame is at the last key frame";
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", orbit, "--fps", "60"}).frames, 151);
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", orbit, "--frames", "9"}).frames, 9);
  EXPECT_EQ(rendered({"--out", "a.mp4", "--script", script}).frames, 13);
  std::ofstream{orbit} << "0 0 0 5 0 0 0\n";
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", orbit}).frames, 300);
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", orbit}).path->key_frames().size(), 1u);
}

TEST_F(RenderOptions, RefuseWhatMakesNoFilm) {
  refused({}, "--out");
  refused({"--out", ""}, "--out");
  refused("--out a.mp4 --out b.mp4"_words, "--out is given 2 times");
  for (const std::string& frames : "0 -1 many 1e3 10000001 99999999999999"_words) {
    refused({"--out", "a", "--frames", frames}, "--frames", frames, "from 1 to 10000000 frames");
  }
  EXPECT_EQ(rendered("--out a --frames 10000000"_words).frames, 10'000'000);
  for (const std::string& fps : "0 -30 nan inf 1001 fast"_words) {
    refused({"--out", "a", "--fps", fps}, "--fps", fps, "from 0.1 to 1000 frames per second");
  }
  for (const char* size : {"0x0", "1280", "99999x100", "1280x-720"}) refused({"--out", "a", "--size", size}, "--size");
  refused("--out a.mp4 --size 1281x720"_words, "--size", "even");
  EXPECT_EQ(rendered("--out a --size 1281x721"_words).size.value().width, 1281) << "a PNG may be odd";
  refused("--out a --vsync on"_words, "--vsync", "'orrery view'");
  refused("--out a --screenshot b.png"_words, "--screenshot");
}

TEST_F(RenderOptions, RefuseAFilmThatAPathOrAScriptMakesTooLong) {
  const std::string orbit = path("orbit.txt"), script = path("script.txt");
  std::ofstream{orbit} << "0 0 0 5 0 0 0\n400000 0 0 5 0 0 0\n";
  refused({"--out", "a", "--path", orbit}, "orbit.txt' ends after 1.2e+07 frames", "at most 10,000,000");
  std::ofstream{script} << "99999999999 quit\n";
  refused({"--out", "a", "--script", script}, "script.txt' ends after 1e+11 frames", "at most 10,000,000");
}

TEST_F(RenderOptions, RefuseABrokenPathByItsLine) {
  const std::string orbit = write("orbit.txt", "0 0 0 5 0 0 0\n1 0 0 -5 0 0 0\n");
  refused({"--out", "a", "--path", orbit}, "orbit.txt:2: ", "DISTANCE");
  expect_runtime_error({"none.txt"}, [&] { (void)rendered({"--out", "a", "--path", path("none.txt")}); });
}

}  // namespace
}  // namespace orrery::test
