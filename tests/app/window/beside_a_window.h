#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "compute/core/temporary_folder.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

/// A control that measures beside a shown simulation that runs, with a working folder of this test's own.
template <class Control, class Status>
class BesideAWindow : public testing::Test {
 protected:
  BesideAWindow() { std::filesystem::current_path(folder_.path()); }
  ~BesideAWindow() override { std::filesystem::current_path(before_); }

  /// Frames until what is measured ends or `enough` says so.
  void frames(Simulation& of, const auto& enough) {
    while (status.active && !enough()) {
      (void)of.collect();
      if (control.tick(of, status)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }
  void frames(const auto& enough) { frames(shown, enough); }
  void frames() {
    frames([] { return false; });
  }

  const std::filesystem::path before_ = std::filesystem::current_path();
  const TemporaryFolder folder_;
  Simulation shown{backends(), {.scene = "plummer", .count = 40}, find_kernel("cpu-simd")};
  Status status;
  Control control{backends()};
};

}  // namespace orrery::test
