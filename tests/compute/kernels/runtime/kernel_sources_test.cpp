// The sources of the built-in kernels, and the headers of kernel files: both follow from the tree.
#include "compute/kernels/runtime/kernel_sources.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "compute/cuda/nvrtc.h"
#include "compute/kernels/runtime/compile_kernel.h"
#include "tests/compute/support/kernel_texts.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

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
  EXPECT_GE(headers.size(), 25u);
  std::size_t refused = 0;
  for (const std::string& header : headers) {
    const bool reason = !why_no_device_header(header).empty();
    refused += reason;
    EXPECT_NE(embedded.contains(header), reason) << header;
  }
  EXPECT_EQ(refused, 4u) << "a header that is used no more needs no reason";
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
  has("cuda-tree", "compute/kernels/tree/octree_build.cu");
  has("cuda-tree", "compute/kernels/tree/octree_walk.cu");
  has("cuda-tree-lock", "compute/kernels/tree/cuda_tree_lock.cu");
  has("cuda-tensor", "compute/kernels/tensor/tensor_operands.cu");
  has("cuda-symmetric", "compute/kernels/symmetric/symmetric_sums.cu");
  has("cuda-naive", "compute/core/pair_law.inl");
  has("cpu-tree", "compute/kernels/tree/host_octree.cpp");
  const KernelSource& lock = *std::ranges::find(kernel_sources(), "cuda-tree-lock", &KernelSource::id);
  for (const SourceFile* file : lock.files) EXPECT_EQ(file->name.find("octree_walk"), std::string_view::npos);
}

}  // namespace
}  // namespace orrery
