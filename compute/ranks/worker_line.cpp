#include "compute/ranks/worker_line.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/patience.h"

namespace orrery {
namespace {

MessageWriter order_alone(Order order) {
  MessageWriter message;
  message.put(order);
  return message;
}

std::exception_ptr worker_error(int rank, Outcome outcome, const std::string& cause) {
  const std::string text = "rank " + std::to_string(rank) + ": " + cause;
  return outcome == Outcome::refused ? std::make_exception_ptr(UsageError{text})
                                     : std::make_exception_ptr(std::runtime_error{text});
}

}  // namespace

WorkerLine::WorkerLine(Communicator& ranks, RankWatch& watch)
    : ranks_{ranks}, watch_{watch}, orders_(static_cast<std::size_t>(ranks.size())) {}

WorkerLine::~WorkerLine() {
  if (ended_) return;
  try {
    end();
  } catch (const std::exception&) {  // whoever uses this line has met the loss, or does not care
  }
}

void WorkerLine::end() {
  ended_ = true;
  exchange({.order = [](int, MessageWriter& order) { order.put(Order::end); }, .own_part = [] {}});
}

void WorkerLine::exchange(const Exchange& exchange) {
  const std::lock_guard lock{mutex_};
  cancelled_ = exchange.cancelled;
  cancel_sent_ = false;
  std::vector<bool> long_parts(1, exchange.is_long(0));
  for (int rank = 1; rank < ranks(); ++rank) {
    long_parts.push_back(exchange.is_long(rank));
    MessageWriter& order = orders_[static_cast<std::size_t>(rank)];
    order.clear();
    exchange.order(rank, order);
  }
  watch_.begin_parts(long_parts);
  for (int rank = 1; rank < ranks(); ++rank) ranks_.send(rank, orders_[static_cast<std::size_t>(rank)].bytes());
  std::exception_ptr failure;
  try {
    exchange.own_part();
  } catch (...) {
    failure = std::current_exception();
    cancel_once();
  }
  watch_.end_part(0);
  for (int rank = 1; rank < ranks(); ++rank) {
    for (Patience patience; !ranks_.has_message(rank); patience.pause()) cancel_if_wanted();
    ranks_.receive(rank, reply_);
    watch_.end_part(rank);
    MessageReader reply{reply_};
    const auto outcome = reply.get<Outcome>();
    if (outcome == Outcome::done) {
      try {
        exchange.take(rank, reply);
      } catch (...) {  // the replies of the other ranks are to be read all the same
        if (!failure) failure = std::current_exception();
      }
    } else if (!failure) {
      failure = worker_error(rank, outcome, reply.get_text());
      cancel_once();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// The work between two exchanges counts as one part of each rank.
void WorkerLine::Others::exchange(std::span<const MessageWriter> outgoing,
                                  std::vector<std::vector<std::byte>>& incoming) {
  RankWatch& watch = line_.watch_;
  const std::vector<bool> long_parts(static_cast<std::size_t>(size()), true);  // first: nothing fails after an exchange
  watch.begin_exchange();
  line_.cancel_if_wanted();
  line_.ranks_.exchange_noting(
      outgoing, incoming,
      {.arrived = [&](int from) { watch.end_part(from); }, .waiting = [&] { line_.cancel_if_wanted(); }});
  watch.begin_parts(long_parts);
}

void WorkerLine::tell(const MessageWriter& order) noexcept {
  const std::lock_guard lock{mutex_};
  try {
    send_to_all(order);
  } catch (const std::exception&) {  // a rank is lost: the others end without orders
  }
}

void WorkerLine::send_to_all(const MessageWriter& order) {
  for (int rank = 1; rank < ranks(); ++rank) ranks_.send(rank, order.bytes());
}

void WorkerLine::cancel_once() {
  if (!std::exchange(cancel_sent_, true)) send_to_all(order_alone(Order::cancel));
}

void WorkerLine::cancel_if_wanted() {
  if (cancelled_ && *cancelled_) cancel_once();
}

}  // namespace orrery
