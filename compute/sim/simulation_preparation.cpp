// How a simulation changes to a kernel that takes long to make: it is made beside the steps, which go on.
#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/threads.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// What SetTunable changes: the kernel and settings that are asked for, if they are being prepared, also those of
/// another version of a kernel file.
std::pair<KernelPtr, Settings> Simulation::wanted_kernel() const {
  const bool same = preparing_ && std::string_view{preparing_->kernel()->id} == choice_.kernel->id;
  if (same) return {preparing_->kernel(), preparing_->settings()};
  return {choice_.kernel, choice_.settings};
}

/// Changes to the kernel and the settings of `choice`, at once or once the kernel is made.
void Simulation::change_kernel(const Choice& choice) {
  const bool present = same_kernel(*choice.kernel, *choice_.kernel) && choice.settings == choice_.settings;
  if (choosing_ == Choosing::at_once || !choice.kernel->compiles || present) {
    adopt(choice);
    drop_preparation();
    return;
  }
  require_jerks(choice);
  (void)engine_for(choice.kernel->backend);  // says why, where the kernel cannot run here
  auto next = std::make_shared<KernelInPreparation>(backends_, choice.kernel, choice.settings, count_);
  drop_preparation();
  preparing_ = std::move(next);
  start_preparation();
}

void Simulation::drop_preparation() {
  if (!preparing_) return;
  preparing_->abandon();
  dropped_.push_back(std::exchange(preparing_, nullptr));
  setup_changed_ = true;
}

/// One at a time: while the user presses one button after the other, only the latest is made.
void Simulation::start_preparation() {
  for (auto& dropped : dropped_) {
    if (dropped->ended()) retire(std::exchange(dropped, nullptr));
  }
  std::erase(dropped_, nullptr);
  if (preparing_ && dropped_.empty()) preparing_->start();
}

/// The new kernel waits until no steps are in flight, so that no frame waits for these; see start_frame().
void Simulation::take_over_preparation() {
  start_preparation();
  if (!preparing_ || !preparing_->ended() || !in_flight_.empty()) return;
  const std::shared_ptr<KernelInPreparation> ended = std::exchange(preparing_, nullptr);
  prepared_ = PreparedKernel{ended->kernel(), ended->settings(), nullptr};
  setup_changed_ = progress_changed_ = true;
  try {
    Choice next = choice_;
    next.name_kernel();
    next.kernel = ended->kernel();
    next.settings = ended->settings();
    require_jerks(next);
    std::shared_ptr<ForceKernel> made = ended->result();
    made->prepare(count_);
    adopt(next, std::move(made));
  } catch (const std::exception& failure) {
    prepared_->failure = std::current_exception();
    if (dynamic_cast<const BackendLost*>(&failure)) return report_failure(failure);
    last_error_ = failure_text(failure);
  }
}

/// Of a kernel that is no longer used, or its preparation. Unloading it may wait for the device, and no frame does.
void Simulation::retire(std::shared_ptr<void> retired) {
  std::erase_if(retiring_, [](const auto& earlier) { return is_ready(earlier); });
  try {
    retiring_.push_back(std::async(std::launch::async, [last = std::move(retired)]() mutable { last.reset(); }));
  } catch (const std::exception&) {
    // There are no threads: it has been destroyed here.
  }
}

}  // namespace orrery
