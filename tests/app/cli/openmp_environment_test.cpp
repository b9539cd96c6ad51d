// OpenMP's threads in the program sleep soon where they wait, unless the user wants it otherwise.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "tests/app/support/program.h"

namespace orrery {
namespace {

/// Sets a variable of the environment for a while.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_{name} {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

/// How often a thread looks before it sleeps, as GNU's library says at its start: of the last one that started. Less
/// than 0 where another library is in use.
long long looks_before_sleep(const char* policy) {
  const Variable show{"OMP_DISPLAY_ENV", "verbose"}, wait{"OMP_WAIT_POLICY", policy}, spin{"GOMP_SPINCOUNT", nullptr};
  const std::string said = test::run_orrery({"--version"}).err;
  const std::string name = "GOMP_SPINCOUNT = '";
  const std::size_t at = said.rfind(name);
  return at == std::string::npos ? -1 : std::stoll(said.substr(at + name.size()));
}

TEST(OpenmpThreads, TheDoctorFindsSettingsThatTakeProcessorsFromKernels) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  const auto said = [](const char* name, const char* value) {
    const Variable setting{name, value};
    return test::run_orrery({"info", "--wide"}).out;
  };
  const std::string found = "CPU kernels get 1 of ";
  EXPECT_NE(said("OMP_THREAD_LIMIT", "1").find(found), std::string::npos);
  EXPECT_NE(said("OMP_PLACES", "{0}").find(found), std::string::npos);
  EXPECT_NE(said("OMP_DYNAMIC", "true").find("unset "), std::string::npos);
  EXPECT_EQ(said("OMP_NUM_THREADS", "1").find(found), std::string::npos) << "each kernel asks for its own number";
}

TEST(OpenmpThreads, SleepSoonUnlessTheUserWantsItOtherwise) {
  const long long looks = looks_before_sleep(nullptr);
  if (looks < 0) GTEST_SKIP() << "not GNU's library";
  EXPECT_LE(looks, 1000);
  EXPECT_GT(looks_before_sleep("active"), 1'000'000);
}

}  // namespace
}  // namespace orrery
