#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/recording/output_file.h"
#include "app/recording/row_queue.h"
#include "app/text/csv.h"

namespace orrery {

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
