#include "app/recording/frame_row.h"

#include "app/text/csv.h"

namespace orrery {

std::string FrameRow::csv() const {
  const auto timed = [&](double StepTiming::*member) { return timing ? csv_number((*timing).*member) : std::string{}; };
  const auto off = [&](double ForceError::*member) { return error ? csv_number((*error).*member) : std::string{}; };
  const std::array<std::string, columns.size()> fields{std::to_string(frame),
                                                       csv_number(time_s, 9),
                                                       std::to_string(step),
                                                       csv_number(sim_time, 9),
                                                       kernel,
                                                       backend,
                                                       block,
                                                       settings,
                                                       std::to_string(n),
                                                       std::to_string(steps),
                                                       timed(&StepTiming::map_ms),
                                                       timed(&StepTiming::force_ms),
                                                       timed(&StepTiming::integrate_ms),
                                                       timed(&StepTiming::step_ms),
                                                       timed(&StepTiming::unmap_ms),
                                                       csv_number(draw_ms),
                                                       csv_number(gui_ms),
                                                       csv_number(frame_ms),
                                                       timed(&StepTiming::interactions_per_s),
                                                       interop,
                                                       off(&ForceError::median),
                                                       off(&ForceError::p99),
                                                       off(&ForceError::max),
                                                       timing ? std::to_string(timing->evaluations) : std::string{}};
  return csv_line(fields);
}

FrameRow frame_row(std::int64_t frame, double time_s, int steps, const Status& status) {
  return {.frame = frame,
          .time_s = time_s,
          .step = status.step,
          .sim_time = status.sim_time,
          .kernel = status.kernel_id,
          .backend = to_string(status.backend),
          .block = status.settings.text_or_none("block"),
          .settings = status.settings.to_string(),
          .n = status.count,
          .steps = steps};
}

}  // namespace orrery
