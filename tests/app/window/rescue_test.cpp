// When the thread of the rescue may look at a run.
#include "app/window/rescue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace orrery {
namespace {

using namespace std::chrono_literals;

TEST(Rescue, LooksAtTheRunOnlyWhileItsOwnerIsOutside) {
  Rescue rescue;
  std::atomic<int> looks{0};
  rescue.watch([&] { ++looks; });
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(looks, 0) << "the owner uses the run's state";
  rescue.outside([&] {
    while (looks < 2) std::this_thread::sleep_for(1ms);
  });
  const int seen = looks;
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(looks, seen);
  rescue.disarm(0);
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(looks, seen) << "the run has ended";
}

}  // namespace
}  // namespace orrery
