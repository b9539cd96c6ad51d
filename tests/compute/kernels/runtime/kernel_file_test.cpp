// The header of a kernel file, and its function.
#include "compute/kernels/runtime/kernel_file.h"

#include <regex>

#include "compute/cuda/nvrtc.h"
#include "compute/diagnostics/reference.h"
#include "compute/kernels/catalog.h"
#include "compute/kernels/runtime/compile_kernel.h"
#include "compute/kernels/runtime/file_kernel.h"
#include "compute/kernels/runtime/kernel_sources.h"
#include "tests/compute/support/kernel_texts.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

namespace orrery {
namespace {

// The sources of the built-in kernels, and the headers of kernel files: both follow from the tree.

namespace fs = std::filesystem;

constexpr Tolerance tolerance{.median = 5e-6, .max = 5e-3};

TEST(KernelFileHeader, StatesIdTunablesAndNotes) {
  const KernelFile file = parse_kernel_file("my.cu",
                                            "// id: my-kernel\n"
                                            "// title: Mine\n"
                                            "// notes: One sentence: with a colon.\n"
                                            "// tunable block = 64 [128] 256: Threads in a block.\n"
                                            "// tunable bodies-per-thread = [1] 2: Bodies of a thread.\n"
                                            "// tolerance: 1e-4 0.5\n"
                                            "// shared-per-thread: 16\n"
                                            "\n"
                                            "// id: not the header's\n"
                                            "/* __global__ */ // __global__ void no()\n"
                                            "const char* text = \"__global__ void no()\";\n"
                                            "const int n = 1'000; const char quote = '\"'; __global__ void\n"
                                            "__launch_bounds__(256) mine(Targets targets);\n");
  EXPECT_EQ(file.id, "my-kernel");
  EXPECT_EQ(file.title, "Mine");
  EXPECT_EQ(file.notes, "One sentence: with a colon.");
  ASSERT_EQ(file.tunables.size(), 2u);
  EXPECT_EQ(file.tunables[0].values, (std::vector<std::string>{"64", "128", "256"}));
  EXPECT_EQ(file.tunables[0].initial, "128");
  EXPECT_EQ(file.tunables[0].notes, "Threads in a block.");
  EXPECT_EQ(file.tunables[0].line, 4);
  EXPECT_EQ(file.tunables[1].constant(), "bodies_per_thread");
  EXPECT_EQ(file.tolerance.median, 1e-4);
  EXPECT_EQ(file.tolerance.max, 0.5);
  EXPECT_EQ(file.shared_per_thread, 16);
  EXPECT_EQ(file.function, "mine");
  EXPECT_EQ(file.function_line, 12);
}

void expect_error(const std::string& text, const std::string& place, const std::string& cause) {
  EXPECT_USAGE_ERROR(parse_kernel_file("my.cu", text), "my.cu(" + place + "): ", cause);
}

TEST(KernelFileHeader, RefusesWhatIsWrongAtItsLine) {
  const std::string body = "\n__global__ void f();\n", head = "// id: a\n// notes: b\n";
  expect_error("", "1", "no header");
  expect_error("#include <vector>\n", "1", "no header");
  expect_error("// My kernel.\n" + body, "1", "no header");
  expect_error("// id: a\n" + body, "1", "no notes");
  expect_error("// id: A b\n" + body, "1", "lower-case letters");
  expect_error(head + "// id: c\n" + body, "3", "twice");
  expect_error(head + "// tunabel block = [1]: a\n" + body, "3", "did you mean tunable?");
  expect_error(head + "// tunable block 1 2: a\n" + body, "3", "tunable block = 64 [128] 256");
  expect_error(head + "// tunable block = 1 2: a\n" + body, "3", "brackets");
  expect_error(head + "// tunable block = [1] [2]: a\n" + body, "3", "two initial values");
  expect_error(head + "// tunable block = [1] 1: a\n" + body, "3", "twice");
  expect_error(head + "// tunable block = [2048]: a\n" + body, "3", "1 to 1024");
  expect_error(head + "// tunable rows = [many]: a\n" + body, "3", "whole numbers");
  expect_error(head + "// tunable rows = [99999999999]: a\n" + body, "3", "whole numbers");
  expect_error(head + "// tolerance: 1\n" + body, "3", "MEDIAN MAX");
  expect_error(head + "// tolerance: nan nan\n" + body, "3", "MEDIAN MAX");
  for (const char* wrong : {"1 1", "-1 1", "0 1", "1e-4 1e-5", "1e-4 inf", "1e-4 nan", "5e-6 2"}) {
    expect_error(head + "// tolerance: " + wrong + "\n" + body, "3", "MEDIAN below 1");
  }
  expect_error(head + "// tolerance: 1e-4 1e-3\n// tolerance: 1e-4 1e-3\n" + body, "4", "tolerance is given twice");
  expect_error(head + "// shared-per-thread: 4\n// shared-per-thread: 0\n" + body, "4",
               "shared-per-thread is given twice");
  expect_error(head + "// shared-per-thread: -1\n" + body, "3", "bytes");
  expect_error(head + "\nvoid f();\n", "1", "no __global__ function");
  expect_error(head + body + "__global__ void g();\n", "5", "second __global__");
  expect_error(head + "\n__global__ 3;\n", "4", "no function");
  expect_error(head + std::string{"\n\0", 2} + body, "4", "byte 0");
  expect_error(head + std::string(10 << 20, ' '), "1", "at most 262144");
}

TEST(KernelFile, NeedsNoMoreSharedMemoryThanTheDeviceHas) {
  const KernelFile file =
      parse_kernel_file("my.cu", test::with(test::kernel_text(), "\n\n", "\n// shared-per-thread: 1024\n\n"));
  EXPECT_NO_THROW(require_shared_memory(file, 32, 1000, 33768));
  EXPECT_USAGE_ERROR(
      require_shared_memory(file, 32, 1001, 33768),
      "my.cu(4): a block of 32 threads needs 33769 bytes of shared memory; this GPU has 33768 per block");
  const KernelFile without = parse_kernel_file("my.cu", test::kernel_text());
  EXPECT_USAGE_ERROR(require_shared_memory(without, 32, 40000, 33768), "my.cu(5): ");
}

TEST(KernelFileHeader, DropsAByteOrderMark) {
  const KernelFile file = parse_kernel_file("my.cu", "\xEF\xBB\xBF" + test::kernel_text());
  EXPECT_EQ(file.text, test::kernel_text()) << "a compiler refuses it";
}

TEST(KernelFileHeader, RefusesTheIdOfABuiltInKernel) {
  const KernelCatalog kernels;
  for (const char* id : {"cpu-serial", "auto", "all"}) {
    const KernelFile file =
        parse_kernel_file("my.cu", "// notes: a\n// id: " + std::string{id} + "\n\n__global__ void f();");
    EXPECT_USAGE_ERROR(require_free_id(kernels, file), "my.cu(2): ", id, "choose another");
  }
  EXPECT_NO_THROW(require_free_id(kernels, parse_kernel_file("my.cu", test::kernel_text())));
}

const fs::path top = ORRERY_TOP_FOLDER;

/// Where the tests run without the sources that they were built from, there is nothing to compare with.
class TheTree : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(top / "compute")) GTEST_SKIP() << "the sources are not here";
  }
};

