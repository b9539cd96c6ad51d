#include "compute/kernels/kernel_sharing.h"

#include <algorithm>

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

}  // namespace orrery
