// The recording of frames: rows, the queue in which they wait for times, and the file.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "app/recording/output_file.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"

namespace orrery {

/// One frame of a recording. Times without a unit in the column's name are ms.
struct FrameRow {
  std::int64_t frame = 0;  ///< what StepTiming::tag names
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

/// A row with everything that Status knows of a frame.
FrameRow frame_row(std::int64_t frame, double time_s, int steps, const Status& status);

/// Rows in the order of their frames. Some still wait for a time that is measured asynchronously. The queue turns
/// them into text for a file whose end may be rewritten (take_changes), or for one that may only grow (take_complete);
/// use one of the two.
class RowQueue {
 public:
  /// Frame numbers must rise.
  void push(FrameRow row);
  /// The batch of steps that frame timing.tag started. Batches end in order: earlier rows stop waiting for theirs.
  void fill(const StepTiming& timing);
  /// The GPU time of a frame's drawing; earlier rows stop waiting for theirs.
  void fill_draw(std::int64_t frame, double draw_ms);
  /// The run ends: no times follow.
  void give_up();

  /// Text that a file must hold from byte `at` on, `at` counted from where the first row begins.
  struct Change {
    std::int64_t at = 0;
    std::string text{};
  };
  /// Every row that is new or was filled in since the last call, and those after it.
  Change take_changes();
  /// The text of the rows before the first that waits; each is given once.
  std::string take_complete();

 private:
  struct Entry {
    FrameRow row;
    bool wants_timing, wants_draw;
    std::int64_t end = 0;  // where its text ends in the file
    bool complete() const { return !wants_timing && !wants_draw; }
  };
  void touch(std::size_t index);
  void drop_complete();

  std::deque<Entry> rows_;
  std::size_t clean_ = 0;   // leading rows whose text in the file is up to date
  std::int64_t begin_ = 0;  // where the first row of rows_ begins in the file
};

/// Writes frames to a CSV file. Rows reach the file within `flush_interval_s`, those that still wait for a time with
/// that field empty; it is filled in once it is known. Nothing but open() throws.
class Recorder {
 public:
  static constexpr double flush_interval_s = 0.5;

  /// Ends the present recording, then creates the file. Returns the name that it got. Throws std::runtime_error that
  /// names the path and the cause, and then nothing is recorded.
  std::string open(const std::string& path, const Json& metadata, Existing existing = Existing::keep);

  /// Each returns an empty text, or one line with the reason why the recording has ended. Without a recording they do
  /// nothing.
  [[nodiscard]] std::string append(FrameRow row);
  [[nodiscard]] std::string close();

  /// See RowQueue. Times of frames that were not recorded are no concern.
  void fill(const StepTiming& timing) { queue_.fill(timing); }
  void fill_draw(std::int64_t frame, double draw_ms) { queue_.fill_draw(frame, draw_ms); }

  bool active() const { return file_.has_value(); }
  /// The last file's name and its rows, kept after the recording has ended.
  const std::string& file() const { return path_; }
  std::int64_t rows() const { return rows_; }

 private:
  std::string flush();

  std::optional<OutputFile> file_;
  std::string path_;
  RowQueue queue_;
  std::int64_t rows_ = 0;
  std::int64_t rows_begin_ = 0;  // where the first row begins in the file
  double flushed_at_s_ = 0;
};

}  // namespace orrery
