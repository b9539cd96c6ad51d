#include "compute/kernels/joint_work.h"

#include <algorithm>

namespace orrery {

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
