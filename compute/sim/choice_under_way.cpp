#include "compute/sim/choice_under_way.h"

#include <chrono>
#include <functional>
#include <utility>

#include "compute/core/start_thread.h"
#include "compute/sim/backends.h"

namespace orrery {

ChoiceUnderWay::ChoiceUnderWay(KernelChooser& chooser, const KernelDemand& demand, Bodies bodies, const Law& law)
    : bodies_{std::move(bodies)} {
  std::packaged_task<KernelChoice(std::stop_token)> choose{
      [this, &chooser, demand, law, use_device = device_of_this_thread()](const std::stop_token& stop) {
        use_device();
        return chooser.choose(demand, {bodies_, law}, stop);
      }};
  result_ = choose.get_future();
  thread_ = start_thread([task = std::move(choose)](const std::stop_token& stop) mutable { task(stop); });
}

bool ChoiceUnderWay::ended() const {
  return result_.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

void ChoiceUnderWay::abandon() {
  thread_.request_stop();
  result_.wait();
}

std::optional<KernelChoice> ChoiceUnderWay::take() {
  try {
    return result_.get();
  } catch (const ChoiceAbandoned&) {
    return std::nullopt;
  }
}

}  // namespace orrery
