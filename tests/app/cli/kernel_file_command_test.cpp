// `orrery new-kernel` and --kernel-file of the built program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "tests/app/support/program.h"
#include "tests/compute/support/kernel_texts.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/nvrtc.h"
#endif

namespace orrery {
namespace {

using test::expect_refused;
using test::run_orrery;

TEST(NewKernelCommand, WritesAFileAndNeverOverOne) {
  const TemporaryFolder folder;
  const std::string in = folder.path().string();
  EXPECT_EQ(run_orrery({"new-kernel", "my-kernel", "--from", "cuda-naive"}, {.folder = in}).status, 0);
  std::ifstream file{folder / "my-kernel.cu"};
  std::string first;
  std::getline(file, first);
  EXPECT_EQ(first, "// id: my-kernel");
  expect_refused(run_orrery({"new-kernel", "my-kernel"}, {.folder = in}), 1, {"'my-kernel.cu' exists already"});
  expect_refused(run_orrery({"new-kernel"}, {.folder = in}), 2, {"needs the name"});
  expect_refused(run_orrery({"new-kernel", "My_Kernel"}, {.folder = in}), 2, {"'My_Kernel'", "lower-case"});
  expect_refused(run_orrery({"new-kernel", std::string(300, 'a')}, {.folder = in}), 2, {"at most 64"});
  expect_refused(run_orrery({"new-kernel", "cpu-simd"}, {.folder = in}), 2, {"built-in kernel"});
  expect_refused(run_orrery({"new-kernel", "a", "--from", "cuda-tree"}, {.folder = in}), 2,
                 {"from cuda-tree: many functions", "cuda-tiled"});
  expect_refused(run_orrery({"new-kernel", "a", "--from", "cpu-simd"}, {.folder = in}), 2,
                 {"from cpu-simd: it runs on the CPU", "cuda-shuffle"});
}

TEST(KernelFileOption, RefusesWhatIsNoKernelFile) {
  const TemporaryFolder folder;
  const std::string in = folder.path().string();
  std::ofstream{folder / "bad.cu"} << "// id: mine\n// notes: a\n\nvoid f() {}\n";
  for (const char* subcommand : {"view", "bench", "verify", "run", "compare"}) {
    expect_refused(run_orrery({subcommand, "--kernel-file", "bad.cu"}, {.folder = in}), 2,
                   {"bad.cu(1): ", "__global__"});
    expect_refused(run_orrery({subcommand, "--kernel-file", "none.cu"}, {.folder = in}), 1, {"none.cu"});
  }
}

#if ORRERY_HAVE_CUDA
TEST(KernelFileOption, ShowsCompilerErrorsWithoutAGpu) {
  if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  const TemporaryFolder folder;
  const std::string in = folder.path().string();
  std::ofstream{folder / "bad.cu"} << "// id: mine\n// notes: a\n\n"
                                      "__global__ void pull(Targets targets, Sources sources, PairLaw law, "
                                      "Epilogue epilogue) {\n  nonsense();\n}\n";
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"bench"},
                                             {"verify"},
                                             {"run", "--steps", "1"},
                                             {"profile"},
                                             {"race", "--until", "1"},
                                             {"compare", "--a", "mine", "--b", "cpu-simd"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--kernel-file", "bad.cu"});
    expect_refused(run_orrery(words, {.folder = in}), 2, {"bad.cu(5): ", "nonsense"});
  }
}

TEST(KernelFileOption, OfVerifyIsCompiledForEveryValueWithoutAGpu) {
  if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  const TemporaryFolder folder;
  const std::string in = folder.path().string();
  std::ofstream{folder / "good.cu"} << test::kernel_text();
  EXPECT_NE(run_orrery({"verify", "--kernel-file", "good.cu"}, {.folder = in}).err.find("mine: 2 settings compiled"),
            std::string::npos);
  EXPECT_NE(run_orrery({"verify", "--kernel-file", "good.cu", "--set", "block=32"}, {.folder = in})
                .err.find("mine: 1 setting compiled"),
            std::string::npos);
  std::ofstream{folder / "bad.cu"} << test::kernel_text("  int a[block == 32 ? -1 : 1];");
  expect_refused(run_orrery({"verify", "--kernel-file", "bad.cu"}, {.folder = in}), 2,
                 {"bad.cu(12): with block=32: ", "array"});
}

TEST(KernelFileOption, OfARunThatNeverShowsItsKernelHasItsOwnStatus) {
  if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  const TemporaryFolder folder;
  const std::string in = folder.path().string();
  const auto write = [&](const std::string& name, const std::string& statement) {
    std::ofstream{folder / name} << test::kernel_text(statement);
  };
  write("bad.cu", "  nonsense();");
  expect_refused(run_orrery({"render", "--kernel-file", "bad.cu", "--out", "frames", "--frames", "2"}, {.folder = in}),
                 2, {"bad.cu(12): ", "nonsense"});
  EXPECT_TRUE(std::filesystem::is_empty(folder / "frames")) << "nothing is drawn";
  const std::vector<std::string> view{"--offscreen", "--frames", "2", "-n", "100", "--kernel", "cpu-serial"};
  const auto shown = [&](const std::string& file) {
    std::vector<std::string> words = view;
    words.insert(words.end(), {"--kernel-file", file});
    return run_orrery(words, {.folder = in});
  };
  const auto bad = shown("bad.cu");
  EXPECT_EQ(bad.status, 2);
  EXPECT_NE(bad.err.find("bad.cu(12): "), std::string::npos) << bad.err;
  write("good.cu", "");
  const auto good = shown("good.cu");
  if (good.status == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(good.status, 2);
  EXPECT_NE(good.err.find("good.cu: it compiles, but cannot run here: "), std::string::npos) << good.err;
  expect_refused(run_orrery({"render", "--kernel-file", "good.cu", "--out", "frames", "--frames", "2"}, {.folder = in}),
                 2, {"good.cu: it compiles, but cannot run here: "});
}
#endif

}  // namespace
}  // namespace orrery
