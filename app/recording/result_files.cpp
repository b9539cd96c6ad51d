#include "app/recording/result_files.h"

#include <stdexcept>

namespace orrery {

ResultFiles::ResultFiles(const std::string& csv_file, const std::string& json_file, const Json& metadata,
                         std::span<const std::string_view> columns) {
  if (!csv_file.empty()) csv_ = OutputFile::create(csv_file);
  if (!json_file.empty()) json_ = OutputFile::create(json_file);
  write(csv_, csv_header(metadata, columns));
  if (!error_.empty()) throw std::runtime_error(error_);
}

void ResultFiles::add(std::span<const std::string> fields) {
  write(csv_, csv_line(fields));
}

void ResultFiles::finish(const Json& whole) {
  if (json_) write(json_, json_text(whole, 2) + '\n');
}

void ResultFiles::discard() {
  if (csv_ && csv_->rewritable()) (void)csv_->replace_tail(0, "");  // an empty file goes with its owner
  csv_.reset();
  json_.reset();
}

std::string ResultFiles::written() const {
  std::string text;
  for (const auto* file : {&csv_, &json_}) {
    if (*file) text += "wrote " + (*file)->path() + '\n';
  }
  return text;
}

void ResultFiles::write(std::optional<OutputFile>& file, const std::string& text) {
  if (!file) return;
  const std::string error = file->append(text);
  if (error.empty()) return;
  if (error_.empty()) error_ = error;
  file.reset();
}

}  // namespace orrery
