#pragma once

#include "compute/ranks/communicator.h"
#include "tests/test.h"

namespace orrery::test {

/// No byte is that of the message to another rank or in the next round.
inline std::vector<std::byte> exchanged_message(int from, int to, int round, std::span<const std::size_t> sizes) {
  const std::size_t number =
      16 * static_cast<std::size_t>(round) + 4 * static_cast<std::size_t>(from) + static_cast<std::size_t>(to);
  std::vector<std::byte> message(sizes[number % sizes.size()]);
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i % 251 + number);
  return message;
}

/// All ranks, at most four, call this together: several exchanges in a row, whose messages have sizes of this list.
inline void expect_exchanges(Communicator& ranks, int rounds, std::span<const std::size_t> sizes) {
  const std::vector<std::byte> unused(7);
  std::vector<std::vector<std::byte>> incoming(9, unused);
  for (int round = 0; round < rounds; ++round) {
    std::vector<MessageWriter> outgoing(static_cast<std::size_t>(ranks.size()));
    std::vector<std::vector<std::byte>> expected;
    for (int other = 0; other < ranks.size(); ++other) {
      const bool own = other == ranks.rank();
      outgoing[static_cast<std::size_t>(other)].put_values(
          std::span<const std::byte>{own ? unused : exchanged_message(ranks.rank(), other, round, sizes)});
      expected.push_back(own ? std::vector<std::byte>{} : exchanged_message(other, ranks.rank(), round, sizes));
    }
    ranks.exchange(outgoing, incoming);
    EXPECT_TRUE(incoming == expected) << "rank " << ranks.rank() << ", round " << round;
  }
}

/// All ranks call this together.
inline void expect_exchanges_of_all_sizes(Communicator& ranks) {
  expect_exchanges(ranks, 2, std::vector<std::size_t>{0});
  expect_exchanges(ranks, 2, std::vector<std::size_t>{4 << 20});  // too large for MPI to send before they are received
  expect_exchanges(ranks, 200, std::vector<std::size_t>{0, 1, 100, 3000, 5000, 40000, 7});
}

/// All ranks call this together: an order that comes first is still there after an exchange.
inline void expect_orders_beside_exchanges(Communicator& ranks) {
  const std::vector<std::byte> order(3, std::byte{42});
  if (ranks.rank() == 0) {
    for (int to = 1; to < ranks.size(); ++to) ranks.send(to, order);
  }
  expect_exchanges(ranks, 1, std::vector<std::size_t>{10});
  if (ranks.rank() == 0) return;
  std::vector<std::byte> received;
  ranks.receive(0, received);
  EXPECT_EQ(received, order);
  EXPECT_FALSE(ranks.has_message(0));
}

/// All ranks call this together: the last one sends its messages before the others look.
inline void expect_empty_messages_are_seen_before(Communicator& ranks) {
  const int last = ranks.size() - 1;
  for (const std::size_t size : {3u, 0u}) {
    if (ranks.rank() != last) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
      while (!ranks.has_exchange_message(last) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      EXPECT_TRUE(ranks.has_exchange_message(last));
      EXPECT_EQ(ranks.has_empty_message(), size == 0);
    }
    expect_exchanges(ranks, 1, std::vector<std::size_t>{size});
  }
}

}  // namespace orrery::test
