#include "app/recording/recorder.h"

#include <stdexcept>
#include <utility>

namespace orrery {

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
