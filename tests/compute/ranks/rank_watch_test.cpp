// The start of ranks, and the watch: hangs are noticed, and ranks that work for long are left alone.
#include <future>
#include <stop_token>

#include "compute/core/message.h"
#include "compute/ranks/communicator.h"
#include "compute/ranks/protocol.h"
#include "tests/compute/support/thread_ranks.h"
#include "tests/test.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

constexpr RankWatch::Limits quick{.tick = 4ms, .silence = 50, .overdue = 50, .times = 10, .surrender = 50};

/// Where silence is not the subject, a busy machine may delay greetings.
constexpr RankWatch::Limits patient{.tick = 4ms, .silence = 2500, .overdue = 50, .times = 10, .surrender = 50};

/// The reason for which a rank gave up.
class Surrender {
 public:
  RankWatch::GiveUp note() {
    return [this](const std::string& why) { reason_.set_value(why); };
  }
  std::string wait() {
    std::future<std::string> reason = reason_.get_future();
    return reason.wait_for(20s) == std::future_status::ready ? reason.get() : "nothing";
  }
  bool came() { return reason_.get_future().wait_for(0s) == std::future_status::ready; }

 private:
  std::promise<std::string> reason_;
};

/// A worker whose helper is alive: greets the leader, and replies only if `replies`.
std::jthread living_worker(Communicator& rank, bool replies) {
  return std::jthread{[&rank, replies](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      rank.send_heartbeat(0);
      std::this_thread::sleep_for(1ms);
      if (!replies || !rank.has_message(0)) continue;
      std::vector<std::byte> order;
      rank.receive(0, order);
      MessageWriter reply;
      reply.put(Outcome::done);
      rank.send(0, reply.bytes());
    }
  }};
}

TEST(RankWatch, ASilentWorkerInterruptsTheLeader) {
  test::ThreadRanks ranks{3};
  const std::jthread first = living_worker(ranks.at(1), false);
  Surrender surrender;
  const RankWatch watch{ranks.at(0), surrender.note(), quick};
  std::vector<std::byte> message;
  EXPECT_RUNTIME_ERROR(ranks.at(0).receive(2, message), "rank 2: no heartbeat for ");
  EXPECT_RUNTIME_ERROR(ranks.at(0).send(1, message), "rank 2: ");
  EXPECT_EQ(surrender.wait().find("rank 2: no heartbeat"), 0u) << "the leader did not end by itself";
}

TEST(RankWatch, WorkersGiveUpASilentLeaderTheFirstOneFirst) {
  test::ThreadRanks ranks{3};
  Surrender first, second;
  const RankWatch of_second{ranks.at(2), second.note(), quick};
  const RankWatch of_first{ranks.at(1), first.note(), quick};
  EXPECT_EQ(first.wait().find("rank 0: no heartbeat"), 0u);
  EXPECT_FALSE(second.came());
}

TEST(RankWatch, ALongEvaluationIsNoHang) {
  test::ThreadRanks ranks{2};
  const std::jthread worker = living_worker(ranks.at(1), false);
  Surrender surrender;
  RankWatch watch{ranks.at(0), surrender.note(), patient};
  watch.begin_parts({true, true});
  std::this_thread::sleep_for(patient.tick * 200);
  EXPECT_NO_THROW((void)ranks.at(0).has_message(1)) << "no part has ended";
  watch.end_part(0);
  std::this_thread::sleep_for(patient.tick * 200);
  EXPECT_NO_THROW((void)ranks.at(0).has_message(1)) << "not yet ten times as long";
  EXPECT_FALSE(surrender.came());
}

TEST(RankWatch, RanksWithoutWorkAreNoMeasureOfOthers) {
  test::ThreadRanks ranks{3};
  const std::jthread first = living_worker(ranks.at(1), false), second = living_worker(ranks.at(2), false);
  RankWatch watch{ranks.at(0), [](const std::string&) {}, patient};
  watch.begin_parts({true, false, true});
  watch.end_part(1);
  std::this_thread::sleep_for(patient.tick * 200);
  EXPECT_NO_THROW((void)ranks.at(0).has_message(1));
  watch.end_part(0);
  std::vector<std::byte> message;
  watch.begin_parts({true, false, true});
  watch.end_part(1);
  watch.end_part(0);
  EXPECT_RUNTIME_ERROR(ranks.at(0).receive(2, message), "rank 2: no result after ");
}

