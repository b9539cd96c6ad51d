#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "app/recording/conserved_log.h"
#include "app/recording/recorder.h"
#include "app/text/csv.h"
#include "app/ui_state/status.h"
#include "app/window/step_statistics.h"
#include "compute/core/atomic_file.h"
#include "compute/sim/command.h"
#include "render/gl/gpu_timer.h"

namespace orrery {

/// Collects the times of frames, which become known some frames later, for the window's statistics and the recording.
class FrameLog {
 public:
  /// Call after frame `frame` has started steps of `status`.
  void started(std::int64_t frame, const Status& status);
  void add(const StepTiming& timing);
  /// See StepStatistics::begin_period(): batches in flight do not belong to it.
  void begin_period();
  void add_draw(render::GpuTime time);
  /// Call at a frame's end, which is the start of the next. Of `times`, only gui_ms to frame_ms are read. Returns one
  /// line if the recording has failed.
  std::string ended(std::int64_t frame, int steps, const Status& status, const ViewStatus& view,
                    const FrameTimes& times, std::chrono::steady_clock::time_point end);

  /// See Recorder::open.
  std::string start_recording(const std::string& file, const Json& metadata, Existing existing);
  /// Returns one line if the file is not whole.
  std::string stop_recording();
  /// Writes no rows until the next recording starts; rows already written still get their times.
  void hold_rows(bool hold) { rows_held_ = hold; }
  bool recording() const { return recorder_.active(); }
  /// See ConservedLog::file.
  const std::string& conserved_file() const { return conserved_.file(); }

  StepStatistics& statistics() { return statistics_; }
  const StepStatistics& statistics() const { return statistics_; }
  /// Fills in times, step statistics and recording.
  void describe(ViewStatus& view, const Status& present) const;

 private:
  struct Started {
    std::int64_t frame;
    Trial trial;
    StepWork work;
    bool of_period = true;  // see begin_period()
  };

  std::string ended_by(std::string error);
  std::optional<ForceError> new_error(const Status& status);

  Recorder recorder_;
  ConservedLog conserved_;
  std::optional<ForceProbe> seen_probe_;
  std::string recording_error_;
  bool rows_held_ = false;
  StepStatistics statistics_;
  std::deque<Started> started_;  // not measured yet
  StepTiming timing_;            // the latest known
  FrameTimes times_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace orrery
