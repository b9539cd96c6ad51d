#include "app/viewer/machine_facts.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>

namespace orrery {
namespace {

/// None where it fails, which is said on stderr.
std::optional<Ceilings> try_to_measure() {
#if ORRERY_HAVE_CUDA
  try {
    return cuda::measure_ceilings();
  } catch (const std::exception& failure) {
    fmt::print(stderr, "orrery: the GPU's ceilings were not measured: {}\n", failure.what());
  }
#endif
  return std::nullopt;
}

}  // namespace

void MachineFacts::describe(ViewStatus& view, const Status& status) {
  view.slots_per_interaction.reset();
  view.mufu_per_interaction.reset();
  view.slots_reason = "the kernel runs on the CPU";
  if (status.card && view.panel && !ceilings_tried_) {
    ceilings_tried_ = true;
    ceilings_ = try_to_measure();
  }
  view.ceilings = ceilings_;
  if (!status.card) return;
  describe_slots(view, *status.card);
  const double pairs = find_kernel(status.kernel_id).pairs_per_interaction;
  if (view.slots_per_interaction) *view.slots_per_interaction *= pairs;
  if (view.mufu_per_interaction) *view.mufu_per_interaction *= pairs;
}

/// One function is counted at a time: whoever switches quickly through all kernels starts no crowd of processes.
void MachineFacts::describe_slots(ViewStatus& view, const KernelCard& card) {
  if (under_way_ && under_way_->slots.wait_for(std::chrono::seconds{0}) == std::future_status::ready) {
    slots_[under_way_->function] = under_way_->slots.get();
    under_way_.reset();
  }
  if (const auto known = slots_.find(card.name); known != slots_.end()) {
    view.slots_per_interaction = known->second.per_interaction;
    view.mufu_per_interaction = known->second.mufu_per_interaction;
    view.slots_reason = known->second.reason;
    return;
  }
  view.slots_reason = "they are being counted";
  if (under_way_ || !view.panel) return;
  under_way_ = Count{card.name, std::async(std::launch::async, slots_in_this_program, card.name, card.architecture,
                                           stop_.get_token())};
}

}  // namespace orrery
