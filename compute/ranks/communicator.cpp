#include "compute/ranks/communicator.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/text.h"
#include "compute/core/threads.h"

namespace orrery {
namespace {

int from_mpirun(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text ? parsed_number<int>(text).value_or(otherwise) : otherwise;
}

/// Sends every rank's text to rank 0, which calls differs(rank, text) for each rank whose text differs.
template <class Differs>
void compare(Communicator& ranks, std::string_view text, const Differs& differs) {
  if (ranks.rank() > 0) return ranks.send(0, std::as_bytes(std::span{text}));
  std::vector<std::byte> message;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    ranks.receive(rank, message);
    const std::string_view other{reinterpret_cast<const char*>(message.data()), message.size()};
    if (other != text) differs("rank " + std::to_string(rank), std::string{other});
  }
}

}  // namespace

int launched_ranks() {
  return from_mpirun("OMPI_COMM_WORLD_SIZE", 1);
}

int launched_rank() {
  return from_mpirun("OMPI_COMM_WORLD_RANK", 0);
}

void check_same_program(Communicator& ranks, std::string_view program) {
  compare(ranks, program, [&](const std::string& rank, const std::string& other) {
    throw std::runtime_error(rank + " runs " + other + ", and rank 0 " + std::string{program} +
                             ": all ranks must run the same build");
  });
}

void check_same_arguments(Communicator& ranks, const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + '\0';  // an argument contains no null character
  compare(ranks, text, [&](const std::string& rank, const std::string&) {
    throw std::runtime_error(rank +
                             " was started with other arguments than rank 0: use one command line for all ranks");
  });
}

RankWatch::RankWatch(Communicator& ranks, GiveUp give_up, const Limits& limits)
    : ranks_{ranks}, give_up_{std::move(give_up)}, limits_{limits}, silent_(static_cast<std::size_t>(ranks.size())) {
  if (ranks.rank() > 0) {
    peers_ = {0};
    if (ranks.rank() > 1) limits_.silence += limits.surrender;  // rank 1 gives up first
  } else {
    for (int rank = 1; rank < ranks.size(); ++rank) peers_.push_back(rank);
    surrender_ = limits.surrender;
  }
  thread_ = start_thread([this](std::stop_token stop) { watch(stop); });
}

void RankWatch::begin_parts(const std::vector<bool>& long_parts) {
  const std::lock_guard lock{mutex_};
  parts_.clear();
  for (const bool is_long : long_parts) parts_.push_back(is_long ? Part::long_part : Part::short_part);
  part_ticks_ = 0;
  slowest_ended_ = -1;
  in_exchange_ = false;
}

void RankWatch::end_part(int rank) {
  const std::lock_guard lock{mutex_};
  end_part_locked(rank);
}

void RankWatch::note_work(int rank) {
  const std::lock_guard lock{mutex_};
  if (parts_[static_cast<std::size_t>(rank)] == Part::long_part) slowest_ended_ = part_ticks_;
}

void RankWatch::begin_exchange() {
  const std::lock_guard lock{mutex_};
  end_part_locked(0);
  in_exchange_ = true;
  early_ = 0;
}

void RankWatch::end_part_locked(int rank) {
  if (rank == 0) in_exchange_ = false;
  const Part part = std::exchange(parts_[static_cast<std::size_t>(rank)], Part::ended);
  if (part == Part::long_part) slowest_ended_ = part_ticks_;
}

void RankWatch::watch(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (!stopped_.wait_for(lock, stop, limits_.tick, [&] { return stop.stop_requested(); })) tick();
}

void RankWatch::tick() {
  if (why_.empty()) look_for_silence();
  if (why_.empty()) look_for_early_replies();
  if (why_.empty()) look_for_overdue_parts();
  if (!why_.empty() && since_loss_++ == surrender_) give_up_(why_);
}

void RankWatch::look_for_silence() {
  for (const int rank : peers_) {
    ranks_.send_heartbeat(rank);
    int& silent = silent_[static_cast<std::size_t>(rank)];
    silent = ranks_.has_heartbeat(rank) ? 0 : silent + 1;
    if (silent > limits_.silence) return lose(rank, "no heartbeat for " + seconds(limits_.silence));
  }
}

/// Finds a rank that has replied although it has not sent its exchange message, or has not received the leader's. A
/// message is invisible while it is being received, so the state must persist for several ticks.
void RankWatch::look_for_early_replies() {
  if (!in_exchange_) return;
  for (int rank = 1; rank < static_cast<int>(parts_.size()); ++rank) {
    const bool has_sent = parts_[static_cast<std::size_t>(rank)] == Part::ended || ranks_.has_exchange_message(rank);
    if ((has_sent && !ranks_.has_unreceived_message(rank)) || !ranks_.has_message(rank)) continue;
    if (++early_ > limits_.early) lose(rank, "failed while the others waited for it, perhaps for lack of memory");
    return;
  }
  early_ = 0;
}

void RankWatch::look_for_overdue_parts() {
  ++part_ticks_;
  int overdue = -1;
  for (int rank = static_cast<int>(parts_.size()) - 1; rank >= 0; --rank) {
    if (parts_[static_cast<std::size_t>(rank)] == Part::ended) continue;
    if (rank > 0 && ranks_.has_message(rank)) {
      if (!in_exchange_) end_part_locked(rank);
    } else if (rank > 0 || overdue < 0) {  // the leader may wait for a worker to receive its bodies
      overdue = rank;
    }
  }
  if (overdue < 0 || slowest_ended_ < 0) return;
  if (part_ticks_ <= limits_.overdue + limits_.times * slowest_ended_) return;
  if (silent_[static_cast<std::size_t>(overdue)] > limits_.doubt) return;
  lose(overdue,
       "no result after " + seconds(part_ticks_ - 1) + "; the others had theirs within " + seconds(slowest_ended_ + 1));
}

void RankWatch::lose(int rank, const std::string& cause) {
  why_ = "rank " + std::to_string(rank) + ": " + cause;
  if (ranks_.rank() == 0) ranks_.interrupt(why_);
}

std::string RankWatch::seconds(int ticks) const {
  const std::chrono::duration<double> time = ticks * limits_.tick;
  return std::to_string(std::lround(std::ceil(time.count()))) + " s";
}

}  // namespace orrery
