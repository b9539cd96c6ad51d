// NVRTC in a process of its own: the built program, and programs in its place. It needs no GPU.
#include <sys/stat.h>

#include <iostream>
#include <system_error>

#include "app/process/kernel_processes.h"
#include "compute/cuda/nvrtc.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/kernel_texts.h"

namespace orrery::test {
namespace {

using namespace std::chrono_literals;

CompilerInput input(const std::string& statement) {
  return {.source = "__global__ void f(float* out) {\n  " + statement + "\n}\n",
          .options = {"--std=c++20", "--gpu-architecture=sm_90"},
          .function = "f"};
}

/// The compiler makes 2^20 classes of it.
std::string endless_text() {
  return with(kernel_text("  if (F<19, 1>::value == 1) return;"), "__global__",
              "template <int n, int p>\nstruct F {\n"
              "  static constexpr int value = F<n - 1, 2 * p>::value + F<n - 1, 2 * p + 1>::value;\n};\n"
              "template <int p>\nstruct F<0, p> {\n  static constexpr int value = p;\n};\n\n__global__");
}

void compile(const std::string& text, const CompilerProcess& compiler) {
  (void)compile_kernel(parse_kernel_file("my.cu", text), {}, LawId::gravity, usual_architecture, compiler);
}

struct CompilerOfTheProgram : testing::Test {
  void SetUp() override {
    if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  }
  std::filesystem::path dying_program() const {
    const auto file = folder.write("orrery", "#!/bin/sh\nkill -9 $$\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

  const TemporaryFolder folder;
  CompilerProcess compiler{.program = ORRERY_PROGRAM, .limit = 280s};
};

TEST_F(CompilerOfTheProgram, GivesWhatTheCompilerGivesHere) {
  for (const char* statement : {"*out = 1;", "int unused = 1;", "*out = none;"}) {
    const cuda::Nvrtc::Result there = compiler(input(statement)), here = compile_here(input(statement));
    EXPECT_EQ(there.compiled, here.compiled);
    EXPECT_EQ(there.symbol, here.symbol);
    EXPECT_EQ(there.log, here.log);
    EXPECT_EQ(there.binary, here.binary);
  }
}

TEST_F(CompilerOfTheProgram, GivesTheSameForBothLawsInProcessesThatWait) {
  const auto compiled = [&](const char* edit) {  // another text, since the results of one are kept
    const KernelFile file = parse_kernel_file("my.cu", kernel_text(edit));
    const auto begin = std::chrono::steady_clock::now();
    const CompiledLaws laws = compile_for_all_laws(file, {}, usual_architecture, compiler);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::cout << "both laws: " << took.count()
              << " ms (aim: 150 ms with processes that wait, on a machine that does nothing else)\n";
    return std::pair{laws.gravity->binary, laws.attract_repel->binary};
  };
  const auto first = compiled("  // an edit");
  EXPECT_FALSE(first.first.empty() || first.second.empty());
  compiler.spares = std::make_shared<SpareCompilers>(ORRERY_PROGRAM);
  compiler.spares->fill();
  std::this_thread::sleep_for(1s);  // a user takes longer for an edit
  EXPECT_EQ(compiled("  // another edit"), first);
  EXPECT_EQ(compiled("  // an edit while none waits"), first);
}

TEST_F(CompilerOfTheProgram, StartsAnotherProcessInPlaceOfOneThatHasEnded) {
  compiler.spares = std::make_shared<SpareCompilers>(dying_program());
  compiler.spares->fill();
  EXPECT_NO_THROW(compile(kernel_text("  // no spare answers"), compiler));
}

/// Before the function, so that the include has the function's line in kernel_text().
std::string text_with(const std::string& lines) {
  return with(kernel_text(), "__global__", lines + "\n__global__");
}

TEST_F(CompilerOfTheProgram, IncludesNoFileOfTheDisk) {
  const std::string secret = folder.write("secret.h", "TOPSECRET x;\n").string(), pipe = (folder / "pipe.h").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string line = "my.cu(" + std::to_string(parse_kernel_file("my.cu", kernel_text()).function_line) + "): ";
  for (const std::string& name : {secret, std::filesystem::relative(secret).string(), pipe, std::string{"/etc/shadow"},
                                  std::string{"/dev/zero"}, std::string{"/proc/self/environ"}}) {
    for (const std::string& directive :
         {"#include \"" + name + '"', "#include <" + name + '>', "  %: /* */ include \"" + name + '"'}) {
      expect_usage_error({line, "unknown include '" + name + "'", "a kernel file can include: compute/"},
                         [&] { compile(text_with(directive), compiler); });
    }
    expect_usage_error({"unknown include '" + name + "'"},
                       [&] { compile(text_with("#define NAME \"" + name + "\"\n#include NAME"), compiler); });
  }
}

TEST_F(CompilerOfTheProgram, DoesNotSayWhichFilesExist) {
  const std::string secret = folder.write("secret.h", "").string();
  for (const std::string& has : {std::string{"__has_include"}, std::string{"CAT(__has_, include)"}}) {
    EXPECT_NO_THROW(
        compile(text_with("#define CAT(a, b) a##b\n#define HAS " + has + "\n#if HAS(\"" + secret +
                          "\")\n#error it exists\n#endif\n#if !HAS(\"compute/core/law.h\")\n#error no header\n#endif"),
                compiler))
        << has;
  }
}

TEST_F(CompilerOfTheProgram, IsEndedAfterItsTime) {
  compiler.limit = 300ms;
  expect_usage_error({"my.cu(14): ", "did not end within 0.3 s: "}, [&] { compile(endless_text(), compiler); });
}

#ifndef ORRERY_SANITIZED  // no limit there, see run_compiler_process()
TEST_F(CompilerOfTheProgram, HasLimitedMemory) {
  expect_usage_error({"my.cu(", "memory"}, [&] { compile(endless_text(), compiler); });
}
#endif

TEST_F(CompilerOfTheProgram, IsEndedWhenItsResultIsNoLongerWanted) {
  const auto begin = std::chrono::steady_clock::now();
  compiler.cancelled = [begin] { return std::chrono::steady_clock::now() - begin > 200ms; };
  expect_runtime_error({"was stopped", ""}, [&] { compile(endless_text(), compiler); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

TEST(CompilerProcess, ExplainsWhatEndsWithoutAResult) {
  const TemporaryFolder folder;
  const auto program = [&](const std::string& script) {
    const auto file = folder / "orrery";
    std::ofstream{file} << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return CompilerProcess{.program = file};
  };
  for (const char* script : {"kill -9 $$", "echo nonsense", "printf '1 2 3 4\\n'", "exit 4"}) {
    expect_usage_error({"my.cu(5): ", "ended without a result"}, [&] { compile(kernel_text(), program(script)); });
  }
  expect_runtime_error({"no NVRTC", ""},
                       [&] { compile(kernel_text(), program("echo 'orrery: no NVRTC' >&2; exit 1")); });
  expect_runtime_error({"did not run", "No such file"}, [&] { compile(kernel_text(), {.program = folder / "none"}); });
}

TEST(CompilerProcess, GetsTheSourceAndTheOptions) {
  const TemporaryFolder folder;
  const auto file = folder / "orrery";
  std::ofstream{file} << "#!/bin/sh\nlog=$(cat)\nprintf '0 0 %d 0\\n%s' ${#log} \"$log\"\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  const auto result =
      CompilerProcess{.program = file}(CompilerInput{.source = "the source", .options = {"-DA"}, .function = "f"});
  EXPECT_FALSE(result.compiled);
  EXPECT_EQ(result.log, "f\n1\n-DA\nthe source");
}

/// Spares of a program that counts its starts, and answers after 300 ms.
struct CountedSpares : testing::Test {
  CountedSpares() { std::filesystem::permissions(program, std::filesystem::perms::owner_all); }
  std::uintmax_t starts() const {
    std::error_code missing;
    const std::uintmax_t bytes = std::filesystem::file_size(folder / "starts", missing);
    return missing ? 0 : bytes;
  }
  void wait_for_starts(std::uintmax_t count) const {
    const auto begin = std::chrono::steady_clock::now();
    while (starts() < count && std::chrono::steady_clock::now() - begin < 10s) std::this_thread::sleep_for(10ms);
    EXPECT_EQ(starts(), count);
  }

  const TemporaryFolder folder;
  const std::filesystem::path program = folder.write(
      "orrery", "#!/bin/sh\nprintf . >>\"$(dirname \"$0\")/starts\"\ncat >/dev/null\nsleep 0.3\nprintf '0 0 0 0\\n'\n");
  const std::shared_ptr<SpareCompilers> spares = std::make_shared<SpareCompilers>(program);
  CompilerProcess compiler{.program = program, .spares = spares};
};

TEST_F(CountedSpares, AreNotStartedWhileAProcessCompilesInTheirPlace) {
  compiler.cancelled = [&] {
    spares->fill();
    return false;
  };
  (void)compiler(input(""));
  EXPECT_EQ(starts(), 1u);
}

TEST_F(CountedSpares, AreStartedAgainAfterACompilationThatThrew) {
  spares->fill();
  wait_for_starts(2);
  compiler.cancelled = []() -> bool { throw std::runtime_error("no memory"); };
  expect_runtime_error({"no memory", ""}, [&] { (void)compiler(input("")); });
  spares->fill();
  wait_for_starts(3);
}

}  // namespace
}  // namespace orrery::test