TEST(RankWatch, ALeaderThatWaitsForDataOfOthersIsAMeasureOfThem) {
  test::ThreadRanks ranks{2};
  const std::jthread worker = living_worker(ranks.at(1), false);
  RankWatch watch{ranks.at(0), [](const std::string&) {}, patient};
  watch.begin_parts({true, true});
  watch.note_work(0);
  std::vector<std::byte> message;
  EXPECT_RUNTIME_ERROR(ranks.at(0).receive(1, message), "rank 1: no result after ");
}

TEST(RankWatch, DataThatDoNotReachTheLeaderAreNoticed) {
  test::ThreadRanks ranks{2};
  const std::jthread worker = living_worker(ranks.at(1), false);
  ranks.at(1).send(0, {});  // its part has ended
  Surrender surrender;
  RankWatch watch{ranks.at(0), surrender.note(), patient};
  watch.begin_parts({true, true});
  watch.note_work(0);
  EXPECT_EQ(surrender.wait().find("rank 0: no result after "), 0u);
}

TEST(RankWatch, AKernelOfTheLeaderThatDoesNotEndIsNoticed) {
  test::ThreadRanks ranks{2};
  const std::jthread worker = living_worker(ranks.at(1), false);
  ranks.at(1).send(0, {});  // its reply
  Surrender surrender;
  RankWatch watch{ranks.at(0), surrender.note(), patient};
  watch.begin_parts({true, true});
  EXPECT_EQ(surrender.wait().find("rank 0: no result after "), 0u);
}

TEST(WorkerChannel, AnExchangeEndsIfAWorkerRepliesWhileTheOthersWaitForItsMessage) {
  test::ThreadRanks ranks{2};
  const std::jthread worker = living_worker(ranks.at(1), true);
  RankWatch watch{ranks.at(0), [](const std::string&) {}, patient};
  WorkerChannel channel{ranks.at(0), watch};
  std::vector<std::vector<std::byte>> incoming;
  const WorkerChannel::Exchange work{
      .order = [](int, MessageWriter& order) { order.put(0); },
      .own_part = [&] { channel.others().exchange(std::vector<MessageWriter>(2), incoming); }};
  EXPECT_RUNTIME_ERROR(channel.exchange(work), "rank 1: failed while the others waited for it");
}

TEST(WorkerChannel, AnExchangeEndsIfAWorkersPartDoesNot) {
  test::ThreadRanks ranks{3};
  const std::jthread first = living_worker(ranks.at(1), true), second = living_worker(ranks.at(2), false);
  RankWatch watch{ranks.at(0), [](const std::string&) {}, patient};
  WorkerChannel channel{ranks.at(0), watch};
  const WorkerChannel::Exchange work{.order = [](int, MessageWriter& order) { order.put(0); }, .own_part = [] {}};
  EXPECT_RUNTIME_ERROR(channel.exchange(work), "rank 2: no result after ");
  MessageWriter order;
  EXPECT_NO_THROW(channel.notify(order));
  EXPECT_RUNTIME_ERROR(channel.end(), "rank 2: no result after ");
}

TEST(SameProgram, AnotherBuildIsNamed) {
  test::ThreadRanks ranks{3};
  check_same_program(ranks.at(1), "orrery 1 (build a)");
  check_same_program(ranks.at(2), "orrery 2 (build b)");
  EXPECT_RUNTIME_ERROR(check_same_program(ranks.at(0), "orrery 1 (build a)"),
                       "rank 2 runs orrery 2 (build b), and rank 0 orrery 1 (build a)");
  for (int rank = 1; rank < 3; ++rank) check_same_program(ranks.at(rank), "orrery 1 (build a)");
  EXPECT_NO_THROW(check_same_program(ranks.at(0), "orrery 1 (build a)"));
}

TEST(SameProgram, OtherWordsAreRefused) {
  test::ThreadRanks ranks{3};
  const auto arguments_of_last = [&](const std::vector<std::string>& words) {
    check_same_arguments(ranks.at(1), {"run", "-n", "1k"});
    check_same_arguments(ranks.at(2), words);
    check_same_arguments(ranks.at(0), {"run", "-n", "1k"});
  };
  EXPECT_NO_THROW(arguments_of_last({"run", "-n", "1k"}));
  for (const auto& other : {std::vector<std::string>{"verify"}, {"run", "-n1k"}, {"run", "-n", "1k", ""}}) {
    EXPECT_RUNTIME_ERROR(arguments_of_last(other), "rank 2 ", "other arguments");
  }
}

TEST(MissingMpi, IsReportedByTheNumberOfProcesses) {
  EXPECT_EQ(mpi_library(), "");
  setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  EXPECT_RUNTIME_ERROR(join_mpi_ranks(), "3 processes were started to share one run", "has no MPI",
                       "install libopenmpi-dev", "without mpirun");
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

}  // namespace
}  // namespace orrery
