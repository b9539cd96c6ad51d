#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "compute/kernels/kernel.h"
#include "compute/sim/backends.h"

namespace orrery {

/// How GoogleTest names a kernel.
inline void PrintTo(const KernelInfo* kernel, std::ostream* out) {
  *out << kernel->id;
}

}  // namespace orrery

namespace orrery::test {

/// The backend whose kernels this test program runs; see orrery_backend_test() in tests/CMakeLists.txt.
inline constexpr Backend backend = Backend::ORRERY_TEST_BACKEND;

inline std::vector<const KernelInfo*> kernels_under_test() {
  std::vector<const KernelInfo*> chosen;
  for (const KernelInfo* kernel : kernels()) {
    if (kernel->backend == backend) chosen.push_back(kernel);
  }
  return chosen;
}

inline std::vector<const KernelInfo*> trees_under_test() {
  std::vector<const KernelInfo*> trees = kernels_under_test();
  std::erase_if(trees, [](const KernelInfo* kernel) { return !kernel->is_tree; });
  return trees;
}

/// For INSTANTIATE_TEST_SUITE_P: a kernel's id as a test name.
inline std::string test_name(const testing::TestParamInfo<const KernelInfo*>& instance) {
  std::string name = instance.param->id;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace orrery::test

/// Skips the test where the backend under test cannot run, and says why.
#define ORRERY_SKIP_WITHOUT_BACKEND()                                                            \
  if (const auto& status = ::orrery::backend_status(::orrery::test::backend); !status.available) \
  GTEST_SKIP() << status.reason
