#include "app/recording/recorder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

std::string Recorder::open(const std::string& path, const Json& metadata, Existing existing) {
  if (const std::string error = close(); !error.empty()) throw std::runtime_error(error);
  OutputFile file = OutputFile::create(path, existing);
  if (const std::string error = file.append(csv_header(metadata, FrameRow::columns)); !error.empty()) {
    throw std::runtime_error(error);
  }
  path_ = file.path();
  rows_begin_ = file.size();
  rows_ = 0;
  flushed_at_s_ = 0;
  file_ = std::move(file);
  return path_;
}

std::string Recorder::append(FrameRow row) {
  if (!file_) return {};
  const double now_s = row.time_s;
  queue_.push(std::move(row));
  ++rows_;
  if (now_s - flushed_at_s_ < flush_interval_s) return {};
  flushed_at_s_ = now_s;
  return flush();
}

std::string Recorder::close() {
  if (!file_) return {};
  queue_.give_up();
  std::string error = flush();
  if (error.empty()) error = file_->lost();
  file_.reset();
  queue_ = {};
  return error;
}

std::string Recorder::flush() {
  std::string error;
  if (file_->rewritable()) {
    const RowQueue::Change change = queue_.take_changes();
    if (!change.text.empty()) error = file_->replace_tail(rows_begin_ + change.at, change.text);
  } else {
    error = file_->append(queue_.take_complete());
  }
  if (!error.empty()) {
    file_.reset();
    queue_ = {};
  }
  return error;
}

}  // namespace orrery
