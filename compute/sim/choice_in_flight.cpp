#include "compute/sim/choice_in_flight.h"

#include <exception>
#include <utility>

#include "compute/core/threads.h"

namespace orrery {

ChoiceInFlight::ChoiceInFlight(KernelChooser& chooser, const KernelDemand& demand, Bodies bodies, const Law& law)
    : chooser_{chooser}, demand_{demand}, bodies_{std::move(bodies)}, law_{law} {}

void ChoiceInFlight::start() {
  if (std::exchange(started_, true)) return;
  thread_ = start_promised(promise_, [this](const std::stop_token& stop) {
    return chooser_.choose(demand_, {bodies_, law_}, stop);
  });
}

bool ChoiceInFlight::ended() const {
  return is_ready(result_);
}

void ChoiceInFlight::cancel() {
  thread_.request_stop();
  if (!std::exchange(started_, true)) promise_.set_exception(std::make_exception_ptr(Cancelled{}));
}

std::optional<KernelChoice> ChoiceInFlight::result() const {
  try {
    return result_.get();
  } catch (const Cancelled&) {
    return std::nullopt;
  }
}

}  // namespace orrery