using DeviceHeaders = TheTree;
using KernelSources = TheTree;

std::string text_of(const fs::path& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// The files of this program that `file` includes, and what these include.
void add_included(const std::string& file, std::set<std::string>& found) {
  static const std::regex pattern{R"re(#include "(compute/[^"]*)")re"};
  const std::string text = text_of(top / file);
  for (std::sregex_iterator line{text.begin(), text.end(), pattern}, end; line != end; ++line) {
    if (found.insert((*line)[1]).second) add_included((*line)[1], found);
  }
}

std::set<std::string> files_under(const std::string& folder, const std::string& extension) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator{top / folder}) {
    if (entry.path().extension() == extension) files.insert(fs::relative(entry.path(), top).string());
  }
  return files;
}

std::set<std::string> names_of(std::span<const SourceFile> files) {
  std::set<std::string> names;
  for (const SourceFile& file : files) names.emplace(file.name);
  return names;
}

/// The headers with device code that the files of CUDA kernels include.
std::set<std::string> headers_with_device_code() {
  std::set<std::string> used, found;
  for (const std::string& file : files_under("compute/kernels", ".cu")) add_included(file, used);
  for (const std::string& header : used) {
    const std::string text = text_of(top / header);
    if (std::regex_search(text, std::regex{"__device__|ORRERY_HD"})) found.insert(header);
  }
  return found;
}

TEST_F(DeviceHeaders, AreAllThatCudaKernelsInclude) {
  const std::set<std::string> headers = headers_with_device_code(), embedded = names_of(device_headers());
  EXPECT_GE(headers.size(), 20u);
  std::size_t refused = 0;
  for (const std::string& header : headers) {
    const bool reason = !why_no_device_header(header).empty();
    refused += reason;
    EXPECT_NE(embedded.contains(header), reason) << header;
  }
  EXPECT_EQ(refused, 2u) << "a header that is used no more needs no reason";
}

TEST_F(DeviceHeaders, CompileInAKernelFile) {
  if (!cuda::nvrtc().reason().empty()) GTEST_SKIP() << cuda::nvrtc().reason();
  const auto expect_compiles = [](const std::string& includes, int architecture) {
    const std::string text = test::with(test::kernel_text(), "\n\n", "\n\n" + includes);
    try {
      const auto compiled = compile_kernel(parse_kernel_file("my.cu", text), {}, LawId::gravity, architecture);
      EXPECT_TRUE(compiled->warnings.empty()) << includes << compiled->warnings.front().text;
    } catch (const std::exception& error) {
      ADD_FAILURE() << includes << error.what();
    }
  };
  std::string all;
  for (const std::string& header : names_of(device_headers())) {
    if (!header.ends_with(".h")) continue;
    const std::string line = "#include \"" + header + "\"\n";
    expect_compiles(line, 90);
    all += line;
  }
  expect_compiles(all, 75);
  for (const char* former :
       {"core/low_words", "kernels/body_pass", "kernels/parts/counted_tiles", "kernels/parts/pair_constants",
        "kernels/parts/register_banks", "kernels/parts/unrolled", "kernels/targets", "kernels/tree/body_keys",
        "kernels/tree/domain_border", "kernels/tree/domain_layout", "kernels/tree/high_expansion",
        "kernels/tree/hilbert", "kernels/tree/morton", "kernels/tree/octree_kernels", "kernels/tree/octree_moments",
        "kernels/tree/tree_units"}) {
    expect_compiles(std::string{"#include \"compute/"} + former + ".h\"\n", 90);
  }
}

TEST_F(KernelSources, AreAllKernelsWithAllTheirFiles) {
  std::set<std::string> shown, main_files;
  for (const KernelSource& kernel : kernel_sources()) {
    ASSERT_FALSE(kernel.files.empty()) << kernel.id;
    EXPECT_EQ(kernel_id_of(*kernel.files.front()), kernel.id);
    for (const SourceFile* file : kernel.files) {
      shown.emplace(file->name);
      EXPECT_EQ(text_of(top / file->name), file->bytes) << file->name;
    }
  }
  for (const std::string& file : files_under("compute/kernels", ".cu")) EXPECT_TRUE(shown.contains(file)) << file;
  const auto has = [](const char* id, const char* file) {
    const auto kernel = std::ranges::find(kernel_sources(), id, &KernelSource::id);
    ASSERT_NE(kernel, kernel_sources().end()) << id;
    EXPECT_TRUE(std::ranges::any_of(kernel->files, [&](const SourceFile* source) { return source->name == file; }))
        << id << " lacks " << file;
  };
  has("cuda-tree", "compute/kernels/tree/octree.cu");
  has("cuda-tree", "compute/kernels/tree/octree_walk.cu");
  has("cuda-tree-lock", "compute/kernels/tree/cuda_tree_lock.cu");
  has("cuda-tensor", "compute/kernels/tensor/tensor_products.h");
  has("cuda-symmetric", "compute/kernels/symmetric/symmetric_sums.cu");
  has("cuda-naive", "compute/core/pair_law.inl");
  has("cpu-tree", "compute/kernels/tree/host_octree.cpp");
  const KernelSource& lock = *std::ranges::find(kernel_sources(), "cuda-tree-lock", &KernelSource::id);
  for (const SourceFile* file : lock.files) EXPECT_EQ(file->name.find("octree_walk"), std::string_view::npos);
}

// Which kernels the calls of a check find out, on the host: each is the direct sum with one mistake.

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::vector<int> each_of(std::span<const Vec4> bodies) {
  return sample_targets(static_cast<int>(bodies.size()), static_cast<int>(bodies.size()));
}

/// A correct kernel.
std::vector<Vec4> direct_sum(std::span<const Vec4> bodies, std::span<const int> targets) {
  const std::vector<int> every = each_of(bodies);
  const std::span<const int> wanted = targets.empty() ? std::span<const int>{every} : targets;
  const std::vector<Vec3d> sums = reference_accelerations(bodies, wanted, Law{});
  std::vector<Vec4> found(bodies.size(), {nan, nan, nan, nan});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    found[static_cast<std::size_t>(wanted[i])] = {static_cast<float>(sums[i].x), static_cast<float>(sums[i].y),
                                                  static_cast<float>(sums[i].z), 0};
  }
  return found;
}

