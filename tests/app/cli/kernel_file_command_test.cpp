// `orrery new-kernel` and --kernel-file of the built program.
#include "tests/app/support/program.h"
#include "tests/compute/support/kernel_texts.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/nvrtc.h"
#endif

namespace orrery::test {
namespace {

using NewKernelCommand = ProgramTest;

TEST_F(NewKernelCommand, WritesAFileAndNeverOverOne) {
  EXPECT_EQ(run("new-kernel my-kernel --from cuda-naive"_words).status, 0);
  std::ifstream file{folder / "my-kernel.cu"};
  std::string first;
  std::getline(file, first);
  EXPECT_EQ(first, "// id: my-kernel");
  expect_refused(run({"new-kernel", "my-kernel"}), 1, {"'my-kernel.cu' exists already"});
  expect_refused(run({"new-kernel"}), 2, {"needs the name"});
  expect_refused(run({"new-kernel", "My_Kernel"}), 2, {"'My_Kernel'", "lower-case"});
  expect_refused(run({"new-kernel", std::string(300, 'a')}), 2, {"at most 64"});
  expect_refused(run({"new-kernel", "cpu-simd"}), 2, {"built-in kernel"});
  expect_refused(run("new-kernel a --from cuda-tree"_words), 2, {"from cuda-tree: many functions", "cuda-tiled"});
  expect_refused(run("new-kernel a --from cpu-simd"_words), 2, {"from cpu-simd: it runs on the CPU", "cuda-shuffle"});
}

using KernelFileOption = ProgramTest;

TEST_F(KernelFileOption, RefusesWhatIsNoKernelFile) {
  std::ofstream{folder / "bad.cu"} << "// id: mine\n// notes: a\n\nvoid f() {}\n";
  for (const char* subcommand : {"view", "bench", "verify", "run", "compare"}) {
    expect_refused(run({subcommand, "--kernel-file", "bad.cu"}), 2, {"bad.cu(1): ", "__global__"});
    expect_refused(run({subcommand, "--kernel-file", "none.cu"}), 1, {"none.cu"});
  }
}

#if ORRERY_HAVE_CUDA
TEST_F(KernelFileOption, ShowsCompilerErrorsWithoutAGpu) {
  if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  std::ofstream{folder / "bad.cu"} << "// id: mine\n// notes: a\n\n"
                                      "__global__ void pull(Targets targets, Sources sources, PairLaw law, "
                                      "Epilogue epilogue) {\n  nonsense();\n}\n";
  for (const Words& command : {"bench"_words, "verify"_words, "run --steps 1"_words, "profile"_words,
                               "race --until 1"_words, "compare --a mine --b cpu-simd"_words}) {
    expect_refused(run(command + "--kernel-file bad.cu"_words), 2, {"bad.cu(5): ", "nonsense"});
  }
}

TEST_F(KernelFileOption, OfVerifyIsCompiledForEveryValueWithoutAGpu) {
  if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  std::ofstream{folder / "good.cu"} << kernel_text();
  expect_holds(run({"verify", "--kernel-file", "good.cu"}).err, {"mine: 2 settings compiled"});
  expect_holds(run("verify --kernel-file good.cu --set block=32"_words).err, {"mine: 1 setting compiled"});
  std::ofstream{folder / "bad.cu"} << kernel_text("  int a[block == 32 ? -1 : 1];");
  expect_refused(run({"verify", "--kernel-file", "bad.cu"}), 2, {"bad.cu(12): with block=32: ", "array"});
}

TEST_F(KernelFileOption, OfARunThatNeverShowsItsKernelHasItsOwnStatus) {
  if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  write("bad.cu", kernel_text("  nonsense();"));
  expect_refused(run("render --kernel-file bad.cu --out frames --frames 2"_words), 2, {"bad.cu(12): ", "nonsense"});
  EXPECT_TRUE(std::filesystem::is_empty(folder / "frames")) << "nothing is drawn";
  const auto shown = [&](const std::string& file) {
    return run("--offscreen --frames 2 -n 100 --kernel cpu-serial --kernel-file"_words + Words{file});
  };
  const auto bad = shown("bad.cu");
  EXPECT_EQ(bad.status, 2);
  expect_holds(bad.err, {"bad.cu(12): "});
  write("good.cu", kernel_text());
  const auto good = shown("good.cu");
  if (good.status == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(good.status, 2);
  expect_holds(good.err, {"good.cu: it compiles, but cannot run here: "});
  expect_refused(run("render --kernel-file good.cu --out frames --frames 2"_words), 2,
                 {"good.cu: it compiles, but cannot run here: "});
}
#endif

}  // namespace
}  // namespace orrery::test
