// Kernel files through NVRTC, which needs no GPU.
#include "compute/kernels/runtime/compile_kernel.h"

#include "compute/cuda/nvrtc.h"
#include "compute/kernels/runtime/kernel_file.h"
#include "compute/kernels/runtime/kernel_sources.h"
#include "tests/compute/support/kernel_texts.h"
#include "tests/test.h"

namespace orrery {
namespace {

constexpr int hopper = 90;
using test::kernel_text;
using test::with;

class CompileKernel : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  }
};

std::shared_ptr<const CompiledKernel> compile(const std::string& text, const Settings::Values& values = {},
                                              LawId law = LawId::gravity) {
  return compile_kernel(parse_kernel_file("my.cu", text), values, law, hopper);
}

std::vector<FileMessage> messages_of(const std::string& text) {
  try {
    (void)compile(text);
  } catch (const KernelFileError& error) {
    return error.messages();
  }
  return {};
}

void expect_refused(const std::string& text, int line, const std::string& cause, const std::string& also = "") {
  EXPECT_USAGE_ERROR(compile(text), "my.cu(" + std::to_string(line) + "): ", cause, also);
}

TEST_F(CompileKernel, MakesMachineCodeForEachLawAndValue) {
  const auto gravity = compile(kernel_text());
  EXPECT_GT(gravity->binary.size(), 1000u);
  EXPECT_NE(gravity->symbol.find("accelerate"), std::string::npos);
  EXPECT_TRUE(gravity->warnings.empty());
  const auto other = compile(kernel_text(), {}, LawId::attract_repel);
  EXPECT_NE(other->symbol, gravity->symbol) << "the law is a type";
  EXPECT_NE(compile(kernel_text(), {{"block", "32"}})->binary, gravity->binary);
  EXPECT_EQ(compile(kernel_text()), gravity) << "kept";
}

TEST_F(CompileKernel, AcceptsEveryStartingPointForBothLaws) {
  for (const std::string& from : starting_points()) {
    const std::string text = new_kernel_text("my-own", from);
    const KernelFile file = parse_kernel_file("my.cu", text);
    EXPECT_EQ(file.id, "my-own");
    std::size_t rounds = 1;
    for (const FileTunable& tunable : file.tunables) rounds = std::max(rounds, tunable.values.size());
    for (std::size_t round = 0; round < rounds; ++round) {
      Settings::Values values;
      for (const FileTunable& tunable : file.tunables) {
        values[tunable.name] = tunable.values[round % tunable.values.size()];
      }
      try {
        const CompiledLaws compiled = compile_for_all_laws(file, values, hopper);
        EXPECT_TRUE(compiled.gravity->warnings.empty()) << from << ": " << compiled.gravity->warnings.front().text;
      } catch (const std::exception& error) {
        ADD_FAILURE() << from << ", round " << round << ": " << error.what();
      }
    }
  }
}

TEST_F(CompileKernel, CutsTheCodeFromTheRealFiles) {
  const std::string text = new_kernel_text("my-own", "cuda-tiled");
  EXPECT_NE(text.find("void accelerate_block("), std::string::npos);
  EXPECT_EQ(text.find("class Tiled"), std::string::npos);
  EXPECT_EQ(text.find("cuda-tiled\n"), std::string::npos) << "the id and the title are the new ones";
  EXPECT_USAGE_ERROR(new_kernel_text("my-own", "cuda-tree"), "from cuda-tree: many functions", "cuda-tiled", "tiled");
  EXPECT_USAGE_ERROR(new_kernel_text("my-own", "cuda-tild"), "'cuda-tild'", "cuda-tiled");
}

TEST(StartingPoints, AreEveryKernelOrSayWhyNot) {
  const std::vector<std::string> starts = starting_points();
  for (const KernelSource& kernel : kernel_sources()) {
    const bool is_one = std::ranges::find(starts, kernel.id) != starts.end();
    const std::string why = why_no_start(kernel.id);
    EXPECT_EQ(why.empty(), is_one) << kernel.id;
    if (is_one) continue;
    EXPECT_NE(why.find("choose one of: tiled, "), std::string::npos) << why;
    EXPECT_EQ(why.find("more than one function"), std::string::npos)
        << kernel.id << " needs a file in assets/kernels, or a reason in no_starts of kernel_file.cpp";
  }
  EXPECT_EQ(why_no_start("no-such-kernel"), "");
}

