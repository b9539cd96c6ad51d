// The recording of frames: a row per frame, and the CSV file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
  std::string kernel{}, backend{}, block{}, settings{};  ///< block is empty if the kernel has no such setting
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

/// First columns of every CSV file of conserved sums.
inline constexpr std::array<std::string_view, 13> conserved_columns{"step",
                                                                    "sim_time",
                                                                    "kinetic",
                                                                    "potential",
                                                                    "total",
                                                                    "total_drift",
                                                                    "momentum_x",
                                                                    "momentum_y",
                                                                    "momentum_z",
                                                                    "angular_momentum_x",
                                                                    "angular_momentum_y",
                                                                    "angular_momentum_z",
                                                                    "virial_ratio"};

/// These columns and then the columns of one file alone.
template <class... Names>
constexpr auto conserved_columns_and(Names... names) {
  std::array<std::string_view, conserved_columns.size() + sizeof...(names)> all{};
  std::size_t next = 0;
  for (const std::string_view name : conserved_columns) all[next++] = name;
  for (const std::string_view name : {std::string_view{names}...}) all[next++] = name;
  return all;
}

/// The fields of these columns. `drift` is that of the total energy, relative.
std::vector<std::string> conserved_cells(const ConservedProbe& probe, double drift);

/// The file beside a recording: "run-conserved.csv" for "run.csv".
std::string conserved_name(const std::string& recording);

/// A second CSV file next to a recording with the conserved sums that were measured during it. The file is made with
/// its first row.
class ConservedLog {
 public:
  static constexpr auto columns = conserved_columns_and("cost_ms");

  /// Writes to conserved_name(recording); nothing beside a stream. Ends what was written before.
  void start(const std::string& recording, const Json& metadata, Existing existing = Existing::keep);
  void stop();

  /// Call once per frame, recording or not, with what was measured under the current law, the latest last: writes that
  /// if it is new and `wanted`. Returns an empty text, or one line that names the file and why nothing more is written
  /// to it.
  [[nodiscard]] std::string follow(std::span<const ConservedProbe> history, bool wanted);

  /// Name of the file of the current or last recording; empty if nothing was written.
  const std::string& file() const { return file_name_; }

 private:
  std::string write(const ConservedProbe& probe);

  std::string wanted_name_;  // of the file that the next row makes; empty: none
  std::string file_name_;
  Existing existing_ = Existing::keep;
  Json metadata_;
  std::optional<OutputFile> file_;
  double first_energy_ = 0;  // in the file
  std::optional<ConservedProbe> seen_;
};

}  // namespace orrery
