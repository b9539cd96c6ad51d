#include "compute/ranks/worker_line.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/kernels/rank_device.h"
#include "compute/ranks/orders.h"
#include "compute/ranks/rank_watch.h"

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
  } catch (const std::exception&) {  // users of this line have met the loss, or do not care
  }
}

void WorkerLine::end() {
  ended_ = true;
  exchange({.order = [](int, MessageWriter& order) { order.put(Order::end); }, .own_part = [] {}});
}

void WorkerLine::exchange(const Exchange& exchange) {
  const std::lock_guard lock{mutex_};
  try {
    exchange_locked(exchange);
  } catch (...) {
    clean_up(exchange);
    throw;
  }
}

void WorkerLine::clean_up(const Exchange& exchange) noexcept {
  if (!exchange.after_failure) return;
  try {
    MessageWriter order;
    exchange.after_failure(order);
    send_to_all(order);
  } catch (const std::exception&) {  // a rank is lost: the others end without orders
  }
}

/// Takes replies in the order of arrival: a rank may fail while another one waits for it until it is cancelled.
void WorkerLine::exchange_locked(const Exchange& exchange) {
  cancelled_ = exchange.cancelled;
  is_long_between_ = exchange.is_long_between;
  cancel_sent_ = work_noted_ = false;
  send_orders(exchange);
  Failures failures;
  begin_own_part(exchange, failures);
  std::vector<int> awaited;
  for (int rank = 1; rank < ranks(); ++rank) awaited.push_back(rank);
  const auto take_what_came = [&](int rank) {
    if (!ranks_.has_message(rank)) return false;
    return take_reply(rank, exchange, failures);
  };
  while (own_part_goes_on(exchange, failures)) {
    std::erase_if(awaited, take_what_came);
    cancel_if_wanted();
    std::this_thread::yield();  // the device would wait for a sleeping host
  }
  for (Patience patience; !awaited.empty();) {
    if (std::erase_if(awaited, take_what_came) > 0) {
      patience = {};
    } else {
      cancel_if_wanted();
      patience.pause();
    }
  }
  if (!failures.empty()) std::rethrow_exception(failures.begin()->second);
}

void WorkerLine::send_orders(const Exchange& exchange) {
  std::vector<bool> long_parts(1, exchange.is_long(0));
  for (int rank = 1; rank < ranks(); ++rank) {
    long_parts.push_back(exchange.is_long(rank));
    MessageWriter& order = orders_[static_cast<std::size_t>(rank)];
    order.clear();
    exchange.order(rank, order);
  }
  for (int rank = 1; rank < ranks(); ++rank) ranks_.check_size(orders_[static_cast<std::size_t>(rank)].bytes().size());
  watch_.begin_parts(long_parts);
  for (int rank = 1; rank < ranks(); ++rank) ranks_.send(rank, orders_[static_cast<std::size_t>(rank)].bytes());
}

void WorkerLine::begin_own_part(const Exchange& exchange, Failures& failures) {
  try {
    return exchange.own_part();
  } catch (const Stopped&) {
    failures[ranks()] = std::current_exception();
  } catch (...) {
    failures[0] = std::current_exception();
  }
  cancel_once();
}

bool WorkerLine::own_part_goes_on(const Exchange& exchange, Failures& failures) {
  try {
    if (failures.empty() && !exchange.own_ended()) {
      if (!work_noted_ && exchange.own_work_ended()) {
        work_noted_ = true;
        watch_.note_work(0);
      }
      return true;
    }
  } catch (...) {
    failures[ranks()] = std::current_exception();
    cancel_once();
  }
  watch_.end_part(0);
  return false;
}

/// Returns whether the rank has finished its order.
bool WorkerLine::take_reply(int rank, const Exchange& exchange, Failures& failures) {
  ranks_.receive(rank, reply_);
  watch_.end_part(rank);
  MessageReader reply{reply_};
  const auto outcome = reply.get<Outcome>();
  if (outcome == Outcome::part_ended) return false;
  if (outcome == Outcome::done) {
    try {
      exchange.take(rank, reply);
    } catch (...) {  // the other ranks' replies must still be read
      failures[rank] = std::current_exception();
    }
  } else {
    const int place = outcome == Outcome::stopped ? ranks() + rank : rank;
    failures[place] = worker_error(rank, outcome, reply.get_text());
    cancel_once();
  }
  return true;
}

/// Counts the work between two exchanges as one part of each rank.
void WorkerLine::Others::exchange(std::span<const MessageWriter> outgoing,
                                  std::vector<std::vector<std::byte>>& incoming) {
  RankWatch& watch = line_.watch_;
  const std::vector<bool> long_parts(static_cast<std::size_t>(size()),
                                     line_.is_long_between_);  // allocated first: nothing may fail after an exchange
  watch.begin_exchange();
  line_.cancel_if_wanted();
  line_.ranks_.exchange_noting(
      outgoing, incoming,
      {.arrived = [&](int from) { watch.end_part(from); }, .waiting = [&] { line_.cancel_if_wanted(); }});
  watch.begin_parts(long_parts);
}

bool WorkerLine::Others::has_empty_message() {
  for (int rank = 1; rank < size(); ++rank) {
    if (line_.ranks_.has_message(rank)) return true;
  }
  return line_.ranks_.has_empty_message();
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
