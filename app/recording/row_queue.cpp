#include "app/recording/row_queue.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

// More rows than this never wait: a time that has not come by then (minutes of frames) never will.
constexpr std::size_t max_waiting = 100'000;

}  // namespace

void RowQueue::push(FrameRow row) {
  const bool wants_timing = row.steps > 0 && !row.timing;
  const bool wants_draw = !row.draw_ms;
  rows_.push_back({std::move(row), wants_timing, wants_draw});
  if (rows_.size() > max_waiting) rows_.front().wants_timing = rows_.front().wants_draw = false;
}

void RowQueue::fill(const StepTiming& timing) {
  for (std::size_t i = 0; i < rows_.size() && rows_[i].row.frame <= timing.tag; ++i) {
    Entry& entry = rows_[i];
    if (std::exchange(entry.wants_timing, false) && entry.row.frame == timing.tag) {
      entry.row.timing = timing;
      touch(i);
    }
  }
}

void RowQueue::fill_draw(std::int64_t frame, double draw_ms) {
  for (std::size_t i = 0; i < rows_.size() && rows_[i].row.frame <= frame; ++i) {
    Entry& entry = rows_[i];
    if (std::exchange(entry.wants_draw, false) && entry.row.frame == frame) {
      entry.row.draw_ms = draw_ms;
      touch(i);
    }
  }
}

void RowQueue::give_up() {
  for (Entry& entry : rows_) entry.wants_timing = entry.wants_draw = false;
}

void RowQueue::touch(std::size_t index) {
  clean_ = std::min(clean_, index);
}

RowQueue::Change RowQueue::take_changes() {
  Change change{.at = clean_ == 0 ? begin_ : rows_[clean_ - 1].end};
  for (std::size_t i = clean_; i < rows_.size(); ++i) {
    change.text += rows_[i].row.csv();
    rows_[i].end = change.at + static_cast<std::int64_t>(change.text.size());
  }
  clean_ = rows_.size();
  drop_complete();
  return change;
}

std::string RowQueue::take_complete() {
  std::string text;
  for (; !rows_.empty() && rows_.front().complete(); rows_.pop_front()) text += rows_.front().row.csv();
  return text;
}

void RowQueue::drop_complete() {
  for (; !rows_.empty() && rows_.front().complete(); rows_.pop_front(), --clean_) begin_ = rows_.front().end;
}

}  // namespace orrery
