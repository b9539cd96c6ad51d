#include "compute/ranks/communicator.h"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/threads.h"
#include "compute/ranks/rank_watch.h"

// MPI's default error handler stays in use: an error of an MPI function ends all processes with a message.
namespace orrery {
namespace {

constexpr int message_tag = 0, heartbeat_tag = 1, exchange_tag = 2;
constexpr std::size_t most_bytes = INT_MAX;  // maximum per MPI call

/// MPI communicator of the ranks on this host.
class HostRanks {
 public:
  HostRanks() { MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &ranks_); }
  ~HostRanks() { MPI_Comm_free(&ranks_); }
  HostRanks(const HostRanks&) = delete;
  HostRanks& operator=(const HostRanks&) = delete;

  int place() const {
    int place = 0;
    MPI_Comm_rank(ranks_, &place);
    return place;
  }
  /// Returns the number of threads for this rank: an equal share of the processors of all ranks on this host, at most
  /// the processors of this rank. mpirun may bind each rank to separate processors, bind several to the same ones, or
  /// bind none.
  int thread_share() const {
    int ranks = 1;
    MPI_Comm_size(ranks_, &ranks);
    cpu_set_t own, all;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, ranks_);
    return std::max(1, std::min(CPU_COUNT(&own), CPU_COUNT(&all) / ranks));
  }

 private:
  MPI_Comm ranks_ = MPI_COMM_NULL;
};

/// Replaces Backoff in transfers that both ends have begun: only yields. MPI moves data only while it is called, so
/// sleeping would delay them.
struct Yielding {
  static void pause() { std::this_thread::yield(); }
};

/// Replaces Backoff in transfers whose other end may be late: sleeps for 20 us at a time.
struct ShortPauses {
  static void pause() { std::this_thread::sleep_for(std::chrono::microseconds{20}); }
};

