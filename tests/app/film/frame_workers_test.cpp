#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "app/features/film/film.h"

namespace orrery {
namespace {

TEST(FrameWorkers, OneThreadKeepsTheOrder) {
  std::vector<std::int64_t> seen;
  FrameWorkers workers{1, 16, [&](const FilmFrame& frame) { seen.push_back(frame.number); }};
  for (std::int64_t i = 0; i < 50; ++i) {
    FilmFrame frame = workers.take_free();
    EXPECT_EQ(frame.rgba.size(), 16u);
    frame.number = i;
    workers.add(std::move(frame));
  }
  workers.finish();
  ASSERT_EQ(seen.size(), 50u);
  for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(FrameWorkers, SeveralThreadsWorkOnEveryFrameOnce) {
  std::mutex mutex;
  std::vector<int> times(100);
  FrameWorkers workers{3, 4, [&](const FilmFrame& frame) {
                         const std::lock_guard lock{mutex};
                         ++times[static_cast<std::size_t>(frame.number)];
                       }};
  for (std::int64_t i = 0; i < 100; ++i) {
    FilmFrame frame = workers.take_free();
    frame.number = i;
    workers.add(std::move(frame));
  }
  workers.finish();
  EXPECT_EQ(times, std::vector<int>(100, 1));
}

TEST(FrameWorkers, AFailureReachesWhoeverAddsFramesAndNothingHangs) {
  std::atomic<int> tried = 0;
  FrameWorkers workers{1, 4, [&](const FilmFrame&) {
                         ++tried;
                         throw std::runtime_error("the disk is full");
                       }};
  const auto add_all = [&] {
    for (int i = 0; i < 100; ++i) workers.add(workers.take_free());
  };
  EXPECT_THROW(add_all(), std::runtime_error);
  EXPECT_THROW(workers.finish(), std::runtime_error);
  EXPECT_EQ(tried, 1);
}

}  // namespace
}  // namespace orrery