#if ORRERY_HAVE_CUDA
/// A kernel file can have those tunables whose values are whole numbers.
bool has_whole_numbers(const Tunable& tunable) {
  return std::ranges::all_of(tunable.values, [](std::string_view value) {
    return std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  });
}

TEST(StartingPoints, HaveTheTunablesAndTheToleranceOfTheirKernels) {
  const KernelCatalog kernels;
  for (const std::string& from : starting_points()) {
    const KernelPtr kernel = kernels.find_or_null(from);
    if (from == "tiled") continue;  // an example, not a kernel of the program
    ASSERT_TRUE(kernel) << from;
    SCOPED_TRACE(from);
    const KernelFile file = parse_kernel_file("my.cu", new_kernel_text("my-own", from));
    EXPECT_EQ(file.tolerance.median, kernel->tolerance.median);
    EXPECT_EQ(file.tolerance.max, kernel->tolerance.max);
    std::size_t known = 0;
    for (const Tunable& tunable : kernel->tunables) {
      if (!has_whole_numbers(tunable)) continue;
      ++known;
      const FileTunable* const mine = file.tunable(tunable.name);
      ASSERT_TRUE(mine) << tunable.name;
      EXPECT_EQ(mine->initial, tunable.initial) << tunable.name;
      EXPECT_EQ(mine->values, std::vector<std::string>(tunable.values.begin(), tunable.values.end())) << tunable.name;
    }
    EXPECT_EQ(file.tunables.size(), known);
  }
}
#endif

TEST_F(CompileKernel, ReportsErrorsAtTheirLines) {
  expect_refused(kernel_text("  int a = b;"), test::statements_line, "identifier \"b\" is undefined");
  expect_refused(kernel_text("  int a = 1"), test::statements_line + 1, "expected a \";\"");
  expect_refused(kernel_text() + "void f() {\n", 15, "at the end of the file", "expected a \"}\"");
  const std::vector<FileMessage> messages = messages_of(kernel_text("  int a = b;\n  int c = d;"));
  ASSERT_GE(messages.size(), 2u);
  EXPECT_EQ(messages[1].line, test::statements_line + 1);
  EXPECT_NE(messages[1].text.find("\"d\""), std::string::npos);
}

TEST_F(CompileKernel, ExplainsAtTheRightLine) {
  // an error of a header, where the file causes it
  expect_refused(kernel_text("  add_pull(sum, 1.0f, me.x, me.y, me.z, me);"), test::statements_line,
                 "in compute/core/law.h");
  {  // wrong parameters
    const std::string needed =
        "__global__ void accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue)";
    expect_refused(with(kernel_text(), "PairLaw law", "Law law"), 5, needed);
    expect_refused(with(kernel_text(), "Targets targets, ", ""), 5, needed);
    expect_refused(with(kernel_text(), ", Epilogue epilogue", ", Epilogue epilogue, int more"), 5, needed);
  }
  {  // a function in a namespace
    const std::string text = with(kernel_text(), "__global__", "namespace mine {\n__global__") + "}\n";
    expect_refused(text, 6, "the function must not be in a namespace");
  }
  // all lines of a static assertion
  expect_refused(kernel_text("  static_assert(sizeof(int) == 8, \"mine \\n two lines\");"), test::statements_line,
                 "\"mine  two lines\"");
  // an unknown include
  expect_refused("// id: a\n// notes: b\n\n#include <vector>\n__global__ void f();\n", 4, "unknown include 'vector'",
                 "compute/core/law.h");
  expect_refused("// id: a\n// notes: b\n\n#include \"core/law.h\"\n__global__ void f();\n", 4, "'core/law.h'",
                 "did you mean compute/core/law.h");
  {  // a function without a body, where it is declared
    const std::string text =
        with(kernel_text("  sum.x += mine(1.0f);"), "__global__", "__device__ float mine(float x);\n__global__");
    expect_refused(text, 5, "the function mine(float) is declared, but has no body");
  }
  // a header that no kernel file can include
  expect_refused(with(kernel_text(), "\n\n", "\n\n#include \"compute/cuda/block.h\"\n"), 5, "it needs CUB");
  // too much shared memory
  expect_refused(kernel_text("  __shared__ Vec4 tile[4096];\n  tile[place % 4096] = me;\n  __syncthreads();\n"
                             "  sum.x += tile[(place * 7) % 4096].x;"),
                 5, "65536 bytes of shared memory", "49152");
  {  // a tunable whose name is no name
    const std::string text =
        with(kernel_text(), "block = 32 [128]: Threads in a block.", "while = [1]: A word of C++.");
    expect_refused(with(text, "blockIdx.x * block", "blockIdx.x * blockDim.x"), 3, "");
  }
}

