// The recording of frames: a row per frame, and the CSV file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/recording/output_file.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"

namespace orrery {

/// One frame of a recording. Times without a unit in the column's name are ms.
struct FrameRow {
  std::int64_t frame = 0;  ///< number that StepTiming::tag names
  double time_s = 0;       ///< since the run began, never falling; also the clock by which rows go to disk
  std::int64_t step = 0;
  double sim_time = 0;
  std::string kernel{}, backend{}, block{}, settings{};  ///< block is empty if the kernel has no such tunable
  int n = 0;
  int steps = 0;                       ///< started in this frame
  std::optional<StepTiming> timing{};  ///< of those steps; usually filled in later. Stays empty where steps is 0
  std::optional<double> draw_ms{};     ///< empty: filled in later
  double gui_ms = 0, frame_ms = 0;
  std::string interop{};
  std::optional<ForceError> error{};  ///< of the forces; empty in a frame in which no comparison came in

  static constexpr std::array<std::string_view, 24> columns{"frame",
                                                            "time_s",
                                                            "step",
                                                            "sim_time",
                                                            "kernel",
                                                            "backend",
                                                            "block",
                                                            "settings",
                                                            "n",
                                                            "steps",
                                                            "map_ms",
                                                            "force_ms",
                                                            "integrate_ms",
                                                            "step_ms",
                                                            "unmap_ms",
                                                            "draw_ms",
                                                            "gui_ms",
                                                            "frame_ms",
                                                            "interactions_per_s",
                                                            "interop",
                                                            "error_median",
                                                            "error_p99",
                                                            "error_max",
                                                            "evaluations"};
  /// The row with its line end. force_ms, integrate_ms and step_ms are those of one step.
  std::string csv() const;
};

/// Writes frames to a CSV file. Each row waits in memory until its times are known, some frames later, and is then
/// written once: to the file within `flush_interval_s`, and to the disk by the system. Rows are in the order of their
/// frames, but no row waits longer than `flush_interval_s` for an earlier one: the row of a longer step comes at the
/// end of that step. Nothing but open() throws.
class Recorder {
 public:
  static constexpr double flush_interval_s = 0.5;
  static constexpr int most_frames_in_flight = 64;  ///< after as many more frames, no time of a drawing follows

  /// Ends the current recording, then creates the file. Returns the name that it got. Throws std::runtime_error that
  /// names the path and the cause, and then nothing is recorded.
  std::string open(const std::string& path, const Json& metadata, Existing existing = Existing::keep);

  /// Each returns an empty text, or one line with the reason why the recording has ended. Without a recording they do
  /// nothing. Frame numbers must rise. close() writes all rows, and leaves the fields of missing times empty.
  [[nodiscard]] std::string append(FrameRow row);
  [[nodiscard]] std::string close();

  /// The batch of steps that frame timing.tag started. Batches end in order: earlier rows stop waiting for theirs. Does
  /// nothing if that frame was not recorded.
  void fill(const StepTiming& timing);
  /// The same of the GPU time of a frame's drawing.
  void fill_draw(std::int64_t frame, double draw_ms);

  bool active() const { return file_.has_value(); }
  /// Name of the latest file, and its number of frames. Both are kept after the recording has ended.
  const std::string& file() const { return path_; }
  std::int64_t rows() const { return rows_; }

 private:
  bool complete(const FrameRow& row) const;
  std::string write(const std::string& rows);

  std::optional<OutputFile> file_;
  std::string path_;
  std::vector<FrameRow> waiting_;  // in the order of their frames
  std::int64_t timed_ = -1;        // the latest frame with a known time of its steps; frames before get none any more
  std::int64_t drawn_ = -1;        // the same of drawings
  std::int64_t rows_ = 0;
  double flushed_at_s_ = 0;
};

}  // namespace orrery
