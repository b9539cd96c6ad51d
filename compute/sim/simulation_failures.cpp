// What a simulation does after a kernel or a device has failed.
#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "compute/core/backend.h"
#include "compute/core/text.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"

namespace orrery {
namespace {

using StepClock = std::chrono::steady_clock;

/// Nothing can stop what runs on its device.
class KernelHangs final : public std::runtime_error, public DeviceLost {
 public:
  KernelHangs(const std::string& what, Backend backend) : std::runtime_error{what}, backend_{backend} {}
  Backend backend() const noexcept override { return backend_; }

 private:
  Backend backend_;
};

/// It uses the device, and waits for it as it ends.
template <class Owner>
void leave_to_itself(Owner& owner) {
  (void)owner.release();
}

}  // namespace

/// Of the oldest batch in flight. Until one of its steps has been timed, a kernel is expected to be half as fast as a
/// direct sum on an H100.
std::chrono::duration<double> Simulation::step_limit() const {
  constexpr double slack = 20, usual_pairs_per_s = 2e11;
  const double steps = in_flight_.front().request.steps;
  const double pairs = choice_.integrator->evaluations_per_step * ForceKernel::interactions(count_);
  const double expected_s = is_proven_ ? timing_.step_ms * 1e-3 : pairs / usual_pairs_per_s;
  const std::chrono::duration<double> limit{slack * steps * expected_s};
  return std::max<std::chrono::duration<double>>(*least_limit_, limit);
}

void Simulation::require_progress() const {
  if (!watched() || StepClock::now() - progress_ < step_limit()) return;
  throw KernelHangs{"no step of " + counted_bodies(count_) + " has ended within " +
                        std::to_string(std::lround(step_limit().count())) + " s",
                    choice_.kernel->backend};
}

bool Simulation::look_for_hang() {
  if (!loss_ && watched() && StepClock::now() - progress_ >= step_limit()) gather_or_report();
  return loss_ && loss_->hangs;
}

void Simulation::share_loss(const DeviceLoss& loss) {
  loss_ = loss;
  loss_->automatic = choice_.automatic.has_value();
  loss_->good = choice_.kernel;
  loss_->good_settings = choice_.settings;
  loss_->ran = !paused_;
  if (choice_.kernel->backend == loss.kernel->backend) (void)leave_device(loss.hangs);
}

/// Pauses and sets last_error_. Leaves a lost device at once: every later call to it would fail.
void Simulation::report_failure(const std::exception& failure) {
  const bool ran = !paused_;
  paused_ = true;
  step_once_ = false;
  progress_changed_ = true;
  if (const auto* const lost = dynamic_cast<const BackendLost*>(&failure)) {
    last_error_ = after_loss(*lost, failure.what(), ran);
    return;
  }
  last_error_ = failure.what();
  failed_ = ran && !is_proven_ && proven_.has_value();
}

/// The kernel that ran before the present one takes its place, and the steps go on.
void Simulation::return_to_proven_kernel() {
  failed_ = false;
  const std::string cause = std::exchange(last_error_, {});
  const std::string failed = choice_.kernel->id;
  Choice back = choice_;
  back.name_kernel();
  back.kernel = proven_->kernel;
  back.settings = proven_->settings;
  back.automatic = proven_->automatic;
  setup_changed_ = true;
  try {
    adopt(back);
    paused_ = false;
    last_error_ = failed + " cannot run: " + cause + "; " + choice_.kernel->id + " goes on";
  } catch (const std::exception& failure) {
    report_failure(failure);
    failed_ = false;
    last_error_ = failed + " cannot run: " + cause + "; nor can " + back.kernel->id + ": " + last_error_;
  }
}

/// Returns one line. A device that the present kernel does not use is no loss for the bodies.
std::string Simulation::after_loss(const BackendLost& lost, const std::string& cause, bool ran) {
  const bool works = dynamic_cast<const BodiesLost*>(&lost) != nullptr;
  const bool hangs = dynamic_cast<const KernelHangs*>(&lost) != nullptr;
  const std::string what = (works   ? ""
                            : hangs ? std::string{choice_.kernel->id} + " hangs: "
                                    : "the device failed: ") +
                           cause;
  const std::string cure = works ? "" : "; start the program again to use the device";
  if (lost.backend() == choice_.kernel->backend) {
    if (!works) loss_ = loss_of(cause, ran);
    if (loss_) loss_->hangs = hangs;
    return what + "; " + leave_device(hangs) + cure;
  }
  engines_[static_cast<std::size_t>(lost.backend())].reset();
  return what + "; " + choice_.kernel->id + " goes on" + cure;
}

/// Nobody can say of an edited kernel that it is not the cause; built-in ones are trusted.
DeviceLoss Simulation::loss_of(const std::string& cause, bool ran) const {
  DeviceLoss loss{.cause = cause,
                  .kernel = choice_.kernel,
                  .automatic = choice_.automatic.has_value(),
                  .good = choice_.kernel,
                  .good_settings = choice_.settings,
                  .ran = ran};
  if (!choice_.kernel->compiles) return loss;
  const bool is_proven = proven_ && same_kernel(*proven_->kernel, *choice_.kernel);
  const std::optional<Proven>& before = is_proven ? proven_before_ : proven_;
  loss.good = before ? before->kernel : nullptr;
  loss.good_settings = before ? before->settings : Settings{};
  return loss;
}

/// Takes the latest copy of the bodies on the host, paused and with a CPU kernel. Returns what is left.
std::string Simulation::leave_device(bool hangs) {
  setup_changed_ = progress_changed_ = true;
  paused_ = true;
  step_once_ = false;
  in_flight_.clear();
  drop_preparation();
  const auto lost = static_cast<std::size_t>(choice_.kernel->backend);
  Choice next = choice_;
  next.name_kernel();
  next.kernel = backends_.default_cpu_kernel(choice_.integrator->needs_jerks);
  next.settings = Settings{*next.kernel};
  const HostCopy state = host_copy_ ? *host_copy_ : HostCopy{scene_->bodies, {.sim_time = scene_->time}};
  kernel_ = next.kernel->make(next.settings, nullptr);  // not divided, whatever the devices of the run are
  if (hangs) leave_to_itself(engines_[lost]);
  engines_[lost].reset();
  replace_choice(next);
  engine().upload(with_digits(state.bodies, choice_.digits), plan());
  card_.reset();
  done_ = state.at;
  diagnostics_.restart();
  proven_.reset();
  is_proven_ = failed_ = false;
  return "left are the bodies of step " + std::to_string(done_.step) + ", with which " + next.kernel->id + " can go on";
}

}  // namespace orrery
