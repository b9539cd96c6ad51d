// Threads that share work: each share is done once, nobody waits awake, and all treat subnormals alike.
#include "compute/core/threads.h"
#include "tests/compute/support/cpu_time.h"
#include "tests/test.h"

namespace orrery {
namespace {

constexpr std::chrono::milliseconds long_time{200};
constexpr double awake_at_most_s = 0.02;  // a tenth of it; a thread that looks all the time takes all of it

volatile float tiny = 1e-20f;  // the square is subnormal

TEST(Team, DoesEachChunkOnceWhateverTheThreads) {
  for (const int threads : {1, 2, 3, 8, 64}) {
    for (const int count : {0, 1, 7, 1000, 1001}) {
      for (int call = 0; call < 50; ++call) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        for_each_chunk(count, 7, threads, nullptr, [&](int first, int last) {
          EXPECT_LE(last - first, 7);
          for (int i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        for (const auto& visit : visits) ASSERT_EQ(visit, 1) << threads << " threads, " << count;
      }
    }
  }
}

TEST(Team, GivesEachThreadASlotOfItsOwn) {
  constexpr int threads = 4;
  std::vector<std::atomic<int>> inside(threads);
  for (int call = 0; call < 1000; ++call) {
    std::atomic<int> shares = 100;
    run_team(threads, [&](int slot) {
      std::atomic<int>& mine = inside[static_cast<std::size_t>(slot)];
      EXPECT_EQ(mine.fetch_add(1), 0);
      while (shares.fetch_sub(1) > 0) {
      }
      --mine;
    });
    for (const auto& each : inside) ASSERT_EQ(each, 0) << "it returned before all had";
  }
}

TEST(Team, ServesThreadsThatCallAtTheSameTime) {
  std::vector<std::jthread> callers;
  std::atomic<int> rows = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int call = 0; call < 100; ++call)
        for_each_chunk(100, 3, 3, nullptr, [&](int first, int last) { rows += last - first; });
    });
  }
  callers.clear();
  EXPECT_EQ(rows, 4 * 100 * 100);
}

TEST(Team, HandsOutNothingOnceCancelled) {
  std::atomic<bool> cancelled = false;
  std::atomic<int> chunks = 0;
  for_each_chunk(1'000'000'000, 1, 4, &cancelled, [&](int first, int) {
    if (first >= 1000) cancelled = true;
    ++chunks;
  });
  EXPECT_GE(chunks, 1000);
  EXPECT_LE(chunks, 1004 + 4);
}

TEST(Team, SleepsWhileOneOfItsThreadsHasNotEnded) {
  const double before = test::cpu_seconds();
  for_each_chunk(2, 1, 4, nullptr, [](int first, int) {
    if (first == 0) std::this_thread::sleep_for(long_time);
  });
  EXPECT_LT(test::cpu_seconds() - before, awake_at_most_s);
}

TEST(Waiting, SleepsUntilTheValueChanges) {
  std::atomic<int> value = 1;
  std::jthread changer{[&] {
    std::this_thread::sleep_for(long_time);
    value = 2;
    value.notify_all();
  }};
  const double before = test::cpu_seconds();
  EXPECT_EQ(wait_for_change(value, 1), 2);
  EXPECT_LT(test::cpu_seconds() - before, awake_at_most_s);
}

TEST(Subnormals, AreFlushedByAllThreadsOfATeamWhereTheCallerFlushesThem) {
  if (FloatControl::flush == 0) GTEST_SKIP() << "this processor's are kept";
  const auto flushed_by_all = [] {
    std::atomic<int> flushed = 0, kept = 0;
    for_each_chunk(1000, 1, 4, nullptr, [&](int, int) {
      std::this_thread::sleep_for(std::chrono::microseconds{10});  // so that each thread takes some
      ++(tiny * tiny == 0 ? flushed : kept);
    });
    return flushed == 1000 && kept == 0;
  };
  EXPECT_FALSE(flushed_by_all());
  {
    const WithSubnormals here{Subnormals::flushed};
    EXPECT_TRUE(flushed_by_all());
    const WithSubnormals again{Subnormals::kept};
    EXPECT_GT(tiny * tiny, 0);
  }
  EXPECT_FALSE(flushed_by_all()) << "the caller's way is restored, and its team's with it";
}

TEST(Team, LeavesProcessorsToOtherProcesses) {
  const int all = usable_threads();
  limit_threads(1);
  EXPECT_EQ(usable_threads(), 1);
  limit_threads(all + 1);
  EXPECT_EQ(usable_threads(), all);
}

}  // namespace
}  // namespace orrery
