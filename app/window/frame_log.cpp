#include "app/window/frame_log.h"

#include <utility>

namespace orrery {

void FrameLog::started(std::int64_t frame, const Status& status) {
  started_.push_back({frame, trial_of(status), step_work(status)});
}

/// Batches end in order. Those older than this one were cancelled.
void FrameLog::add(const StepTiming& timing) {
  while (!started_.empty() && started_.front().frame < timing.tag) started_.pop_front();
  if (started_.empty() || started_.front().frame != timing.tag) return;
  const Started& batch = started_.front();
  statistics_.add(batch.trial, batch.work, timing, batch.of_period);
  started_.pop_front();
  timing_ = timing;
  recorder_.fill(timing);
  times_.map_ms = timing.map_ms;
  times_.force_ms = timing.force_ms * timing.steps;
  times_.integrate_ms = timing.integrate_ms * timing.steps;
  times_.unmap_ms = timing.unmap_ms;
}

void FrameLog::begin_period() {
  for (Started& batch : started_) batch.of_period = false;
  statistics_.begin_period();
}

void FrameLog::add_draw(render::GpuTime time) {
  times_.draw_ms = time.ms;
  recorder_.fill_draw(time.tag, time.ms);
}

std::string FrameLog::ended(std::int64_t frame, int steps, const Status& status, const ViewStatus& view,
                            const FrameTimes& times, std::chrono::steady_clock::time_point end) {
  times_.gui_ms = times.gui_ms;
  times_.swap_ms = times.swap_ms;
  times_.frame_ms = times.frame_ms;
  const bool wanted = recorder_.active() && !rows_held_;
  const std::optional<ForceError> error = new_error(status);
  const std::string conserved_problem = conserved_.follow(view.conserved_history, wanted);
  if (!wanted) return {};
  FrameRow row{.frame = frame,
               .time_s = std::chrono::duration<double>(end - begin_).count(),
               .step = status.step,
               .sim_time = status.sim_time,
               .kernel = status.kernel_id,
               .backend = to_string(status.backend),
               .block = status.settings.text_or_none("block"),
               .settings = status.settings.to_string(),
               .n = status.count,
               .steps = steps,
               .gui_ms = times_.gui_ms,
               .frame_ms = times_.frame_ms,
               .interop = to_string(view.interop),
               .error = error};
  if (steps > 0 && timing_.tag == frame && timing_.steps > 0) row.timing = timing_;
  const std::string problem = ended_by(recorder_.append(std::move(row)));
  return problem.empty() ? conserved_problem : problem;
}

/// The error of a comparison of forces that ended since the last frame.
std::optional<ForceError> FrameLog::new_error(const Status& status) {
  const std::optional<ForceProbe> seen = std::exchange(seen_probe_, status.force_probe);
  if (!seen_probe_ || (seen && seen->step == seen_probe_->step && seen->ms == seen_probe_->ms)) return std::nullopt;
  return seen_probe_->error;
}

std::string FrameLog::start_recording(const std::string& file, const Json& metadata, Existing existing) {
  recording_error_.clear();
  rows_held_ = false;
  std::string name = recorder_.open(file, metadata, existing);
  conserved_.start(name, metadata, existing);
  return name;
}

std::string FrameLog::stop_recording() {
  conserved_.stop();
  return ended_by(recorder_.close());
}

std::string FrameLog::ended_by(std::string error) {
  if (!error.empty()) recording_error_ = error;
  return error;
}

void FrameLog::describe(ViewStatus& view, const Status& present) const {
  view.times = times_;
  statistics_.describe(view, trial_of(present));
  if (view.measured == 0) view.times.force_ms = view.times.integrate_ms = 0;  // of another trial
  view.recording = {recorder_.active(), recorder_.file(), recorder_.rows(), recording_error_};
}

}  // namespace orrery
