#include "app/recording/result_files.h"

#include <stdexcept>
#include <utility>

#include "app/text/printable.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"

namespace orrery {

ResultFiles::ResultFiles(const ResultNames& names, const Json& metadata, std::span<const std::string_view> columns)
    : names_{names} {
  if (names.csv.empty()) return;
  csv_ = OutputFile::create(names.csv, names.existing);
  head_ = csv_header(metadata, columns);
  if (csv_->rewritable() && names.existing == Existing::replace) return;
  write_head();
  if (!error_.empty()) throw std::runtime_error(error_);
}

void ResultFiles::add(std::span<const std::string> fields) {
  write_rows(csv_line(fields));
}

void ResultFiles::replace_rows(std::string rows) {
  open_rows_ = std::move(rows);
  write_head();
  if (csv_ && csv_->rewritable()) take(csv_->replace_tail(open_rows_at_, open_rows_));
}

void ResultFiles::keep_rows() {
  if (csv_ && !csv_->rewritable()) write_rows(open_rows_);
  write_head();
  if (csv_) open_rows_at_ = csv_->size();
  open_rows_.clear();
}

void ResultFiles::save(const Json& whole) {
  if (!is_stream(names_.json)) finish(whole);
}

void ResultFiles::finish(const Json& whole) {
  write_head();
  if (csv_) take(csv_->lost());
  if (names_.json.empty()) return;
  const bool saved = !json_written_.empty();
  try {
    json_written_ = write_file(saved ? json_written_ : names_.json, json_text(whole, 2) + '\n',
                               saved ? Existing::replace : names_.existing);
  } catch (const std::runtime_error& error) {
    if (error_.empty()) error_ = failure_text(error);
    names_.json.clear();
  }
}

void ResultFiles::discard() {
  const bool begun = head_.empty();
  if (csv_ && csv_->rewritable() && begun) (void)csv_->replace_tail(0, "");  // ~OutputFile() removes an empty file
  csv_.reset();
}

std::string ResultFiles::written() const {
  std::string text;
  for (const std::string& path : paths()) text += "wrote " + printable(path) + '\n';
  return text;
}

std::vector<std::string> ResultFiles::paths() const {
  std::vector<std::string> result;
  if (csv_) result.push_back(csv_->path());
  if (!json_written_.empty()) result.push_back(json_written_);
  return result;
}

/// Writes the head of the CSV file, once. A file that is to be replaced stays until something was measured.
void ResultFiles::write_head() {
  if (!csv_ || head_.empty()) return;
  take(csv_->append(std::exchange(head_, {})));
  if (csv_) open_rows_at_ = csv_->size();
}

void ResultFiles::write_rows(const std::string& text) {
  write_head();
  if (csv_) take(csv_->append(text));
}

/// Records the error, if any, and closes the CSV file.
void ResultFiles::take(const std::string& csv_error) {
  if (csv_error.empty()) return;
  if (error_.empty()) error_ = csv_error;
  csv_.reset();
}

}  // namespace orrery
