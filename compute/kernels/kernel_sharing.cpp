#include "compute/kernels/kernel_sharing.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/kernels/division.h"

namespace orrery {

bool devices_can_divide(const KernelInfo& kernel) {
  return kernel.backend == Backend::cuda && !kernel.gives_jerks && (kernel.takes_targets || kernel.divides);
}

std::string why_not_shared(const KernelInfo& kernel, int ranks) {
  const std::string all = std::to_string(ranks) + " ranks", id = kernel.id;
  if (kernel.file_text) return id + " is a kernel file, and " + all + " share built-in kernels only";
  if (kernel.backend == Backend::cuda && kernel.gives_jerks) {
    return "the GPUs of " + all + " cannot divide " + id;
  }
  if (kernel.backend == Backend::cuda && kernel.is_tree && ranks > most_devices) {
    return id + " can be divided among the GPUs of at most " + std::to_string(most_devices) + " ranks, not of " + all;
  }
  if (kernel.takes_targets || devices_can_divide(kernel)) return {};
  return id + " always evaluates every body, so " + all + " cannot share it";
}

bool CollectiveWork::exchange() {
  attempt([&] {
    for (const MessageWriter& message : outgoing_) ranks_.check_size(message.bytes().size());
  });
  bool all_sent = ok();
  if (!all_sent) std::ranges::for_each(outgoing_, &MessageWriter::clear);
  const auto begin = std::chrono::steady_clock::now();
  ranks_.exchange(outgoing_, incoming_);
  waited_ += std::chrono::steady_clock::now() - begin;
  std::ranges::for_each(outgoing_, &MessageWriter::clear);
  for_each_other([&](int rank) { all_sent &= !incoming_[static_cast<std::size_t>(rank)].empty(); });
  if (!all_sent) stopped_ = true;
  return all_sent;
}

namespace {

std::string device_text(std::size_t rank, const RankDeviceFacts& facts) {
  return "that of rank " + std::to_string(rank) + " is sm_" + std::to_string(facts.architecture) + " with " +
         std::to_string(facts.multiprocessors) + " multiprocessors";
}

UsageError unlike(std::size_t rank, const RankDeviceFacts& first, const RankDeviceFacts& other) {
  return UsageError{"the devices of all ranks must be alike: " + device_text(0, first) + ", " +
                    device_text(rank, other) + "; choose equal ones with --devices"};
}

UsageError shared(std::size_t one, std::size_t other, int ordinal) {
  const std::string device = std::to_string(ordinal);
  return UsageError{"ranks " + std::to_string(one) + " and " + std::to_string(other) + " would share device " + device +
                    ": start no more ranks than there are devices, or name a device for each rank, as in --devices " +
                    device + "," + device};
}

}  // namespace

int device_at(const RankDeviceSelection& which, int place, int visible) {
  if (which.listed.empty()) return which.first < visible ? (which.first + place) % visible : which.first;
  if (place < static_cast<int>(which.listed.size())) return which.listed[static_cast<std::size_t>(place)];
  throw UsageError("--devices names " + std::to_string(which.listed.size()) +
                   ", and more ranks than that are on this host: name one device for each of them");
}

void check_devices(std::span<const RankDeviceFacts> facts, const RankDeviceSelection& which) {
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    const RankDeviceFacts &its = facts[rank], &first = facts.front();
    if (its.architecture != first.architecture || its.multiprocessors != first.multiprocessors) {
      throw unlike(rank, first, its);
    }
    for (std::size_t other = 0; which.listed.empty() && other < rank; ++other) {
      if (facts[other].uuid == its.uuid) throw shared(other, rank, its.ordinal);
    }
  }
}

std::string nccl_text(int version) {
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::string why_not_connected(std::span<const RankDeviceFacts> facts, std::span<const int> versions) {
  const auto named = [](std::size_t rank) { return "rank " + std::to_string(rank); };
  for (std::size_t rank = 0; rank < versions.size(); ++rank) {
    if (versions[rank] == 0) return named(rank) + " has no NCCL";
  }
  for (std::size_t rank = 1; rank < versions.size(); ++rank) {
    if (versions[rank] == versions.front()) continue;
    return named(rank) + " has " + nccl_text(versions[rank]) + ", and rank 0 " + nccl_text(versions.front());
  }
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    for (std::size_t other = 0; other < rank; ++other) {
      if (facts[other].uuid == facts[rank].uuid) return named(other) + " and " + named(rank) + " share a GPU";
    }
  }
  return {};
}

namespace {

UsageError not_a_list(std::string_view option, std::string_view text) {
  return UsageError{std::string{option} + " cannot be '" + std::string{text} + "'; allowed: all, or up to " +
                    std::to_string(most_devices) + " CUDA devices from 0, separated by commas, such as 0,1"};
}

}  // namespace

DeviceList DeviceList::parsed(std::string_view option, std::string_view text) {
  if (text == "all") return {.all = true, .ordinals = {}};
  DeviceList list;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const std::optional<int> ordinal = parsed_number<int>(word);
    if (!ordinal || *ordinal < 0) throw not_a_list(option, text);
    list.ordinals.push_back(*ordinal);
    if (word.size() == rest.size()) break;
    rest.remove_prefix(word.size() + 1);
  }
  if (list.ordinals.size() > most_devices) throw not_a_list(option, text);
  return list;
}

std::string DeviceList::to_string() const {
  if (all) return "all";
  std::string text;
  for (const int ordinal : ordinals) text += (text.empty() ? "" : ",") + std::to_string(ordinal);
  return text;
}

}  // namespace orrery
