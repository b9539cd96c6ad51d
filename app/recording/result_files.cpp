#include "app/recording/result_files.h"

#include <stdexcept>
#include <utility>

namespace orrery {

ResultFiles::ResultFiles(const std::string& csv_file, const std::string& json_file, const Json& metadata,
                         std::span<const std::string_view> columns) {
  if (!csv_file.empty()) csv_ = OutputFile::create(csv_file);
  if (!json_file.empty()) json_ = OutputFile::create(json_file);
  write(csv_, csv_header(metadata, columns));
  if (!error_.empty()) throw std::runtime_error(error_);
  if (csv_) open_rows_at_ = csv_->size();
}

void ResultFiles::add(std::span<const std::string> fields) {
  write(csv_, csv_line(fields));
}

void ResultFiles::replace_rows(std::string rows) {
  open_rows_ = std::move(rows);
  if (csv_ && csv_->rewritable()) take(csv_, csv_->replace_tail(open_rows_at_, open_rows_));
}

void ResultFiles::keep_rows() {
  if (csv_ && !csv_->rewritable()) write(csv_, open_rows_);
  if (csv_) open_rows_at_ = csv_->size();
  open_rows_.clear();
}

void ResultFiles::save(const Json& whole) {
  if (json_ && json_->rewritable()) finish(whole);
}

void ResultFiles::finish(const Json& whole) {
  if (json_) take(json_, json_->replace_tail(0, json_text(whole, 2) + '\n'));
}

void ResultFiles::discard() {
  if (csv_ && csv_->rewritable()) (void)csv_->replace_tail(0, "");  // an empty file goes with its owner
  csv_.reset();
  json_.reset();
}

std::string ResultFiles::written() const {
  std::string text;
  for (const std::string& path : paths()) text += "wrote " + path + '\n';
  return text;
}

std::vector<std::string> ResultFiles::paths() const {
  std::vector<std::string> result;
  for (const auto* file : {&csv_, &json_}) {
    if (*file) result.push_back((*file)->path());
  }
  return result;
}

void ResultFiles::write(std::optional<OutputFile>& file, const std::string& text) {
  if (file) take(file, file->append(text));
}

/// Gives the file up after an error.
void ResultFiles::take(std::optional<OutputFile>& file, const std::string& error) {
  if (error.empty()) return;
  if (error_.empty()) error_ = error;
  file.reset();
}

}  // namespace orrery