/// Communicator of MPI processes. Only one thread at a time calls MPI, and only functions that do not block. Other
/// threads can therefore send and poll while one thread waits.
class MpiRanks final : public Communicator {
 public:
  MpiRanks() {
    int threads = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
    if (threads < MPI_THREAD_SERIALIZED) {
      MPI_Finalize();
      throw std::runtime_error("this MPI library does not offer MPI_THREAD_SERIALIZED: build with another Open MPI");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    heartbeats_.resize(index(size_), MPI_REQUEST_NULL);
    sends_.resize(index(size_), MPI_REQUEST_NULL);
    for (int step = 1; step < size_; ++step) others_.push_back((rank_ + step) % size_);
    place_ = HostRanks{}.place();
  }
  ~MpiRanks() override {
    for (MPI_Request& heartbeat : heartbeats_) {
      if (heartbeat != MPI_REQUEST_NULL) MPI_Request_free(&heartbeat);
    }
    MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int place_on_host() const override { return place_; }
  void check_size(std::size_t bytes) const override {
    if (bytes > most_bytes) throw std::runtime_error("too many bodies for one message of MPI: use more ranks");
  }

  void send(int to, std::span<const std::byte> message) override {
    check_size(message.size());
    const auto start = [&](MPI_Request& request) { start_send(to, message_tag, message, request); };
    constexpr std::size_t short_message = 64 << 10;
    message.size() > short_message ? transfer<ShortPauses>(start) : transfer(start);
  }
  void receive(int from, std::vector<std::byte>& message) override { receive_next(from, message_tag, message); }
  bool has_message(int from) override { return has_message_of(from, message_tag); }

  void broadcast(std::span<const std::byte> data) override {
    // MPI has one function for both ends; it only reads rank 0's data.
    broadcast_parts({const_cast<std::byte*>(data.data()), data.size()});
  }
  void receive_broadcast(std::span<std::byte> data) override { broadcast_parts(data); }

  void exchange_with_progress(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming,
                              const Progress& progress) override {
    incoming.resize(outgoing.size());
    incoming[index(rank_)].clear();
    start_sends(outgoing);
    const auto finish_sends = [&] { wait_until<Yielding>([&] { return std::ranges::all_of(sends_, has_ended); }); };
    try {
      for (std::vector<int> others = others_; !others.empty();) {
        const int from = wait_for_any(others, progress.waiting);
        receive_next(from, exchange_tag, incoming[index(from)]);
        progress.arrived(from);
        std::erase(others, from);
      }
    } catch (const std::bad_alloc&) {
      finish_sends();  // MPI still reads memory that the caller may free
      throw;
    }
    finish_sends();
  }

  bool has_exchange_message(int from) override { return has_message_of(from, exchange_tag); }
  bool has_empty_message() override {
    const std::lock_guard lock{mutex_};
    interruption_.check();
    return std::ranges::any_of(others_, [](int from) {
      MPI_Status status;
      int size = 0;
      if (!probe(from, exchange_tag, status)) return false;
      MPI_Get_count(&status, MPI_BYTE, &size);
      return size == 0;
    });
  }
  bool has_unreceived_message(int to) override {
    const std::lock_guard lock{mutex_};
    interruption_.check();
    return !has_ended(sends_[index(to)]);
  }

  void send_heartbeat(int to) override {
    const std::lock_guard lock{mutex_};
    if (interruption_) return;
    MPI_Request& heartbeat = heartbeats_[index(to)];
    if (has_ended(heartbeat)) MPI_Isend(nullptr, 0, MPI_BYTE, to, heartbeat_tag, MPI_COMM_WORLD, &heartbeat);
  }
  bool has_heartbeat(int from) override {
    const std::lock_guard lock{mutex_};
    bool was = false;
    for (MPI_Status status; !interruption_ && probe(from, heartbeat_tag, status); was = true) {
      MPI_Recv(nullptr, 0, MPI_BYTE, from, heartbeat_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // already arrived
    }
    return was;
  }
  void interrupt(const std::string& why) override { interruption_.set(why); }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  static void start_send(int to, int tag, std::span<const std::byte> message, MPI_Request& request) {
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  }
  /// Starts all sends of an exchange.
  void start_sends(std::span<const MessageWriter> outgoing) {
    for (const int to : others_) check_size(outgoing[index(to)].bytes().size());
    const std::lock_guard lock{mutex_};
    interruption_.check();
    for (const int to : others_) start_send(to, exchange_tag, outgoing[index(to)].bytes(), sends_[index(to)]);
  }
  /// Blocks until one of these ranks' exchange messages has arrived. Returns its rank.
  int wait_for_any(const std::vector<int>& others, const std::function<void()>& waiting) {
    auto found = others.end();
    const auto look = [&] {
      MPI_Status status;
      found = std::ranges::find_if(others, [&](int from) { return probe(from, exchange_tag, status); });
      return found != others.end();
    };
    wait_until(look, waiting);
    return *found;
  }
  bool has_message_of(int from, int tag) {
    const std::lock_guard lock{mutex_};
    interruption_.check();
    MPI_Status status;
    return probe(from, tag, status);
  }
  void receive_next(int from, int tag, std::vector<std::byte>& message) {
    MPI_Status status;
    wait_until([&] { return probe(from, tag, status); });
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    message.resize(static_cast<std::size_t>(size));
    transfer<Yielding>(
        [&](MPI_Request& request) { MPI_Irecv(message.data(), size, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request); });
  }
  static bool probe(int from, int tag, MPI_Status& status) {
    int arrived = 0;
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &arrived, &status);
    return arrived != 0;
  }
  /// Returns whether the request has ended. Returns true for MPI_REQUEST_NULL.
  static bool has_ended(MPI_Request& request) {
    int ended = 0;
    MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
    return ended != 0;
  }
  /// Blocks until the condition is true. Polls with pauses, since MPI_Wait() would keep an idle rank's processor busy.
  template <class Pauses = Backoff>
  void wait_until(
      const auto& condition, const std::function<void()>& waiting = [] {}) {
    const auto met = [&] {
      const std::lock_guard lock{mutex_};
      interruption_.check();
      return condition();
    };
    for (Pauses pauses; !met(); pauses.pause()) waiting();
  }
  /// Starts a transfer and blocks until it has ended. After an interruption, MPI is not called again, so the caller may
  /// free the memory of an unfinished transfer.
  template <class Pauses = Backoff>
  void transfer(const auto& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    bool started = false;
    wait_until<Pauses>([&] {
      if (!std::exchange(started, true)) start(request);
      return has_ended(request);
    });
  }
  void broadcast_parts(std::span<std::byte> data) {
    while (!data.empty()) {
      const std::size_t size = std::min(data.size(), most_bytes);
      transfer<Yielding>([&](MPI_Request& request) {
        MPI_Ibcast(data.data(), static_cast<int>(size), MPI_BYTE, /*root=*/0, MPI_COMM_WORLD, &request);
      });
      data = data.subspan(size);
    }
  }

  int rank_ = 0, size_ = 1, place_ = 0;
  std::vector<int> others_;  // the next rank first: ranks then begin an exchange with different partners
  std::mutex mutex_;         // held while a thread calls MPI
  Interruption interruption_;
  std::vector<MPI_Request> heartbeats_;  // latest heartbeat to each rank
  std::vector<MPI_Request> sends_;       // send to each rank in the latest exchange
};

}  // namespace

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name{text, static_cast<std::size_t>(length)};
  name.resize(std::min(name.find_first_of(",\n"), name.size()));  // build details follow
  if (name.starts_with("Open MPI v")) name.erase(sizeof "Open MPI " - 1, 1);
  return name;
}

std::unique_ptr<Communicator> join_mpi_ranks() {
  auto ranks = std::make_unique<MpiRanks>();
  unsetenv("OMPI_COMM_WORLD_SIZE");  // so that child processes start as single ranks
  limit_threads(HostRanks{}.thread_share());
  return ranks;
}

}  // namespace orrery
