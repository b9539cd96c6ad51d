#include "tests/compute/support/thread_ranks.h"

#include "compute/core/message.h"
#include "tests/compute/ranks/exchanges.h"
#include "tests/test.h"

namespace orrery {
namespace {

void on_all_ranks(int size, void (*check)(Communicator&)) {
  test::ThreadRanks ranks{size};
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back([&, rank] { check(ranks.at(rank)); });
}

TEST(ThreadRanks, ExchangeMessagesOfAllSizes) {
  for (const int size : {1, 2, 3}) on_all_ranks(size, test::expect_exchanges_of_all_sizes);
}

TEST(ThreadRanks, OrdersAreNoPartOfAnExchange) {
  on_all_ranks(3, test::expect_orders_beside_exchanges);
}

TEST(ThreadRanks, EmptyMessagesAreSeenBeforeTheExchange) {
  for (const int size : {2, 3}) on_all_ranks(size, test::expect_empty_messages_are_seen_before);
}

TEST(ThreadRanks, AMessageOfAnExchangeIsThereUntilItIsReceived) {
  test::ThreadRanks ranks{2};
  const auto exchange = [&](int rank) {
    std::vector<std::vector<std::byte>> incoming;
    ranks.at(rank).exchange(std::vector<MessageWriter>(2), incoming);
  };
  EXPECT_FALSE(ranks.at(0).has_exchange_message(1));
  const std::jthread other{[&] { exchange(1); }};
  while (!ranks.at(0).has_exchange_message(1)) std::this_thread::yield();
  EXPECT_FALSE(ranks.at(0).has_message(1));
  exchange(0);
  EXPECT_FALSE(ranks.at(0).has_exchange_message(1));
}

TEST(ThreadRanks, AnInterruptionEndsAnExchange) {
  test::ThreadRanks ranks{3};
  const auto exchange = [&] {
    std::vector<std::vector<std::byte>> incoming;
    ranks.at(0).exchange(std::vector<MessageWriter>(3), incoming);
  };
  const std::jthread other{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});  // rank 0 waits, as far as one can tell
    ranks.at(0).interrupt("rank 2: lost");
  }};
  for (int call = 0; call < 2; ++call) test::expect_failure(test::Failure::runtime, exchange, "rank 2: lost");
}

TEST(MessagesOfRanks, AreReadAsTheyWereWritten) {
  const float values[] = {0, 10, 20, 30};
  const int some[] = {3, 1};
  MessageWriter writer;
  writer.put(-5);
  writer.put_text("a text");
  writer.put_text("");
  writer.put_values(std::span<const int>{some});
  writer.put_entries(values, some);
  MessageReader reader{writer.bytes()};
  EXPECT_EQ(reader.get<int>(), -5);
  EXPECT_EQ(reader.get_text(), "a text");
  EXPECT_EQ(reader.get_text(), "");
  int indices[2];
  reader.get_values(std::span<int>{indices});
  EXPECT_EQ((std::vector<int>{indices[0], indices[1]}), (std::vector<int>{3, 1}));
  std::vector<float> found(4, -1);
  reader.get_entries(found.data(), indices);
  EXPECT_EQ(found, (std::vector<float>{-1, 10, -1, 30}));
  EXPECT_THROW((void)reader.get<char>(), std::logic_error) << "nothing is left";
}

}  // namespace
}  // namespace orrery
