#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "app/recording/frame_row.h"

namespace orrery {

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

  /// What a file must hold from byte `at` on, `at` counted from where the first row begins.
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

}  // namespace orrery