std::vector<Vec4> ball(int count) {
  return test::random_ball(count).positions;
}

void expect_refused(int count, const KernelCall& call, const std::string& cause) {
  SCOPED_TRACE(count);
  const std::vector<Vec4> bodies = ball(count);
  EXPECT_RUNTIME_ERROR(checked_accelerations(bodies, tolerance, call), cause);
}

TEST(CheckedCalls, PassTheAccelerationsOfACorrectKernel) {
  for (const int count : {1, 2, 3, 4, 33, 257}) {
    const std::vector<Vec4> bodies = ball(count);
    EXPECT_EQ(checked_accelerations(bodies, tolerance, direct_sum), direct_sum(bodies, {})) << count;
  }
}

TEST(CheckedCalls, GiveAListOfTargetsAndOtherSourcesInBetween) {
  const std::vector<Vec4> bodies = ball(33);
  std::vector<bool> same_bodies;
  std::vector<std::size_t> targets;
  (void)checked_accelerations(bodies, tolerance, [&](std::span<const Vec4> sources, std::span<const int> of) {
    same_bodies.push_back(std::ranges::equal(sources, bodies));
    targets.push_back(of.size());
    return direct_sum(sources, of);
  });
  EXPECT_EQ(same_bodies, (std::vector{false, true, false, true, true}));
  EXPECT_EQ(targets, (std::vector<std::size_t>{0, 0, 0, 0, 11}));
}