TEST_F(CompileKernel, ReportsTheAssemblersErrorsBeforeTheirSum) {
  const std::vector<FileMessage> messages = messages_of(kernel_text("  asm(\"bogus instr;\");"));
  ASSERT_FALSE(messages.empty());
  EXPECT_EQ(messages.front().line, 5) << "the function's";
  EXPECT_NE(messages.front().text.find("'bogus'"), std::string::npos) << messages.front().text;
  for (const FileMessage& message : messages) {
    EXPECT_EQ(message.text.find("aborted"), std::string::npos) << message.text;
  }
}

/// Usual mistakes of students, and the messages that they read then.
TEST_F(CompileKernel, ExplainsTheUsualErrors) {
  constexpr int line = test::statements_line;
  const auto explains = [](const std::string& statement, int at, const std::string& meaning) {
    SCOPED_TRACE(statement);
    expect_refused(kernel_text("  " + statement), at, meaning);
  };
  explains("int a = b;", line, "is undefined: nothing above this line declares the name");
  explains("int a = 1", line + 1, "often it is the end of the line above that lacks the ;");
  explains("float a = (1 + 2;", line, "a bracket that was opened before has no )");
  explains("float a = me;", line, "a const Vec4 does not become a float by itself");
  explains("float a = \"x\";", line, "this is a const char *, and a float is needed");
  explains("sum = me;", line, "operand types are: Vec3 = const Vec4: these types have no =");
  explains("epilogue.finish(i, me.w);", line, "argument types are: (const int, const float)");
  explains("epilogue.finish(i, me.w);", line, "another number of arguments");
  explains("add_pull(sum, law, 1.0, 1.0, 1.0, me);", line, "1.0 is a double, and 1.0f is a float");
  explains("float a = sqrtf(1.0f, 2.0f);", line, "the function takes fewer arguments");
  explains("float a = fmaxf(1.0f);", line, "the function takes more arguments");
  explains("float a = max(1, 2.0f);", line, "give them the same one");
  explains("float a = 1f;", line, "a float has a point before its f, as in 1.0f");
  explains("float a = me.mass;", line, "w of a body is its mass");
  explains("sum.w = 1;", line, "a Vec3 has x, y and z");
  explains("sources.bodies[0].x = 1;", line, "it is const, or belongs to the sources");
  explains("float a = sources.bodies.x;", line, "read an element, as in bodies[j].x");
  explains("float a = sources->count;", line, "write a point in place of ->");
  explains("float a = std::sqrt(2.0f);", line, "CUDA's functions, without std::");
  explains("float a[i];", line, "use a literal, a constexpr variable or a tunable");
  explains("int i = 3;", line, "two variables have this name");
  explains("asm(\"bogus;\");", 5, "asm() has an instruction that this GPU does not know");
}

TEST_F(CompileKernel, KeepsWarnings) {
  const auto compiled = compile(kernel_text("  int unused = 1;"));
  ASSERT_EQ(compiled->warnings.size(), 1u);
  EXPECT_EQ(compiled->warnings.front().line, test::statements_line);
  EXPECT_FALSE(compiled->warnings.front().is_error);
}

TEST_F(CompileKernel, TakesAFileWithAByteOrderMark) {
  EXPECT_NO_THROW((void)compile("\xEF\xBB\xBF" + kernel_text()));
}

TEST_F(CompileKernel, TakesLittleTime) {
  (void)compile(kernel_text("  // warms up"));
  EXPECT_LT(compile(kernel_text("  // an edit"))->ms, 1500) << "70 ms on a machine that does nothing else";
}

TEST(MissingNvrtc, IsExplained) {
  static constexpr std::array none{"libno-such-nvrtc.so"};
  const cuda::Nvrtc nvrtc{none};
  EXPECT_NE(nvrtc.reason().find("install the CUDA toolkit"), std::string::npos);
  EXPECT_RUNTIME_ERROR(nvrtc.compile({}), "install the CUDA toolkit");
}

}  // namespace
}  // namespace orrery
