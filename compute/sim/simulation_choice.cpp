// How a simulation gets the kernel that `auto` stands for.
#include <exception>
#include <utility>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/sim/simulation.h"

namespace orrery {
namespace {

AutoChoice named(const KernelChoice& choice) {
  return {.name = name_of(choice), .how = choice.how};
}

}  // namespace

KernelDemand Simulation::demand_of(int count, const Choice& choice, const MassRange& masses) const {
  return {.count = count,
          .law = choice.law.id,
          .equal_masses = masses.equal(),
          .accuracy = choice.accuracy,
          .jerks = choice.integrator->needs_jerks,
          .beside_drawing = choosing_ == Choosing::beside};
}

/// Of the present backends, for the integrator.
KernelPtr Simulation::default_kernel(const Choice& choice) const {
  return backends_.default_kernel(choice.integrator->needs_jerks);
}

/// Takes another kernel for another integrator or law: `auto` chooses anew, and if no one named a kernel, the default
/// may be another. A kernel that the user named stays, see require_jerks().
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

/// Cancels steps and choices in flight: they would disturb the measurement. With Choosing::beside the choice starts
/// once `choice` and its bodies are installed and cancelled choices have ended. Until it ends, the last kernel is used,
/// or the default for another count, which the last one may not take, and for another kind of integrator.
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

/// For the present bodies.
void Simulation::choose_kernel_again(Choice& choice) {
  choose_kernel(choice, present_demand(choice), bodies());
}

/// Makes `choice` the present one. If a choice in flight is not part of it, cancels that and keeps it until it has
/// ended, which may take as long as one evaluation: no command waits for it.
void Simulation::replace_choice(const Choice& choice) {
  if (choice_.in_flight && choice_.in_flight != choice.in_flight) {
    choice_.in_flight->cancel();
    cancelled_.push_back(choice_.in_flight);
  }
  choice_ = choice;
}

/// At most one choice measures at a time.
void Simulation::start_choice() {
  std::erase_if(cancelled_, [](const auto& choice) { return choice->ended(); });
  if (cancelled_.empty() && choice_.in_flight) choice_.in_flight->start();
}

/// Adopts the result of Choosing::beside once it is there. After a failure the present kernel stays.
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

}  // namespace orrery
