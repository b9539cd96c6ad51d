// Recording of frames in a CSV file, one row per frame.
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

/// One frame of a recording. Times are in ms unless the column's name has a unit.
struct FrameRow {
  std::int64_t frame = 0;  ///< number of the frame, see StepTiming::tag
  double time_s = 0;       ///< since the start of the run, never decreasing; also decides when rows are written
  std::int64_t step = 0;
  double sim_time = 0;
  std::string kernel{}, backend{}, block{}, settings{};  ///< `block` is empty if the kernel has no such setting
  int n = 0;
  int steps = 0;                       ///< number of steps that started in this frame
  std::optional<StepTiming> timing{};  ///< times of those steps, usually known later; empty if `steps` is 0
  std::optional<double> draw_ms{};     ///< empty: known later
  double gui_ms = 0, frame_ms = 0;
  std::string interop{};
  std::optional<ForceError> error{};  ///< force error; empty in frames without a new comparison

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
  /// Returns the row with its line end. force_ms, integrate_ms and step_ms are per step.
  std::string csv() const;
};

/// Writes frames to a CSV file. A row waits in memory until its times are known, some frames later. It is then written
/// to the file, once, within `flush_interval_s`. Rows are in frame order, except that no row waits longer than
/// `flush_interval_s` for an earlier one: the row of a longer step follows at the end of that step. Only open() throws.
class Recorder {
 public:
  static constexpr double flush_interval_s = 0.5;
  static constexpr int most_frames_in_flight = 64;  ///< rows wait for draw times for this many frames at most

  /// Ends the current recording, then creates the file and returns the name that it got. Throws std::runtime_error that
  /// names the path and the cause; then nothing is recorded.
  std::string open(const std::string& path, const Json& metadata, Existing existing = Existing::keep);

  /// Appends a row; frame numbers must increase. Like close(), returns an empty text, or one line with the reason why
  /// the recording ended. Without a recording both do nothing.
  [[nodiscard]] std::string append(FrameRow row);
  /// Writes all rows, with empty fields for missing times, and ends the recording.
  [[nodiscard]] std::string close();

  /// Adds the times of the batch of steps that frame timing.tag started. Batches end in frame order: earlier rows stop
  /// waiting for their times. Does nothing if that frame was not recorded.
  void fill(const StepTiming& timing);
  /// Adds the GPU time of a frame's drawing. Otherwise as fill().
  void fill_draw(std::int64_t frame, double draw_ms);

  bool active() const { return file_.has_value(); }
  /// Return the name of the latest file and its number of frames, also after the recording has ended.
  const std::string& file() const { return path_; }
  std::int64_t rows() const { return rows_; }

 private:
  bool complete(const FrameRow& row) const;
  std::string write(const std::string& rows);

  std::optional<OutputFile> file_;
  std::string path_;
  std::vector<FrameRow> waiting_;  // in frame order
  std::int64_t timed_ = -1;        // latest frame with known step times; earlier frames get none any more
  std::int64_t drawn_ = -1;        // latest frame with a known draw time; earlier frames get none any more
  std::int64_t rows_ = 0;
  double flushed_at_s_ = 0;
};

/// First columns of every CSV file of conserved quantities.
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

/// Returns conserved_columns followed by `names`.
template <class... Names>
constexpr auto conserved_columns_and(Names... names) {
  std::array<std::string_view, conserved_columns.size() + sizeof...(names)> all{};
  std::size_t next = 0;
  for (const std::string_view name : conserved_columns) all[next++] = name;
  for (const std::string_view name : {std::string_view{names}...}) all[next++] = name;
  return all;
}

/// Returns the fields of conserved_columns. `drift` is the relative drift of the total energy.
std::vector<std::string> conserved_cells(const ConservedProbe& probe, double drift);

/// Returns the name of the file for conserved quantities next to a recording: "run-conserved.csv" for "run.csv".
std::string conserved_name(const std::string& recording);

/// Writes the conserved quantities that are measured during a recording to a second CSV file. The first row creates the
/// file.
class ConservedLog {
 public:
  static constexpr auto columns = conserved_columns_and("cost_ms");

  /// Ends the last log and starts one to conserved_name(recording), or none if the recording goes to a stream.
  void start(const std::string& recording, const Json& metadata, Existing existing = Existing::keep);
  void stop();

  /// Writes the latest measurement, the last of `history`, if it is new, `wanted` and a log is started. Call once per
  /// frame, recording or not, with the measurements under the current force law. Returns an empty text, or one line
  /// that names the file and the reason why the log ended.
  [[nodiscard]] std::string follow(std::span<const ConservedProbe> history, bool wanted);

  /// Returns the file name of the current or last log; empty if nothing was written.
  const std::string& file() const { return file_name_; }

 private:
  std::string write(const ConservedProbe& probe);

  std::string wanted_name_;  // name of the file that the next row creates; empty: no log
  std::string file_name_;
  Existing existing_ = Existing::keep;
  Json metadata_;
  std::optional<OutputFile> file_;
  double first_energy_ = 0;  // total energy in the first row of the file
  std::optional<ConservedProbe> seen_;
};

}  // namespace orrery
