#include "compute/ranks/protocol.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/kernels/rank_device.h"
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

WorkerChannel::WorkerChannel(Communicator& ranks, RankWatch& watch)
    : ranks_{ranks}, watch_{watch}, orders_(static_cast<std::size_t>(ranks.size())) {}

WorkerChannel::~WorkerChannel() {
  if (ended_) return;
  try {
    end();
  } catch (const std::exception&) {  // a rank is lost, which no longer matters
  }
}

void WorkerChannel::end() {
  ended_ = true;
  exchange({.order = [](int, MessageWriter& order) { order.put(Order::end); }, .own_part = [] {}});
}

void WorkerChannel::exchange(const Exchange& exchange) {
  const std::lock_guard lock{mutex_};
  try {
    exchange_locked(exchange);
  } catch (...) {
    clean_up(exchange);
    throw;
  }
}

void WorkerChannel::clean_up(const Exchange& exchange) noexcept {
  if (!exchange.after_failure) return;
  try {
    MessageWriter order;
    exchange.after_failure(order);
    send_to_all(order);
  } catch (const std::exception&) {  // a rank is lost: the others end without orders
  }
}

/// Reads replies in the order of arrival, because a rank may wait for a failed one until it is cancelled.
void WorkerChannel::exchange_locked(const Exchange& exchange) {
  cancelled_ = exchange.cancelled;
  is_long_between_ = exchange.is_long_between;
  cancel_sent_ = work_noted_ = false;
  send_orders(exchange);
  Failures failures;
  begin_own_part(exchange, failures);
  std::vector<int> awaited;
  for (int rank = 1; rank < ranks(); ++rank) awaited.push_back(rank);
  const auto read_what_came = [&](int rank) {
    if (!ranks_.has_message(rank)) return false;
    return read_reply(rank, exchange, failures);
  };
  while (own_part_runs(exchange, failures)) {
    std::erase_if(awaited, read_what_came);
    cancel_if_requested();
    std::this_thread::yield();  // the device would wait for a sleeping host
  }
  for (Backoff patience; !awaited.empty();) {
    if (std::erase_if(awaited, read_what_came) > 0) {
      patience = {};
    } else {
      cancel_if_requested();
      patience.pause();
    }
  }
  if (!failures.empty()) std::rethrow_exception(failures.begin()->second);
}

void WorkerChannel::send_orders(const Exchange& exchange) {
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

void WorkerChannel::begin_own_part(const Exchange& exchange, Failures& failures) {
  try {
    return exchange.own_part();
  } catch (const Stopped&) {
    failures[ranks()] = std::current_exception();
  } catch (...) {
    failures[0] = std::current_exception();
  }
  cancel_once();
}

bool WorkerChannel::own_part_runs(const Exchange& exchange, Failures& failures) {
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
bool WorkerChannel::read_reply(int rank, const Exchange& exchange, Failures& failures) {
  ranks_.receive(rank, reply_);
  watch_.end_part(rank);
  MessageReader reply{reply_};
  const auto outcome = reply.get<Outcome>();
  if (outcome == Outcome::part_ended) return false;
  if (outcome == Outcome::done) {
    try {
      exchange.on_reply(rank, reply);
    } catch (...) {  // continues, because the other replies must still be read
      failures[rank] = std::current_exception();
    }
  } else {
    const int place = outcome == Outcome::stopped ? ranks() + rank : rank;
    failures[place] = worker_error(rank, outcome, reply.get_text());
    cancel_once();
  }
  return true;
}

/// Exchanges messages. The rank watch counts the work between two exchanges as one part of each rank.
void WorkerChannel::Others::exchange(std::span<const MessageWriter> outgoing,
                                     std::vector<std::vector<std::byte>>& incoming) {
  RankWatch& watch = channel_.watch_;
  const std::vector<bool> long_parts(static_cast<std::size_t>(size()),
                                     channel_.is_long_between_);  // allocated first: nothing may fail after an exchange
  watch.begin_exchange();
  channel_.cancel_if_requested();
  channel_.ranks_.exchange_with_progress(
      outgoing, incoming,
      {.arrived = [&](int from) { watch.end_part(from); }, .waiting = [&] { channel_.cancel_if_requested(); }});
  watch.begin_parts(long_parts);
}

bool WorkerChannel::Others::has_empty_message() {
  for (int rank = 1; rank < size(); ++rank) {
    if (channel_.ranks_.has_message(rank)) return true;
  }
  return channel_.ranks_.has_empty_message();
}

void WorkerChannel::notify(const MessageWriter& order) noexcept {
  const std::lock_guard lock{mutex_};
  try {
    send_to_all(order);
  } catch (const std::exception&) {  // a rank is lost: the others end without orders
  }
}

void WorkerChannel::send_to_all(const MessageWriter& order) {
  for (int rank = 1; rank < ranks(); ++rank) ranks_.send(rank, order.bytes());
}

void WorkerChannel::cancel_once() {
  if (!std::exchange(cancel_sent_, true)) send_to_all(order_alone(Order::cancel));
}

void WorkerChannel::cancel_if_requested() {
  if (cancelled_ && *cancelled_) cancel_once();
}

KernelInstances::KernelInstances(WorkerChannel& channel, int key, const KernelInfo& kernel, const Settings& settings,
                                 const std::function<void()>& make_own)
    : channel_{channel}, key_{key} {
  try {
    channel_.exchange(
        {.order =
             [&](int, MessageWriter& order) {
               order.put(Order::make);
               order.put(key_);
               order.put_text(kernel.id);
               order.put_text(settings.to_string());
             },
         .own_part = make_own,
         .is_long = [&](int) { return kernel.backend == Backend::cpu; }});  // not on CUDA: a driver may be slow
  } catch (...) {
    drop();
    throw;
  }
}

void KernelInstances::drop() noexcept {
  MessageWriter order;
  order.put(Order::drop);
  order.put(key_);
  channel_.notify(order);
}

void KernelInstances::prepare(int count, const std::function<void()>& prepare_own) {
  prepared_ = 0;  // set when every rank is prepared
  channel_.exchange({.order =
                         [&](int, MessageWriter& order) {
                           order.put(Order::prepare);
                           order.put(key_);
                           order.put(count);
                         },
                     .own_part = prepare_own,
                     .is_long = [](int rank) { return rank > 0; }});  // the leader needs far less memory
  prepared_ = count;
}

}  // namespace orrery