TEST(CheckedCalls, EvaluateTheTargetsAlone) {
  const std::vector<Vec4> bodies = ball(257);
  const std::vector<int> wanted{3, 40, 100, 256};
  std::vector<std::vector<int>> targets;
  const std::vector<Vec4> found = checked_accelerations(
      bodies, tolerance,
      [&](std::span<const Vec4> sources, std::span<const int> of) {
        targets.emplace_back(of.begin(), of.end());
        return direct_sum(sources, of);
      },
      wanted);
  EXPECT_EQ(entries(found, wanted), entries(direct_sum(bodies, {}), wanted));
  EXPECT_EQ(targets, (std::vector<std::vector<int>>{{}, wanted, {}, wanted, {256, 3}}));
}

TEST(CheckedCalls, TakeAFewOfManyBodies) {
  const std::vector<Vec4> bodies(100'000, Vec4{1, 1, 1, 1});
  std::size_t others = 0, targets = 0;
  (void)checked_accelerations(bodies, tolerance, [&](std::span<const Vec4> sources, std::span<const int> of) {
    if (sources.size() < bodies.size()) others = sources.size();
    targets = of.size();
    std::vector<Vec4> found(sources.size(), of.empty() ? Vec4{} : Vec4{nan, nan, nan, nan});
    for (const int target : of) found[static_cast<std::size_t>(target)] = {};
    return found;
  });
  EXPECT_EQ(others, 4097u);
  EXPECT_EQ(targets, 4000u);
}

// Whoever compares with the true sum finds it: what is returned belongs to the other bodies.
TEST(CheckedCalls, ReturnWhatAKernelComputesThatKeepsItsFirstSources) {
  const std::vector<Vec4> bodies = ball(33);
  std::vector<Vec4> kept;
  const auto call = [&](std::span<const Vec4> sources, std::span<const int> targets) {
    if (kept.empty()) kept.assign(sources.begin(), sources.end());
    return direct_sum(kept, targets);
  };
  const std::vector<Vec4> found = checked_accelerations(bodies, tolerance, call);
  const std::vector<int> targets = each_of(bodies);
  EXPECT_GT(force_error(found, targets, reference_accelerations(bodies, targets, Law{})).max, tolerance.max);
}

TEST(CheckedCalls, LeaveAKernelThatIsNeverFiniteToTheCaller) {
  const std::vector<Vec4> bodies = ball(33);
  const auto call = [](std::span<const Vec4> sources, std::span<const int> targets) {
    std::vector<Vec4> found = direct_sum(sources, targets);
    found[20].y = nan;
    return found;
  };
  EXPECT_EQ(force_error(checked_accelerations(bodies, tolerance, call), each_of(bodies), {}).worst, 20);
}

TEST(CheckedCalls, FindKernelsWithAMistake) {
  std::vector<Vec4> sums;
  int calls = 0;
  using Sources = std::span<const Vec4>;
  using Targets = std::span<const int>;
  const KernelCall sums_go_on = [&](Sources bodies, Targets targets) {
    std::vector<Vec4> found = direct_sum(bodies, targets);
    sums.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) found[i].x = sums[i].x += found[i].x;
    return found;
  };
  const KernelCall second_call_is_not_finite = [&](Sources bodies, Targets targets) {
    std::vector<Vec4> found = direct_sum(bodies, targets);
    if (++calls == 4) found[20].y = nan;
    return found;
  };
  const KernelCall takes_places_for_bodies = [](Sources bodies, Targets targets) {
    std::vector<int> places(targets.size());
    std::iota(places.begin(), places.end(), 0);
    return direct_sum(bodies, places);
  };
  const KernelCall leaves_a_target_out = [](Sources bodies, Targets targets) {
    return direct_sum(bodies, targets.empty() ? targets : targets.first(targets.size() - 1));
  };
  const KernelCall takes_targets_for_all_sources = [](Sources bodies, Targets targets) {
    std::vector<Vec4> sources{bodies.begin(), bodies.end()};
    if (!targets.empty()) {
      for (Vec4& body : sources) body.w = 0;
      for (const int target : targets) sources[static_cast<std::size_t>(target)].w = bodies[0].w;
    }
    return direct_sum(sources, targets);
  };
  expect_refused(2, sums_go_on, "keeps something from one call to the next");
  sums.clear();
  expect_refused(33, sums_go_on, "keeps something from one call to the next");
  expect_refused(33, second_call_is_not_finite, "another acceleration of body 20");
  for (const int count : {2, 33}) {
    expect_refused(count, takes_places_for_bodies, "which is none: the k-th body to finish is targets.body(k)");
  }
  expect_refused(33, leaves_a_target_out, "body 2 is missing or not finite");
  expect_refused(33, takes_targets_for_all_sources, "is another one than with more bodies as targets");
}

}  // namespace
}  // namespace orrery
