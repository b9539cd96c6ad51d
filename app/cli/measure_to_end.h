#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "app/text/progress.h"
#include "compute/core/stop_signal.h"

namespace orrery {

/// Runs a measurement to its end, or stops it after a stop signal, with the time left on stderr; `progress` as Progress
/// takes it. `after_tick` is called again and again meanwhile.
template <class Measurement>
void measure_to_end(Measurement& measurement, bool progress, const std::function<void()>& after_tick) {
  constexpr std::chrono::milliseconds nap{2};  // between looks at a batch in flight, a tenth of a sample
  Progress shown{progress};
  watch_stop_signals();
  while (!measurement.ended()) {
    if (stop_requested()) {
      measurement.stop();
    } else if (measurement.tick()) {
      std::this_thread::sleep_for(nap);
    }
    after_tick();
    shown.show_left(measurement.left_s(), measurement.present());
  }
}

}  // namespace orrery
