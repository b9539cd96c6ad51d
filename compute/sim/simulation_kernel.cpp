// The kernel of a simulation: `auto` chooses one, slow compilations run on another thread while steps continue, and a
// failed kernel is replaced.
#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"

namespace orrery {
namespace {

using StepClock = std::chrono::steady_clock;

AutoChoice named(const KernelChoice& choice) {
  return {.name = name_of(choice), .how = choice.how};
}

/// Error: the kernel does not end, and nothing can stop it.
class KernelHangs final : public std::runtime_error, public DeviceLost {
 public:
  KernelHangs(const std::string& what, Backend backend) : std::runtime_error{what}, backend_{backend} {}
  Backend backend() const noexcept override { return backend_; }

 private:
  Backend backend_;
};

/// Releases an object without calling its destructor, which would wait for the device.
template <class Owner>
void leave_to_itself(Owner& owner) {
  (void)owner.release();
}

}  // namespace

// The choice that `auto` makes.

KernelDemand Simulation::demand_of(int count, const Choice& choice, const MassRange& masses) const {
  return {.count = count,
          .law = choice.law.id,
          .equal_masses = masses.equal(),
          .accuracy = choice.accuracy,
          .jerks = choice.integrator->needs_jerks,
          .beside_drawing = choosing_ == Choosing::beside};
}

/// Returns the default kernel for the integrator of `choice`.
KernelPtr Simulation::default_kernel(const Choice& choice) const {
  return backends_.default_kernel(choice.integrator->needs_jerks);
}

/// Adapts the kernel to another integrator or law. `auto` chooses again; a default kernel is replaced by the default
/// for the integrator. A kernel that the user named stays, see require_jerks().
void Simulation::suit_kernel(Choice& choice) {
  if (choice.automatic && present_demand(choice) != present_demand(choice_)) return choose_kernel_again(choice);
  const bool suits = choice.integrator->needs_jerks == choice.kernel->gives_jerks;
  if (!choice.automatic && choice.is_default && !suits) choice.take(default_kernel(choice));
}

/// Throws UsageError if the integrator needs jerks and the kernel gives none.
void Simulation::require_jerks(const Choice& choice) const {
  if (!choice.integrator->needs_jerks || choice.kernel->gives_jerks) return;
  throw UsageError("the integrator " + std::string{choice.integrator->id} + " needs a kernel that gives jerks, and " +
                   choice.kernel->id +
                   " gives none; choose auto or one of: " + backends_.available_kernels(/*jerks=*/true));
}

/// Chooses a kernel for `auto`. Cancels steps and choices in flight, which would disturb the measurement. With
/// Choosing::beside, the choice starts later: when `choice` and its bodies are installed and cancelled choices have
/// ended. Until it ends, the last kernel stays. If the number of bodies or the need for jerks changes, the default
/// kernel replaces it, since the last one may be unsuitable.
void Simulation::choose_kernel(Choice& choice, const KernelDemand& demand, Bodies bodies) {
  cancel_and_wait();
  if (choice.in_flight) choice.in_flight->cancel();
  if (chooser_ && choosing_ == Choosing::beside) {
    if (demand.count != count_ || demand.jerks != choice.kernel->gives_jerks) choice.take(default_kernel(choice));
    choice.automatic = AutoChoice{.name = "auto: measuring", .how = "The kernels are being measured."};
    choice.in_flight = std::make_shared<ChoiceInFlight>(*chooser_, demand, std::move(bodies), choice.law);
    return;
  }
  const KernelPtr fallback = default_kernel(choice);
  const KernelChoice chosen =
      chooser_ ? chooser_->choose(demand, {bodies, choice.law}, {})
               : KernelChoice{fallback, Settings{*fallback}, "Nothing was measured: the default is used."};
  choice.kernel = chosen.kernel;
  choice.settings = chosen.settings;
  choice.automatic = named(chosen);
}

/// Calls choose_kernel() for the current bodies.
void Simulation::choose_kernel_again(Choice& choice) {
  choose_kernel(choice, present_demand(choice), bodies());
}

/// Makes `choice` the current one. If that replaces a choice in flight, cancels it, and keeps it until it has ended.
/// Its end may take as long as one evaluation, so no command waits for it.
void Simulation::replace_choice(const Choice& choice) {
  if (choice_.in_flight && choice_.in_flight != choice.in_flight) {
    choice_.in_flight->cancel();
    cancelled_.push_back(choice_.in_flight);
  }
  choice_ = choice;
}

/// Starts the current choice when all cancelled ones have ended, so that at most one measures at a time.
void Simulation::start_choice() {
  std::erase_if(cancelled_, [](const auto& choice) { return choice->ended(); });
  if (cancelled_.empty() && choice_.in_flight) choice_.in_flight->start();
}

/// Adopts the kernel that a choice in flight has found. After a failure, the current kernel stays.
void Simulation::take_over_choice() {
  if (!choice_.in_flight || !choice_.in_flight->ended()) return;
  const std::shared_ptr<ChoiceInFlight> ended = std::exchange(choice_.in_flight, nullptr);
  setup_changed_ = true;
  try {
    Choice next = choice_;
    if (const std::optional<KernelChoice> chosen = ended->result()) {
      next.kernel = chosen->kernel;
      next.settings = chosen->settings;
      next.automatic = named(*chosen);
    } else {
      choose_kernel_again(next);
    }
    adopt(next);
  } catch (const std::exception& failure) {
    choice_.automatic =
        named({choice_.kernel, choice_.settings, std::string{"The choice failed: "} + failure_text(failure)});
    const auto* const lost = dynamic_cast<const BackendLost*>(&failure);
    last_error_ = lost ? after_loss(*lost, failure_text(failure), !paused_) : failure_text(failure);
  }
}

// Preparation of a kernel that takes long to make, while the steps continue.

/// Returns the kernel and settings that SetTunable changes: the ones in preparation if they have the current id,
/// perhaps as another version of a kernel file; otherwise the current ones.
std::pair<KernelPtr, Settings> Simulation::wanted_kernel() const {
  const bool same = preparing_ && std::string_view{preparing_->kernel()->id} == choice_.kernel->id;
  if (same) return {preparing_->kernel(), preparing_->settings()};
  return {choice_.kernel, choice_.settings};
}

/// Changes to the kernel and the settings of `choice`, immediately or when the kernel is made.
void Simulation::change_kernel(const Choice& choice) {
  const bool present = same_kernel(*choice.kernel, *choice_.kernel) && choice.settings == choice_.settings;
  if (choosing_ == Choosing::at_once || !choice.kernel->compiles || present) {
    adopt(choice);
    drop_preparation();
    return;
  }
  require_jerks(choice);
  (void)engine_for(choice.kernel->backend);  // throws if the kernel cannot run here
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

/// Starts the preparation when all dropped ones have ended. After several quick selections, only the latest is made.
void Simulation::start_preparation() {
  for (auto& dropped : dropped_) {
    if (dropped->ended()) retire(std::exchange(dropped, nullptr));
  }
  std::erase(dropped_, nullptr);
  if (preparing_ && dropped_.empty()) preparing_->start();
}

/// Adopts the prepared kernel when no steps are in flight, so that no frame waits for steps; see start_frame().
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

/// Destroys an unused kernel, or its preparation, on another thread, since unloading it may wait for the device.
void Simulation::retire(std::shared_ptr<void> retired) {
  std::erase_if(retiring_, [](const auto& earlier) { return is_ready(earlier); });
  try {
    retiring_.push_back(std::async(std::launch::async, [last = std::move(retired)]() mutable { last.reset(); }));
  } catch (const std::exception&) {
    // No thread could be started: the object has been destroyed here.
  }
}

/// Returns the time limit for the oldest batch in flight. Before a kernel's first timed step, assumes half the speed of
/// direct summation on an H100.
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

/// Pauses and sets last_error_. Leaves a lost device immediately, because every later call to it would fail.
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

/// Returns to the last kernel that has run a step, and continues the steps.
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

/// Handles a loss, and returns one line about it. If the current kernel does not use the lost device, the bodies stay.
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

/// Returns a description of the loss. A kernel file may have caused it, so `good` is then an earlier kernel; built-in
/// kernels are trusted.
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

/// Continues, paused and with a CPU kernel, from the latest copy of the bodies on the host. Returns a text about that
/// copy.
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
  kernel_ = next.kernel->make(next.settings, nullptr);  // for this process alone: not shared, not divided
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
