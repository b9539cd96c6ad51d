#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/kernel.h"
#include "tests/compute/support/backends.h"

namespace orrery {

/// How GoogleTest names a kernel.
inline void PrintTo(const KernelPtr& kernel, std::ostream* out) {
  *out << kernel->id;
}

}  // namespace orrery

namespace orrery::test {

/// The backend whose kernels this process runs: the CPU's, or CUDA's where the environment has
/// ORRERY_TEST_BACKEND=cuda.
inline const Backend backend = [] {
  const char* const name = std::getenv("ORRERY_TEST_BACKEND");
  return name && std::string_view{name} == "cuda" ? Backend::cuda : Backend::cpu;
}();

inline std::vector<KernelPtr> kernels_under_test() {
  std::vector<KernelPtr> chosen = kernels();
  std::erase_if(chosen, [](const KernelPtr& kernel) { return kernel->backend != backend; });
  return chosen;
}

inline std::vector<KernelPtr> trees_under_test() {
  std::vector<KernelPtr> trees = kernels_under_test();
  std::erase_if(trees, [](const KernelPtr& kernel) { return !kernel->is_tree; });
  return trees;
}

/// Returns a kernel's id as a test name, for INSTANTIATE_TEST_SUITE_P.
inline std::string test_name(const testing::TestParamInfo<KernelPtr>& instance) {
  std::string name = instance.param->id;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace orrery::test

/// Skips the test where the backend under test cannot run, and says why.
#define ORRERY_SKIP_WITHOUT_BACKEND()                                                                     \
  if (const auto& status = ::orrery::test::backends().status(::orrery::test::backend); !status.available) \
  GTEST_SKIP() << status.reason
