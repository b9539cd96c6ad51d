#pragma once

#include "compute/kernels/kernel.h"
#include "compute/sim/command.h"
#include "tests/compute/support/backends.h"
#include "tests/test.h"

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

/// Returns the kernels for which suits(*kernel), which may be a member of KernelInfo.
template <class Suits>
std::vector<KernelPtr> kernels_under_test(Suits suits) {
  std::vector<KernelPtr> chosen = kernels();
  std::erase_if(chosen, [&](const KernelPtr& kernel) {
    return kernel->backend != backend || !std::invoke(suits, std::as_const(*kernel));
  });
  return chosen;
}
inline std::vector<KernelPtr> kernels_under_test() {
  return kernels_under_test([](const KernelInfo&) { return true; });
}
inline std::vector<KernelPtr> trees_under_test() {
  return kernels_under_test(&KernelInfo::is_tree);
}

/// Returns a kernel's id as a test name, for INSTANTIATE_TEST_SUITE_P.
inline std::string test_name(const testing::TestParamInfo<KernelPtr>& instance) {
  std::string name = instance.param->id;
  std::ranges::replace(name, '-', '_');
  return name;
}

/// The run that `status` shows.
inline RunSetup setup_of(const Status& status) {
  return {.scene = status.scene,
          .physics = {.integrator_id = status.integrator_id,
                      .law = status.law,
                      .time_step = status.time_step,
                      .eta = status.eta,
                      .digits = status.digits},
          .kernel_id = status.kernel_id,
          .settings = status.settings.values()};
}

}  // namespace orrery::test

/// Skips the test where the backend under test cannot run, and says why.
#define ORRERY_SKIP_WITHOUT_BACKEND()                                                                     \
  if (const auto& status = ::orrery::test::backends().status(::orrery::test::backend); !status.available) \
  GTEST_SKIP() << status.reason

namespace orrery::test {

/// A test of the backend under test, skipped where that cannot run.
class BackendTest : public testing::Test {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }
};

/// The same for each of some kernels.
class KernelTest : public BackendTest, public testing::WithParamInterface<KernelPtr> {
 protected:
  static const KernelInfo& info() { return *GetParam(); }
};

}  // namespace orrery::test
